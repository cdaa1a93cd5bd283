"""No answer is seen before its prediction, in the reader's copies in JupyterLab: every prediction of every chapter."""

from __future__ import annotations

import json
import re
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect

import kafkalearn.lab
from kafkalearn.lab.working_copies import for_the_reader, update_copies
from tests.browser.conftest import NOTEBOOKS
from tests.browser.lab import running_lab, watch
from tests.browser.test_player import IMPORTS, PLAYER, notebook

pytestmark = pytest.mark.browser

SIDE = Path(kafkalearn.lab.__file__).parent
CHAPTERS = sorted(NOTEBOOKS.glob("*.ipynb"))
# What is closed is marked in the file, and held for every chapter by tests/project/test_predictions.py: of what the lab
# makes of it one chapter of each kind is enough for a push: controls, Spark at the end, a touched board, a real broker.
OF_EACH_KIND = ("01_coordinator", "05_rebalance", "09_replication", "14_real_kafka")

OPEN_ANSWERS = """() => {
    const notebook = window.jupyterapp.shell.currentWidget.content;
    return notebook.widgets.flatMap((cell) => {
        const { after, closed } = cell.model.getMetadata("kafkalearn") ?? {};
        if (!after) return [];
        const part = closed === "whole" ? cell.node : cell.node.querySelector(".jp-Cell-outputWrapper");
        return part?.checkVisibility() ? [[after, cell.model.id]] : [];
    });
}"""
"""The closed parts that can be seen, each with the question it belongs to."""

MARKED = """() => window.jupyterapp.shell.currentWidget.content.widgets
    .flatMap((cell) => cell.model.getMetadata("kafkalearn")?.predict?.id ?? [])"""


OPENED_WITHOUT_A_KERNEL = """async (path) => {
    const kernelPreference = { shouldStart: false, canStart: false };
    const opened = await window.jupyterapp.commands.execute("docmanager:open", { path, kernelPreference });
    await opened.revealed;
}"""


CLOSED_WITHOUT_A_KERNEL = "Cannot read properties of null (reading 'kernel')"
"""What the widgets' own side says once a notebook is closed that never had a kernel."""


LEGIBLE = """() => {
    const light = (colour) => colour.match(/[0-9.]+/g).slice(0, 3).reduce((sum, each) => sum + each / 3, 0);
    const differ = (words, ground) =>
        Math.abs(light(getComputedStyle(words).color) - light(getComputedStyle(ground).backgroundColor));
    const menu = document.querySelector(".kl-menu"), marked = [...document.querySelectorAll(".kl-touched .kl-word")];
    const filled = marked.filter((each) => getComputedStyle(each).backgroundColor !== "rgba(0, 0, 0, 0)");
    return document.body.dataset.jpThemeLight === "false" && differ(menu.querySelector("p"), menu) > 100
        && filled.every((each) => differ(each, each) > 100);
}"""
"""Whether it is dark, and the menu and the marked words of a touched picture can be read all the same."""


@pytest.fixture(scope="module")
def readers_lab(tmp_path_factory):
    """JupyterLab with our side, on copies that nobody has run, and on others as run, in a folder of their own."""
    home = tmp_path_factory.mktemp("predicting")
    folder = home / "notebooks"
    update_copies(CHAPTERS, folder)
    (folder / "run").mkdir()
    for chapter in CHAPTERS:
        has_run = for_the_reader(json.loads(chapter.read_text(encoding="utf-8")), chapter.stem, {})
        (folder / "run" / chapter.name).write_text(json.dumps(has_run), encoding="utf-8")
    options = [f"--LabApp.app_settings_dir={SIDE / 'settings' / 'reader'}", f"--LabApp.extra_labextensions_path={SIDE}"]
    with running_lab(home, *options) as lab:
        yield lab


def opened(watched, lab, name):
    watched.open_notebook(lab, name)
    watched.page.wait_for_selector(".kl-predict")
    return watched.page


@pytest.fixture(scope="module")
def one_page(browser, readers_lab):
    """One page for all chapters, since the lab takes longer to start than a chapter to open."""
    watched = watch(browser)
    watched.page.goto(f"{readers_lab.url}/lab/workspaces/predicting?reset")
    watched.page.wait_for_function("window.jupyterapp?.restored.then(() => true)")
    yield watched
    watched.page.close()


