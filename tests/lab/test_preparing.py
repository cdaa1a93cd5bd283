"""What makes the lessons' data beforehand begins with the lab, ends with it however it ends, and can be left out."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from kafkalearn.lab import preparing
from kafkalearn.lab.server import lab_options

LINE = {"lesson": "07", "number": 3, "of": 12}
STANDS = f"import json, sys; print(json.dumps({LINE!r}), flush=True); sys.stdin.read()"
PARENT = """
import sys, time
from kafkalearn.lab.preparing import Preparing
child = Preparing([sys.executable, "-c", "import sys; sys.stdin.read()"])
print(child.process.pid, flush=True)
time.sleep(600)
"""


def wait_until(is_so):
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_the_state_is_what_was_said_last_and_nothing_at_the_end():
    child = preparing.Preparing([sys.executable, "-c", STANDS])
    wait_until(lambda: child.said)
    assert child.state() == {"running": True, **LINE}

    child.process.stdin.close()
    wait_until(lambda: not child.is_running)
    assert child.state() == {"running": False}


def test_why_it_has_stopped_is_said():
    line = {"stopped": "no room"}
    child = preparing.Preparing([sys.executable, "-c", f"print({json.dumps(json.dumps(line))})"])
    wait_until(lambda: not child.is_running)
    assert child.state() == {"running": False, **line}


def test_it_ends_when_the_server_is_killed():
    server = subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True)
    pid = int(server.stdout.readline())
    server.send_signal(signal.SIGKILL if os.name == "posix" else signal.SIGTERM)
    server.wait()

    def is_gone():
        with suppress(ProcessLookupError):
            os.kill(pid, 0)
            return _is_zombie(pid)
        return True

    wait_until(is_gone)


def _is_zombie(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False


@pytest.mark.parametrize(("value", "wanted"), [(None, True), ("1", True), ("0", False), ("off", False)])
def test_a_variable_leaves_it_out(value, wanted):
    assert preparing.is_wanted({} if value is None else {preparing.SWITCH: value}) == wanted


def test_a_readers_lab_has_it_and_an_authors_has_not(tmp_path):
    reader, author = (lab_options(tmp_path, [], {}, "linux", is_root=False, is_author=each) for each in (False, True))
    assert any("kafkalearn.lab.preparing" in option for option in reader)
    assert not any("kafkalearn.lab.preparing" in option for option in author)
