"""The player where readers meet it: in JupyterLab, in a notebook that was not run, on an exported page."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import expect

from tests.browser.lab import watch
from tools.book.chapter import Chapter, page
from tools.chapters import KERNELSPEC, normalise

pytestmark = pytest.mark.browser

IMPORTS = """
import ipywidgets
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.coordinator import look_up, round_robin_leaders
from kafkalearn.views import describe_lookup, draw_lookup, animation, play, vary
"""
PLAYER = """
player = play(look_up("test-group", round_robin_leaders([1, 2, 3])), draw_lookup, describe_lookup,
              title="Which broker?")
player
"""
HEARD = """
heard = ipywidgets.Label("nothing heard")
player.observe(lambda change: setattr(heard, "value", f"frame {change['new']} heard"), names="value")
heard
"""
VARIED = """
def steps(group_id, broker_count):
    if not group_id:
        raise KafkaLearnError("type a group id")
    leaders = round_robin_leaders(range(1, broker_count + 1))
    return animation(look_up(group_id, leaders), draw_lookup, describe_lookup)
vary(steps, group_id="billing", broker_count=(1, 6, 6))
"""
LOOPED = """
from kafkalearn.base.trace import Trapped, run
from kafkalearn.drawing.player import picture
turned = run(lambda _, state, event: (state, event), None, "start", ["in", "left", "right"])
play(Trapped(turned, loop_start=1), lambda frame, before: picture(40, label=str(frame.index)))
"""
STILL = """
from kafkalearn.views import draw_offsets_topic
draw_offsets_topic(round_robin_leaders([1, 2, 3]), marked=12)
"""
TOUCHED = """
from kafkalearn.views import board_named, touch
touch(board_named("replication"), "Produce > Fetch(2)")
"""
FIRST = 'Which broker coordinates the group "test-group"? Nothing is read yet.'
THIRD = "Unit 3 of 10, s = 115, goes into the hash: h = 31 * 3697 + 115 = 114722."
LAST = "Broker 1 leads partition 12: it coordinates the group."


def notebook(*sources):
    cells = [new_code_cell(source.strip(), id=f"cell-{at}") for at, source in enumerate(sources)]
    return new_notebook(cells=cells, metadata={"kernelspec": KERNELSPEC})


@pytest.fixture(scope="module")
def executed() -> nbformat.NotebookNode:
    return NotebookClient(notebook(IMPORTS, PLAYER, VARIED, LOOPED)).execute()


@pytest.fixture(scope="module")
def run_once(lab, browser):
    """JupyterLab on a notebook whose cells have all been run: opening it takes longer than any test."""
    lab.put("player.ipynb", notebook(IMPORTS, PLAYER, HEARD, VARIED, LOOPED, TOUCHED, STILL))
    watched = watch(browser)
    watched.open_notebook(lab, "player.ipynb")
    watched.run_all(timeout_ms=180_000)
    yield watched
    watched.page.close()


@pytest.fixture
def running(run_once):
    """That page with its players at their first frames."""
    for player in player_of(run_once.page, 0), player_of(run_once.page, 1):
        press(run_once.page, player, "Home")
    yield run_once.page
    assert run_once.errors == []


def player_of(page, index=0):
    return page.locator(".kl-player:has(.kl-stage)").nth(index)


def press(page, player, *keys):
    player.locator(".kl-bar input").focus()
    for key in keys:
        page.keyboard.press(key)


def test_keys_step_the_picture_and_the_kernel_hears_of_it(running):
    player = player_of(running)
    caption, stage = player.locator(".kl-caption"), player.locator(".kl-stage svg")

    press(running, player, "ArrowRight", "ArrowRight", "ArrowRight")
    expect(caption).to_have_text(THIRD)
    expect(stage).to_have_attribute("aria-label", THIRD)
    expect(running.get_by_text("frame 3 heard")).to_be_visible()

    press(running, player, "End")
    expect(caption).to_have_text(LAST)
    press(running, player, "ArrowRight", "Home", "ArrowUp", "ArrowLeft", "ArrowDown")
    expect(caption).to_have_text(FIRST)
    press(running, player, "PageUp", "ArrowLeft")
    expect(caption).to_contain_text("Unit 9 of 10")


def test_keys_in_the_player_are_no_shortcuts_of_jupyterlab(running):
    cell_count = running.locator(".jp-Cell").count()
    press(running, player_of(running), "ArrowDown", "x", "d", "d", "b", "m")
    running.keyboard.press("Tab")
    running.keyboard.press("d")
    running.keyboard.press("d")

    expect(running.locator(".jp-Cell")).to_have_count(cell_count)
    expect(running.locator(".jp-CodeCell")).to_have_count(cell_count)


def test_clicking_the_picture_gives_the_player_the_keys(running):
    player = player_of(running)
    player.locator(".kl-stage").click()
    running.keyboard.press("ArrowRight")

    expect(player.locator(".kl-bar output")).to_have_text("1 of 13")


def test_buttons_and_slider_move_it_too(running):
    player = player_of(running)
    count = player.locator(".kl-bar output")

    player.get_by_role("button", name="Last step").click()
    expect(count).to_have_text("13 of 13")
    player.get_by_role("button", name="Step back").click()
    expect(count).to_have_text("12 of 13")
    player.get_by_role("button", name="Step back").press("ArrowLeft")
    expect(count).to_have_text("11 of 13")
    player.locator(".kl-bar input").fill("4")
    expect(count).to_have_text("4 of 13")
    player.get_by_role("button", name="Step forward").press("Enter")
    expect(count).to_have_text("5 of 13")
    player.get_by_role("button", name="First step").press("Space")
    expect(count).to_have_text("0 of 13")


def test_it_plays_to_the_end_stops_there_and_starts_anew(running):
    player = player_of(running)
    count, speed = player.locator(".kl-bar output"), player.get_by_role("combobox")
    is_playing, is_paused = (player.get_by_role("button", name=name) for name in ("Pause", "Play"))

    speed.select_option("0.5")
    press(running, player, "Space")
    expect(is_playing).to_be_visible()
    speed.select_option("8")
    expect(count).to_have_text("13 of 13")
    expect(is_paused).to_be_visible()

    speed.select_option("0.5")
    press(running, player, "Space")
    expect(is_playing).to_be_visible()
    expect(count).not_to_have_text("13 of 13")
    press(running, player, "Space")
    expect(is_paused).to_be_visible()


def goes_round_and_round(page):
    player = player_of(page, 2)
    button, caption = player.locator(".kl-round"), player.locator(".kl-caption")
    expect(caption).to_have_text("the start")
    player.locator("select").select_option("8")
    button.click()
    expect(button).to_have_text(re.compile(r"Stop · round (\d\d|[3-9])"))
    expect(caption).to_contain_text("n the loop")  # not where the run began
    page.keyboard.press("r")
    expect(button).to_have_text("Round")
    press(page, player, "End")
    expect(caption).to_have_text("In the loop, and again as in step 1: right")
    page.keyboard.press("Home")
    expect(player_of(page).locator(".kl-round")).to_have_count(0)  # of no other player


def test_a_run_into_a_loop_is_played_round_and_round(running):
    goes_round_and_round(running)


def test_one_key_leads_into_the_picture_and_one_back_to_the_cells(running):
    running.locator(".jp-Cell").nth(1).locator(".jp-InputPrompt").click()
    running.keyboard.press("p")
    expect(player_of(running).locator(".kl-bar input")).to_be_focused()
    running.keyboard.press("ArrowRight")
    expect(player_of(running).locator(".kl-bar output")).to_have_text("1 of 13")

    running.keyboard.press("Escape")
    running.keyboard.press("ArrowDown")
    running.keyboard.press("ArrowRight")
    expect(player_of(running).locator(".kl-bar output")).to_have_text("1 of 13")
    expect(running.locator(".jp-Cell").nth(2)).to_contain_class("jp-mod-active")


def test_the_key_is_a_letter_where_something_is_typed(running):
    field = player_of(running, 1).get_by_label("group id")
    field.fill("")
    field.press_sequentially("fps p")

    expect(field).to_have_value("fps p")
    expect(player_of(running, 1).locator(".kl-stage")).to_contain_text('the group "fps p"?')


SMALLEST_LETTER = """player => Math.min(
    ...[...player.querySelectorAll("svg text, span, output, select, .kl-caption")]
        .filter((each) => each.getClientRects().length && each.textContent.trim())
        .map((each) => parseFloat(getComputedStyle(each).fontSize) * (each.getScreenCTM?.().a ?? 1)))"""


def test_a_player_fits_into_a_small_window_and_its_letters_can_be_read(running):
    running.set_viewport_size({"width": 1280, "height": 800})
    try:
        press(running, player_of(running), "End")
        running.keyboard.press("Escape")
        running.locator(".jp-Cell").nth(1).locator(".jp-InputPrompt").click()
        running.keyboard.press("p")
        for part in ".kl-head", ".kl-stage svg", ".kl-caption", ".kl-bar":
            expect(player_of(running).locator(part)).to_be_in_viewport(ratio=0.95)
        assert player_of(running).evaluate(SMALLEST_LETTER) >= 14
    finally:
        running.set_viewport_size({"width": 1400, "height": 1000})


def test_the_bar_stays_in_sight_where_a_window_is_too_low(running):
    running.set_viewport_size({"width": 1280, "height": 500})
    try:
        running.locator(".jp-Cell").nth(1).locator(".jp-InputPrompt").click()
        running.keyboard.press("p")
        player_of(running).evaluate("player => player.scrollIntoView({ block: 'start' })")
        expect(player_of(running).locator(".kl-bar")).to_be_in_viewport(ratio=1)
        expect(player_of(running).locator(".kl-caption")).to_be_in_viewport(ratio=0.95)
    finally:
        running.set_viewport_size({"width": 1400, "height": 1000})


def test_full_screen_by_a_key_for_the_projector(running):
    running.set_viewport_size({"width": 1920, "height": 1080})
    player = player_of(running)
    try:
        press(running, player, "f")
        running.wait_for_function("document.fullscreenElement?.classList.contains('kl-player')")
        running.wait_for_function("document.fullscreenElement.offsetHeight === innerHeight")
        assert player.evaluate(SMALLEST_LETTER) >= 24
        box = player.locator(".kl-stage svg").bounding_box()
        assert box["height"] > 800
        running.keyboard.press("ArrowRight")
        expect(player.locator(".kl-bar output")).to_have_text("1 of 13")
    finally:
        running.keyboard.press("f")
        running.wait_for_function("document.fullscreenElement === null")
        running.set_viewport_size({"width": 1400, "height": 1000})


def test_the_picture_on_show_is_saved_for_slides(running):
    with running.expect_download() as download:
        press(running, player_of(running), "ArrowRight", "s")

    saved = Path(download.value.path()).read_text(encoding="utf-8")
    assert saved.startswith("<svg xmlns=")
    assert 'aria-label="Unit 1 of 10' in saved
    assert download.value.suggested_filename == "Which-broker-step-1.svg"


def test_a_control_changes_the_picture_and_a_bad_value_is_explained_in_place(running):
    player = player_of(running, 1)
    field = player.get_by_label("group id")
    stage = player.locator(".kl-stage")

    field.fill("shipping")
    expect(stage).to_contain_text('the group "shipping"?')
    field.fill("")
    expect(running.get_by_text("type a group id", exact=True)).to_be_visible()
    expect(stage).to_contain_text('the group "shipping"?')
    field.fill("search")
    expect(running.get_by_text("type a group id", exact=True)).to_have_count(0)
    expect(stage).to_contain_text('the group "search"?')

    player.get_by_label("broker count").press("ArrowLeft")
    expect(stage).to_contain_text("broker 5 leads 10")


# A board, which is played by hand: the keys stay with it, and it is seen whole.

HAS_THE_KEYS = "player => player.contains(document.activeElement)"


@pytest.fixture
def board(running):
    """The board at the line that it begins with, its newest step on show."""
    player = player_of(running, 3)
    player.locator(".kl-controls input").fill("Produce > Fetch(2)")
    expect(player.locator(".kl-bar output")).to_have_text("2 of 2")
    return player


def test_after_a_move_that_is_gone_the_keys_are_still_the_board_s(running, board):
    count = board.locator(".kl-bar output")
    board.locator(".kl-moves [data-move='BrokerCrashed(1)']").press("Enter")
    expect(count).to_have_text("3 of 3")
    expect(board.locator("[data-move='BrokerCrashed(1)']")).to_have_count(0)
    assert board.evaluate(HAS_THE_KEYS)
    expect(board.locator(".kl-moves button:focus")).to_have_count(1)  # what has taken the place of the move

    running.keyboard.press("ArrowLeft")
    expect(count).to_have_text("2 of 3")
    running.keyboard.press("ArrowRight")
    running.keyboard.press("Shift+Enter")  # goes on to the next cell, as from anywhere in an output
    expect(running.locator(".jp-Cell").nth(6)).to_contain_class("jp-mod-active")
    board.locator(".kl-moves button").first.focus()
    running.keyboard.press("Escape")
    assert not board.evaluate(HAS_THE_KEYS)


def test_a_move_that_is_clicked_in_the_picture_leaves_the_arrows_to_the_player(running, board):
    board.locator(".kl-place[data-place='broker 1']").click()
    board.locator(".kl-menu [data-move='BrokerCrashed(1)']").click()
    expect(board.locator(".kl-bar output")).to_have_text("3 of 3")
    assert board.evaluate(HAS_THE_KEYS)
    running.keyboard.press("ArrowLeft")
    expect(board.locator(".kl-bar output")).to_have_text("2 of 3")


@pytest.mark.parametrize(("width", "height"), [(1366, 768), (1440, 900)])
def test_a_board_is_seen_whole_in_a_laptop_s_window_with_more_buttons_too(running, board, width, height):
    running.set_viewport_size({"width": width, "height": height})
    try:
        for move in "BrokerCrashed(3)", "SessionExpired(3)", "BrokerCrashed(2)":
            board.locator(f".kl-moves [data-move='{move}']").click()
            expect(board.locator(f".kl-moves [data-move='{move}']")).to_have_count(0)
            board.evaluate("player => player.scrollIntoView({ block: 'start' })")
            for part in ".kl-controls", ".kl-stage svg", ".kl-caption", ".kl-bar", ".kl-moves", ".kl-address":
                expect(board.locator(part)).to_be_in_viewport(ratio=0.98)
            assert board.evaluate(SMALLEST_LETTER) >= 11
    finally:
        running.set_viewport_size({"width": 1400, "height": 1000})


def test_what_lies_over_a_picture_has_an_edge_and_no_letter_is_cut(running):
    """The foot that stays in sight looked as if the picture ended there, with halves of letters above it."""
    player, fading = player_of(running), "foot => getComputedStyle(foot.firstElementChild, '::before').content"
    foot = player.locator(".kl-foot")
    running.set_viewport_size({"width": 1400, "height": 820})
    try:
        player.evaluate("""player => {
            player.scrollIntoView({ block: "start" });
            player.closest(".jp-WindowedPanel-outer").scrollBy(0, -250);
        }""")
        running.wait_for_function(
            "foot => foot.offsetTop < foot.previousElementSibling.offsetHeight", arg=foot.element_handle()
        )
        assert foot.evaluate("foot => getComputedStyle(foot).borderTopWidth") == "1px"
        assert foot.evaluate(fading) != "none"
        player.evaluate("player => player.scrollIntoView({ block: 'end' })")
        running.wait_for_function(f"foot => ({fading})(foot) === 'none'", arg=foot.element_handle())
    finally:
        running.set_viewport_size({"width": 1400, "height": 1000})


LOOK = """drawing => {
    const label = [...drawing.querySelectorAll("text")].find((each) => each.textContent.trim());
    return [getComputedStyle(label).fontFamily, getComputedStyle(drawing.querySelector("rect")).fill];
}"""


def test_a_picture_that_stands_has_the_letters_and_the_ground_of_a_player_by_day_and_in_the_dark(running):
    still, drawn = running.locator(".jp-RenderedHTMLCommon > svg"), player_of(running).locator(".kl-stage > svg")
    expect(still).to_have_count(1)
    grounds = []
    for theme in "JupyterLab Dark", "JupyterLab Light":
        running.evaluate("theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })", theme)
        running.locator(f"body[data-jp-theme-name='{theme}']").wait_for(state="attached")
        # The lab's splash goes 200 ms later; a theme chosen while it fades makes the lab take it away twice.
        running.locator("#jupyterlab-splash").wait_for(state="detached")
        assert still.evaluate(LOOK) == drawn.evaluate(LOOK)
        assert still.evaluate(LOOK)[0].startswith('"kl text"')
        grounds.append(still.evaluate(LOOK)[1])
    assert grounds == ["rgb(22, 24, 27)", "rgb(253, 252, 248)"]


def test_a_cloned_notebook_shows_still_pictures_before_anything_is_run(lab, watched, executed):
    lab.put("cloned.ipynb", normalise(nbformat.from_dict(executed)))
    watched.open_notebook(lab, "cloned.ipynb")

    pictures = watched.page.locator(".kl-player > svg")
    expect(pictures).to_have_count(3)
    for at in range(2):  # asked again until it is there: on a busy machine the lab may draw the cell twice
        watched.page.wait_for_function(
            "(at) => document.querySelectorAll('.kl-player > svg')[at]?.clientHeight > 1500", arg=at
        )
    assert watched.errors == []


@pytest.mark.parametrize("kept", ["without its widgets", "with its widgets"])
def test_a_trusted_notebook_plays_before_anything_is_run(lab, watched, executed, kept):
    notebook = executed if kept == "with its widgets" else normalise(nbformat.from_dict(executed))
    lab.put(f"{kept}.ipynb", notebook, is_trusted=True)
    watched.open_notebook(lab, f"{kept}.ipynb")

    # A cell is drawn once from the file, and on a busy machine once more as the kernel is met: keys between are gone.
    for _ in range(60):
        press(watched.page, player_of(watched.page), "ArrowRight", "End")
        if player_of(watched.page).locator(".kl-caption").inner_text() == LAST:
            break
        watched.page.wait_for_timeout(1000)
    expect(player_of(watched.page).locator(".kl-caption")).to_have_text(LAST)
    assert watched.errors == []


@pytest.fixture
def exported(executed, tmp_path: Path) -> str:
    """The address of the page that `make book` writes from the notebook."""
    path = tmp_path / "player.ipynb"
    nbformat.write(normalise(nbformat.from_dict(executed)), path)
    html = page(nbformat.read(path, as_version=4), Chapter.read(path), navigation="")
    (tmp_path / "player.html").write_text(html, encoding="utf-8")
    return (tmp_path / "player.html").as_uri()


def test_an_exported_page_plays_offline_and_its_players_do_not_meddle(browser, exported):
    context = browser.new_context(offline=True)
    shown, asked = context.new_page(), []
    shown.on("request", lambda request: asked.append(request.url))
    shown.goto(exported)

    press(shown, player_of(shown), "ArrowRight", "ArrowRight", "ArrowRight")
    expect(player_of(shown).locator(".kl-caption")).to_have_text(THIRD)
    expect(player_of(shown, 1).locator(".kl-bar output")).to_have_text("0 of 10")
    expect(player_of(shown, 1).get_by_label("broker count")).to_be_disabled()
    expect(player_of(shown, 1).locator("fieldset output")).to_have_text("6")  # where the browser itself puts a slider
    expect(player_of(shown, 1)).to_contain_text("Recorded with these values.")
    press(shown, player_of(shown, 1), "End")
    expect(player_of(shown, 1).locator(".kl-caption")).to_contain_text("it coordinates the group")
    expect(player_of(shown).locator("output")).to_have_text("3 of 13")
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    context.close()


def test_an_exported_page_plays_a_loop_round_and_round(browser, exported):
    shown = browser.new_page()
    shown.goto(exported)

    goes_round_and_round(shown)
    shown.close()


def test_an_exported_page_without_scripts_shows_its_pictures(browser, exported):
    context = browser.new_context(java_script_enabled=False)
    shown = context.new_page()
    shown.goto(exported)

    expect(shown.locator(".kl-player img")).to_have_count(3)
    assert shown.locator(".kl-player img").first.bounding_box()["height"] > 800
    context.close()
