"""Python programs that start a real Kafka and end in some way, for the tests that look for what is left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT_S = 60

PROGRAM = """
import json, signal, sys, time
from kafkalearn.live import Kafka

# A shell has those that it starts in the background ignore it, and these tests with them.
signal.signal(signal.SIGINT, signal.default_int_handler)

with Kafka({brokers}, {release!r}) as kafka:
    left = {{"pids": [kafka.process_id(each) for each in kafka.broker_ids], "folder": str(kafka.disk(1).folder)}}
    {before}
    print(json.dumps(left), flush=True)
    {then}
"""


class Program:
    """A running program, and what it has started."""

    def __init__(self, release: str, then: str, before: str = "pass", brokers: int = 1) -> None:
        code = PROGRAM.format(brokers=brokers, release=release, then=then, before=before)
        self.process = subprocess.Popen(
            [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        first = self.process.stdout.readline()
        assert first, self.process.stderr.read()
        started = json.loads(first)
        self.pids: list[int] = started["pids"]
        self.folder = Path(started["folder"])

    def wait(self) -> tuple[int, str]:
        """Its exit code, and what it has printed as an error."""
        _, errors = self.process.communicate(timeout=TIMEOUT_S)
        return self.process.returncode, errors

    def leftovers(self) -> list:
        """The processes and files that are still there after as long as they may take to end."""
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline and any([*map(is_alive, self.pids), self.folder.exists()]):
            time.sleep(0.02)
        return [pid for pid in self.pids if is_alive(pid)] + [self.folder] * self.folder.exists()


def is_alive(pid: int) -> bool:
    """Whether there is a process of this id."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
