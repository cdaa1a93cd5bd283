"""A reader's second and third day: run, save, end the kernel, open again, save; the players must still play."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import nbformat
import pytest
from ipywidgets.embed import dependency_state
from nbformat.v4 import new_output
from playwright.sync_api import expect

import kafkalearn.lab
from kafkalearn.coordinator import look_up, round_robin_leaders
from kafkalearn.lab.working_copies import update_copies
from kafkalearn.views import describe_lookup, draw_lookup, play
from tests.browser.conftest import NOTEBOOKS
from tests.browser.lab import running_lab, watch
from tests.browser.test_player import IMPORTS, LAST, PLAYER, VARIED, notebook, player_of, press
from tests.browser.test_predictions import OPENED_WITHOUT_A_KERNEL

pytestmark = pytest.mark.browser

SIDE = Path(kafkalearn.lab.__file__).parent
OPTIONS = (f"--LabApp.app_settings_dir={SIDE / 'settings' / 'reader'}", f"--LabApp.extra_labextensions_path={SIDE}")
"""JupyterLab as `make lab` sets it up for readers."""

SAVED = "!window.jupyterapp.shell.currentWidget.context.model.dirty"
KERNEL_PID = "import os; print(os.getpid())"
NO_MODEL = "Error displaying widget"


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("reader")
    update_copies([NOTEBOOKS / "00_start.ipynb"], home / "notebooks")
    return home


@pytest.fixture(scope="module")
def readers_lab(home):
    with running_lab(home, *OPTIONS) as lab:
        yield lab


def saved_models(lab, name):
    """The classes of the players whose state is saved in a notebook."""
    kept = nbformat.read(lab.folder / name, as_version=4).metadata.get("widgets", {})
    names = [model["model_name"] for each in kept.values() for model in each["state"].values()]
    return [name for name in names if name == "AnyModel"]


def save(page):
    """Save, as the autosave does after two minutes; whoever has the notebook in two tabs overwrites."""
    page.evaluate("void window.jupyterapp.commands.execute('docmanager:save').then(() => { window.isSaved = 1; })")
    overwrite = page.locator(".jp-Dialog button", has_text="Overwrite")
    page.wait_for_function("() => window.isSaved || document.querySelector('.jp-Dialog')")
    if overwrite.count():
        overwrite.click()
    page.wait_for_function(f"() => window.isSaved && {SAVED}")
    page.evaluate("delete window.isSaved")


def expect_players(page):
    """Both players stand there as widgets, and the first can be stepped."""
    for at in range(2):
        expect(page.locator(".jp-OutputArea-output.lm-Panel > .kl-player .kl-stage").nth(at)).to_be_visible()
    press(page, player_of(page), "Home", "End")
    expect(player_of(page).locator(".kl-caption")).to_have_text(LAST)
    expect(page.get_by_text(NO_MODEL)).to_have_count(0)


def test_no_save_of_a_later_day_loses_a_player(tmp_path, browser):
    first, later = watch(browser), [watch(browser) for _ in range(3)]
    with running_lab(tmp_path, *OPTIONS) as lab:
        lab.put("mine.ipynb", notebook(IMPORTS, PLAYER, VARIED, KERNEL_PID))
        first.open_notebook(lab, "mine.ipynb")
        first.run_all(timeout_ms=180_000)
        expect_players(first.page)
        save(first.page)
        assert saved_models(lab, "mine.ipynb") == ["AnyModel"] * 2
        kernel = int(nbformat.read(lab.folder / "mine.ipynb", 4).cells[3].outputs[0].text)
        for process in lab.server.pid, kernel:  # the machine goes down
            os.kill(process, signal.SIGKILL)
    first.page.close()

    with running_lab(tmp_path, *OPTIONS) as lab:
        tabs = [each.page for each in later[:2]]
        for watched in later[:2]:
            watched.open_notebook(lab, "mine.ipynb")
            expect_players(watched.page)
        for page in tabs:
            save(page)
            assert saved_models(lab, "mine.ipynb") == ["AnyModel"] * 2, "another kernel"
        page = tabs[1]
        page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.changeKernel({ name: 'python3' })")
        save(page)
        assert saved_models(lab, "mine.ipynb") == ["AnyModel"] * 2, "a third kernel"
        page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.restartKernel()")
        save(page)
        assert saved_models(lab, "mine.ipynb") == ["AnyModel"] * 2, "a kernel that began again"
        page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
        save(page)
        assert saved_models(lab, "mine.ipynb") == ["AnyModel"] * 2, "no kernel"
        lab.server.kill()
    for page in tabs:
        page.close()

    with running_lab(tmp_path, *OPTIONS) as lab:
        later[2].open_notebook(lab, "mine.ipynb")
        expect_players(later[2].page)
        page = later[2].page
        player_of(page, 1).get_by_label("group id").fill("shipping")
        expect(player_of(page, 1)).to_contain_text("No kernel stands behind this picture")
        page.evaluate("window.jupyterapp.shell.currentWidget.content.activeCellIndex = 1")
        page.evaluate("window.jupyterapp.commands.execute('notebook:run-all-above')")
        page.evaluate("window.jupyterapp.commands.execute('notebook:run-cell')")
        expect_players(page)
        save(page)
        assert saved_models(lab, "mine.ipynb") == ["AnyModel"] * 2, "one is new, in the place of its old state"
    page.close()


@pytest.fixture(scope="module")
def yesterdays():
    """A notebook whose one cell shows a player of yesterday, with its state."""
    player = play(
        look_up("test-group", round_robin_leaders([1, 2, 3])), draw_lookup, describe_lookup, title="Which broker?"
    )
    data, metadata = player._repr_mimebundle_()
    whole = notebook(PLAYER)
    whole.cells[0].execution_count = 1
    whole.cells[0].outputs = [new_output("execute_result", data, execution_count=1, metadata=metadata)]
    state = {"version_major": 2, "version_minor": 0, "state": dependency_state([player])}
    whole.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": state}
    return nbformat.from_dict(whole)


def test_where_a_model_is_missing_the_output_has_its_pictures_all_the_same(readers_lab, watched, yesterdays):
    without_state = nbformat.from_dict(yesterdays)
    del without_state.metadata["widgets"]
    readers_lab.put("missing.ipynb", without_state, is_trusted=True)
    readers_lab.put("untrusted.ipynb", yesterdays)
    watched.open_notebook(readers_lab, "missing.ipynb")
    page = watched.page
    stand_in = page.locator(".jp-OutputArea-output .kl-stand-in")

    def expect_its_player():
        expect(stand_in.locator(".kl-stage svg")).to_be_visible()
        press(page, player_of(page), "Home", "End")
        expect(player_of(page).locator(".kl-caption")).to_have_text(LAST)
        expect(page.get_by_text(NO_MODEL)).to_have_count(0)
        page.evaluate("window.jupyterapp.shell.currentWidget.dispose()")
        page.wait_for_selector(".jp-Notebook", state="detached")

    expect_its_player()
    page.evaluate(OPENED_WITHOUT_A_KERNEL, "missing.ipynb")
    expect_its_player()

    page.evaluate(OPENED_WITHOUT_A_KERNEL, "untrusted.ipynb")
    expect(page.locator(".jp-OutputArea-output img[src^='data:image/svg+xml']")).to_be_visible()
    save(page)
    assert saved_models(readers_lab, "untrusted.ipynb") == ["AnyModel"]


def test_a_working_copy_opens_without_results(readers_lab, watched):
    watched.open_notebook(readers_lab, "00_start.ipynb")

    expect(watched.page.locator(".jp-CodeCell .jp-InputPrompt").first).to_have_text("[ ]:")
    expect(watched.page.locator(".jp-CodeCell .jp-OutputArea-child")).to_have_count(0)
    assert watched.errors == []
