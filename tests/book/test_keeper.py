"""What a test run starts ends with it, also if the run is killed, and leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from tests.book.browsers import KEEPER

# A program with a child, as a browser has; both hold the pipe open for as long as they live.
PROGRAM = """
import subprocess, sys, time
pipe = open(sys.argv[1], "w")
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120); print('late')"], stdout=pipe)
pipe.write("begun")
pipe.flush()
time.sleep(120)
pipe.write("late")
"""
RUN = """
import subprocess, sys
kept = subprocess.Popen([sys.executable, "-I", "-S", *sys.argv[1:]], stdin=subprocess.PIPE)
sys.stdin.read()
kept.stdin.close()
kept.wait()
"""


@pytest.mark.skipif(os.name != "posix", reason="no process groups")
@pytest.mark.parametrize("end", ["killed", "over"])
def test_a_program_and_its_children_end_with_the_run_and_their_folder_goes(tmp_path, end):
    pipe, home = tmp_path / "pipe", tmp_path / "home"
    os.mkfifo(pipe)
    (home / "profile").mkdir(parents=True)
    kept = [KEEPER, str(home), sys.executable, "-c", PROGRAM, str(pipe)]
    with subprocess.Popen([sys.executable, "-c", RUN, *kept], stdin=subprocess.PIPE) as run, pipe.open() as alive:
        assert alive.read(5) == "begun"
        assert (home / "log").exists()
        run.kill() if end == "killed" else run.stdin.close()

        assert alive.read() == ""  # no writer is left
    deadline = time.monotonic() + 60
    while home.exists():
        assert time.monotonic() < deadline, "its folder stays"
        time.sleep(0.05)
