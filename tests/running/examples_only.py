"""A pytest plugin: a module is searched for examples only where its text has one."""

from __future__ import annotations

from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path) -> list[pytest.Collector]:
    """Of a thousand modules half have no example, and a module is imported to be searched."""
    collectors = yield
    if file_path.suffix == ".py" and b">>>" not in file_path.read_bytes():
        return [each for each in collectors if not isinstance(each, DoctestModule)]
    return collectors
