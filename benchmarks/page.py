"""Python in a page of the book: what the reader waits for, what the page weighs, and its speed beside CPython's.

A chapter's page is opened as a file in a headless browser, each round in a new one, without a network: from the start
of Python to its first answer and to the first new player, and from a slider's move to the new picture. Searches are run
by the pages' Python in Node and by this Python, in processor time. Run it with ``python benchmarks/page.py [rounds]``.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from kafkalearn.tables import text_table
from tests.book.browsers import Shown, chromium, firefox
from tools import book
from tools.book.live.in_node import page_python
from tools.chapters import chapter_paths

CHAPTER = "01_coordinator"

# A rebalance of sixteen members with fifty partitions: simulated, drawn, mounted. Then a slider is moved twenty times.
PLAYER = """
from kafkalearn.assignor import Member, rebalance
from kafkalearn.views import animate_rebalance, vary
def one_leaves(member_count):
    group = [Member(f"billing-{number}", ["orders"]) for number in range(member_count)]
    return animate_rebalance(rebalance("cooperative-sticky", {"orders": 15}, group, group[1:]))
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
from kafkalearn.replication.promises import ACKNOWLEDGED_SURVIVE
from kafkalearn.replication.search.find import find
from kafkalearn.replication.settings import Settings
def search():
    kinds = [Produce(acks=1), Fetch, BrokerCrashed(2), SessionExpired(2)]
    return find(Settings(fetch_wait_max_ms=0), kinds, (ACKNOWLEDGED_SURVIVE,), at_most={Produce: 3}).outcome
""",
    "find_change": """
from kafkalearn.group.scenario.finder import find_change
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
    """A row for each browser."""
    rows = []
    for browser in (chromium, firefox):
        visits = []
        for _ in range(rounds):
            with browser() as shown:
                visits.append(waited(shown, page))
        moves = [each for visit in visits for each in visit["moves"]]
        rows.append(
            {
                "browser": browser.__name__,
                "first answer, ms (4000)": round(median(visit["answer"] for visit in visits)),
                "first new player, ms (5000)": round(median(visit["player"] for visit in visits)),
                "slider, ms (50)": round(median(moves)),
            }
        )
    return rows


def speeds() -> list[dict[str, object]]:
    """A row for each search: seconds in CPython and in the page, and how much of CPython's speed that is."""
    rows = []
    with page_python() as python:
        for name, source in SEARCHES.items():
            namespace: dict[str, object] = {}
            exec(f"{source}\nsearch()", namespace)
            began = time.process_time()
            namespace["search"]()
            count = 1 + int(2 / (time.process_time() - began))  # two seconds in all
            began = time.process_time()
            exec(REPEAT.format(count=count), namespace)
            here = time.process_time() - began
            python.run(f"{source}\nfor _ in range({max(2, count // 4)}):\n    search()")
            began = processor_seconds(python.process_id)
            python.run(REPEAT.format(count=count))
            there = processor_seconds(python.process_id) - began
            row = {"search": name, "CPython, ms": round(1000 * here / count), "page, ms": round(1000 * there / count)}
            rows.append(row | {"speed (0.4)": round(here / there, 2)})
    return rows


def processor_seconds(process_id: int) -> float:
    """The processor time that a process has had, as Linux counts it; a page's own clock knows only what has passed."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def weights(folder: Path) -> str:
    """The runtime, and the heaviest page with all that it loads at once."""
    runtime = (folder / "live" / "runtime.js").stat().st_size
    shared = sum((folder / "live" / name).stat().st_size for name in ("page.js", "page.css"))
    pages = {page.name: page.stat().st_size + shared for page in folder.glob("[0-9]*.html")}
    heaviest = max(pages, key=pages.get)
    return f"runtime.js {runtime / 1e6:.2f} MB (10); heaviest page {heaviest} {pages[heaviest] / 1e6:.2f} MB (1.5)"


def main(rounds: int = 3) -> None:
    """Print the three tables; what is allowed stands in brackets."""
    with TemporaryDirectory() as home:
        book.BOOK = Path(home)
        book.RUNS = book.BOOK / "runs"
        began = time.perf_counter()
        book.make(chapter_paths(), is_committed=True)
        made = time.perf_counter()
        book.make(chapter_paths(), is_committed=True)
        print(f"the book without its runs: {made - began:.0f} s, made again: {time.perf_counter() - made:.0f} s")
        print(weights(book.BOOK))
        print(text_table(waits(book.BOOK / f"{CHAPTER}.html", rounds)))
    print(text_table(speeds()))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
