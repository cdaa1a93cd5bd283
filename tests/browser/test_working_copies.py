"""JupyterLab as readers get it: on working copies, without results."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

import kafkalearn.lab
from kafkalearn.lab.working_copies import update_copies
from tests.browser.conftest import NOTEBOOKS
from tests.browser.lab import running_lab

pytestmark = pytest.mark.browser

READER = Path(kafkalearn.lab.__file__).parent / "settings" / "reader"


@pytest.fixture(scope="module")
def readers_lab(tmp_path_factory):
    """JupyterLab as `make lab` sets it up for readers, on working copies."""
    home = tmp_path_factory.mktemp("reader")
    update_copies([NOTEBOOKS / "00_start.ipynb"], home / "notebooks")
    with running_lab(home, f"--LabApp.app_settings_dir={READER}") as lab:
        yield lab


def test_a_working_copy_opens_without_results(readers_lab, watched):
    watched.open_notebook(readers_lab, "00_start.ipynb")

    expect(watched.page.locator(".jp-CodeCell .jp-InputPrompt").first).to_have_text("[ ]:")
    expect(watched.page.locator(".jp-CodeCell .jp-OutputArea-child")).to_have_count(0)
    assert watched.errors == []
