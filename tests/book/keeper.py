"""Keeps one program, run by a Python of its own: ``python keeper.py FOLDER COMMAND...``.

When its input ends, because whoever started it wants so, or has ended or was killed, the program and all that it has
started are killed, and FOLDER, with all that they kept there, is removed. What the program says goes to FOLDER/log. It
stands by itself: nothing else of the project is imported.
"""

import os
import select
import shutil
import signal
import subprocess
import sys
from contextlib import suppress

INTERVAL_S = 0.5  # how often it looks whether its parent is another: a forked child may hold the pipe open


def main(folder: str, command: list) -> None:
    """Run the command until the input ends, or until it ends by itself."""
    parent = os.getppid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, pass_over)  # not SIG_IGN, which the program would inherit
    with open(os.path.join(folder, "log"), "ab") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
    try:
        while os.getppid() == parent and process.poll() is None:
            readable, _, _ = select.select([0], [], [], INTERVAL_S)
            if readable and not os.read(0, 4096):
                break
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def pass_over(number: int, frame: object) -> None:
    """Do nothing about a signal: a Ctrl-C is for whoever waits at the prompt."""


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
