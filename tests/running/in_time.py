"""A pytest plugin: chapters run last, and one that the time has no room for is left out and named.

For a machine that ends a run after a fixed time, as CI does, and is at times half as fast: .ci/run says until when a
chapter may begin. The two chapters of `make test` are begun first, whatever the time; elsewhere nothing is left out.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.running.long import KEPT

SWITCH = "KAFKALEARN_BEGIN_CHAPTERS_UNTIL"  # in seconds since 1970
LEFT_OUT = "left out: the time of this run was over before it began; make test-all runs it"

_in_time: dict[Path, bool] = {}  # of this worker: a chapter that has begun is run to its end


def _may_wait(path: Path) -> bool:
    return path.suffix == ".ipynb" and path.name not in KEPT["notebooks"]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Chapters after all else."""
    items.sort(key=lambda item: _may_wait(item.path))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before a kernel is started."""
    if _may_wait(item.path) and not _in_time.setdefault(item.path, time.time() < float(os.environ[SWITCH])):
        pytest.skip(f"{item.path.name} is {LEFT_OUT}")
