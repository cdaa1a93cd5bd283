"""Runs files of tests, one after the other, in one Python of the pages."""

from __future__ import annotations

import json
import shutil
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.book.core_tests.folders import LEFT_OUT
from tools.book.core_tests.packages import packages
from tools.book.live.in_node import PagePython, Refused, page_python
from tools.environment import ROOT

EXAMPLES = 20  # of Hypothesis, a test: a page's Python has half the speed
_PLUGIN = Path(__file__).with_name("in_the_page.py")


@dataclass(frozen=True, slots=True)
class FileResult:
    """What became of a file of tests.

    Attributes
    ----------
    passed : int
        How many tests.
    failed : mapping of str to str
        Each that failed, with the end of what it says.
    left_out : mapping of str to str
        Each test, or the file if it cannot be imported, that asks for what no page has; and for what.
    seconds : float
        The processor time of Node.
    """

    file: str
    passed: int
    failed: Mapping[str, str]
    left_out: Mapping[str, str]
    seconds: float


def run_files(files: Iterable[str], examples: int = EXAMPLES) -> Iterator[FileResult]:
    """Run files of tests, ``"tests/wire/test_wire.py"``, each as soon as it is asked for.

    A Python that a test has ended, because its memory or its stack was not enough, is started again for the next file.

    Raises
    ------
    NotFetched
        If Pyodide, Node or the plain Hypothesis is not to be had.
    """
    waiting = list(files)
    while waiting:
        with _prepared(examples) as python:
            while waiting:
                file = waiting.pop(0)
                began = python.processor_seconds()
                try:
                    words = f"in_the_page.run({file!r}, {json.dumps(LEFT_OUT)!r})"
                    result = json.loads(python.run(words))
                except Refused as error:
                    yield FileResult(file, 0, {file: str(error)[-1500:]}, {}, 0.0)
                    break
                yield FileResult(file, **result, seconds=round(python.processor_seconds() - began, 1))


# A page brings the recorded files that its chapters read; the tests read them all, where the package looks.
_ALL_DATA = """
import pathlib
for each in pathlib.Path("/tests/data").iterdir():
    here = pathlib.Path("/home/pyodide/data", each.name)
    here.parent.mkdir(exist_ok=True)
    if not here.exists():
        here.symlink_to(each)
"""


@contextmanager
def _prepared(examples: int) -> Iterator[PagePython]:
    with tempfile.TemporaryDirectory() as home:
        extra, tests = Path(home, "extra"), Path(home, "tests")
        shutil.copytree(packages(), extra)
        shutil.copy(_PLUGIN, extra)
        shutil.copytree(ROOT / "tests", tests / "tests", ignore=shutil.ignore_patterns("__pycache__", "conftest.py"))
        shutil.copytree(ROOT / "data", tests / "data", ignore=shutil.ignore_patterns("generated"))
        shutil.copytree(ROOT / "docs", tests / "docs", ignore=shutil.ignore_patterns("*.png", "*.svg"))
        (tests / "pytest.ini").write_text(_settings(), encoding="utf-8")
        with page_python({"extra": extra, "tests": tests}) as python:
            python.run("import sys; sys.path.insert(0, '/extra')")
            python.run(f"import in_the_page; in_the_page.prepare({examples})")
            python.run(_ALL_DATA)
            yield python


def _settings() -> str:
    """The markers and warnings of our own settings of pytest."""
    ours = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]
    lists = {name: "".join(f"\n    {line}" for line in ours[name]) for name in ("markers", "filterwarnings")}
    others = "addopts = --strict-markers\nconsider_namespace_packages = true\n"
    return f"[pytest]\n{others}" + "".join(f"{name} ={lines}\n" for name, lines in lists.items())
