"""A chapter as slides at 1920 x 1080: each fits, can be read from the last row, and shows nothing but the lesson."""

from __future__ import annotations

import nbformat
import pytest

from tests.browser.conftest import NOTEBOOKS
from tools.book import instructor
from tools.book.chapter import Chapter, page

pytestmark = pytest.mark.browser

# Of each slide: how far it goes over the screen, its smallest letters of words and of code, and what is on no slide.
LOOKED_AT = """() => [...Array(kafkalearnSlides.count()).keys()].map((at) => {
  kafkalearnSlides.show(at);
  const isShown = (each) => each.getClientRects().length && !each.closest("svg *, .for-slides");
  const shown = [...document.querySelectorAll("main *")].filter(isShown);
  const is = (chosen) => shown.filter((each) => each.matches(chosen));
  const boxes = shown.map((each) => each.getBoundingClientRect()).filter((box) => box.width > 1 && box.height > 1);
  const over = boxes.map((box) => Math.max(box.bottom - innerHeight, box.right - innerWidth, -box.left, -box.top));
  const letters = (chosen) => Math.min(1000, ...is(chosen).map((each) => parseFloat(getComputedStyle(each).fontSize)));
  return {
    at, over: Math.round(Math.max(0, ...over)), words: letters("p:not(.kl-player *), li, td"), code: letters("pre"),
    asserts: is(".jp-InputArea pre").filter((each) => /^assert /m.test(each.textContent)).length,
    refused: is("aside.reference, .kl-folded-code, .exercise, .live-tools").length, is_empty: shown.length === 0,
    begins: document.querySelector("main").innerText.trim().split("\\n")[0],
    items: is("ol > li").length,
  };
})"""


def written(name, folder):
    chapter = next(path for path in NOTEBOOKS.glob("*.ipynb") if path.stem.startswith(f"{name}_"))
    html = page(
        nbformat.read(chapter, as_version=4),
        Chapter.read(chapter),
        f'<nav class="navigation"><a href="{instructor.page_name(chapter.stem)}">Notes</a></nav>',
    )
    path = folder / f"{chapter.stem}.html"
    path.write_text(html, encoding="utf-8")
    notes = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(instructor.words(chapter.stem))])
    (folder / instructor.page_name(chapter.stem)).write_text(
        page(notes, Chapter(chapter, "# Notes"), ""), encoding="utf-8"
    )
    return path


@pytest.mark.parametrize("name", ["01", "06", "12", "15"])
def test_nothing_overflows_and_all_can_be_read(browser, tmp_path, name):
    shown = browser.new_page(viewport={"width": 1920, "height": 1080})
    shown.goto(f"{written(name, tmp_path).as_uri()}#slides")
    shown.wait_for_selector("body.slides")
    before = shown.evaluate("kafkalearnSlides.count()")
    shown.evaluate("document.querySelectorAll('.kl-show-me').forEach((each) => each.click())")
    shown.wait_for_function("(before) => kafkalearnSlides.count() > before", arg=before)
    slides = shown.evaluate(LOOKED_AT)

    assert len(slides) > 50
    assert [each for each in slides if each["over"] > 1] == []
    assert [each for each in slides if each["words"] < 32 or each["code"] < 22] == []
    assert slides[1]["begins"].endswith("you can"), "what you can do afterwards is one slide"
    assert slides[1]["items"] >= 3
    assert [each for each in slides if each["refused"] or each["asserts"] or each["is_empty"]] == []
    shown.close()


def test_the_notes_follow_in_a_second_window(browser, tmp_path):
    shown = browser.new_page(viewport={"width": 1920, "height": 1080})
    shown.goto(f"{written('01', tmp_path).as_uri()}#slides")
    shown.wait_for_selector("body.slides")
    shown.keyboard.press("PageDown")
    with shown.expect_popup() as opened:
        shown.keyboard.press("o")
    notes = opened.value
    notes.wait_for_function("document.querySelector('.speaker').textContent.startsWith('2 of ')")
    title = ""
    while not title.startswith("3 "):
        shown.keyboard.press("n")
        title = shown.locator("#slide-title").inner_text()

    notes.wait_for_function("(title) => document.querySelector('.speaker').textContent.includes(title)", arg=title)
    assert "Can I choose the coordinator" in " ".join(notes.locator(".of-the-slide").all_inner_texts())
    shown.close()
