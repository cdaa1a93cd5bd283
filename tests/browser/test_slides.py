"""A lesson as slides at 1920 x 1080: pictures, questions, answers; each fits and can be read from the last row."""

from __future__ import annotations

from itertools import pairwise

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe

from kafkalearn.drawing.figures import DPI, SMALLEST
from tests.browser.conftest import NOTEBOOKS
from tools.book import instructor
from tools.book.chapter import Chapter, page

pytestmark = pytest.mark.browser

# Of the slide that is open: how far it goes over the screen, its smallest letters, in pictures too, and what it shows.
LOOKED_AT = """() => {
  const shown = [...document.querySelectorAll("main *")].filter((each) => each.checkVisibility());
  const is = (chosen) => shown.filter((each) => each.matches(chosen));
  const placed = is(":not(svg *)").map((each) => each.getBoundingClientRect());
  const boxes = placed.filter((box) => box.width > 1 && box.height > 1);
  const over = boxes.map((box) => Math.max(box.bottom - innerHeight, box.right - innerWidth, -box.left, -box.top));
  const size = (each) => Math.round(each.currentCSSZoom * parseFloat(getComputedStyle(each).fontSize));
  const drawn = (each) => { const { a, b } = each.getScreenCTM(); return Math.round(size(each) * Math.hypot(a, b)); };
  const titled = document.getElementById("slide-title");
  return {
    number: document.getElementById("slide-number").textContent, over: Math.round(Math.max(0, ...over)),
    words: Math.min(1000, ...is("p:not(.kl-player *), li").map(size)),
    letters: Math.min(1000, ...is("svg[viewBox] text").filter((each) => each.textContent.trim()).map(drawn)),
    code: is(".jp-CodeCell .jp-InputArea").length, asks: is(".kl-how").length, told: is(".kl-verdict").length,
    refused: is("aside.reference, .exercise, .live-tools").length, is_empty: boxes.length === 0,
    title: titled.textContent, is_title_cut: titled.scrollWidth > titled.clientWidth,
  };
}"""


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