@pytest.mark.parametrize(
    "chapter",
    [pytest.param(each, marks=() if each.stem in OF_EACH_KIND else pytest.mark.nightly) for each in CHAPTERS],
    ids=lambda path: path.stem,
)
def test_no_answer_of_a_copy_that_was_run_is_seen_before_its_prediction(one_page, chapter):
    page = one_page.page
    one_page.errors.clear()  # a chapter's own
    page.evaluate(OPENED_WITHOUT_A_KERNEL, f"run/{chapter.name}")
    page.wait_for_selector(".kl-predict")

    asked = page.evaluate(MARKED)
    assert page.evaluate(OPEN_ANSWERS) == []
    assert len(asked) == page.locator(".kl-predict").count() > 0

    page.evaluate("() => document.querySelectorAll('.kl-show-me').forEach((each) => each.click())")
    page.wait_for_function("() => !document.querySelector('.kl-predict:not([data-made])')")
    assert {after for after, _ in page.evaluate(OPEN_ANSWERS)} == set(asked)  # each had something to close
    page.evaluate("window.jupyterapp.commands.execute('application:close-all')")
    page.wait_for_selector(".kl-predict", state="detached")
    assert set(one_page.errors) <= {CLOSED_WITHOUT_A_KERNEL}


def test_a_prediction_is_made_by_key_kept_without_a_kernel_and_opens_what_was_closed(readers_lab, watched, browser):
    page = opened(watched, readers_lab, "01_coordinator.ipynb")
    page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
    count = page.locator(".jp-Cell").count()
    form = page.locator(".kl-predict[data-predict=c01-002]")
    form.locator("button", has_text="positive").focus()
    page.keyboard.press("d")  # twice, JupyterLab's keys would delete the cell
    page.keyboard.press("d")
    page.keyboard.press("Enter")

    expect(form).to_contain_text("You said positive. Now run the cell.")
    assert page.locator(".jp-Cell").count() == count
    assert "c01-002" not in [after for after, _ in page.evaluate(OPEN_ANSWERS)][1:]  # its output has no words yet
    form.locator(".kl-see").click()
    expect(page.locator("[data-verdict=c01-002]")).to_contain_text("You said positive. Negative: 31 x 93,740,354 + 110")
    assert [after for after, _ in page.evaluate(OPEN_ANSWERS)].count("c01-002") > 1
    form.locator(".kl-said").focus()
    asked = len(page.evaluate(MARKED))
    expect(page.locator(".kl-progress")).to_contain_text(f"0 of 8 exercises, 1 of {asked} predictions")
    kept = json.loads((readers_lab.folder / "progress.json").read_text(encoding="utf-8"))
    assert kept["predictions"]["c01-002"] == {"said": "positive", "right": False}
    at = page.evaluate("window.jupyterapp.shell.currentWidget.content.activeCellIndex")
    page.keyboard.press("Shift+Enter")  # what has been said has the focus, and the reader goes on from there
    page.wait_for_function("(at) => window.jupyterapp.shell.currentWidget.content.activeCellIndex === at + 1", arg=at)

    page.reload()
    expect(form).to_contain_text("You said positive. Now run the cell.")  # in this page it has not been run
    expect(page.locator(".kl-progress")).to_contain_text(f"0 of 8 exercises, 1 of {asked} predictions")
    expect(page.locator(".kl-progress")).to_contain_text("chapter 02 next")


def activate(page, cell):
    page.evaluate(
        """(id) => {
            const notebook = window.jupyterapp.shell.currentWidget.content;
            notebook.activeCellIndex = notebook.widgets.findIndex((each) => each.model.id === id);
        }""",
        cell,
    )


