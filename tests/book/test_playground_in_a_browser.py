"""The playground as one file, without a folder beside it and without a network, in both browsers: each part once."""

from __future__ import annotations

import base64
import shutil

import pytest

from kafkalearn.base.files import data_directory
from tests.book.browsers import Shown, wait_for
from tests.book.test_playground import LOG

pytestmark = pytest.mark.browser

PRESSED = """(part, words) => {
    const buttons = [...document.querySelectorAll(`#${part} button`)];
    const found = buttons.find((each) => each.textContent === words && !each.disabled);
    found?.click();
    return Boolean(found);
}"""
SAID = """(part, words) => {
    const all = [...document.querySelectorAll(`#${part} .said .words`)].map((each) => each.textContent);
    return all.find((each) => each.includes(words));
}"""


def press(alone: Shown, part: str, words: str) -> None:
    """Click a button of a part as soon as it is there and can be pressed: while Python answers, it cannot."""
    wait_for(alone, PRESSED, part, words)


@pytest.fixture(scope="module")
def alone(shown: Shown, made_book, tmp_path_factory) -> Shown:
    """The file as it came by mail."""
    here = tmp_path_factory.mktemp("mail") / "playground.html"
    shutil.copyfile(made_book / "playground.html", here)
    shown.open(here.as_uri())
    return shown


def test_the_policy_names_each_script_by_its_hash(alone):
    policy = alone.run("""() => document.querySelector("meta[http-equiv=Content-Security-Policy]").content""")
    scripts = next(part for part in policy.split("; ") if part.startswith("script-src"))

    assert scripts.count("'sha256-") == 3
    assert not any(source in scripts for source in ("'self'", "'unsafe-inline'", "'unsafe-eval'"))
    refused = "() => fetch('https://nowhere.invalid/x').then(() => 'sent', () => 'refused')"
    assert alone.run(refused) == "refused"


def test_which_broker_and_the_state_is_a_link(alone):
    press(alone, "place", "Look it up")

    assert "led by broker 1" in wait_for(alone, SAID, "place", "Partition 9 of __consumer_offsets")
    assert wait_for(alone, "() => location.hash.includes('group=billing') && location.hash").startswith(
        "#place.coordinator?"
    )
    assert alone.run("() => document.querySelectorAll('#place .kl-stage svg').length") == 1


def test_a_state_as_text_opens_it_again(alone):
    alone.run(
        """(text) => {
            const form = document.getElementById("open");
            form.elements.state.value = text;
            form.requestSubmit();
        }""",
        "place.coordinator?group=shipping&brokers=3&partitions=50",
    )

    assert wait_for(alone, SAID, "place", "it coordinates shipping")


def test_which_partition(alone):
    press(alone, "place", "Hash it")

    assert wait_for(alone, SAID, "place", "Java puts it into partition 4 of 6")


def test_a_scenario_its_timeline_and_its_smallest_cure(alone):
    alone.run("() => { location.hash = '#group'; }")
    press(alone, "group", "Play it")
    assert wait_for(alone, SAID, "group", "11 rebalances in 2230 s")
    assert alone.run("() => document.querySelectorAll('#group .drawn > svg').length") == 1

    press(alone, "group", "Find the smallest cure")
    assert wait_for(alone, SAID, "group", "max.poll.interval.ms: 300000 (5 min) -> 360000 (6 min)")


def test_a_partition_is_broken_by_hand_branches_and_is_searched_on(alone):
    move = """(words) => {
        const choices = [...document.querySelectorAll("#partition .choices button")];
        const found = choices.find((each) => each.textContent === words);
        found?.click();
        return Boolean(found);
    }"""
    line = """() => document.querySelector("#partition textarea[name=line]").value"""
    alone.run("() => { location.hash = '#partition'; }")
    press(alone, "partition", "Play it")
    for words in ("Produce(acks=1)", "BrokerCrashed(1)", "SessionExpired(1)"):
        wait_for(alone, move, words)
        wait_for(alone, "(words) => location.hash.includes(words)", words.split("(")[0])
    assert wait_for(alone, SAID, "partition", "move 3 breaks: acknowledged records survive")

    alone.run("""() => { for (const _ of [1, 2]) document.querySelector("#partition [data-do=back]").click(); }""")
    wait_for(alone, move, "BrokerCrashed(2)")
    assert wait_for(alone, SAID, "partition", "2 moves; every promise holds")
    assert alone.run(line) == "Produce(acks=1) > BrokerCrashed(2)"

    press(alone, "partition", "Search on from the step on show")
    assert wait_for(alone, SAID, "partition", "more: ")
    press(alone, "partition", "Play what was found")
    assert wait_for(alone, SAID, "partition", "breaks: acknowledged records survive")


