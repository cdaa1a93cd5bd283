"""The pages' Python outside a browser: the same runtime in Node, asked the same questions."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tools.book.live.packages import node
from tools.book.live.runtime import parts

SCRIPT = Path(__file__).with_name("node.mjs")


class Refused(Exception):  # noqa: N818  (named for what has happened)
    """The page's Python has refused a question; the message is the one for the reader."""


class PagePython:
    """A running Python of the pages; see `page_python`."""

    def __init__(self, process: subprocess.Popen) -> None:
        """Wait until it has started."""
        self._process, self.process_id = process, process.pid
        self._read()

    def ask(self, name: str, payload: object) -> object:
        """What ``window.kafkalearn.ask`` gives.

        Raises
        ------
        Refused
            With the words for the reader.
        """
        return self._said({"name": name, "payload": json.dumps(payload)})

    def run(self, code: str) -> object:
        """The value of a piece of Python's last line, a number or text."""
        return self._said({"code": code})

    def processor_seconds(self) -> float:
        """The processor time it has had, with its start; the clock of a page's Python knows only what has passed."""
        return self._said({"clock": True})

    def _said(self, question: dict[str, object]) -> object:
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        said = self._read()
        if "error" in said:
            raise Refused(said.get("trace") or said["error"])
        return said["result"]

    def _read(self) -> dict[str, object]:
        line = self._process.stdout.readline()
        if not line:
            raise Refused("the page's Python has ended")
        return json.loads(line)


@contextmanager
def page_python(folders: Mapping[str, Path] | None = None) -> Iterator[PagePython]:
    """The pages' Python, started in Node, for as long as the ``with`` lasts.

    Parameters
    ----------
    folders : mapping of str to path, optional
        Copies of these are seen by Python as ``/extra`` and ``/tests``.

    Raises
    ------
    NotFetched
        If Pyodide or Node is not to be had.
    """
    with tempfile.TemporaryDirectory() as home:
        for name, data in parts().items():
            Path(home, name).write_bytes(data)
        for name, folder in (folders or {}).items():
            shutil.copytree(folder, Path(home, name), ignore=shutil.ignore_patterns("__pycache__"))
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "encoding": "utf-8"}
        with subprocess.Popen([node(), SCRIPT, home], **pipes) as process:
            try:
                yield PagePython(process)
            finally:
                process.kill()
