"""Python in a chapter's page, opened as a file without a network, in Chromium and in Firefox."""

from __future__ import annotations

import pytest

from tests.book.browsers import Shown, wait_for
from tests.book.conftest import shown_in

pytestmark = pytest.mark.browser
shown = shown_in(chromium=(), firefox=())

COORDINATOR, LEADERS, SPARK, CONTROLS, HASHES = "c01-005", "c01-003", "c01-024", "c01-017", "c01-007"
PRESS = """(cell, words) => {
    const place = cell ? document.querySelector(`[data-cell="${cell}"]`) : document;
    [...place.querySelectorAll("button")].find((each) => each.textContent === words).click();
}"""
SHOWN = """(cell) => document.querySelector(`[data-cell="${cell}"] .live-output:not([hidden])`)?.textContent"""
NOTE = """(cell) => document.querySelector(`[data-cell="${cell}"] .live-note`).textContent"""
ERROR = """(cell) => document.querySelector(`[data-cell="${cell}"] .live-error`)?.textContent"""
STATUS = """() => document.querySelector(".live-bar [role=status]").textContent"""
TYPE = """async (cell, text) => {
    const place = document.querySelector(`[data-cell="${cell}"]`);
    const change = [...place.querySelectorAll("button")].find((each) => each.textContent === "Change");
    if (!change.hidden) change.click();
    while (!place.querySelector(".ace_editor")) await new Promise((resolve) => setTimeout(resolve, 20));
    window.ace.edit(place.querySelector(".ace_editor")).setValue(text, 1);
}"""
TURN = """(cell, label, value) => {
    const labels = [...document.querySelectorAll(`[data-cell="${cell}"] label`)];
    const field = labels.find((each) => each.textContent.startsWith(label)).querySelector("input");
    field.value = value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
}"""
STAGE = """(cell, words) => document.querySelector(`[data-cell="${cell}"] .kl-stage`)?.textContent.includes(words)"""


@pytest.fixture(scope="module")
def chapter(shown: Shown, made_book) -> Shown:
    """The page of chapter 01; the tests follow each other on it, as a reader does."""
    shown.open((made_book / "01_coordinator.html").as_uri())
    return shown


def test_a_page_reads_and_its_players_step_before_anything_is_started(chapter):
    step = """(cell) => {
        const player = document.querySelector(`[data-cell="${cell}"] .kl-player`);
        player.querySelector("[data-do=forward]").click();
        return player.querySelector(".kl-bar output").textContent;
    }"""

    assert chapter.run(step, LEADERS).startswith("1 of ")
    assert chapter.run("() => window.kafkalearn.isStarted") is False
    assert not any("runtime.js" in url for url in chapter.seen.requests)


def test_a_control_starts_python_by_itself_and_the_picture_follows(chapter):
    chapter.run(TURN, CONTROLS, "group id", "billing")
    wait_for(chapter, STAGE, CONTROLS, '"billing"')

    assert chapter.run(STATUS) == "Python runs in this page."


def test_a_cell_and_all_above_it_run_and_show_what_the_book_shows(chapter):
    committed = chapter.run(
        """(cell) => document.querySelector(`[data-cell="${cell}"] .jp-OutputArea-output`).textContent""", COORDINATOR
    )
    chapter.run(PRESS, COORDINATOR, "Run to here")

    assert wait_for(chapter, SHOWN, COORDINATOR).strip() == committed.strip()


def test_a_control_that_stands_at_no_good_value_is_explained_in_place(chapter):
    chapter.run(TYPE, HASHES, "vary(lambda group_id: picture(group_id, 3, len(group_id)), group_id='billing')")
    chapter.run(PRESS, HASHES, "Run")
    wait_for(chapter, STAGE, HASHES, '"billing"')
    chapter.run(TURN, HASHES, "group id", "")
    said = wait_for(
        chapter, """(cell) => document.querySelector(`[data-cell="${cell}"] .kl-wrong`)?.textContent""", HASHES
    )

    assert "partition_count" in said
    assert chapter.run(STAGE, HASHES, '"billing"')


