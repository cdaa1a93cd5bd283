"""A reader's second and third day: run, save, end the kernel, open again, save; the players must still play."""

from __future__ import annotations

import os
import re
import signal
from contextlib import suppress
from pathlib import Path

import nbformat
import pytest
from ipywidgets.embed import dependency_state
from nbformat.v4 import new_markdown_cell, new_output
from playwright.sync_api import TimeoutError, expect

import kafkalearn.lab
from kafkalearn.coordinator import look_up, round_robin_leaders
from kafkalearn.lab.working_copies import for_the_reader, update_copies
from kafkalearn.views import describe_lookup, draw_lookup, play
from tests.browser.conftest import NOTEBOOKS
from tests.browser.lab import running_lab, watch
from tests.browser.test_player import IMPORTS, LAST, PLAYER, VARIED, notebook, player_of, press
from tests.browser.test_predictions import OPENED_WITHOUT_A_KERNEL

pytestmark = pytest.mark.browser

SIDE = Path(kafkalearn.lab.__file__).parent
OPTIONS = (f"--LabApp.app_settings_dir={SIDE / 'settings' / 'reader'}", f"--LabApp.extra_labextensions_path={SIDE}")
"""JupyterLab as `make lab` sets it up for readers."""

FOUND = "((path) => [...window.jupyterapp.shell.widgets('main')].find((each) => each.context?.path === path))"
OPENED_BEHIND = """(path) => window.jupyterapp.commands.execute("docmanager:open", {
    path, kernelPreference: { shouldStart: false, canStart: false }, options: { mode: "tab-after", activate: false },
}).then(() => {})"""
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


LIVE = ".jp-OutputArea-output.lm-Panel > .kl-player"


def expect_players(page):
    """Both players stand there as widgets, and the first can be stepped."""
    for at in range(2):
        expect(page.locator(f"{LIVE} .kl-stage").nth(at)).to_be_visible()
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


@pytest.mark.nightly
def test_where_our_side_is_not_installed_a_player_keeps_itself(tmp_path, browser):
    days = [watch(browser) for _ in range(3)]
    with running_lab(tmp_path) as lab:
        lab.put("plain.ipynb", notebook(IMPORTS, PLAYER, VARIED))
        for day in days:
            day.open_notebook(lab, "plain.ipynb")
            if day is days[0]:
                day.run_all(timeout_ms=180_000)
            else:
                with suppress(TimeoutError):
                    day.page.locator(LIVE).nth(1).wait_for(timeout=60_000)
                if day.page.locator(LIVE).count() < 2:  # JupyterLab by itself forgets who asked for a model too early
                    day.open_notebook(lab, "plain.ipynb")
            expect_players(day.page)
            save(day.page)
            assert saved_models(lab, "plain.ipynb") == ["AnyModel"] * 2, f"day {1 + days.index(day)}"
            assert day.errors == []
            day.page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
            day.page.close()


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
    state = {"version_major": 2, "version_minor": 0, "state": dependency_state([player], drop_defaults=False)}
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
    expect(page.locator(".jp-OutputArea-output svg").first).to_be_visible()
    save(page)
    assert saved_models(readers_lab, "untrusted.ipynb") == ["AnyModel"]


CURRENT = "window.jupyterapp.shell.currentWidget"
LATE = f"""async () => {{
    const {{ content, context }} = {CURRENT}, {{ outputArea }} = content.widgets[0];
    const manager = await [...outputArea.widgets[0].children()].find((each) => each._manager)._manager.promise;
    await manager.clear_state();
    outputArea.model.fromJSON(outputArea.model.toJSON());
    window.restore = () => manager.restoreWidgets(context.model);
}}"""
"""Let an output ask for its model where the manager has none, and knows of none to come."""


def test_a_model_that_comes_after_it_was_missed_takes_the_place_of_its_pictures(readers_lab, watched, yesterdays):
    readers_lab.put("late.ipynb", yesterdays, is_trusted=True)
    watched.open_notebook(readers_lab, "late.ipynb")
    page, live = watched.page, watched.page.locator(LIVE)
    expect(live).to_be_visible()
    page.evaluate(LATE)
    expect(page.locator(".kl-stand-in .kl-stage svg")).to_be_visible()
    expect(live).to_have_count(0)
    page.evaluate("window.restore()")

    expect(live.locator(".kl-stage svg")).to_be_visible()
    expect(page.locator(".kl-stand-in")).to_have_count(0)
    press(page, player_of(page), "Home", "End")
    expect(player_of(page).locator(".kl-caption")).to_have_text(LAST)


BAR = ".kl-resume"


@pytest.fixture(scope="module")
def stopped(readers_lab):
    """A copy whose third code cell needs the first, which takes three seconds."""
    whole = notebook("import time; time.sleep(3); table = 42", "table", "table + 1", "table + 2")
    whole.cells.insert(2, new_markdown_cell("\n\n".join(["A paragraph."] * 60), id="words"))
    readers_lab.put(
        "00_stopped.ipynb", nbformat.from_dict(for_the_reader(whole, "00_stopped", {"00_stopped": ["00.a"]}))
    )
    return "00_stopped.ipynb"


