"""What runs a file of tests inside the pages' Python; it is copied there, beside pytest and Hypothesis."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sys
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tools.page.cells import needed_for

WORDS = ("-q", "-p", "no:cacheprovider", "-p", "no:threadexception", "-m", "not long and not nightly")
_SAID = {
    "does not support processes": "another process",
    "can't start new thread": "threads",
    "Failed to resolve a hostname": "a network",
}
"""What Python says where a page has not what it asks for, and what that is."""


def prepare(examples: int) -> None:
    """Set up Python for the tests, once; ``examples`` of Hypothesis a test."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, "/tests")
    os.chdir("/tests")
    # A page is slow, and slower on a busy machine: that drawing takes long says nothing of a test.
    slow = [HealthCheck.too_slow]
    profile = {"derandomize": True, "deadline": None, "database": None, "suppress_health_check": slow}
    settings.register_profile("page", max_examples=examples, **profile)
    settings.load_profile("page")


def run(file: str, left_out: str) -> str:
    """Run one file; ``left_out`` is JSON, the tests not to be run, each with the reason. The result is JSON."""
    counted = _Counted(json.loads(left_out))
    with contextlib.redirect_stdout(io.StringIO()):
        code = pytest.main([*WORDS, file], plugins=[counted])
    # Interrupted is what pytest calls a file that cannot be imported; those are counted.
    if code in (pytest.ExitCode.INTERNAL_ERROR, pytest.ExitCode.USAGE_ERROR):
        counted.failed[file] = f"pytest has ended with {code!r}"
    elif not (counted.passed or counted.failed or counted.left_out):
        counted.failed[file] = "pytest has found no test in it"
    return json.dumps({"passed": counted.passed, "failed": counted.failed, "left_out": counted.left_out})


class _Counted:
    """A plugin of pytest that counts: what passed, what failed with which words, what was left out and why."""

    def __init__(self, left_out: dict[str, str]) -> None:
        self._unwanted = left_out
        self.passed = 0
        self.failed: dict[str, str] = {}
        self.left_out: dict[str, str] = {}

    @pytest.fixture(scope="session")
    def spark(self) -> None:
        """The tests ask for it by this name; there is none."""
        import pyspark  # noqa: F401

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in list(items):
            reason = next((why for name, why in self._unwanted.items() if item.nodeid.startswith(name)), None)
            if reason is not None:
                items.remove(item)
                self.left_out[item.nodeid] = reason

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        self.left_out.update({item.nodeid: "minutes" for item in items})

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self.left_out[report.nodeid] = _why_skipped(report)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped:
            self.left_out[report.nodeid] = _why_skipped(report)
        elif report.passed and report.when == "call":
            self.passed += 1

    def pytest_exception_interact(
        self, call: pytest.CallInfo, report: pytest.TestReport | pytest.CollectReport
    ) -> None:
        need = next(filter(None, map(_needed, _chain(call.excinfo.value))), None)
        if need:
            self.left_out[report.nodeid] = need
        else:
            self.failed[report.nodeid] = str(report.longrepr)[-1500:]


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error, those of a group, and what led to each."""
    while error is not None:
        yield error
        for each in error.exceptions if isinstance(error, BaseExceptionGroup) else ():
            yield from _chain(each)
        error = error.__cause__ or error.__context__


def _why_skipped(report: pytest.TestReport | pytest.CollectReport) -> str:
    """What a test has asked for that skips itself, or its own words."""
    said = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    package = re.search(r"could not import '(\w+)", said)
    need = _needed(ModuleNotFoundError(name=package[1])) if package else None
    return need or said.removeprefix("Skipped: ")


def _needed(error: BaseException) -> str | None:
    """What a test has asked for that no page has; nothing where a test has just failed."""
    if isinstance(error, ImportError):
        missing = (error.name or "").partition(".")[0]
        is_other = isinstance(error, ModuleNotFoundError) and missing not in sys.stdlib_module_names
        return needed_for(error) or ("other packages" if is_other and missing not in ("kafkalearn", "tests") else None)
    if isinstance(error, OSError | RuntimeError):
        return next((need for words, need in _SAID.items() if words in str(error)), None)
    return None