@pytest.mark.parametrize(
    ("name", "height"),
    [
        *(("01", 1080), ("09", 720)),
        *(pytest.param(each, 1080, marks=pytest.mark.nightly) for each in ("04", "06", "12", "15", "17")),
    ],
)
def test_a_lesson_is_at_most_25_slides_of_pictures_questions_and_answers(browser, tmp_path, name, height):
    shown = browser.new_page(viewport={"width": height * 16 // 9, "height": height})
    shown.goto(f"{written(name, tmp_path).as_uri()}#slides")
    shown.wait_for_selector("body.slides")
    count = shown.evaluate("kafkalearnSlides.count()")
    slides = [shown.evaluate(LOOKED_AT)]
    while not slides[-1]["number"].startswith(f"{count} "):
        shown.evaluate("(at) => kafkalearnSlides.turn(at)", int(slides[-1]["number"].split()[0]))
        slides.append(shown.evaluate(LOOKED_AT))

    assert 8 <= len(slides) == count <= 25
    words = 32 * height // 1080
    assert [each for each in slides if each["over"] > 1 or each["words"] < words] == []
    faults = ("code", "refused", "is_empty", "is_title_cut")
    assert [each for each in slides if any(each[fault] for fault in faults)] == []
    for before, after in pairwise(slides):
        assert before["asks"] == after["told"], "an answer comes right behind its question, and only there"
    predictions = "async () => (await window.kafkalearnAnswers?.read())?.record.predictions ?? {}"
    assert shown.evaluate(predictions) == {}, "what a class was asked aloud is nobody's prediction"
    shown.close()


def test_a_pictures_letters_grow_as_far_as_none_meets_another_and_are_as_drawn_after_the_slides(browser, tmp_path):
    shown = browser.new_page(viewport={"width": 1280, "height": 720})
    shown.goto(f"{written('08', tmp_path).as_uri()}#slides")
    shown.wait_for_selector("body.slides")
    shown.evaluate("kafkalearnSlides.turn(1); kafkalearnSlides.turn(2)")
    sizes = """() => [...document.querySelectorAll("main svg[viewBox] text")].filter((each) => each.checkVisibility())
      .map((each) => [each.textContent, parseFloat(getComputedStyle(each).fontSize), Number(each.getAttribute("font-size"))])"""  # noqa: E501
    grown = shown.evaluate(sizes)

    assert shown.evaluate(LOOKED_AT)["letters"] >= 20
    assert all(now >= drawn for _, now, drawn in grown)
    assert sum(now > drawn for _, now, drawn in grown) > len(grown) / 2
    assert shown.evaluate(MET) == []
    shown.locator("main .kl-player:visible [data-do=forward]").click()
    assert any(now > drawn for _, now, drawn in shown.evaluate(sizes)), "so do those of the next step"
    shown.keyboard.press("Escape")  # the player gives the keys back
    shown.keyboard.press("Escape")
    shown.wait_for_selector("body:not(.slides)")
    assert shown.locator("svg text[style*=font-size]").count() == 0
    shown.close()


# Texts of the pictures on show that lie on one another, by their middle halves.
MET = """() => [...document.querySelectorAll("main svg[viewBox]")].filter((each) => each.checkVisibility()).flatMap((svg) => {
  const boxes = [...svg.querySelectorAll("text")].filter((each) => each.textContent.trim()).map((each) => [each.textContent, each.getBoundingClientRect()]);
  const meets = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top + a.height / 4 < b.bottom - b.height / 4 && b.top + b.height / 4 < a.bottom - a.height / 4;
  return boxes.flatMap(([words, box], at) => boxes.slice(at + 1).filter(([, other]) => meets(box, other)).map(([others]) => [words, others]));
})"""  # noqa: E501


def test_a_picture_has_the_width_and_code_comes_by_its_key(browser, tmp_path):
    shown = browser.new_page(viewport={"width": 1920, "height": 1080})
    shown.goto(f"{written('09', tmp_path).as_uri()}#slides")
    shown.wait_for_selector("body.slides")
    shown.keyboard.press("ArrowRight")
    picture = shown.evaluate(LOOKED_AT)
    assert picture["letters"] >= 24
    shown.keyboard.press("c")
    assert shown.evaluate(LOOKED_AT)["code"] > 0
    assert shown.locator("main svg[viewBox]:visible").count() == 0
    shown.keyboard.press("c")
    assert shown.evaluate(LOOKED_AT) == picture
    shown.close()


# Of the pictures of the slide that is open, at every step: the letters below 24 pixels, as [step, pixels, words]; of a
# chart its smallest ones.
TOO_SMALL = """async (smallest) => {
  const drawn = async () => new Promise((then) => requestAnimationFrame(() => requestAnimationFrame(then)));
  const charts = [...document.querySelectorAll("main .jp-RenderedImage img")].filter((each) => each.checkVisibility())
    .map((each) => [0, Math.round(smallest * Math.min(each.clientWidth / each.getAttribute("width"), each.clientHeight / each.getAttribute("height"))), each.alt])
    .filter(([, size]) => size < 24);
  const small = (step) => [...document.querySelectorAll("main svg[viewBox] text")]
    .filter((each) => each.checkVisibility() && each.textContent.trim())
    .map((each) => { const { a, b } = each.getScreenCTM(), size = each.currentCSSZoom * parseFloat(getComputedStyle(each).fontSize);
      return [step, Math.round(size * Math.hypot(a, b)), each.textContent]; })
    .filter(([, size]) => size < 24);
  const found = [...charts, ...small(0)], bars = [...document.querySelectorAll("main .kl-bar input[type=range]")].filter((each) => each.checkVisibility());
  for (const bar of bars) for (let step = 1; step <= Number(bar.max); step++) {
    bar.value = step;
    bar.dispatchEvent(new Event("input", { bubbles: true }));
    await drawn();
    found.push(...small(step));
  }
  return found;
}"""  # noqa: E501


@pytest.mark.nightly
@pytest.mark.parametrize("name", sorted(path.stem.split("_")[0] for path in NOTEBOOKS.glob("*.ipynb")))
def test_letters_of_every_picture_at_every_step_have_24_pixels(browser, tmp_path, name):
    shown = browser.new_page(viewport={"width": 1920, "height": 1080})
    shown.goto(f"{written(name, tmp_path).as_uri()}#slides")
    shown.wait_for_selector("body.slides")
    found = {1: shown.evaluate(TOO_SMALL, SMALLEST * DPI / 72)}
    for at in range(1, shown.evaluate("kafkalearnSlides.count()")):
        shown.evaluate("(at) => kafkalearnSlides.turn(at)", at)
        found[at + 1] = shown.evaluate(TOO_SMALL, SMALLEST * DPI / 72)

    assert {slide: small[:3] for slide, small in found.items() if small} == {}
    shown.close()


def test_a_jump_over_a_question_shows_the_next_one_with_its_picture(browser, tmp_path):
    shown = browser.new_page(viewport={"width": 1920, "height": 1080})
    shown.goto(f"{written('05', tmp_path).as_uri()}#slides")
    shown.wait_for_selector("body.slides")
    shown.evaluate("kafkalearnSlides.turn(2)")

    assert shown.locator(".kl-how:visible").inner_text().startswith("Your prediction: click it in the picture")
    assert shown.locator("main svg[viewBox]:visible").count() == 1
    shown.keyboard.press("ArrowLeft")
    assert shown.locator(".kl-verdict:visible").count() == 1, "whose picture was shown, its answer is told"
    shown.close()


NUMBER = "() => document.getElementById('slide-number').textContent.split(' ')[0]"


def test_keys_and_clicks_turn_slides_and_what_has_a_use_of_its_own_keeps_it(browser, tmp_path):
    shown = browser.new_page(viewport={"width": 1280, "height": 720})
    address = f"{written('01', tmp_path).as_uri()}#slides"
    shown.goto(address)
    shown.wait_for_selector("body.slides")
    last = shown.evaluate("String(kafkalearnSlides.count())")
    assert "→" in shown.locator(".slides-hint").inner_text()
    there = []
    for key in ("ArrowRight", " ", "PageDown", "ArrowLeft", "Shift+ ", "End", "Home", "ArrowLeft", "n", "b"):
        shown.keyboard.press(key.replace(" ", "Space"))
        there.append(shown.evaluate(NUMBER))
    assert there == ["2", "3", "4", "3", "2", last, "1", "1", "2", "1"]
    assert shown.locator(".slides-hint").count() == 0, "it was said once"
    shown.mouse.click(640, 600)
    assert shown.evaluate(NUMBER) == "2"

    for part in (".kl-predict .kl-option", ".kl-player"):
        at = shown.evaluate(
            "(part) => { for (let at = 0; at < kafkalearnSlides.count(); at++) { kafkalearnSlides.turn(at);"
            " if ([...document.querySelectorAll(part)].some((each) => each.checkVisibility())) return at + 1; } }",
            part,
        )
        shown.locator(part).locator("visible=true").first.click()
        assert shown.evaluate(NUMBER) == str(at), part
    shown.keyboard.press("Escape")  # the player gives the keys back
    shown.keyboard.press("Escape")
    shown.wait_for_selector("body:not(.slides)")
    shown.mouse.click(640, 600)
    assert shown.locator("body.slides").count() == 0

    shown.goto("about:blank")
    shown.goto(address)
    shown.wait_for_selector("body.slides")
    assert shown.locator(".slides-hint").count() == 0, "nor is it said at the next visit"
    shown.close()


def test_axe_finds_nothing_on_slides_and_each_has_one_heading_of_the_page(browser, tmp_path):
    context = browser.new_context(viewport={"width": 1920, "height": 1080}, bypass_csp=True)
    shown = context.new_page()
    shown.goto(f"{written('01', tmp_path).as_uri()}#slides")
    shown.wait_for_selector("body.slides")
    found = []
    for at in range(0, shown.evaluate("kafkalearnSlides.count()"), 3):
        shown.evaluate("(at) => kafkalearnSlides.turn(at)", at)
        violations = Axe().run(shown).response["violations"]
        found += [(at, each["id"], each["nodes"][0]["html"][:200]) for each in violations]
        headings = shown.get_by_role("heading", level=1)
        assert [each.is_visible() for each in headings.all()].count(True) == 1, at
    assert found == []
    context.close()


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
