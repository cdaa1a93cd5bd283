"""Finding one's way, small screens, dark rooms and paper: index, contents, search, and what axe-core finds."""

from __future__ import annotations

import re
from itertools import cycle
from pathlib import Path
from urllib.parse import unquote

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.book.browsers import ChromiumPage, chromium, wait_for

pytestmark = pytest.mark.browser
PAGES = ("01_coordinator", "index", "progress", "class", "search", "playground")
OTHERS = (
    "01_coordinator.instructor",
    "reference/kafkalearn.coordinator",
    "reference/kafkalearn",
    "answers",
    "glossary",
)
SMALL_AND_DARK, WIDE_AND_LIGHT = (390, "dark"), (1280, "light")
# A chapter in both; of the other kinds of pages one in each, and at night the other way round.
LOOKS = [(page, *look) for page, look in zip((*PAGES, *OTHERS), cycle((SMALL_AND_DARK, WIDE_AND_LIGHT)))]
OTHER_WAY = [(page, *(SMALL_AND_DARK if look == list(WIDE_AND_LIGHT) else WIDE_AND_LIGHT)) for page, *look in LOOKS]


@pytest.fixture(scope="module")
def browser():
    with chromium() as page:
        yield page.page.context.browser


def opened(browser, made_book, page, **options) -> ChromiumPage:
    shown = ChromiumPage(browser.new_context(offline=True, bypass_csp=True, **options).new_page())
    shown.open((made_book / f"{page}.html").as_uri())
    return shown


@pytest.mark.parametrize(
    ("page", "width", "scheme"),
    [*LOOKS, OTHER_WAY[0], *(pytest.param(*each, marks=pytest.mark.nightly) for each in OTHER_WAY[1:])],
)
def test_axe_finds_nothing_and_no_page_is_wider_than_its_screen(browser, made_book, page, width, scheme):
    shown = opened(browser, made_book, page, viewport={"width": width, "height": 844}, color_scheme=scheme)
    wait_for(
        shown, "() => !document.querySelector('.exercise[data-exercise]') || document.documentElement.dataset.answers"
    )
    shown.run("""() => {
        document.querySelector(".exercise [data-do=change]")?.click();
        document.querySelectorAll(".kl-show-me").forEach((each) => each.click());
        document.querySelectorAll("details").forEach((each) => { each.open = true; });
        document.querySelectorAll("section.part").forEach((each) => { each.hidden = false; });
        document.querySelectorAll(".pdoc input[type=checkbox]").forEach((each) => { each.checked = true; });
    }""")
    # Hints and solutions that unfold are noted, each by a frame that comes and goes.
    wait_for(shown, "async () => { await window.kafkalearnAnswers?.read(); return !document.querySelector('iframe'); }")
    assert shown.seen.errors == []  # axe's own requests, for style sheets, are refused and said in the console

    found = Axe().run(shown.page).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"][:200]) for each in found] == []
    assert shown.run("() => document.documentElement.scrollWidth") <= width
    shown.page.context.close()


def test_on_a_phone_a_picture_keeps_a_size_that_can_be_read_and_pans(browser, made_book):
    shown = opened(browser, made_book, "01_coordinator", viewport={"width": 390, "height": 844})
    widths = shown.run("""() => {
        document.querySelectorAll(".kl-show-me").forEach((each) => each.click());
        const stage = document.querySelector(".kl-stage");
        return [stage.clientWidth, stage.scrollWidth];
    }""")

    assert widths[0] < 390 < 700 < widths[1]
    shown.page.context.close()


PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def test_on_a_phone_no_letter_is_small_and_what_is_wide_scrolls_and_fades(browser, made_book):
    shown = opened(browser, made_book, "02_partitioner", **PHONE)
    wait_for(shown, "() => document.querySelector('.kl-player .kl-bar')")
    shown.run("() => document.querySelectorAll('.kl-show-me').forEach((each) => each.click())")
    letters = """() => [...document.querySelectorAll("svg text")].filter((each) => each.checkVisibility())
        .map((each) => parseFloat(getComputedStyle(each).fontSize) * each.getScreenCTM().a)"""
    assert min(shown.run(letters)) > 11
    charts = """() => [...document.querySelectorAll(".jp-RenderedImage img")].filter((each) => each.checkVisibility())
        .map((each) => each.getBoundingClientRect().width / each.getAttribute("width"))"""
    assert min(shown.run(charts)) > 0.7  # drawn with letters of 15 pixels and more

    wide = """() => [...document.querySelectorAll(".highlight pre")].filter((each) =>
        each.checkVisibility() && each.scrollWidth > each.clientWidth + 1)"""
    edges = f"() => ({wide})().map((each) => [each.scrollLeft, each.tabIndex, each.className])"
    assert {tuple(each) for each in shown.run(edges)} == {(0, 0, "kl-more-right")}
    shown.run(f"() => ({wide})().forEach((each) => {{ each.scrollLeft = each.scrollWidth; }})")
    wait_for(shown, f"() => ({wide})().every((each) => each.scrollLeft > 0 && each.className === 'kl-more-left')")
    shown.page.context.close()


def test_on_a_phone_a_small_picture_is_as_drawn_and_a_players_bar_is_one_row(browser, made_book):
    shown = opened(browser, made_book, "01_coordinator", **PHONE)
    wait_for(shown, "() => document.querySelector('.kl-player .kl-bar')")
    bars = """() => {
        document.querySelectorAll(".kl-show-me").forEach((each) => each.click());
        const seen = [...document.querySelectorAll(".kl-bar")].filter((each) => each.checkVisibility());
        const parts = (bar) => [...bar.children].filter((each) => each.checkVisibility()).map((each) => each.getBoundingClientRect());
        const isRow = (boxes) => Math.max(...boxes.map(({ top }) => top)) < Math.min(...boxes.map(({ bottom }) => bottom));
        return seen.map((bar) => [isRow(parts(bar)), parts(bar).at(-1).right <= innerWidth]);
    }"""  # noqa: E501
    assert {tuple(each) for each in shown.run(bars)} == {(True, True)}
    small = """() => {
        const stage = [...document.querySelectorAll(".kl-stage")].find((each) => each.checkVisibility());
        stage.innerHTML = '<svg viewBox="0 0 400 200"></svg>';
        dispatchEvent(new Event("resize"));
        return [stage.clientWidth, stage.firstChild.getBoundingClientRect().width];
    }"""
    stage, drawn = shown.run(small)
    assert stage < 390 < drawn == 400
    shown.page.context.close()


def test_a_step_asks_for_a_size_only_where_the_picture_is_wider_than_its_stage(browser, made_book):
    """To ask for a size makes the browser lay the page out at once, so that a step takes twice as long."""
    step = """() => {
        const stage = document.querySelector(".kl-stage"), asked = [];
        const player = stage.closest(".kl-player");
        Object.defineProperty(stage, "getBoundingClientRect", {
            value: () => { asked.push(1); return Element.prototype.getBoundingClientRect.call(stage); } });
        for (const name of ["scrollWidth", "clientWidth"])
            Object.defineProperty(stage, name, { get: () => { asked.push(1); return 0; } });
        player.querySelector("[data-do=last]").click();
        return [player.querySelector(".kl-bar output").textContent, asked.length > 0];
    }"""
    for how, asks in (({"viewport": {"width": 1280, "height": 900}}, False), (PHONE, True)):
        shown = opened(browser, made_book, "01_coordinator", **how)
        shown.run("() => document.querySelectorAll('.kl-show-me').forEach((each) => each.click())")
        shown.run("() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))")
        count, has_asked = shown.run(step)
        assert count.split()[0] == count.split()[-1]
        assert has_asked == asks
        shown.page.context.close()


