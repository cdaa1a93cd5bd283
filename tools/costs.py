"""What .ci/run spends its time on: the thirty dearest parts, and what each protects, into docs/testing.md.

    python -m tools.costs        after `make ci`, from what it has kept in data/generated/costs

A part is a file of tests, or all chapters together; what it protects is the first line of the file. Seconds are those
of a worker: two of them take half as many of the clock.
"""

from __future__ import annotations

import ast
import json
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from kafkalearn.base.tables import markdown_table
from tools.environment import ROOT
from tools.pages import write_part

PAGE = ROOT / "docs" / "testing.md"
COMMAND = "python -m tools.costs"
FOLDER = ROOT / "data" / "generated" / "costs"
SHOWN = 30
CHAPTERS, EXAMPLES = "notebooks", "examples in docstrings"


@dataclass(frozen=True, slots=True)
class Cost:
    """What the tests of a part took together."""

    part: str
    tests: int
    seconds: float
    setup: float


def by_part(files: dict[str, dict[str, float]]) -> list[Cost]:
    """The dearest part first; chapters, and examples, are one part each.

    >>> whole = {"all": 9.0, "setup": 1.0, "tests": 2}
    >>> [cost.part for cost in by_part({"notebooks/00.ipynb": whole, "notebooks/01.ipynb": whole, "tests/a.py": whole})]
    ['notebooks', 'tests/a.py']
    """
    sums: dict[str, Counter[str]] = {}
    for name, each in files.items():
        sums.setdefault(_part_of(name), Counter()).update(each)
    costs = [Cost(name, int(each["tests"]), each["all"], each["setup"]) for name, each in sums.items()]
    return sorted(costs, key=lambda cost: -cost.seconds)


def _part_of(name: str) -> str:
    if name.endswith(".ipynb"):
        return CHAPTERS
    return name if name.startswith("tests/") else EXAMPLES


def protects(part: str) -> str:
    """What a part is there for: its file's own first line."""
    if part == CHAPTERS:
        return "Each chapter runs from top to bottom in a fresh kernel and prints what is committed."
    if part == EXAMPLES:
        return "What a docstring shows is what is answered."
    said = ast.get_docstring(ast.parse((ROOT / part).read_text(encoding="utf-8")))
    return (said or "").partition("\n")[0]


def table(files: dict[str, dict[str, float]], clock: float) -> str:
    """The part of the page: what all took, and the dearest parts."""
    costs = by_part(files)
    whole = f"{clock:,.0f} s of the clock, {sum(each.seconds for each in costs):,.0f} of two workers, "
    whole += f"{sum(each.setup for each in costs):,.0f} of them set-up; {sum(each.tests for each in costs):,} tests."
    rows = [
        {
            "part": each.part,
            "tests": each.tests,
            "seconds": round(each.seconds),
            "set-up": round(each.setup),
            "what it protects": protects(each.part),
        }
        for each in costs[:SHOWN]
    ]
    return f"{whole}\n\n{markdown_table(rows)}"


def main(paths: list[Path]) -> int:
    """Write the table from what the runs have kept; 2 where nothing is kept."""
    if not paths:
        print(f"{FOLDER} holds nothing yet: make ci writes it", file=sys.stderr)
        return 2
    kept = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    files = {name: each for run in kept for name, each in run["files"].items()}
    write_part(PAGE, COMMAND, table(files, sum(run["clock"] for run in kept)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sorted(FOLDER.glob("*.json"))))