def activate(page, at):
    page.evaluate(f"(at) => {{ {CURRENT}.content.activeCellIndex = at; {CURRENT}.content.node.focus(); }}", at)


def test_who_goes_on_with_a_new_kernel_is_offered_what_is_above_first(readers_lab, watched, browser, stopped):
    watched.open_notebook(readers_lab, stopped)
    page, bar = watched.page, watched.page.locator(BAR)
    page.wait_for_selector(".kl-progress")
    watched.run_all(timeout_ms=180_000)
    expect(bar).to_be_hidden()
    save(page)
    page.evaluate(f"{CURRENT}.sessionContext.restartKernel()")
    expect(bar).to_contain_text("Python has started anew")
    activate(page, 3)
    expect(bar.locator("button").first).to_have_text(re.compile(r"Run what is above \(about [3-9] s\)"))

    page.keyboard.press("Shift+Enter")
    expect(bar).to_contain_text("First what is above")
    assert page.evaluate(f"{CURRENT}.content.activeCellIndex") == 3
    page.keyboard.press("Enter")
    expect(bar).to_contain_text("What is above runs: cell 1 of 2.")
    expect(bar).to_be_hidden()
    expect(page.locator(".jp-CodeCell .jp-InputPrompt").nth(2)).to_have_text("[3]:")
    expect(page.locator(".jp-CodeCell .jp-OutputArea-output").nth(1)).to_have_text("43")
    expect(page.get_by_text("NameError")).to_have_count(0)

    save(page)
    page.evaluate(f"{CURRENT}.sessionContext.shutdown()")
    page.close()
    later = watch(browser)
    later.open_notebook(readers_lab, stopped)
    bar = later.page.locator(BAR)
    expect(bar.locator("button").first).to_have_text(re.compile(r"Run what was run \(about [3-9] s\)"))
    later.page.reload()  # a kernel that lives, but has run nothing, is new all the same
    expect(bar).to_be_visible()
    later.run_all(timeout_ms=180_000)  # whoever runs all is asked nothing
    expect(bar).to_be_hidden()
    save(later.page)
    later.page.reload()
    later.page.wait_for_selector(".kl-progress")
    later.page.wait_for_function(f"{CURRENT}?.sessionContext?.session?.kernel?.status === 'idle'")
    activate(later.page, 4)
    later.page.keyboard.press("Shift+Enter")  # this kernel has all of it
    expect(later.page.locator(".jp-CodeCell .jp-InputPrompt").nth(3)).to_have_text("[5]:")
    expect(bar).to_be_hidden()
    assert watched.errors == later.errors == []
    later.page.close()


@pytest.mark.nightly
def test_a_tab_behind_another_stands_at_its_place_once_it_is_shown(readers_lab, watched, stopped):
    watched.open_notebook(readers_lab, "00_start.ipynb")
    page = watched.page
    page.evaluate(f"localStorage.setItem('kafkalearn.at.{stopped}', 'cell-3')")
    page.goto(f"{readers_lab.url}/lab/workspaces/tabs?reset")
    page.wait_for_function("window.jupyterapp?.restored.then(() => true)")
    page.evaluate(OPENED_WITHOUT_A_KERNEL, "00_start.ipynb")
    page.evaluate(OPENED_BEHIND, stopped)
    page.wait_for_function(f"() => {FOUND}('{stopped}').content.activeCell?.model.id === 'cell-3'")
    page.evaluate("() => { const now = Date.now; Date.now = () => now() + 60_000; }")  # a minute goes by
    page.wait_for_timeout(1000)  # and it has looked again

    page.get_by_role("tab", name=stopped).click()

    expect(page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-CodeCell").nth(3)).to_be_in_viewport()


def test_opening_a_notebook_leaves_nothing_to_save(readers_lab, watched, yesterdays):
    readers_lab.put("open.ipynb", yesterdays, is_trusted=True)
    for name, shows in ("00_start.ipynb", ".kl-progress"), ("open.ipynb", ".lm-Panel > .kl-player .kl-stage"):
        watched.open_notebook(readers_lab, name)
        watched.page.wait_for_selector(shows)
        watched.page.wait_for_function(f"() => {CURRENT}.context.model.getMetadata('language_info').version")
        assert watched.page.evaluate(f"{CURRENT}.context.model.dirty") is False
    watched.page.evaluate(f"{CURRENT}.content.activeCell.model.sharedModel.setSource('1')")
    assert watched.page.evaluate(f"{CURRENT}.context.model.dirty") is True


def test_a_working_copy_opens_without_results(readers_lab, watched):
    watched.open_notebook(readers_lab, "00_start.ipynb")

    expect(watched.page.locator(".jp-CodeCell .jp-InputPrompt").first).to_have_text("[ ]:")
    expect(watched.page.locator(".jp-CodeCell .jp-OutputArea-child")).to_have_count(0)
    assert watched.errors == []
