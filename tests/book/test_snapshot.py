"""Python in a page begins with kept memory where it can, and as ever where anything about that fails."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.book.browsers import ChromiumPage, Shown
from tools.book.live.snapshot import script
from tools.book.students import RUNTIME

pytestmark = pytest.mark.browser

PAGE, KEPT = "01_coordinator.html", "live/snapshot.js"
START = """async (code) => {
    const { start, ask, stop } = window.kafkalearn, said = [];
    await start((words) => said.push(words));
    await ask("cells.open", { page: "tried", cells: [] });
    const run = await ask("cells.run", { page: "tried", cell: "one", source: code });
    stop();
    return [said, JSON.stringify(run.outputs)];
}"""
LATER = "import kafkalearn.purgatory, random; from kafkalearn.oncall import where; print(where('a'), random.random())"


def start(shown: Shown, address: str, before: str = "() => {}") -> tuple[list[str], str]:
    """What a page says while Python starts, and what a cell gives that imports what is in no kept memory."""
    shown.open(address)
    shown.run(before)
    said, outputs = shown.run(START, LATER)
    assert "group a: partition" in outputs
    return said, outputs


@pytest.fixture
def copied(made_book, tmp_path) -> Path:
    """A book of one page, to be changed."""
    shutil.copytree(made_book / "live", tmp_path / "live")
    shutil.copyfile(made_book / PAGE, tmp_path / PAGE)
    return tmp_path


def test_python_is_restored_in_both_editions_and_chance_is_new_each_time(shown, made_book):
    folders = (made_book, made_book, made_book.with_name("book-students"))
    seen = [start(shown, (folder / PAGE).as_uri()) for folder in folders]

    assert all("Restoring Python" in said and "Starting Python" not in said for said, _ in seen)
    assert len({outputs for _, outputs in seen}) == len(seen)


class Utf8(SimpleHTTPRequestHandler):
    """Says of a script that its letters are UTF-8, as the servers of static pages do."""

    extensions_map = SimpleHTTPRequestHandler.extensions_map | {".js": "text/javascript; charset=utf-8"}

    def log_message(self, *words: object) -> None:
        """Nothing."""


@pytest.fixture
def server(shown, made_book) -> Iterator[str]:
    """The address of a server that has the book; Firefox goes past its proxy to it."""
    is_chromium = isinstance(shown, ChromiumPage)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Utf8, directory=made_book)) as served:
        threading.Thread(target=served.serve_forever).start()
        if is_chromium:
            shown.page.context.set_offline(False)
        yield f"http://127.0.0.1:{served.server_port}"
        if is_chromium:
            shown.page.context.set_offline(True)
        served.shutdown()


def test_python_is_restored_from_a_server_that_says_which_letters_a_script_has(shown, server):
    assert "Starting Python" not in start(shown, f"{server}/{PAGE}")[0]


def test_both_editions_have_the_same_memory_and_another_archive(made_book):
    students = made_book.with_name("book-students")

    assert (students / KEPT).read_bytes() == (made_book / KEPT).read_bytes()
    assert (students / RUNTIME).read_bytes() != (made_book / RUNTIME).read_bytes()


@pytest.mark.parametrize("change", ["gone", "of another runtime", "damaged", "no memory of Python's"])
def test_python_starts_as_ever_where_the_kept_memory_will_not_do(shown, copied, change):
    path = copied / KEPT
    if change == "gone":
        path.unlink()
    elif change == "of another runtime":
        path.write_text(script(b"", "another"))
    else:
        head, _, kept = path.read_text().partition('packed: "')
        name = head.rpartition('of: "')[2].partition('"')[0]
        path.write_text(script(b"\0" * 65536, name) if change != "damaged" else head + 'packed: "' + kept[4096:])

    assert "Starting Python" in start(shown, (copied / PAGE).as_uri())[0]


def test_a_device_with_little_memory_starts_as_ever(shown, made_book):
    little = "() => { Object.defineProperty(navigator, 'deviceMemory', { value: 2, configurable: true }); }"

    said, _ = start(shown, (made_book / PAGE).as_uri(), little)

    assert "Restoring Python" not in said
