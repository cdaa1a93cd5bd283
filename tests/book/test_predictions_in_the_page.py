"""No answer is seen before its prediction in the book's pages: every question of every chapter, in both browsers."""

from __future__ import annotations

import json
import re

import nbformat
import pytest

from kafkalearn.predictions.questions import all_predictions
from tests.book.browsers import Shown, wait_for
from tools.book.chapter import Chapter, page
from tools.chapters import chapter_paths

pytestmark = pytest.mark.browser

OPEN = """() => [...document.querySelectorAll("[data-after]")].filter((each) => each.checkVisibility())
    .map((each) => each.dataset.after)"""
ASKED = """() => [...document.querySelectorAll("[data-asks]")].map((each) => each.dataset.asks)"""
READY = """() => document.documentElement.dataset.predictions"""
FORM = """(id) => document.querySelector(`[data-predict="${id}"]`)?.textContent"""
PRESS = """(id, words) => [...document.querySelectorAll(`[data-predict="${id}"] button`)]
    .find((each) => each.textContent === words).click()"""


def plain(text):
    """Words without the backticks that mark their code."""
    return text.replace("`", "")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Every chapter as a page, without a store to keep anything in."""
    folder = tmp_path_factory.mktemp("pages")
    for path in chapter_paths():
        html = page(nbformat.read(path, as_version=4), Chapter.read(path), navigation="")
        (folder / f"{path.stem}.html").write_text(html, encoding="utf-8")
    return folder


def test_every_question_closes_its_answer_until_it_is_answered(shown: Shown, pages):
    asked = []
    for path in sorted(pages.iterdir()):
        shown.open(path.as_uri())
        wait_for(shown, READY)
        here = shown.run(ASKED)
        assert shown.run(OPEN) == [], path.stem
        shown.run("() => document.querySelectorAll('.kl-show-me').forEach((each) => each.click())")
        assert set(shown.run(OPEN)) == set(here), path.stem
        asked += here

    assert sorted(asked) == sorted(all_predictions())
    assert shown.seen.errors == []


def test_every_verdict_says_the_answer_and_no_source_has_it_in_words(shown: Shown, pages):
    """Whoever was wrong, or asked to be shown, reads what is so, whatever the sentence behind it begins with."""
    said = """(id, made) => {
        const question = JSON.parse(document.querySelector(`[data-asks="${id}"] script`).textContent);
        const form = window.kafkalearnPredictions.verdict(question, made);
        return [form.textContent, [...form.querySelectorAll("strong")].map((each) => each.textContent)];
    }"""
    questions, found = all_predictions(), set()
    for path in sorted(pages.iterdir()):
        shown.open(path.as_uri())
        wait_for(shown, READY)
        for name in shown.run(ASKED):
            question, found = questions[name], found | {name}
            form = re.search(rf'data-asks="{name}"><script[^>]*>(.*?)</script>', path.read_text(encoding="utf-8"))[1]
            assert json.loads(form).keys() - {"scale", "unit"} == {"id", "kind", "options", "sealed"}
            right = plain(question.right).lower()
            for made in ({"said": "what nobody says", "right": False}, {"shown": True}):
                text, strong = shown.run(said, name, made)
                assert plain(question.so) in text, name
                assert right in map(str.lower, strong), (name, text)

    assert found == {*questions}


def test_a_prediction_opens_its_answer_alone_says_what_is_so_and_is_kept_from_visit_to_visit(shown: Shown, made_book):
    shown.open((made_book / "01_coordinator.html").as_uri())
    wait_for(shown, READY)
    shown.run(PRESS, "c01-002", "positive")

    assert shown.run(FORM, "c01-002").startswith("You said positive. Now run the cell.")
    assert shown.run(OPEN) == []  # what is so comes after the run
    shown.run("() => document.querySelector('[data-predict=c01-002] .kl-see').click()")
    assert set(shown.run(OPEN)) == {"c01-002"}
    has_focus = "() => document.activeElement.closest('[data-verdict=c01-002]') !== null"
    assert shown.run(has_focus), "the button is gone, and the keys go on from the verdict"
    verdict = """() => {
        const said = document.querySelector("[data-verdict=c01-002]");
        const isBelow = (each) => each.compareDocumentPosition(said) & Node.DOCUMENT_POSITION_FOLLOWING;
        return [isBelow(said.closest("[data-cell]").querySelector(".jp-OutputArea")) > 0, said.textContent];
    }"""
    is_below, text = shown.run(verdict)
    assert is_below
    assert "You said positive. Negative: 31 x 93,740,354" in text
    kept = """async () => (await window.kafkalearnAnswers.read()).record.predictions["c01-002"]"""
    assert wait_for(shown, kept) == {"said": "positive", "right": False}

    shown.open((made_book / "01_coordinator.html").as_uri())
    wait_for(shown, READY)
    assert "You said positive." in shown.run(FORM, "c01-002")
    assert set(shown.run(OPEN)) == {"c01-002"}


def test_the_keys_stay_with_a_question_whose_cell_had_run_before(shown: Shown, pages):
    """In the lab: what is so is then told at once, and the words that had the focus are others."""
    shown.open((pages / "01_coordinator.html").as_uri())
    said = """() => {
        const question = { id: "q", kind: "choice", options: ["a", "b"], right: "a", within: 0, so: "A." };
        const next = { words: "Now run the cell.", button: "Show me", see() {} };
        const form = window.kafkalearnPredictions.form(question, { next, keep: () => form.tell() });
        document.querySelector("main").append(form);
        form.querySelector("button").click();
        return [form.textContent, form.contains(document.activeElement)];
    }"""
    assert shown.run(said) == ["You said a.", True]


def test_a_number_is_typed_and_words_are_no_number(shown: Shown, made_book):
    type_ = """(id, text) => {
        const form = document.querySelector(`[data-predict="${id}"]`);
        form.querySelector("input").value = text;
        form.querySelector("input").dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
        return form.textContent;
    }"""
    assert "A number, please." in shown.run(type_, "c01-012", "many")
    assert "You said 9." in shown.run(type_, "c01-012", "9")


def test_marks_are_dragged_and_cells_pressed_and_mine_is_dashed_the_true_one_filled(shown: Shown, pages):
    shown.open((pages / "04_assignors.html").as_uri())
    wait_for(shown, READY)
    drag = """(id, values) => {
        const form = document.querySelector(`[data-predict="${id}"]`);
        const done = [...form.querySelectorAll("button")].find((each) => each.textContent === "Predict");
        done.click();
        const note = form.querySelector(".kl-note").textContent;
        form.querySelectorAll("input").forEach((each, at) => {
            each.value = values[at];
            each.dispatchEvent(new Event("input"));
        });
        done.click();
        form.querySelector(".kl-see").click();
        const verdict = document.querySelector(`[data-verdict="${id}"]`);
        const left = (kind) => [...verdict.querySelectorAll(kind)].map((each) => each.style.left);
        return [note, verdict.dataset.made, verdict.textContent, left(".kl-mine"), left(".kl-true")];
    }"""
    note, made, text, mine, true = shown.run(drag, "cell-04-8", [10, 47, 25])
    assert note == "Drag each mark first."
    assert (made, mine, true) == ("wrong", ["20%", "94%", "50%"], ["18%", "94%", "10%"])
    assert "You said range: 10, round robin: 47, sticky: 25. The answer: range: 9, round robin: 47, sticky: 5." in text

    shown.open((pages / "08_compaction.html").as_uri())
    wait_for(shown, READY)
    press = """(id, names) => {
        const form = document.querySelector(`[data-predict="${id}"]`);
        for (const each of form.querySelectorAll(".kl-cell")) if (names.includes(each.textContent)) each.click();
        [...form.querySelectorAll("button")].find((each) => each.textContent === "Predict").click();
        form.querySelector(".kl-see").click();
        const verdict = document.querySelector(`[data-verdict="${id}"]`);
        const marked = (kind) => [...verdict.querySelectorAll(kind)].map((each) => each.textContent);
        return [verdict.dataset.made, marked(".kl-mine"), marked(".kl-true")];
    }"""
    said = shown.run(press, "cell-08-2", ["3", "4", "9", "10"])
    assert said == ["wrong", ["3", "4", "9", "10"], ["3", "4", "6", "8", "9", "10"]]


def test_run_runs_first_what_a_cell_needs_and_says_so(shown: Shown, made_book):
    shown.open((made_book / "01_coordinator.html").as_uri())
    wait_for(shown, READY)
    shown.run("""() => document.querySelector('[data-cell="c01-005"] [data-do=run]').click()""")
    note = """() => {
        const said = document.querySelector('[data-cell="c01-005"] .live-note').textContent;
        return /ran first|Error/.test(said) && said;
    }"""

    assert "2 cells above ran first: this one needs them." in wait_for(shown, note)
    result = """() => document.querySelector('[data-cell="c01-005"] [data-part=result]').textContent"""
    assert "partition=9, broker_id=1" in shown.run(result)


def test_a_still_is_drawn_in_the_page_itself_and_a_figure_has_its_words():
    path = next(path for path in chapter_paths() if path.stem == "09_replication")
    html = page(nbformat.read(path, as_version=4), Chapter.read(path), navigation="")

    assert re.search(r'<div class="jp-RenderedHTML[^>]*>\s*<svg [^>]*role="img"[^>]*aria-label="Broker 2 fetches', html)
    assert re.search(
        r'<img alt="HW and LEO of a busy partition: the HW follows one record behind."[^>]*image/png', html
    )
    assert "No description has been provided" not in html
    assert re.findall(r'<div class="jp-[^>]* tabindex="0"', html) == [], (
        "a key does not stop at what it can do nothing with"
    )
