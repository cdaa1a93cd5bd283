"""A chapter as slides at 1920 x 1080: each fits, can be read from the last row, and shows nothing but the lesson."""

from __future__ import annotations

import nbformat
import pytest

from kafkalearn.base.marked import Marked
from kafkalearn.base.tables import html_table
from tests.browser.conftest import NOTEBOOKS
from tools.book import instructor
from tools.book.chapter import Chapter, page

pytestmark = pytest.mark.browser

# Of each slide: how far it goes over the screen, its smallest letters of words and of code, and what is on no slide.
LOOKED_AT = """() => [...Array(kafkalearnSlides.count()).keys()].map((at) => {
  kafkalearnSlides.show(at);
  const isShown = (each) => each.getClientRects().length && !each.closest("svg *, .for-slides");
  const titled = document.getElementById("slide-title");
  const shown = [...document.querySelectorAll("main *")].filter(isShown);
  const is = (chosen) => shown.filter((each) => each.matches(chosen));
  const boxes = shown.map((each) => each.getBoundingClientRect()).filter((box) => box.width > 1 && box.height > 1);
  const over = boxes.map((box) => Math.max(box.bottom - innerHeight, box.right - innerWidth, -box.left, -box.top));
  const size = (each) => Math.round(each.currentCSSZoom * parseFloat(getComputedStyle(each).fontSize));
  const letters = (chosen) => Math.min(1000, ...is(chosen).map(size));
  return {
    at, over: Math.round(Math.max(0, ...over)), words: letters("p:not(.kl-player *), li, td"), code: letters("pre"),
    asserts: is(".jp-InputArea pre").filter((each) => /^assert /m.test(each.textContent)).length,
    refused: is("aside.reference, .kl-folded-code, .exercise, .live-tools").length, is_empty: shown.length === 0,
    begins: document.querySelector("main").innerText.trim().split("\\n")[0],
    items: is("ol > li").length,
    title: titled.textContent, is_title_cut: titled.scrollWidth > titled.clientWidth, rows: is("tbody > tr").length,
    text: document.querySelector("main").innerText,
  };
})"""

# In how many lines words stand that are a cell of a table.
LINES_OF = """(words) => Object.fromEntries(words.map((each) => {
  const cell = [...document.querySelectorAll("td")].find((cell) => cell.checkVisibility() && cell.textContent === each);
  const range = document.createRange();
  range.selectNodeContents(cell);
  const tops = [...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => Math.round(top));
  return [each, new Set(tops).size];
}))"""


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


def made(folder, *cells):
    """A page of made-up cells: words are Markdown; code is a pair of itself and its outputs."""
    new, notebook = nbformat.v4, nbformat.v4.new_notebook()
    for number, cell in enumerate(cells):
        words = isinstance(cell, str)
        each = new.new_markdown_cell(cell) if words else new.new_code_cell(cell[0], outputs=cell[1], execution_count=1)
        each.id = f"made-{number}"
        notebook.cells.append(each)
    path = folder / "made.html"
    path.write_text(page(notebook, Chapter(NOTEBOOKS / "99_made.ipynb", cells[0]), ""), encoding="utf-8")
    return path


def printed(text):
    return [nbformat.v4.new_output("stream", name="stdout", text=text)]


def tabled(columns, rows):
    html = html_table(columns, None, rows)
    return [nbformat.v4.new_output("execute_result", {"text/html": html, "text/plain": "a table"}, execution_count=1)]