def test_an_answer_is_clicked_in_a_picture_and_a_broker_that_is_touched_dies(readers_lab, watched):
    page = opened(watched, readers_lab, "09_replication.ipynb")
    form = page.locator(".kl-predict[data-predict=cell-09-4]")
    activate(page, "cell-09-4")
    page.evaluate("void window.jupyterapp.commands.execute('notebook:run-all-above')")
    expect(page.locator(".jp-CodeCell .jp-InputPrompt").nth(1)).to_have_text("[2]:")
    page.locator(".jp-OutputArea .jp-RenderedHTMLCommon > svg").first.hover()  # where its parts come to be
    asked_of = page.locator(".jp-OutputArea svg text").get_by_text("6", exact=True).first
    asked_of.hover()
    expect(asked_of).to_contain_class("kl-named")
    asked_of.click()
    expect(form).to_contain_text("You said 6. Now run the cell.")

    page.locator(".kl-predict[data-predict=cell-09-7] .kl-show-me").click()
    activate(page, "cell-09-8")
    page.evaluate("void window.jupyterapp.commands.execute('notebook:run-cell')")
    board = page.locator(".kl-touched")
    board.locator("[data-place='broker 1']").click()
    page.evaluate("void window.jupyterapp.commands.execute('apputils:change-theme', { theme: 'JupyterLab Dark' })")
    page.wait_for_function(LEGIBLE)  # the sentence is marked anew in the colours of the theme
    board.locator(".kl-menu [data-move='BrokerCrashed(1)']").click()
    expect(board.locator(".kl-controls input")).to_have_value("BrokerCrashed(1)")  # the run stood at its start
    expect(board.locator(".kl-caption")).to_contain_text("Broker 1")
    board.locator(".kl-moves [data-move='SessionExpired(1)']").click()
    expect(board.locator(".kl-bar output")).to_have_text("2 of 2")
    next_moves, stage = board.locator(".kl-next").bounding_box(), board.locator(".kl-stage").bounding_box()
    assert next_moves["width"] > 0.9 * stage["width"]
    assert watched.errors == []


def test_who_runs_on_to_a_closed_cell_is_asked_for_the_prediction_and_arrow_keys_pass_by(readers_lab, watched):
    page = opened(watched, readers_lab, "06_commits.ipynb")
    activate(page, "cell-06-1")
    page.locator(".jp-Cell.jp-mod-active .jp-InputPrompt").click()
    form = page.locator(".kl-predict[data-predict=cell-06-2]")
    for key, then in (
        ("Shift+Enter", "cell-06-2"),
        ("Shift+Enter", "cell-06-3"),
        ("Shift+Enter", "cell-06-2"),  # what follows is closed
        ("ArrowDown", "cell-06-3"),
        ("ArrowDown", "cell-06-6"),
        ("ArrowUp", "cell-06-3"),
    ):
        page.keyboard.press(key)
        page.wait_for_function(
            "(id) => window.jupyterapp.shell.currentWidget.content.activeCell.model.id === id", arg=then
        )
        if (key, then) == ("Shift+Enter", "cell-06-2"):
            expect(form).to_be_in_viewport()
    expect(form).to_contain_text("First your prediction, or “Show me”")
    assert watched.errors == []


def test_who_runs_a_cell_whose_answer_is_closed_is_told_so_where_it_stands(readers_lab, watched):
    question = {"id": "q", "kind": "number", "options": [], "right": "2", "within": 0, "so": "One and one."}
    whole = notebook("1 + 1", "3 + 3", "40 + 2")
    whole.cells.insert(0, nbformat.v4.new_markdown_cell("**Predict**", metadata={"kafkalearn": {"predict": question}}))
    for cell in whole.cells[1:3]:
        cell.metadata["kafkalearn"] = {"after": "q", "closed": "outputs"}
    whole.metadata["kafkalearn"] = {"chapter": "00_told", "course": {"00_told": []}}
    readers_lab.put("00_told.ipynb", whole)
    page = opened(watched, readers_lab, "00_told.ipynb")
    told, cells = page.locator(".kl-first"), page.locator(".jp-CodeCell")
    page.evaluate("window.jupyterapp.shell.currentWidget.content.activeCellIndex = 2")
    page.locator(".jp-Cell.jp-mod-active .jp-InputPrompt").click()
    page.keyboard.press("Shift+Enter")  # what comes next is open, and the reader goes on there

    expect(cells.nth(1).locator(".kl-first")).to_contain_text("First your prediction")
    expect(page.locator(".kl-predict .kl-how")).to_contain_text("First your prediction, or “Show me”")
    expect(told).to_have_count(1)
    watched.run_all(timeout_ms=180_000)
    expect(told).to_have_count(2)
    expect(cells.nth(2).locator(".jp-OutputArea-output")).to_have_text("42")
    assert [after for after, _ in page.evaluate(OPEN_ANSWERS)] == []
    page.locator(".kl-show-me").click()
    expect(told).to_have_count(0)
    expect(cells.nth(0).locator(".jp-OutputArea-output")).to_have_text("2")
    assert watched.errors == []


