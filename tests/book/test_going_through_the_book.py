"""Python stays through every link of the book, by back and forward too; and each page works when it is opened alone."""

from __future__ import annotations

import pytest

from tests.book.browsers import Shown, wait_for

pytestmark = pytest.mark.browser

FOLLOW = """(address) => {
    const links = [...document.querySelectorAll("a[href]")];
    const link = links.find((each) => each.getAttribute("href").startsWith(address));
    link?.click();
    return link?.getAttribute("href");
}"""
THERE = """(hash, title) => location.hash.startsWith(hash) && document.title.startsWith(title)"""
HAS_PYTHON = """(file) => window.kafkalearn?.isStarted && location.pathname.endsWith(file)"""
SEVEN = """() => window.kafkalearn.ask("cells.run", { page: "kept", cell: "b", source: "seven" }).then(
    ({ outputs }) => outputs[0].shown?.["text/plain"])"""


@pytest.fixture(scope="module")
def reader(shown: Shown, made_book) -> Shown:
    """A reader in chapter 01 whose Python runs and has a value; the tests follow each other."""
    shown.open((made_book / "01_coordinator.html").as_uri())
    shown.run("""async () => {
        window.first = true;
        scrollTo(0, 800);
        await window.kafkalearn.ask("cells.open", { page: "kept", cells: [] });
        await window.kafkalearn.ask("cells.run", { page: "kept", cell: "a", source: "seven = 7" });
    }""")
    return shown


def follow(reader, address, title, file, *, hash_=None):
    """Click a link in the page on show, and see that the page it leads to is there and has the same Python."""
    in_frame = bool(reader.run("() => document.querySelector('.live-frame')?.src"))
    assert wait_for(reader, FOLLOW, address, in_frame=in_frame)
    arrived(reader, hash_ or f"#/{address}", title, file)


def arrived(reader, hash_, title, file):
    wait_for(reader, THERE, hash_, title)
    wait_for(reader, HAS_PYTHON, file, in_frame=True)
    assert wait_for(reader, SEVEN, in_frame=True) == "7"


def test_from_a_chapter_to_the_reference_and_on_within_it(reader):
    follow(reader, "reference/kafkalearn.coordinator.html", "kafkalearn.coordinator", "kafkalearn.coordinator.html")
    anchor = reader.run("() => location.hash").split("#")[2]
    assert reader.run("(name) => Boolean(document.getElementById(name))", anchor, in_frame=True)
    follow(
        reader, "#look_up", "kafkalearn.coordinator", ".html", hash_="#/reference/kafkalearn.coordinator.html#look_up"
    )


def test_through_the_pages_that_are_no_chapters(reader):
    follow(reader, "../index.html", "The inside", "/index.html", hash_="#/index.html")
    for page in ("search.html", "progress.html", "class.html", "playground.html"):
        follow(reader, page, "", f"/{page}")
        reader.run("() => history.back()")
        arrived(reader, "#/index.html", "The inside", "/index.html")


def test_an_anchor_in_another_chapter_back_and_forward(reader):
    follow(reader, "02_partitioner.html", "02", "02_partitioner.html")
    first = reader.run("() => document.querySelector('.contents a').getAttribute('href')", in_frame=True)
    follow(reader, first, "02", "02_partitioner.html", hash_=f"#/02_partitioner.html{first}")
    assert reader.run("() => decodeURIComponent(location.hash)", in_frame=True) == first

    reader.run("() => history.back()")
    wait_for(reader, "() => location.hash === '#/02_partitioner.html'")
    reader.run("() => history.go(-2)")
    arrived(reader, "#/reference/kafkalearn.coordinator.html#look_up", "", "kafkalearn.coordinator.html")
    reader.run("() => history.go(2)")
    arrived(reader, "#/02_partitioner.html", "02", "02_partitioner.html")


def test_a_link_out_of_the_book_gets_a_window_of_its_own(reader):
    link = """() => {
        const link = Object.assign(document.createElement("a"), { href: "https://nowhere.invalid/" });
        document.body.append(link);
        const clicked = (more) => {
            addEventListener("click", (event) => event.preventDefault(), { once: true });
            link.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, ...more }));
            return link.target;
        };
        return [clicked({ ctrlKey: true }), clicked({}), link.rel];
    }"""

    assert reader.run(link, in_frame=True) == ["", "_blank", "noopener"]


def test_a_link_to_the_first_chapter_leads_back_to_it_as_it_was_left(reader):
    wait_for(reader, FOLLOW, "01_coordinator.html", in_frame=True)
    wait_for(reader, "() => document.title.startsWith('01') && !document.querySelector('.live-frame')")

    assert reader.run("() => [window.first, window.kafkalearn.isStarted]") == [True, True]
    # What stands above may have grown by a line (a form that measured itself): the browser keeps the text where it is.
    assert 800 <= reader.run("() => scrollY") < 820
    assert reader.run(SEVEN) == "7"
    reader.run("() => history.back()")
    arrived(reader, "#/02_partitioner.html", "02", "02_partitioner.html")
    reader.run("() => history.forward()")
    wait_for(reader, "() => document.title.startsWith('01') && !document.querySelector('.live-frame')")


def test_loaded_anew_the_page_on_show_is_shown_by_itself(reader, made_book):
    reader.open("about:blank")
    reader.open(f"{(made_book / '01_coordinator.html').as_uri()}#/reference/kafkalearn.coordinator.html#look_up")
    wait_for(reader, "() => location.pathname.endsWith('coordinator.html') && location.hash === '#look_up'")

    assert reader.run("() => [window.kafkalearn.isStarted, parent === window]") == [False, True]
    left_alone = """() => {
        let isTaken = null;
        const see = (event) => { isTaken = event.defaultPrevented; event.preventDefault(); };
        addEventListener("click", see, { once: true });
        document.querySelector(".way-back a").click();
        return isTaken;
    }"""
    assert reader.run(left_alone) is False  # without Python a link is a link


@pytest.mark.parametrize(
    "address", ["//nowhere.invalid/x.html", "javascript:alert(1)", "../../x.html", "https://nowhere.invalid/"]
)
def test_no_address_behind_the_hash_leads_out_of_the_book(reader, made_book, address):
    reader.open("about:blank")
    reader.open(f"{(made_book / '01_coordinator.html').as_uri()}#/{address}")

    assert reader.run("() => location.pathname").endswith("01_coordinator.html")


def test_nothing_was_complained_of(reader):
    assert reader.seen.errors == []
    assert [url for url in reader.seen.outside if "nowhere.invalid" not in url] == []
