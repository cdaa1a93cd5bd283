"""A reader's second day: run, save, end the kernel, open again; the players must still play."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect

import kafkalearn.lab
from kafkalearn.lab.working_copies import update_copies
from tests.browser.conftest import NOTEBOOKS
from tests.browser.lab import running_lab, watch
from tests.browser.test_player import IMPORTS, LAST, PLAYER, VARIED, notebook, player_of, press

pytestmark = pytest.mark.browser

READER = Path(kafkalearn.lab.__file__).parent / "settings" / "reader"


@pytest.fixture(scope="module")
def readers_lab(tmp_path_factory):
    """JupyterLab as `make lab` sets it up for readers, on working copies."""
    home = tmp_path_factory.mktemp("reader")
    update_copies([NOTEBOOKS / "00_start.ipynb"], home / "notebooks")
    with running_lab(home, f"--LabApp.app_settings_dir={READER}") as lab:
        yield lab


def saved_models(path):
    """The classes of the widgets whose state was saved in a notebook."""
    kept = nbformat.read(path, as_version=4).metadata.get("widgets", {})
    return [model["model_name"] for each in kept.values() for model in each["state"].values()]


def test_players_and_controls_are_there_on_the_second_day(readers_lab, watched, browser):
    readers_lab.put("mine.ipynb", notebook(IMPORTS, PLAYER, VARIED))
    watched.open_notebook(readers_lab, "mine.ipynb")
    watched.run_all(timeout_ms=180_000)
    press(watched.page, player_of(watched.page), "ArrowRight")
    watched.page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
    watched.page.wait_for_function("!window.jupyterapp.shell.currentWidget.context.model.dirty")
    assert [name for name in saved_models(readers_lab.folder / "mine.ipynb") if name == "AnyModel"] == ["AnyModel"] * 2
    watched.page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    watched.page.close()

    again = watch(browser)
    again.open_notebook(readers_lab, "mine.ipynb")

    expect(player_of(again.page)).to_be_visible()
    expect(player_of(again.page, 1)).to_be_visible()
    press(again.page, player_of(again.page), "End")
    expect(player_of(again.page).locator(".kl-caption")).to_have_text(LAST)
    expect(again.page.get_by_text("Error displaying widget")).to_have_count(0)
    player_of(again.page, 1).get_by_label("group id").fill("shipping")
    expect(player_of(again.page, 1)).to_contain_text("No kernel stands behind this picture")
    again.page.close()


def test_a_working_copy_opens_without_results(readers_lab, watched):
    watched.open_notebook(readers_lab, "00_start.ipynb")

    expect(watched.page.locator(".jp-CodeCell .jp-InputPrompt").first).to_have_text("[ ]:")
    expect(watched.page.locator(".jp-CodeCell .jp-OutputArea-child")).to_have_count(0)
    assert watched.errors == []
