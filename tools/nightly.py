"""Runs what no push waits for, part by part, and writes into docs/testing.md when, and on what, each has last passed.

    python3 run.py nightly                  every part, one after the other
    python3 run.py nightly tests fuzz       these
    python3 run.py nightly --list           what there is

A part that fails leaves its line as it was. The exit code is 1 if one has.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from kafkalearn.base.tables import markdown_table
from kafkalearn.live.jars import releases
from kafkalearn.spark import SUPPORTED
from run import WORKERS
from tools.environment import ROOT, VENV_PYTHON
from tools.pages import part_of, write_part

PAGE = ROOT / "docs" / "testing.md"
COMMAND = "python3 run.py nightly"
NEVER = "not yet"
NOTHING = "-"
OLDER_SPARKS = SUPPORTED[:-1]


@dataclass(frozen=True, slots=True)
class Part:
    """One command, by the name that it is asked for with, and what it protects."""

    name: str
    protects: str
    words: tuple[str, ...]  # behind .venv's Python


PARTS = (
    Part(
        "tests",
        "tests marked `nightly`: each chapter at the small size, the book in the second browser at length, chapters' "
        "cells and a sample of the core's tests in the pages' Python",
        ("-m", "pytest", *WORKERS, "-m", "nightly and not holds", "tests"),
    ),
    Part("page", "all of the core's tests in the pages' Python", ("-m", "tools.book.core_tests")),
    Part("fuzz", "odd input to all that is public, with seeds nobody has tried", ("-m", "tests.fuzz.search", "10")),
    Part(
        "laws",
        "a search leaves nothing out, over ten thousand small models",
        (
            "-m",
            "pytest",
            "--hypothesis-profile=ten-thousand",
            "tests/base/test_search.py",
            "tests/base/test_liveness.py",
        ),
    ),
    *(
        Part(
            f"spark-{line}",
            f"the rules on Spark {line}",
            ("-m", "tools.spark_versions", line, "--", *WORKERS, "-m", "not nightly", "tests/spark"),
        )
        for line in OLDER_SPARKS
    ),
    *(
        Part(f"kafka-{line}", f"the live column on Kafka {line}", ("-m", "tools.checked_live", line))
        for line in releases()
    ),
    Part(
        "conform",
        "random questions to a broker and to the simulators",
        ("-m", "conformance.command", "--minutes", "0.5"),
    ),
)


def main(words: Sequence[str]) -> int:
    """Run the parts named, or all; 2 where a word names none."""
    named = {part.name: part for part in PARTS}
    if "--list" in words:
        print(*(f"{part.name:<10} {part.protects}" for part in PARTS), sep="\n")
        return 0
    if unknown := [word for word in words if word not in named]:
        print(f"there is no part {', '.join(unknown)}; there are {', '.join(named)}", file=sys.stderr)
        return 2
    tree = _tree()  # before a part writes into one of its pages
    return max([run(named[word], tree) for word in words or named])


def run(part: Part, tree: str) -> int:
    """Run one part; where it passes its line is written. 1 where it does not."""
    began = time.monotonic()
    print(f"nightly: {part.name}", flush=True)
    has_passed = subprocess.run([str(VENV_PYTHON), *part.words], cwd=ROOT).returncode == 0
    minutes = (time.monotonic() - began) / 60
    print(f"nightly: {part.name} {'passed' if has_passed else 'FAILED'} after {minutes:.1f} minutes", flush=True)
    if has_passed:
        today = f"{datetime.now(UTC):%Y-%m-%d}"
        write(last_passed() | {part.name: (today, tree, f"{minutes:.1f}")})
    return 0 if has_passed else 1


def _tree() -> str:
    """The commit that is tried, marked where files differ from it."""
    said = subprocess.run(
        ["git", "describe", "--always", "--exclude=*", "--abbrev=10", "--dirty=+"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    return said.stdout.strip() or "no commit"


def last_passed() -> dict[str, tuple[str, str, str]]:
    """By part the day, the commit and the minutes of its last passing, as the page has them."""
    rows = [line.strip("| ").split(" | ") for line in part_of(PAGE, COMMAND).splitlines()[2:]]
    return {name: (day, commit, minutes) for name, _, day, commit, minutes in rows if day != NEVER}


def write(passed: dict[str, tuple[str, str, str]]) -> None:
    """The table of the page, a row for each part."""
    rows = []
    for part in PARTS:
        day, commit, minutes = passed.get(part.name, (NEVER, NOTHING, NOTHING))
        rows.append(
            {"part": part.name, "what it protects": part.protects, "passed": day, "commit": commit, "minutes": minutes}
        )
    write_part(PAGE, COMMAND, markdown_table(rows))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