@pytest.fixture
def small_copy(readers_lab):
    """A copy with enough words above a player that it does not fit below its cell, and a cell that waits."""
    words = nbformat.v4.new_markdown_cell("\n\n".join(["A paragraph."] * 25))
    whole = notebook(IMPORTS, PLAYER, "import time\ntime.sleep(9)", "exercises.predict_coordinator.check(...)")
    whole.cells.insert(0, words)
    readers_lab.put("00_small.ipynb", nbformat.from_dict(for_the_reader(whole, "00_small", {"00_small": ["00.a"]})))
    return "00_small.ipynb"


def test_a_player_comes_into_view_whole_and_a_wait_has_a_bar(readers_lab, watched, small_copy):
    watched.open_notebook(readers_lab, small_copy)
    page = watched.page
    page.wait_for_selector(".kl-progress")
    page.evaluate("window.jupyterapp.shell.currentWidget.content.activeCellIndex = 1")
    for _ in range(2):
        page.evaluate("window.jupyterapp.commands.execute('notebook:run-cell-and-select-next')")
    page.wait_for_function("""() => {
        const player = document.querySelector(".jp-OutputArea .kl-player");
        if (!player?.querySelector("svg")) return false;
        const { top, bottom } = player.getBoundingClientRect();
        const view = (document.querySelector(".jp-WindowedPanel-outer")).getBoundingClientRect();
        return top >= view.top - 1 && bottom <= view.bottom + 1;
    }""")

    for _ in range(2):
        page.evaluate("void window.jupyterapp.commands.execute('notebook:run-cell-and-select-next')")
    expect(page.locator(".kl-wait")).to_have_text([re.compile(r"^runs, \d+ s$"), "queued"])
    expect(page.locator(".kl-wait progress")).to_have_count(2)
    expect(page.locator(".kl-wait progress:visible")).to_have_count(1)
    expect(page.locator(".kl-wait")).to_have_count(0)
    assert watched.errors == []


def test_an_exercise_finds_its_judge_without_the_first_cell(readers_lab, watched, small_copy):
    watched.open_notebook(readers_lab, small_copy)
    page = watched.page
    page.wait_for_selector(".kl-progress")
    page.evaluate("window.jupyterapp.shell.currentWidget.content.activeCellIndex = 4")
    page.evaluate("window.jupyterapp.commands.execute('notebook:run-cell')")

    answer = page.locator(".jp-CodeCell").last.locator(".jp-OutputArea-output")
    expect(answer).to_contain_text("ot attempted yet")
    expect(answer).to_be_in_viewport()

    bar = page.locator(".kl-exercise")
    bar.get_by_role("button", name="Hint").click()
    expect(bar.locator(".kl-said-of-exercise")).to_contain_text("Hint 1 of")
    expect(bar.get_by_role("button", name=re.compile(r"^Hint 2 of \d$"))).to_be_visible()
    cell = page.locator(".jp-CodeCell").last
    for given, outcome in (("7", "wrong"), ("1", "right")):
        page.evaluate(
            """(source) => {
                const notebook = window.jupyterapp.shell.currentWidget.content;
                notebook.activeCell.model.sharedModel.setSource(source);
            }""",
            f"from kafkalearn.exercises import chapter00 as exercises\nexercises.predict_coordinator.check({given})",
        )
        bar.get_by_role("button", name="Check").click()
        expect(cell).to_have_attribute("data-outcome", outcome)
    assert page.evaluate("window.jupyterapp.shell.currentWidget.content.activeCellIndex") == 4  # the cursor stays
    bar.get_by_role("button", name="Solution").click()
    expect(bar.locator(".kl-said-of-exercise")).not_to_contain_text("Hint")
    page.reload()
    page.wait_for_function(
        "() => window.jupyterapp?.shell.currentWidget?.content?.activeCellIndex === 4"
    )  # where one stopped
