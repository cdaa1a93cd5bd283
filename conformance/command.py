"""Asks real brokers the same random questions as the simulators, for minutes, and keeps what came of it.

    python3 run.py conform                                   5 minutes each on the newest release
    python3 run.py conform --minutes 20 --release 4.1
    python3 run.py conform --mechanism "classic groups" --seed 7
    python3 run.py conform --list                            what can be asked
    python3 run.py conform --minutes 0                       asks nothing, writes docs/conform.md anew

A second call goes on where the first has ended: how far each came stands in data/generated/conform. The shortest case
of each difference goes to tests/vectors/conform, where a test asks the simulator again; the release, the day, the seed
and the figures go to kafkalearn/releases/checked_live.json and docs/conform.md.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime

from conformance.mechanism import CannotBeAsked, Mechanism
from conformance.mechanisms import MECHANISMS
from conformance.running import Progress, Run, entry_of, rows_of
from conformance.vectors import OPEN, read_vector, slug, vectors_in
from kafkalearn.base.errors import KafkaLearnError, unknown_name
from kafkalearn.base.tables import markdown_table
from kafkalearn.live.jars import find_release, one_at_a_time
from kafkalearn.releases.lines import DEFAULT_RELEASE
from tools.checked_live import RECORDED, ROOT, text_of, with_conform
from tools.pages import write_part

PROGRESS = ROOT / "data" / "generated" / "conform"
VECTORS = ROOT / "tests" / "vectors" / "conform"
PAGE = ROOT / "docs" / "conform.md"
AGREES, DIFFERS, STOPPED = 0, 1, 130


def main(words: Sequence[str]) -> int:
    """Ask, and write down; 0: all agree, 1: there are differences, 130: stopped by an interrupt."""
    wanted = _parsed(words)
    if wanted.list:
        for name, each in MECHANISMS.items():
            whom = "any broker" if each.is_for_any_cluster else "a broker of its own"
            print(f"{name:<36} {whom}: {', '.join(each.rules)}")
        return AGREES
    try:
        chosen = [_found(name) for name in wanted.mechanism] or list(MECHANISMS.values())
        release, worst = find_release(wanted.release).line, AGREES
        for mechanism in chosen if wanted.minutes > 0 else ():
            worst = max(worst, ask(mechanism, release, wanted.seed, wanted.minutes))
            if worst == STOPPED:
                break
        write_page()
        return worst
    except KafkaLearnError as error:
        sys.exit(f"kafkalearn: {error}")


def ask(mechanism: Mechanism, release: str, seed: int, minutes: float) -> int:
    """Go on with one mechanism on one release, and write down what it came to."""
    run = Run(mechanism, release, seed, PROGRESS, VECTORS)
    before = run.progress.cases
    print(f"{mechanism.name}, Kafka {run.progress.release}, seed {seed}: {minutes:g} minutes", flush=True)
    try:
        is_whole = run.go_on(minutes)
    except CannotBeAsked as error:
        print(f"  not asked: {error}", flush=True)
        return AGREES
    progress = run.progress
    if progress.cases > before:
        write_down(mechanism, progress)
    print(_summary(progress), flush=True)
    still_open = [name for name in progress.differences if _is_open(name)]
    for name in still_open:
        print(f"  a difference: {(VECTORS / name).relative_to(ROOT)}")
    for text in progress.unanswered:
        print(f"  not answered: {text}")
    if not is_whole:
        print("  stopped; the same command goes on from here")
        return STOPPED
    return DIFFERS if still_open or progress.unanswered else AGREES


def write_down(mechanism: Mechanism, progress: Progress) -> None:
    """Bring the ledger's file and the page up to date."""
    entry = entry_of(progress, mechanism.rules, f"{datetime.now(UTC):%Y-%m-%d}")
    PROGRESS.mkdir(parents=True, exist_ok=True)
    with one_at_a_time(PROGRESS / "lock"):  # others may run for other mechanisms
        recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
        recorded = with_conform(recorded, mechanism.name, progress.release, entry)
        RECORDED.write_text(text_of(recorded), encoding="utf-8")


def write_page() -> None:
    """Write the table of the page anew, from the ledger's file and the vectors; the words around it stay."""
    entries = json.loads(RECORDED.read_text(encoding="utf-8")).get("conform", {})
    table = markdown_table(rows_of(entries, vectors_in(VECTORS)))
    write_part(PAGE, "python3 run.py conform", table)


def _summary(progress: Progress) -> str:
    return (
        f"  {progress.cases:,} cases, {progress.requests:,} requests, {progress.seconds / 60:.1f} minutes, "
        f"{len(progress.differences)} differences in all; {progress.too_slow} cases too slow for this machine, "
        f"{progress.lost_brokers} clusters lost"
    )


def _is_open(name: str) -> bool:
    """Whether a difference is neither put right since then nor named; one whose file was removed is not."""
    path = VECTORS / name
    return path.exists() and read_vector(path).status == OPEN


def _found(name: str) -> Mechanism:
    by_slug = {slug(each): each for each in MECHANISMS}
    if slug(name) not in by_slug:
        raise unknown_name("mechanism", name, MECHANISMS)
    return MECHANISMS[by_slug[slug(name)]]


def _parsed(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python3 run.py conform", description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=5.0, help="for each mechanism")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--release", default=DEFAULT_RELEASE, help="a release line, such as 4.1")
    parser.add_argument("--mechanism", action="append", default=[], help="by name; may be given again")
    parser.add_argument("--list", action="store_true", help="print what can be asked, and end")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