def test_a_broker_that_is_touched_in_the_picture_dies(alone):
    """A click on its row offers what may happen to it at the step on show, and no more; Escape closes it."""
    touch = """(broker) => {
        const stage = document.querySelector("#partition .kl-stage");
        const box = stage.querySelector("svg").getBoundingClientRect(), scale = box.width / 1000;
        const clientX = box.left + 60 * scale, clientY = box.top + (110 + 90 * (broker - 1)) * scale;
        stage.dispatchEvent(new MouseEvent("click", { clientX, clientY, bubbles: true }));
        return [...stage.querySelectorAll(".touch-menu button strong")].map((each) => each.textContent);
    }"""
    alone.run("() => { location.hash = '#partition.moves?min_isr=1&line=Produce(acks%3D1)'; }")
    assert wait_for(alone, SAID, "partition", "1 move; every promise holds")

    offered = wait_for(alone, touch, 1)
    assert "BrokerCrashed(1)" in offered
    assert {words[-2:-1] for words in offered} == {"1"}
    assert "BrokerStarted(1)" not in offered  # it runs
    assert "Fetch(2)" in alone.run(touch, 2)
    assert alone.run("() => document.querySelectorAll('.touch-menu').length") == 1
    alone.run("""() => document.querySelector(".touch-menu button").dispatchEvent(
        new KeyboardEvent("keydown", { key: "Escape", bubbles: true }))""")
    assert alone.run("() => document.querySelectorAll('.touch-menu').length") == 0

    alone.run(touch, 1)
    alone.run("""() => [...document.querySelectorAll(".touch-menu button")].find((each) =>
        each.textContent.startsWith("BrokerCrashed(1)")).click()""")
    assert wait_for(alone, SAID, "partition", "2 moves; every promise holds")
    assert alone.run("() => location.hash.includes('BrokerCrashed')")


def test_a_picture_is_drawn_without_a_press_and_so_is_the_next_one(alone):
    drawn = """(board) => [...document.querySelectorAll("#touch .kl-touched .kl-stage svg")].length === 1
        && location.hash.includes(`board=${board}`)"""
    alone.run("() => { location.hash = '#touch'; }")
    wait_for(alone, drawn, "journey")

    alone.run("""() => {
        const board = document.querySelector("#touch [name=board]");
        board.value = "commits";
        board.dispatchEvent(new Event("change"));
    }""")
    wait_for(alone, drawn, "commits")


def test_each_part_leads_back_to_its_chapters_and_the_page_to_the_book(alone):
    links = """(within) => [...document.querySelectorAll(`${within} a`)].map((each) => each.getAttribute("href"))"""

    assert alone.run(links, "#place .of-chapters") == ["01_coordinator.html", "02_partitioner.html"]
    assert alone.run(links, "#touch .of-chapters[data-board=coordinator]") == ["01_coordinator.html"]
    assert {"index.html", "search.html"} <= set(alone.run(links, "nav.navigation"))


def test_assignors(alone):
    alone.run("() => { location.hash = '#assignors'; }")
    press(alone, "assignors", "Assign")

    assert wait_for(alone, SAID, "assignors", "9 partitions on 2 members")


def test_bytes_pasted_and_a_segment_dropped(alone):
    alone.run("() => { location.hash = '#bytes'; }")
    press(alone, "bytes", "Take it apart")
    assert wait_for(alone, SAID, "bytes", "'group': 'billing'")

    path = max((data_directory("offsets-topic") / "disk").rglob("*.log"), key=lambda each: each.stat().st_size)
    alone.run(
        """(name, text) => {
            const given = new DataTransfer(), bytes = Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
            given.items.add(new File([bytes], name));
            document.querySelector("#bytes form.drop").dispatchEvent(new DragEvent("drop", { dataTransfer: given }));
        }""",
        path.name,
        base64.b64encode(path.read_bytes()).decode(),
    )
    assert wait_for(alone, SAID, "bytes", "records in")


def test_log_lines_dropped_are_explained(alone):
    alone.run("() => { location.hash = '#logs'; }")
    alone.run(
        """(text) => {
            const given = new DataTransfer();
            given.items.add(new File([text], "server.log"));
            document.querySelector("#logs form.drop").dispatchEvent(new DragEvent("drop", { dataTransfer: given }));
        }""",
        LOG,
    )

    assert wait_for(alone, SAID, "logs", "c2 was not heard of for its session timeout")


def test_what_is_wrong_is_said_in_place(alone):
    alone.run("() => { location.hash = '#place'; document.querySelector('#place [name=brokers]').value = 'three'; }")
    press(alone, "place", "Look it up")

    assert wait_for(alone, SAID, "place", "brokers must be a whole number, got 'three'")


def test_nothing_went_out_and_nothing_else_was_complained_of(alone):
    assert [url for url in alone.seen.outside if "nowhere.invalid" not in url] == []
    assert [said for said in alone.seen.errors if "nowhere.invalid" not in said and "Security Policy" not in said] == []