def test_a_changed_cell_runs_as_it_stands_and_can_be_reset(chapter):
    chapter.run(TYPE, COORDINATOR, 'find_coordinator("shipping", LEADERS).broker_id + 1000')
    chapter.run(PRESS, COORDINATOR, "Run")
    wait_for(chapter, f"(cell) => /^100[123]$/.test(({SHOWN})(cell)?.trim())", COORDINATOR)

    chapter.run(PRESS, COORDINATOR, "Reset")
    assert chapter.run(SHOWN, COORDINATOR) is None
    assert "find_coordinator(" in chapter.run(
        """(cell) => window.ace.edit(document.querySelector(`[data-cell="${cell}"] .ace_editor`)).getValue()""",
        COORDINATOR,
    )


def test_an_error_is_told_in_words_with_its_line(chapter):
    chapter.run(TYPE, COORDINATOR, "leaders = []\nfind_coordinator('billing', leaders)")
    chapter.run(PRESS, COORDINATOR, "Run")

    said = wait_for(chapter, ERROR, COORDINATOR)
    assert "KafkaLearnError" in said
    assert "Line 2" in said
    chapter.run(PRESS, COORDINATOR, "Reset")


def test_a_cell_that_needs_spark_stays_as_recorded_and_says_so(chapter):
    chapter.run(PRESS, SPARK, "Run to here")
    wait_for(chapter, f"(cell) => ({NOTE})(cell).startsWith('Needs Spark')", SPARK)

    assert (
        chapter.run(
            """(cell) => document.querySelector(`[data-cell="${cell}"] .jp-OutputArea-output`).offsetHeight""", SPARK
        )
        > 0
    )


def test_no_request_leaves_the_page_not_even_from_python(chapter):
    assert chapter.run("() => fetch('https://nowhere.invalid/x').then(() => 'sent', () => 'refused')") == "refused"

    lines = [
        "from js import XMLHttpRequest",
        "r = XMLHttpRequest.new()",
        "r.open('GET', 'https://nowhere.invalid/y', False)",
    ]
    chapter.run(
        TYPE, HASHES, "\n".join([*lines, "try:", "    r.send()", "except Exception as e:", "    print('refused')"])
    )
    chapter.run(PRESS, HASHES, "Run")
    wait_for(chapter, f"(cell) => ({SHOWN})(cell)?.trim() === 'refused'", HASHES)
    assert chapter.seen.outside == []
    # The browser tells its console of each connection that it refused; nothing else may be there.
    assert [
        said for said in chapter.seen.errors if "nowhere.invalid" not in said and "Security Policy" not in said
    ] == []


def test_a_loop_without_end_is_ended_and_what_was_there_is_run_again(chapter):
    chapter.run(TYPE, HASHES, "while True:\n    pass")
    chapter.run(PRESS, HASHES, "Run")
    wait_for(chapter, f"(cell) => ({NOTE})(cell).startsWith('running')", HASHES)
    chapter.run(PRESS, HASHES, "Stop")

    assert "all values are gone" in chapter.run(NOTE, HASHES)
    wait_for(chapter, f"(cell) => ({NOTE})(cell).includes('were run again')", HASHES)
    chapter.run(TYPE, HASHES, "len(LEADERS)")
    chapter.run(PRESS, HASHES, "Run")
    wait_for(chapter, f"(cell) => ({SHOWN})(cell)?.trim() === '50'", HASHES)


def test_python_stays_from_chapter_to_chapter(chapter):
    chapter.run("() => document.querySelector('a[href=\"02_partitioner.html\"]').click()")
    wait_for(chapter, "() => document.title.startsWith('02')")
    wait_for(chapter, "() => window.kafkalearn?.isStarted && document.readyState === 'complete'", in_frame=True)
    first = """() => document.querySelector("[data-cell]").dataset.cell"""
    cell = chapter.run(first, in_frame=True)
    chapter.run(PRESS, cell, "Run", in_frame=True)
    wait_for(
        chapter,
        "(cell) => document.querySelector(`[data-cell='${cell}'] .live-tools button[title*=book]`)?.hidden === false",
        cell,
        in_frame=True,
    )

    assert chapter.run("() => location.hash") == "#/02_partitioner.html"
    chapter.run("() => history.back()")
    wait_for(chapter, "() => document.title.startsWith('01') && !document.querySelector('iframe')")


def test_the_page_can_be_reset_as_a_whole(chapter):
    chapter.run(PRESS, None, "Reset the page")
    wait_for(chapter, f"() => ({STATUS})().includes('as it was in the book')")

    assert chapter.run("() => document.querySelectorAll('.live-output:not([hidden])').length") == 0