def test_a_place_to_touch_goes_with_its_picture_and_a_word_keeps_the_keys(browser, made_book):
    shown = opened(browser, made_book, "index", **PHONE)
    run = "Produce+%3E+Fetch(2)+%3E+Fetch(3)"
    shown.open((made_book / "playground.html").as_uri() + f"#touch.touched?board=replication&line={run}")
    wait_for(shown, "() => document.querySelector('#touch .kl-place') && document.querySelector('#touch .kl-word')")
    away = """() => [...document.querySelectorAll("#touch .kl-place")].map((each) => {
        const texts = [...document.querySelectorAll("#touch .kl-stage text")];
        const label = texts.find((text) => text.textContent.trim() === each.dataset.place);
        return label.getBoundingClientRect().left - each.getBoundingClientRect().left;
    })"""
    before = shown.run(away)
    shown.run("() => { document.querySelector('#touch .kl-stage').scrollLeft = 150; }")
    wait_for(shown, "() => document.querySelector('#touch .kl-over').style.transform === 'translateX(-150px)'")
    assert shown.run(away) == pytest.approx(before)
    sizes = """() => [...document.querySelectorAll("#touch .kl-place, #touch .kl-bar button, #touch .kl-moves button")]
        .filter((each) => each.checkVisibility()).map((each) => Math.min(each.offsetWidth, each.offsetHeight))"""
    assert min(shown.run(sizes)) >= 24

    shown.page.focus("#touch .kl-word")
    shown.page.keyboard.press("ArrowLeft")
    wait_for(shown, "() => document.querySelector('#touch .kl-bar output').textContent === '2 of 3'")
    assert shown.run("() => document.querySelector('#touch .kl-player').contains(document.activeElement)")
    shown.page.context.close()


def test_a_word_of_the_glossary_is_explained_by_key_and_by_finger(browser, made_book):
    shown = opened(browser, made_book, "01_coordinator", **PHONE)
    word = "abbr.term"
    is_told = """() => {
        const word = document.querySelector("abbr.term"), meaning = word.nextElementSibling;
        const isOpen = word.getAttribute("aria-expanded") === "true";
        return isOpen === meaning.checkVisibility() && [isOpen, meaning.textContent.includes(word.title.slice(0, 20))];
    }"""
    shown.page.focus(word)
    assert shown.run(is_told) == [False, True]
    for key, is_open in (("Enter", True), ("Escape", False), ("Space", True), ("Space", False)):
        shown.page.keyboard.press(key)
        assert shown.run(is_told) == [is_open, True], key
    shown.page.tap(word)
    assert shown.run(is_told) == [True, True]
    assert shown.run("() => document.documentElement.scrollWidth") == 390
    shown.page.context.close()


