"""A separate Python process for submitted code, with an empty environment; messages are lines of JSON.

Python's own switches ``-I -S`` leave it nothing but Python and this library. It is killed with all that it has started.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from queue import Empty, Full, Queue
from typing import Any

import kafkalearn

_HOME = Path(kafkalearn.__file__).parents[1]
_BEGIN = "import sys; sys.path.insert(0, sys.argv[1]); import runpy; runpy.run_module(sys.argv[2], run_name='__main__')"
_NEEDED = ("SYSTEMROOT",)  # without it Python does not start on Windows
MOST_BYTES = 16 << 20
"""The longest line that is heard; what says a longer one has ended for whoever listens."""


_RUNNING: set[Process] = set()
_STOPPED = threading.Event()


def stop_all() -> None:
    """End every process that was started and not closed, and start no other: a user has interrupted."""
    _STOPPED.set()
    for each in list(_RUNNING):
        each.close()


class Process:
    """A module of this library that runs as a process and answers lines with lines; to be closed, or used in `with`.

    Parameters
    ----------
    module : str
        Its name; it is run as ``__main__``.
    arguments : iterable of str
        Its further words.
    is_leader : bool
        Whether it, and all that it starts, is a process group of its own, which ends as a whole. What a leader starts
        should be none.
    """

    def __init__(self, module: str, arguments: Iterable[str] = (), *, is_leader: bool = False) -> None:
        """It is started, unless a user has interrupted."""
        if _STOPPED.is_set():
            raise RuntimeError("stopped")
        self._is_leader = is_leader and os.name == "posix"
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-B", "-c", _BEGIN, str(_HOME), module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=os.path.abspath(os.sep),  # nobody's folder, so that none is left behind
            env={name: os.environ[name] for name in _NEEDED if name in os.environ},
            start_new_session=self._is_leader,
        )
        assert self._process.stdin is not None  # both are pipes
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._lines: Queue[bytes] = Queue(maxsize=1)  # who says more than is asked waits
        self._has_ended = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        _RUNNING.add(self)

    def send(self, message: object) -> None:
        """Send a message; a process that has ended does not get it."""
        with suppress(OSError, ValueError):
            self._stdin.write(json.dumps(message).encode() + b"\n")
            self._stdin.flush()

    def receive(self, within_s: float) -> Any:
        """Receive the next message; None if it has ended, sends no JSON, or times out."""
        if not self._reader.is_alive() and self._lines.empty():
            return None
        try:
            return json.loads(self._lines.get(timeout=within_s))
        except (Empty, ValueError, RecursionError):  # ValueError: UnicodeDecodeError, too
            return None

    def close(self) -> None:
        """End it, whatever it does, and all that it has started if it is a leader."""
        self._has_ended = True
        _RUNNING.discard(self)
        if self._is_leader:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        with suppress(OSError):
            self._stdin.close()
        self._reader.join(timeout=5)  # until the pipe is closed on the other side, by whoever has it there
        if not self._reader.is_alive():
            self._stdout.close()

    def __enter__(self) -> Process:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self.close()

    def _read(self) -> None:
        line = b" "
        while line:
            try:
                line = self._stdout.readline(MOST_BYTES)
            except (OSError, ValueError):  # closed meanwhile
                line = b""
            if len(line) == MOST_BYTES and not line.endswith(b"\n"):
                line = b""
            while not self._has_ended:
                with suppress(Full):
                    self._lines.put(line, timeout=0.5)
                    break


def received() -> Iterator[Any]:
    """In the process: each message that it is sent, until there are no more."""
    for line in sys.stdin:
        yield json.loads(line)


def say(message: object) -> None:
    """In the process: answer."""
    print(json.dumps(message), flush=True)
