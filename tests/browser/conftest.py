"""One JupyterLab on a copy of the notebooks, and one headless Chromium, for all browser tests."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from kafkalearn.lab import working_copies
from tests.browser.lab import CHROMIUM_NAMES, Lab, Watched, launch, running_lab, watch

expect.set_options(timeout=60_000)  # a slow machine may take its time; what never comes fails all the same

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
SIDE = Path(working_copies.__file__).parent
"""JupyterLab's side as it is here, not as it was when the package was installed."""


@pytest.fixture(scope="package")  # no longer: it holds an event loop, which other tests need for themselves
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = launch(playwright)
        if browser is None:
            pytest.skip(f"no Chromium: {', '.join(CHROMIUM_NAMES)} are not on PATH, and Playwright has none installed")
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    home = tmp_path_factory.mktemp("jupyter")
    shutil.copytree(NOTEBOOKS, home / "notebooks", ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    with running_lab(home, f"--LabApp.extra_labextensions_path={SIDE}") as lab:
        yield lab


@pytest.fixture
def watched(browser: Browser) -> Iterator[Watched]:
    watched = watch(browser)
    yield watched
    watched.page.close()
