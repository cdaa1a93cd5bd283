"""A pytest plugin: what makes something dear, and can share it, goes to one worker, one test after the other.

With ``--dist loadfile`` a file is one worker's. So are all chapters here, and all rules on Spark: Java starts and warms
up once for each of the two, and Spark takes every core of the machine anyway. The two lots take longest and come first.
"""

from __future__ import annotations

import pytest
from xdist.scheduler import LoadFileScheduling

OWN_JAVAS = "tests/spark/session/"
"""Tests of what starts Java: each starts its own."""


def group_of(nodeid: str) -> str:
    """With what a test goes to one worker.

    >>> [group_of(nodeid) for nodeid in ("notebooks/05.ipynb::Cell 1", "tests/spark/test_lag.py::test_lag")]
    ['chapters', 'spark']
    >>> group_of("tests/log/test_log.py::test_log")
    'tests/log/test_log.py'
    """
    path = nodeid.partition("::")[0]
    if path.endswith(".ipynb"):
        return "chapters"
    if path.startswith(("tests/spark/", "kafkalearn/spark/")) and not path.startswith(OWN_JAVAS):
        return "spark"
    return path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The large lots first, else the end of a run waits for one worker."""
    large = ("chapters", "spark")
    items.sort(key=lambda item: large.index(lot) if (lot := group_of(item.nodeid)) in large else len(large))


class Together(LoadFileScheduling):
    """As xdist's own, with fewer and larger lots."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> Together | None:
    """In place of xdist's own where files are to stay together."""
    return Together(config, log) if config.getvalue("dist") == "loadfile" else None