def test_on_paper_a_player_is_its_stills_and_no_button_is_printed(browser, made_book):
    shown = opened(browser, made_book, "01_coordinator")
    wait_for(shown, "() => document.querySelector('.kl-player .kl-bar')")
    visible = """(selector) => [...document.querySelectorAll(selector)].some((each) => each.offsetHeight > 0)"""
    assert not shown.run(visible, "img.on-paper")
    in_place = """() => [...document.querySelectorAll("[data-after]")].map((each) => each.previousSibling?.nodeName)"""
    before = shown.run(in_place)
    shown.page.pdf()
    assert shown.run(in_place) == before
    assert len(before) > 40
    assert shown.seen.errors == []

    shown.run("() => dispatchEvent(new Event('beforeprint'))")
    shown.page.emulate_media(media="print")
    at_the_end = shown.run("""() => [...document.querySelectorAll("[data-after]")].filter((each) => {
        const end = each.closest(".kl-paper"), next = end?.nextElementSibling;
        const isLast = !next || next.querySelector("h1, h2") || !next.classList.contains("book-cell");
        return end && each.checkVisibility() && isLast;
    }).length""")
    assert at_the_end == len(before)
    assert shown.run("() => document.querySelectorAll('.kl-on-paper').length") == shown.run(
        "() => document.querySelectorAll('[data-asks]').length"
    )
    assert shown.run(visible, "img.on-paper")
    assert shown.run("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    wraps = "() => [...document.querySelectorAll('.highlight pre')].map((each) => getComputedStyle(each).whiteSpace)"
    assert set(shown.run(wraps)) == {"pre-wrap"}
    wider = "() => [...document.querySelectorAll('.highlight pre')].some((each) => each.scrollWidth > each.clientWidth)"
    assert not shown.run(wider)
    for hidden in (
        ".book-cell .kl-player:has(+ .on-paper)",
        ".kl-bar",
        ".kl-touched .kl-controls",
        ".live-bar",
        ".navigation",
        ".live-tools",
    ):
        assert not shown.run(visible, hidden), hidden
    shown.page.context.close()


def test_a_dark_page_is_dark_and_a_light_one_light(browser, made_book):
    for scheme, is_dark in (("dark", True), ("light", False)):
        for page in (*PAGES, *OTHERS):
            shown = opened(browser, made_book, page, color_scheme=scheme)
            colour = shown.run("() => getComputedStyle(document.body).backgroundColor")
            red = int(colour.strip("rgba() ").split(",")[0])
            assert (red < 60) is is_dark, (page, scheme, colour)
            shown.page.context.close()


def test_the_contents_lead_to_each_heading_of_the_page(browser, made_book):
    shown = opened(browser, made_book, "01_coordinator")
    links = shown.run("""() => [...document.querySelectorAll(".contents a")].map((each) =>
        [each.textContent, Boolean(document.getElementById(decodeURIComponent(each.hash.slice(1))))])""")

    assert all(is_there for _, is_there in links)
    assert {"2 Four formulas, one truth", "Exercises", "Exercise 8"} <= {words for words, _ in links}
    shown.page.context.close()


def test_each_name_of_a_chapter_leads_to_its_place_in_the_reference(browser, made_book):
    shown = opened(browser, made_book, "01_coordinator")
    found = shown.run(
        "() => [...document.querySelectorAll('.reference a')].map((each) => [each.textContent, each.href])"
    )
    shown.page.context.close()

    assert {"find_coordinator", "offsets_partition", "play", "with_coordinator"} <= {name for name, _ in found}
    for name, address in found:
        path, _, anchor = address.removeprefix("file://").partition("#")
        text = Path(unquote(path)).read_text(encoding="utf-8")
        assert not anchor or f'id="{anchor}"' in text, name


def test_the_search_finds_a_section_and_leads_to_it(browser, made_book):
    shown = opened(browser, made_book, "search")
    shown.run("""() => {
        const field = document.querySelector("input[type=search]");
        field.value = "absolute value sign bit";
        field.dispatchEvent(new Event("input", { bubbles: true }));
    }""")

    found = shown.run("""() => [...document.querySelectorAll("#results a")].map((each) => each.getAttribute("href"))""")
    assert any(each.startswith("01_coordinator.html#2-Four-formulas") for each in found)
    assert shown.run("() => document.querySelectorAll('#results mark').length") > 3
    shown.page.click("#results a")
    wait_for(shown, "() => location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)))?.id")
    shown.page.context.close()


SEARCHED = """(words) => {
    const field = document.querySelector("input[type=search]"), text = (each) => each.textContent;
    field.value = words;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    const shown = [...document.querySelectorAll("#results a")];
    return {
        said: document.getElementById("count").textContent,
        kinds: [...document.querySelectorAll("#results h2")].map(text),
        files: shown.map((each) => each.getAttribute("href").split("#")[0]),
        excerpts: [...document.querySelectorAll("#results p")].map(text),
    };
}"""


def test_the_search_has_chapters_first_and_takes_a_word_that_is_nowhere_for_the_nearest(browser, made_book):
    shown = opened(browser, made_book, "search")
    right = shown.run(SEARCHED, "coordinator")
    first = [each for each in right["files"] if not re.search(r"/|\.instructor\.html", each)]
    assert right["files"][: len(first)] == first
    assert [each.split(":")[0] for each in right["kinds"]] == ["In the chapters", "Reference", "For the instructor"]
    assert [each for each in right["excerpts"] if re.search(r"-{5}|Parameters -", each)] == []

    for typed in ("coordnator", "cooridnator", "coordinatr"):
        found = shown.run(SEARCHED, typed)
        assert f"Nothing has “{typed}”: taken for coordinator." in found["said"]
        assert found["files"] == right["files"]
    nothing = shown.run(SEARCHED, "xyzzyqq")
    assert (nothing["said"], nothing["files"]) == ("0 sections.", [])
    shown.page.context.close()


def test_a_visit_leads_to_where_the_last_one_stopped(browser, made_book):
    is_read = "() => document.documentElement.dataset.places === 'read'"
    words = "() => document.querySelector('.stopped')?.textContent"
    heading = "document.querySelector('[id^=\"2-Four-formulas\"]')"
    is_shown = f"() => Math.abs({heading}.getBoundingClientRect().top) < innerHeight / 2"
    shown = opened(browser, made_book, "01_coordinator")
    wait_for(shown, is_read)
    assert shown.run(words) is None  # the first visit
    shown.run(f"() => {heading}.scrollIntoView()")
    kept = "async () => (await window.kafkalearnAnswers.read()).places['01_coordinator.html']?.anchor"
    wait_for(shown, f"{kept}?.startsWith('2-Four')")

    shown.open((made_book / "index.html").as_uri())
    wait_for(shown, "() => document.documentElement.dataset.answers === 'read'")
    assert shown.run("() => document.getElementById('go-on').textContent").endswith("at 2 Four formulas, one truth")
    shown.page.click("#go-on a")
    wait_for(shown, is_shown)

    shown.open("about:blank")
    shown.open((made_book / "01_coordinator.html").as_uri())
    wait_for(shown, is_read)
    assert shown.run(words) == "You stopped at 2 Four formulas, one truth"
    line = "getComputedStyle(document.querySelector('.stopped a')).textDecorationLine"
    assert shown.run(f"() => {line}") == "underline", "a link in a sentence is not told by its colour alone"
    shown.page.click(".stopped a")
    wait_for(shown, is_shown)
    assert shown.seen.errors == []
    shown.page.context.close()


def test_the_index_shows_code_as_code(browser, made_book):
    shown = opened(browser, made_book, "index")

    assert "`" not in shown.run("() => document.body.textContent")
    shown.page.context.close()


def test_the_source_in_the_reference_is_opened_by_key_and_its_switch_is_seen(browser, made_book):
    shown = opened(browser, made_book, "reference/kafkalearn.coordinator")
    shown.page.focus("#find_coordinator-view-source")
    outline = "() => getComputedStyle(document.querySelector('[for=find_coordinator-view-source]')).outlineStyle"
    shown.page.keyboard.press("Tab")
    shown.page.keyboard.press("Shift+Tab")
    assert shown.run(outline) == "solid"
    code = "() => document.querySelector('#find_coordinator > .pdoc-code').checkVisibility()"
    assert not shown.run(code)
    shown.page.keyboard.press("Space")
    assert shown.run(code)

    shown.page.set_viewport_size({"width": 390, "height": 844})
    shown.run("() => { document.querySelector('.docstring p').textContent = 'kafkalearn' + '.long_name'.repeat(8); }")
    assert shown.run("() => document.documentElement.scrollWidth") == 390
    shown.page.context.close()


def test_an_exercise_is_done_by_keys_alone(browser, made_book):
    shown = opened(browser, made_book, "01_coordinator")
    keys = shown.page.keyboard
    wait_for(shown, "() => document.documentElement.dataset.answers")
    box = "[data-exercise='01.overflow_id']"
    active = "() => [document.activeElement.textContent.trim(), document.activeElement.getAttribute('aria-label')]"
    shown.page.focus(f"{box} [data-do=change]")
    keys.press("Enter")
    wait_for(shown, "() => document.activeElement.matches('.ace_text-input')")
    assert "Your answer to Exercise" in shown.run(active)[1]
    keys.type("# mine")
    keys.press("Tab")  # in the text it indents
    assert shown.run("() => document.activeElement.matches('.ace_text-input')")
    keys.press("Escape")
    assert shown.run(active)[1].endswith("Enter to write, Escape and Tab to go on")
    keys.press("Tab")
    assert shown.run(active)[0] == "Check"
    keys.press("Tab")
    assert shown.run(active)[0] == "Reset"
    keys.press("Tab")
    keys.press("Enter")
    assert shown.run("() => document.activeElement.parentElement.open")
    for _ in range(3):
        keys.press("Shift+Tab")
    keys.press("Enter")
    wait_for(shown, "() => document.activeElement.matches('.ace_text-input')")
    shown.page.context.close()
