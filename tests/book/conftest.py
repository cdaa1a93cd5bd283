"""A book of two chapters with their committed outputs, and a page of it in each browser."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kafkalearn.base.files import data_folder
from kafkalearn.live.jars import one_at_a_time
from tests.book.browsers import Shown, chromium, firefox
from tools import book
from tools.book.live import packages
from tools.chapters import chapter_paths

CHAPTERS = ("01_coordinator", "02_partitioner")
BROWSERS = {"chromium": chromium, "firefox": firefox}


@pytest.fixture(scope="session")
def made_book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the book, kept from run to run: of it only what has changed is made, once for all workers.

    Nothing is run for it.
    """
    here = tmp_path_factory.getbasetemp()
    whole_run = here.parent if "PYTEST_XDIST_WORKER" in os.environ else here
    folder, is_made = data_folder() / "tests" / "book", whole_run / "book-is-made"
    with one_at_a_time(folder.parent / "lock"):
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


def shown_in(**browsers: tuple) -> Callable:
    """A fixture: a page in each of these browsers, which has no network; each browser with the marks of its tests."""
    params = [pytest.param(BROWSERS[name], id=name, marks=marks) for name, marks in browsers.items()]

    @pytest.fixture(scope="module", params=params)
    def shown(request: pytest.FixtureRequest) -> Iterator[Shown]:
        with request.param() as page:
            yield page

    return shown


shown = shown_in(chromium=(), firefox=pytest.mark.nightly)
"""A push is held by one browser; `test_python_in_the_page.py`, where Firefox differs most, by both."""