def test_slides_are_cut_where_an_idea_ends(browser, tmp_path):
    incident = "**03:10, the shop.** Nobody knows what happened here, and the next one is due in four minutes. " * 6
    abilities = "\n".join(f"{number}. say what happened, and to whom of those who wait," for number in range(1, 6))
    line = "shipping   orders   1   2   3   " * 4 + "consumer-1   /10.0.0.7"  # 150 characters: 136 have room
    line += " " * 9  # which need none
    claim = Marked("`acks=all` keeps *every* record, whatever happens to the brokers that have it")
    claims = [[claim, "no " * 40]] * 5
    names = [["NotEnoughReplicasAfterAppendException", "because it is so " * 6, "nobody knows " * 6]] * 13
    moments = [["2026-03-01 00:00:06.837000", "CompletingRebalance", "consumer-1", "because it is so " * 3]] * 3
    groups = [["mail-prod-us-east-1-166652", 60, 4_888_462, 300_098, 7296, "poll interval exceeded"]] * 4
    bar = nbformat.v4.new_output("display_data", {"text/plain": "the orders"})
    path = made(
        tmp_path,
        f"# 99 · {'How long may a title of a chapter be, and ' * 2}who sees its end?\n\n{incident}\n\n"
        f"After this chapter you can\n\n{abilities}\n\nand you can tell the team.",
        ("from kafkalearn import find\nfrom kafkalearn.views import (\n    play,\n)", []),
        "## 1 What a tool prints",
        ("print(described)", printed(f"{line}\n{line}\n")),
        "## 2 A bar",
        ("with progress_bar('the orders') as update:\n    count(update)", [bar, *printed("12\n")]),
        "## What the articles say",
        ('table(claims("99"))', tabled(["you may have read", "true today"], claims)),
        "## Long names",
        ("first = 1\nsecond = 2\ntable(errors)", tabled(["class", "why", "and"], names)),
        "## Names beside sentences",
        ("table(moments)", tabled(["at", "event", "member", "reason"], moments)),
        "## Names that have room",
        ("table(groups)", tabled(["group", "rebalance_count", "standstill_ms", "longest", "hours", "trouble"], groups)),
        "## Bytes",
        ("table(values)", tabled(["release", "bytes", "value"], [["4: since 4.1", 42, "0a" * 42]] * 3)),
        "## Lines between words",
        f"It prints\n\n    {'shipping ' * 12}\n\n| command |\n| --- |\n| `{'kafka --replication-factor 1 ' * 9}` |",
    )
    shown = browser.new_page(viewport={"width": 1920, "height": 1080})
    shown.goto(f"{path.as_uri()}#slides")
    shown.wait_for_selector("body.slides")
    slides = shown.evaluate(LOOKED_AT)
    by_title = {}
    for each in slides:
        by_title.setdefault(each["title"], []).append(each)

    assert [each for each in slides if each["over"] > 1 or each["is_title_cut"] or each["words"] < 32] == []
    assert slides[1]["items"] == 5
    assert "tell the team" in slides[1]["text"], "the last sentence stays with its list"
    assert not any("import" in each["text"] for each in slides), "who only imports shows nothing"
    assert not any("the orders" in each["text"].replace("'the orders'", "") for each in slides), "nor does a bar"
    (articles,) = by_title["What the articles say"]  # the call alone has no slide
    assert articles["rows"] == 5
    assert not set("`*") & set(articles["text"])
    assert len(by_title["Long names"]) > 1
    rows = [each["rows"] for each in by_title["Long names"]]
    assert sum(rows) == 13
    assert min(rows) > 1, "no row is left alone"
    for title, whole in (("Names beside sentences", moments[0][:3]), ("Names that have room", groups[0][::5])):
        (slide,) = by_title[title]
        shown.evaluate("(at) => kafkalearnSlides.show(at)", slide["at"])
        assert shown.evaluate(LINES_OF, whole) == dict.fromkeys(whole, 1), "a name is not broken where sentences can be"
    shown.evaluate("(at) => kafkalearnSlides.show(at)", by_title["Lines between words"][0]["at"])
    lines = shown.locator("main pre:visible, span.kept-whole:visible").evaluate_all(
        "(all) => all.map((each) => Math.round(each.offsetHeight / parseFloat(getComputedStyle(each).lineHeight)))"
    )
    assert lines == [1] * 10, "no line is broken, and no option"
    shown.evaluate("(at) => kafkalearnSlides.show(at)", by_title["1 What a tool prints"][0]["at"])
    lines, letters = shown.locator(".jp-OutputArea-output > pre:visible").evaluate(
        "(pre) => [pre.clientHeight / parseFloat(getComputedStyle(pre).lineHeight),"
        " parseFloat(getComputedStyle(pre).fontSize)]"
    )
    assert lines < 2.9, "each printed line is one line"
    assert letters >= 22
    shown.evaluate("(at) => kafkalearnSlides.show(at)", by_title["2 A bar"][0]["at"])
    top, bottom = shown.evaluate(
        "(() => { const boxes = [...document.querySelectorAll('main pre')].map((each) => each.getBoundingClientRect())"
        ".filter(({ height }) => height); return [boxes[0].top, boxes.at(-1).bottom]; })()"
    )
    assert abs((top + bottom) / 2 - (90 + 1080) / 2) < 60, "what is enlarged stands in the middle"
    shown.close()


@pytest.mark.parametrize(
    ("name", "height"),
    [
        *(("01", 1080), ("12", 1080), ("09", 720)),
        *(pytest.param(each, 1080, marks=pytest.mark.nightly) for each in ("06", "07", "15")),
    ],
)
def test_nothing_overflows_and_all_can_be_read(browser, tmp_path, name, height):
    shown = browser.new_page(viewport={"width": height * 16 // 9, "height": height})
    shown.goto(f"{written(name, tmp_path).as_uri()}#slides")
    shown.wait_for_selector("body.slides")
    before = shown.evaluate("kafkalearnSlides.count()")
    shown.evaluate("document.querySelectorAll('.kl-show-me').forEach((each) => each.click())")
    shown.wait_for_function("(before) => kafkalearnSlides.count() > before", arg=before)
    slides = shown.evaluate(LOOKED_AT)

    words, code = 32 * height // 1080, 22 * height // 1080
    assert len(slides) > 50
    assert [each for each in slides if each["over"] > 1 or each["words"] < words or each["code"] < code] == []
    assert slides[1]["begins"].endswith("you can"), "what you can do afterwards is one slide"
    assert slides[1]["items"] >= 3
    faults = ("refused", "asserts", "is_empty", "is_title_cut")
    assert [each for each in slides if any(each[fault] for fault in faults)] == []
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
            "(part) => { for (let at = 0; ; at++) { kafkalearnSlides.show(at);"
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
