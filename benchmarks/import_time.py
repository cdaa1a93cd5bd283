"""How long `import kafkalearn` takes, beside a bare start of Python and beside `import pandas`.

Each import happens in a process of its own; the processes take turns, so that a busy moment hits all alike.
Run it with ``python benchmarks/import_time.py [rounds]``.
"""

from __future__ import annotations

import subprocess
import sys
from statistics import median
from time import perf_counter

from kafkalearn.base.tables import text_table

BARE = "pass"
PANDAS = "import pandas"
STATEMENTS = (
    BARE,
    "import kafkalearn",
    "from kafkalearn import offsets_partition",
    "from kafkalearn.releases import default; default('acks')",
    "import kafkalearn.partitioning.skew",
    PANDAS,
)


def start_seconds(statement: str) -> float:
    """Wall time of a fresh Python that runs one statement and ends."""
    begin = perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return perf_counter() - begin


def measure(rounds: int) -> dict[str, float]:
    """The median seconds of each statement, after one round that warms the file cache."""
    for statement in STATEMENTS:
        start_seconds(statement)
    taken = [{statement: start_seconds(statement) for statement in STATEMENTS} for _ in range(rounds)]
    return {statement: median(each[statement] for each in taken) for statement in STATEMENTS}


def rows(medians: dict[str, float]) -> list[dict[str, str]]:
    """One row for each statement: what it adds to a bare start, as time and as a share of what pandas adds."""
    bare, pandas = medians[BARE], medians[PANDAS] - medians[BARE]
    return [
        {
            "statement": statement,
            "whole ms": f"{1000 * seconds:.1f}",
            "import ms": f"{1000 * (seconds - bare):.1f}",
            "whole / bare start": f"{seconds / bare:.2f}",
            "import / import of pandas": f"{(seconds - bare) / pandas:.3f}",
        }
        for statement, seconds in medians.items()
    ]


def main(rounds: int = 15) -> None:
    """Measure and print."""
    print(f"median of {rounds} starts each, Python {sys.version.split()[0]}")
    print(text_table(rows(measure(rounds))))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
