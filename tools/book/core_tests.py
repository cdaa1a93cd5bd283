"""``python -m tools.book.core_tests``: the core's own tests, run by the pages' Python, in Node.

pytest and Hypothesis come as they are where they are plain Python; of Hypothesis that is an older release than the one
we test with, whose parts in C no page has. A test file that imports what no page has (pandas, Spark) is left out, and
counted. Further words are folders of tests: ``python -m tools.book.core_tests tests/wire``.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from kafkalearn.datafiles import data_folder
from tools.book.live.in_node import page_python
from tools.book.live.packages import NotFetched
from tools.environment import ROOT, locked_uv

FOLDERS = (
    *("assignor", "claims", "commits", "consuming", "coordinator", "delivery", "explore", "group", "log", "offsets"),
    *("operations", "partitioning", "purgatory", "replication", "segments", "tables", "versions", "wire", "zookeeper"),
)
"""The parts of the core; each has a folder of tests, and each folder is run in a Python of its own."""

EXAMPLES = 20  # of Hypothesis, a test: a page's Python has half the speed
_PURE_HYPOTHESIS = """hypothesis==6.150.0 \\
    --hash=sha256:ac263bdaf338f4899a9a56e8224304e29b3ad91799e0274783c49abd91ea35ac \\
    --hash=sha256:caf1f752418c49ac805f11d909c5831aaceb96762aa3895e0c702468dedbe3fe
"""
_PLAIN = (
    "pytest",
    "_pytest",
    "py",
    "pluggy",
    "iniconfig",
    "packaging",
    "pygments",
    "sortedcontainers",
    "attr",
    "attrs",
)

_RUN = """
import contextlib, io, json, os, sys
sys.dont_write_bytecode = True
sys.path[:0] = ["/extra", "/tests"]
os.chdir("/tests")
import pytest
from hypothesis import settings
settings.register_profile("page", derandomize=True, deadline=None, database=None, max_examples={examples})
settings.load_profile("page")

class Counted:
    def __init__(self):
        self.outcomes, self.failed, self.left_out = dict(passed=0, failed=0, skipped=0), [], []
    def pytest_runtest_logreport(self, report):
        if report.failed and "MissingExtra" in str(report.longrepr):
            self.left_out.append(report.nodeid + " needs a package that no page has")
        elif report.when == "call" or report.outcome != "passed":
            self.outcomes[report.outcome] += 1
            if report.failed:
                self.failed.append(report.nodeid + " " + str(report.longrepr)[-300:])
    def pytest_collectreport(self, report):
        if report.failed:
            self.left_out.append(report.nodeid + " " + str(report.longrepr).strip().splitlines()[-1])

counted = Counted()
words = ["-q", "-p", "no:cacheprovider", "-p", "no:threadexception", "--continue-on-collection-errors"]
with contextlib.redirect_stdout(io.StringIO()):
    pytest.main([*words, {folder!r}], plugins=[counted])
json.dumps([counted.outcomes, counted.failed, counted.left_out])
"""


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a folder of tests.

    Attributes
    ----------
    passed, skipped : int
        How many tests.
    failed : tuple of str
        Each that failed, with the end of what it says.
    left_out : tuple of str
        Each file that could not be imported, and each test that asks for a package no page has; and why.
    """

    passed: int
    skipped: int
    failed: tuple[str, ...]
    left_out: tuple[str, ...]


def run_tests(folder: str) -> Result:
    """Run the tests of a folder, ``"tests/wire"``, in a new Python of the pages.

    Raises
    ------
    NotFetched
        If Pyodide, Node or the plain Hypothesis is not to be had.
    """
    with tempfile.TemporaryDirectory() as home:
        tests = Path(home)
        shutil.copytree(ROOT / "tests", tests / "tests", ignore=shutil.ignore_patterns("__pycache__", "conftest.py"))
        shutil.copytree(ROOT / "data", tests / "data", ignore=shutil.ignore_patterns("generated"))
        (tests / "pytest.ini").write_text("[pytest]\nmarkers =\n    long: takes minutes\n", encoding="utf-8")
        with page_python({"extra": _packages(), "tests": tests}) as python:
            counts, failed, left_out = json.loads(python.run(_RUN.format(examples=EXAMPLES, folder=folder)))
    return Result(counts["passed"], counts["skipped"], tuple(failed), tuple(left_out))


def _packages() -> Path:
    """A folder with pytest and Hypothesis as plain Python, made once."""
    folder = data_folder() / "page-tests"
    if not folder.is_dir():
        part = folder.with_suffix(".part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        wanted = part / "wanted.txt"
        wanted.write_text(_PURE_HYPOTHESIS, encoding="utf-8")
        install = ["pip", "install", "--quiet", "--no-deps", "--require-hashes", "--target", part, "-r", wanted]
        if subprocess.run([locked_uv(), *install]).returncode:
            raise NotFetched("uv does not bring the plain Hypothesis that the pages' Python can run")
        for name in _PLAIN:
            origin = Path(find_spec(name).origin)
            if origin.name == "__init__.py":
                shutil.copytree(origin.parent, part / name, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(origin, part)
        part.rename(folder)
    return folder


def main(words: list[str]) -> int:
    """Print what became of each folder; 1 if a test failed."""
    results = []
    for folder in words or [f"tests/{name}" for name in FOLDERS]:
        result = run_tests(folder)
        results.append(result)
        print(f"{folder}: {_sentence(result)}", flush=True)
        for each in (*result.failed, *result.left_out):
            print("   ", each.replace("\n", " ")[:300])
    whole = Result(
        sum(each.passed for each in results),
        sum(each.skipped for each in results),
        tuple(name for each in results for name in each.failed),
        tuple(name for each in results for name in each.left_out),
    )
    print(f"together: {_sentence(whole)}")
    return 1 if whole.failed else 0


def _sentence(result: Result) -> str:
    files = f"{len(result.left_out)} files or tests left out, which need what no page has"
    return f"{result.passed} passed, {len(result.failed)} failed, {result.skipped} skipped; {files}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
