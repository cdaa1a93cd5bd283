"""A Python process of its own for what is handed in: limits of time and memory, an empty environment and folder.

It is spoken with in lines of JSON. Python's own switches ``-I -S`` leave it nothing but Python and this library.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import kafkalearn

_HOME = Path(kafkalearn.__file__).parents[1]
_BEGIN = "import sys; sys.path.insert(0, sys.argv[1]); import runpy; runpy.run_module(sys.argv[2], run_name='__main__')"
_NEEDED = ("SYSTEMROOT",)  # without it Python does not start on Windows


class Process:
    """A module of this library that runs as a process and answers lines with lines; to be closed, or used in `with`.

    Parameters
    ----------
    module : str
        Its name; it is run as ``__main__``.
    arguments : iterable of str
        Its further words.
    """

    def __init__(self, module: str, arguments: Iterable[str] = ()) -> None:
        """It is started."""
        self._folder = tempfile.TemporaryDirectory(prefix="kafkalearn-", ignore_cleanup_errors=True)
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-B", "-c", _BEGIN, str(_HOME), module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=self._folder.name,
            env={name: os.environ[name] for name in _NEEDED if name in os.environ},
            encoding="utf-8",
            errors="replace",
        )
        assert self._process.stdin is not None  # both are pipes
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        self._lines: Queue[str] = Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def send(self, message: object) -> None:
        """Say something; a process that has ended does not hear it."""
        try:
            self._stdin.write(json.dumps(message) + "\n")
            self._stdin.flush()
        except OSError:
            return

    def receive(self, within_s: float) -> Any:
        """What it says next; None if it has ended, says no JSON, or says nothing within so many seconds."""
        try:
            return json.loads(self._lines.get(timeout=within_s))
        except (Empty, ValueError, RecursionError):
            return None

    def close(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.wait()
        for stream in (self._stdin, self._stdout):
            try:
                stream.close()
            except OSError:
                continue
        self._folder.cleanup()

    def __enter__(self) -> Process:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self.close()

    def _read(self) -> None:
        try:
            for line in self._stdout:
                self._lines.put(line)
        except (OSError, ValueError):  # closed meanwhile
            pass
        self._lines.put("")


def received() -> Iterator[Any]:
    """In the process: each message that it is sent, until there are no more."""
    for line in sys.stdin:
        yield json.loads(line)


def say(message: object) -> None:
    """In the process: answer."""
    print(json.dumps(message), flush=True)
