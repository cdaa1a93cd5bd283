"""Python in a page of the book: what the reader waits for, what the page weighs, and its speed beside CPython's.

A chapter's page is opened as a file in a headless browser, each round in a new one, without a network: from the start
of Python to its first answer and to the first new player, and from a slider's move to the new picture. Searches are run
by the pages' Python in Node and by this Python, in turns, in processor time.

``--jupyterlite`` adds JupyterLite's REPL beside it, in Chromium, in turns: from opening the page to the first answer,
and the bytes that come for it. It needs three packages from pip's registry, in a Python of their own, and a server,
which is started here on loopback (`_jupyterlite`). Its answer is a printed word; the book's has imported kafkalearn.
"""

from __future__ import annotations

import argparse
import shutil
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from urllib.parse import quote, urlsplit

from _jupyterlite import built, served
from _processes import Watch
from playwright.sync_api import sync_playwright

from kafkalearn.base.tables import text_table
from tests.book.browsers import SECONDS, Shown, chromium, firefox
from tests.browser.lab import launch
from tools import book
from tools.book.live.in_node import PagePython, page_python
from tools.chapters import chapter_paths

CHAPTER = "01_coordinator"
LOADED = ("page.js", "page.css", "runtime.js", "snapshot.js")

# A rebalance of sixteen members with fifty partitions: simulated, drawn, mounted. Then a slider is moved twenty times.
PLAYER = """
from kafkalearn.assignors import Member, rebalance
from kafkalearn.views import animate, vary
def one_leaves(member_count):
    group = [Member(f"billing-{number}", ["orders"]) for number in range(member_count)]
    return animate(rebalance("cooperative-sticky", {"orders": 15}, group, group[1:]))
vary(one_leaves, member_count=(2, 8, 5))
"""
WAITED = """async (source) => {
    const began = performance.now(), since = () => performance.now() - began;
    const page = "measured", cell = "one", { ask } = window.kafkalearn;
    await window.kafkalearn.start();
    await ask("cells.open", { page, cells: [] });
    await ask("cells.run", { page, cell, source: "import kafkalearn; kafkalearn.offsets_partition('test-group')" });
    const answer = since();
    const { outputs } = await ask("cells.run", { page, cell, source });
    const host = document.body.appendChild(document.createElement("div"));
    window.kafkalearnOutputs.show(host, outputs, { page, cell });
    host.getBoundingClientRect();
    const player = since();
    const stage = host.querySelector(".kl-stage"), slider = host.querySelector(".kl-controls input"), moves = [];
    for (let at = 0; at < 20; at += 1) {
        const changed = new Promise((done) => new MutationObserver((_, each) => { each.disconnect(); done(); })
            .observe(stage, { childList: true }));
        const moved = performance.now();
        slider.value = 2 + at % 7;
        slider.dispatchEvent(new Event("input", { bubbles: true }));
        await changed;
        moves.push(performance.now() - moved);
    }
    return { answer, player, moves };
}"""

SEARCHES = {
    "find": """
from kafkalearn.replication.events import BrokerCrashed, Fetch, Produce, SessionExpired
from kafkalearn.replication.simulator import ACKNOWLEDGED_SURVIVE
from kafkalearn.replication.search import find
from kafkalearn.replication.settings import Settings
def search():
    kinds = [Produce(acks=1), Fetch, BrokerCrashed(2), SessionExpired(2)]
    return find(Settings(fetch_wait_max_ms=0), kinds, (ACKNOWLEDGED_SURVIVE,), at_most={Produce: 3}).outcome
""",
    "find_change": """
from kafkalearn.scenarios.finder import find_change
def search():
    story = "at 0 s: c1, c2 and c3 join" + chr(10) + "at 60 s: c2 pauses for 12 s"
    return str(find_change(story, settings={"session.timeout.ms": 10_000}).best)
""",
}
REPEAT = "for _ in range({count}):\n    search()"


def waited(shown: Shown, page: Path) -> dict:
    """The milliseconds of one visit."""
    shown.open(page.as_uri())
    return shown.run(WAITED, PLAYER)


def waits(page: Path, rounds: int) -> list[dict[str, object]]:
    """Two rows for each browser: Python from kept memory, and started as ever, in turns; shares are of the second."""
    rows = []
    with TemporaryDirectory() as home:
        as_ever = Path(home, "book", page.name)
        shutil.copytree(page.parent, as_ever.parent)
        (as_ever.parent / "live" / "snapshot.js").unlink()
        for browser in (chromium, firefox):
            visits: dict[Path, list[dict]] = {page: [], as_ever: []}
            for _ in range(rounds):
                for each, seen in visits.items():
                    with browser() as shown:
                        seen.append(waited(shown, each))
            slow = {name: median(visit[name] for visit in visits[as_ever]) for name in ("answer", "player")}
            for start, seen in zip(("kept memory", "as ever"), visits.values(), strict=True):
                answer, player = (median(visit[name] for visit in seen) for name in slow)
                rows.append(
                    {
                        "browser": browser.__name__,
                        "start": start,
                        "first answer, ms": round(answer),
                        "share (0.3)": round(answer / slow["answer"], 2),
                        "first new player, ms": round(player),
                        "share (0.35)": round(player / slow["player"], 2),
                        "slider, ms (50)": round(median(move for visit in seen for move in visit["moves"])),
                    }
                )
    return rows


