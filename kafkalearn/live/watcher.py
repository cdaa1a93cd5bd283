"""The program that keeps the Java processes of one cluster, run by a Python of its own: ``python watcher.py FOLDER``.

It reads a request a line from its standard input and answers each with a line. It starts the processes, so that it is
their parent: a process id stays theirs until it has seen their end, and no signal ever hits another process. When its
input ends, because the cluster was closed or because the Python that asked for it was killed, it thaws and kills them,
removes FOLDER and ends. It stands by itself: nothing of kafkalearn is imported.

Written for Linux and macOS; Windows has neither these signals nor `select` on a pipe.
"""

import json
import os
import select
import shutil
import signal
import subprocess
import sys

INTERVAL_S = 0.5  # how often it looks whether its parent is another: a forked child may hold the pipe open


def main(folder: str) -> None:
    """Answer requests until the input ends; then end what was started."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, pass_over)  # not SIG_IGN, which the processes would inherit: they must heed SIGTERM
    processes: dict[str, subprocess.Popen] = {}
    try:
        serve(processes, os.getppid())
    finally:
        end(processes)
        shutil.rmtree(folder, ignore_errors=True)


def pass_over(number: int, frame: object) -> None:
    """Do nothing about a signal: a Ctrl-C is for whoever waits at the prompt."""


def serve(processes: dict, parent: int) -> None:
    """Answer each line of the input; return when there will be no more."""
    rest = b""
    while os.getppid() == parent:
        readable, _, _ = select.select([0], [], [], INTERVAL_S)
        if not readable:
            continue
        read = os.read(0, 65536)
        if not read:
            return
        *lines, rest = (rest + read).split(b"\n")
        for line in lines:
            os.write(1, json.dumps(answer(processes, json.loads(line))).encode() + b"\n")


def answer(processes: dict, request: dict) -> dict:
    """Dispatch a request: start a process, send it a signal, or see whether it has ended."""
    name, reply = request["name"], {"number": request["number"]}
    try:
        if "command" in request:
            with open(request["log"], "ab") as log:
                processes[name] = subprocess.Popen(
                    request["command"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
                )
        elif "signal" in request:
            processes[name].send_signal(request["signal"])  # nothing, if it has ended
        process = processes[name]
        return {**reply, "pid": process.pid, "code": process.poll()}
    except OSError as error:
        return {**reply, "error": str(error)}


def end(processes: dict) -> None:
    """Kill every process that still runs; one that stands still has to be thawed first on some systems."""
    for process in processes.values():
        process.send_signal(signal.SIGCONT)
        process.kill()
    for process in processes.values():
        process.wait()


if __name__ == "__main__":
    main(sys.argv[1])
