"""A pytest plugin: tests in an order that a seed decides, so that what one leaves behind for the next is found.

    make quick ARGS='--any-order 7'

Files come in any order, and the tests of a file; a file stays together, for what it shares is made once.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

import pytest

OPTION = "--any-order"
Item = TypeVar("Item")


def shuffled(items: Sequence[Item], seed: str) -> list[Item]:
    """The items in the order of the seed, whatever order they come in; cells of a chapter stay as they are."""
    files: dict[str, list[Item]] = {}
    for item in sorted(items, key=lambda item: str(item.path)):
        files.setdefault(str(item.path), []).append(item)
    chance = random.Random(seed)
    for name, each in files.items():
        if not name.endswith(".ipynb"):
            each.sort(key=lambda item: item.nodeid)
            chance.shuffle(each)
    names = [*files]
    chance.shuffle(names)
    return [item for name in names for item in files[name]]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Each worker of a run makes the same order of it."""
    items[:] = shuffled(items, config.getoption(OPTION))


def pytest_report_header(config: pytest.Config) -> str:
    """Say how to get this order again."""
    return f"in any order: {OPTION} {config.getoption(OPTION)}"
