"""A book of two chapters with their committed outputs, and a page of it in each browser."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkalearn.live.jars import one_at_a_time
from tests.book.browsers import Shown, chromium, firefox
from tools import book
from tools.book.live import packages
from tools.chapters import chapter_paths

CHAPTERS = ("01_coordinator", "02_partitioner")


@pytest.fixture(scope="session")
def made_book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the book, made once for all workers of a run; nothing is run for it."""
    here = tmp_path_factory.getbasetemp()
    whole_run = here.parent if "PYTEST_XDIST_WORKER" in os.environ else here
    folder, is_made = whole_run / "book", whole_run / "book-is-made"
    with one_at_a_time(whole_run / "book-lock"):
        if not is_made.exists():
            _make(folder)
            is_made.touch()
    return folder


def _make(folder: Path) -> None:
    try:
        for package in (packages.PYODIDE, packages.ACE):
            packages.files(package)
    except packages.NotFetched as error:
        pytest.skip(str(error))
    assert book.make(chosen(), folder) == []


def chosen() -> list[Path]:
    """The chapters of the book."""
    return [path for path in chapter_paths() if path.stem in CHAPTERS]


@pytest.fixture(
    scope="module",
    params=[pytest.param(chromium, id="chromium"), pytest.param(firefox, id="firefox", marks=pytest.mark.long)],
)
def shown(request: pytest.FixtureRequest) -> Iterator[Shown]:
    """A page in a browser that has no network."""
    with request.param() as page:
        yield page
