"""A picture of a chapter is touched in the book, in both browsers: by its parts, by keys, and with things that move."""

from __future__ import annotations

import pytest

from tests.book.browsers import Shown, wait_for

pytestmark = pytest.mark.browser

LINE = """() => document.querySelector("#touch .kl-controls input").value"""
PRESSED = """(selector) => {
    const found = document.querySelector(`#touch ${selector}`);
    found?.focus();
    found?.click();
    return Boolean(found);
}"""


@pytest.fixture(scope="module")
def playground(shown: Shown, made_book) -> Shown:
    """A run that was kept as an address."""
    address = "#touch.touched?board=replication&line=Produce+%3E+Fetch(2)"
    shown.open((made_book / "playground.html").as_uri() + address)
    wait_for(shown, "() => document.querySelector('#touch .kl-place') !== null")
    return shown


def test_a_broker_that_is_clicked_offers_what_may_happen_and_dies(playground):
    assert playground.run(LINE) == "Produce > Fetch(2)"
    wait_for(playground, PRESSED, '[data-place="broker 1"]')
    offered = """() => [...document.querySelectorAll("#touch .kl-menu strong")].map((each) => each.textContent)"""
    assert playground.run(offered) == ["BrokerCrashed(1)"]
    focused = """() => document.activeElement.dataset.move"""
    assert playground.run(focused) == "BrokerCrashed(1)"

    wait_for(playground, PRESSED, ".kl-menu button")
    wait_for(playground, "(line) => document.querySelector('#touch .kl-controls input').value === line",
             "Produce > Fetch(2) > BrokerCrashed(1)")  # fmt: skip
    wait_for(playground, """() => document.querySelector("#touch .kl-word")?.dataset.thing === "broker 1\"""")
    lit = """() => {
        document.querySelector("#touch .kl-word").dispatchEvent(new Event("focus"));
        return document.querySelectorAll("#touch .kl-lit").length;
    }"""
    assert playground.run(lit) == 1
    assert "BrokerCrashed" in playground.run("() => location.hash")


def test_things_move_to_the_next_step_and_not_back_and_not_when_the_reader_says_so(playground):
    """The frame on show is the next one at once; what moves lies over it, and ends by itself or when it is stopped."""
    count = """(name) => {
        document.querySelector(`#touch [data-do=${name}]`).click();
        return new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => resolve(
            document.querySelector("#touch .kl-stage svg").getAnimations({ subtree: true }).length))));
    }"""
    still = """(isStill) => {
        const motion = document.querySelector("#touch .kl-motion");
        if ((motion.getAttribute("aria-pressed") === "false") !== isStill) motion.click();
    }"""
    playground.run(still, False)
    playground.run(count, "first")
    assert playground.run(count, "forward") > 0
    assert playground.run(count, "back") == 0
    playground.run(still, True)
    assert playground.run(count, "forward") == 0
    assert playground.seen.errors == []


def test_a_word_that_means_a_colour_of_the_picture_has_that_colour(playground):
    said = """() => {
        document.querySelector("#touch [data-do=first]").click();
        const word = document.querySelector("#touch .kl-said");
        const drawn = document.querySelector("#touch svg text[fill='#0b5394']");
        return word && [word.textContent, getComputedStyle(word).color === getComputedStyle(drawn).fill];
    }"""
    assert wait_for(playground, said) == ["leads", True]
    sentence = "() => document.querySelector('#touch .kl-caption').textContent"
    assert playground.run(sentence).startswith("Broker 1 leads, epoch 0")


def test_a_partition_looks_like_its_log_and_a_move_pressed_before_another_has_come_goes_after_it(shown, made_book):
    shown.open((made_book / "index.html").as_uri())  # the same page with another hash is not loaded anew
    line = "a+sends+to+orders-0"
    shown.open((made_book / "playground.html").as_uri() + f"#touch.touched?board=transactions&line={line}")
    named = """() => {
        const word = document.querySelector("#touch .kl-word.kl-row");
        if (!word) return null;
        word.dispatchEvent(new Event("focus"));
        const wide = (each) => each.getBoundingClientRect().width;
        const log = Math.max(...[...document.querySelectorAll("#touch .kl-stage svg line")].map(wide));
        const share = wide(document.querySelector("#touch .kl-lit")) / log;
        return [word.textContent, getComputedStyle(word).borderBottomStyle, share];
    }"""
    name, below, share = wait_for(shown, named)
    assert (name, below) == ("orders-0", "solid")
    assert share > 1  # its name and all of its log
    field = """() => {
        const run = document.querySelector("#touch .kl-controls input[type=text]");
        return run.clientWidth >= run.scrollWidth && run.parentNode.getBoundingClientRect().height < 50;
    }"""
    assert shown.run(field)  # the whole run is seen, its name beside it

    twice = """() => {
        const move = document.querySelector("#touch .kl-moves [data-move='a sends to orders-1']");
        move.click();
        move.click();
    }"""
    shown.run(twice)
    there = """() => document.querySelectorAll("#touch .kl-word").length
        && document.querySelector("#touch .kl-bar output").textContent === "3 of 3"
        && document.querySelector("#touch .kl-controls input").value"""
    assert wait_for(shown, there).split(" > ") == ["a sends to orders-0", *["a sends to orders-1"] * 2]
    assert shown.seen.errors == []