def speeds(turn_count: int = 5) -> list[dict[str, object]]:
    """A row for each search: its processor time in CPython and in the page, and the share of CPython's speed.

    They take turns of half a second in CPython; the figures are medians.
    """
    rows = []
    with page_python() as python:
        for name, source in SEARCHES.items():
            namespace: dict[str, object] = {}
            exec(f"{source}\nsearch()", namespace)
            python.run(f"{source}\nfor _ in range(3):\n    search()")  # V8 compiles what runs often
            count = 1 + int(0.5 / _here(namespace, 1))
            turns = [(_here(namespace, count), _there(python, count)) for _ in range(turn_count)]
            here, there = (median(times) / count for times in zip(*turns, strict=True))
            speed = median(one / other for one, other in turns)
            row = {"search": name, "CPython, ms": round(1000 * here), "page, ms": round(1000 * there)}
            rows.append(row | {"speed (0.4)": round(speed, 2)})
    return rows


def _here(namespace: dict[str, object], count: int) -> float:
    began = time.process_time()
    exec(REPEAT.format(count=count), namespace)
    return time.process_time() - began


def _there(python: PagePython, count: int) -> float:
    began = python.processor_seconds()
    python.run(REPEAT.format(count=count))
    return python.processor_seconds() - began


def beside_jupyterlite(page: Path, rounds: int) -> list[dict[str, object]]:
    """A row for the book and one for JupyterLite: from opening the page to the first answer, in turns."""
    ours, theirs = [], []
    with served(built()) as address:
        for _ in range(rounds):
            ours.append(_first_answer(page.as_uri(), OURS))
            code = quote("print('first ' + 'answer')")
            theirs.append(_first_answer(f"{address}/repl/index.html?kernel=python&code={code}", THEIRS))
    folder = page.parent / "live"
    own = sum(each.stat().st_size for each in (page, *(folder / name for name in LOADED)))
    sizes = (own, max(size for *_, size in theirs))
    return [
        {
            "page": name,
            "first answer, ms": round(1000 * median(waited for waited, *_ in visits)),
            "processor, ms": round(1000 * median(computed for _, computed, _ in visits)),
            "MB": round(size / 1e6, 1),
        }
        for name, visits, size in zip(("the book, a file", "JupyterLite, a server"), (ours, theirs), sizes, strict=True)
    ]


OURS = """async () => {
    const page = "measured", cell = "one", { ask } = window.kafkalearn;
    await window.kafkalearn.start();
    await ask("cells.open", { page, cells: [] });
    await ask("cells.run", { page, cell, source: "import kafkalearn; kafkalearn.offsets_partition('test-group')" });
    return true;
}"""
THEIRS = """() => [...document.querySelectorAll(".jp-OutputArea-output")]
    .some((each) => each.textContent.includes("first answer"))"""


def _first_answer(address: str, condition: str) -> tuple[float, float, int]:
    """Seconds that have passed, seconds of the processor, and the bytes that a server has given, in a new browser."""
    with sync_playwright() as playwright:
        browser = launch(playwright)
        page, given = browser.new_page(), set()
        page.context.on("response", lambda response: given.add(response.url))
        began = time.perf_counter()
        with Watch() as watch:
            page.goto(address)
            page.wait_for_function(condition, timeout=SECONDS * 1000)
            passed = time.perf_counter() - began
        browser.close()
    paths = {urlsplit(url).path for url in given if url.startswith("http:")}
    files = [built() / path.lstrip("/") for path in paths]
    return passed, watch.processor_seconds or 0.0, sum(file.stat().st_size for file in files if file.is_file())


def weights(folder: Path) -> str:
    """The runtime, and the heaviest page with all that it loads at once."""
    runtime, kept = ((folder / "live" / name).stat().st_size for name in ("runtime.js", "snapshot.js"))
    shared = sum((folder / "live" / name).stat().st_size for name in ("page.js", "page.css"))
    pages = {page.name: page.stat().st_size + shared for page in folder.glob("[0-9]*.html")}
    heaviest = max(pages, key=pages.get)
    book = sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())
    parts = f"runtime.js {runtime / 1e6:.2f} MB (10), snapshot.js {kept / 1e6:.2f} MB; book {book / 1e6:.1f} MB"
    return f"{parts}; heaviest page {heaviest} {pages[heaviest] / 1e6:.2f} MB (1.5)"


def main() -> None:
    """Print the tables; what is allowed stands in brackets."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("rounds", type=int, nargs="?", default=3, help="visits of each browser")
    options.add_argument("--jupyterlite", action="store_true", help="JupyterLite's REPL beside it")
    options.add_argument("--only-speed", action="store_true", help="the searches alone")
    wanted = options.parse_args()
    if not wanted.only_speed:
        with TemporaryDirectory() as home:
            measure_pages(Path(home), wanted)
    print(text_table(speeds()))


def measure_pages(folder: Path, wanted: argparse.Namespace) -> None:
    """Make a book and print what its pages weigh and what a reader waits for."""
    began = time.perf_counter()
    book.make(chapter_paths(), folder)
    made = time.perf_counter()
    book.make(chapter_paths(), folder)
    print(f"the book without its runs: {made - began:.0f} s, made again: {time.perf_counter() - made:.0f} s")
    print(weights(folder))
    print(text_table(waits(folder / f"{CHAPTER}.html", wanted.rounds)))
    if wanted.jupyterlite:
        print(text_table(beside_jupyterlite(folder / f"{CHAPTER}.html", wanted.rounds)))


if __name__ == "__main__":
    main()
