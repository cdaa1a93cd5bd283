"""How long a million lines of server logs take, from text to causes, beside grep over the same file.

The lines are those of the recorded runs, brokers' and clients', over and over, between lines that say nothing about
groups: one line in five is an event, more than in any real log. One core; each way in a process of its own, in turns.
Run it with ``python benchmarks/log_lines.py [rounds] [lines]``.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median

from kafkalearn.base.tables import text_table

RUNS = Path(__file__).parents[1] / "tests" / "vectors" / "server_logs" / "learning.jsonl.gz"
LINES, ROUNDS, ONE_IN = 1_000_000, 5, 5
OTHER = (
    "[2026-11-22 15:46:13,448] INFO [Partition orders-7 broker=1] Log loaded for partition orders-7 with initial high "
    "watermark 1207345 (kafka.cluster.Partition)",
    "[2026-11-22 15:46:13,449] INFO [ReplicaFetcherManager on broker 1] Added fetcher to broker 2 for partitions "
    "HashMap(orders-3 -> InitialFetchState(Some(x),BrokerEndPoint(id=2, host=b:9092),7,880)) (kafka.server.X)",
    "[2026-11-22 15:46:13,450] INFO [UnifiedLog partition=orders-1, dir=/data] Rolled new log segment at offset 880 in "
    "2 ms. (kafka.log.UnifiedLog)",
    "[2026-11-22 15:46:13,451] INFO [LocalLog partition=orders-1, dir=/data] Rolled new log segment (kafka.log.X)",
)

READ = "from kafkalearn.oncall.logs import read_files; print(len(read_files([{path!r}]).events))"
WHY = "from kafkalearn.oncall import why; print(len(why({path!r}, has_advice=False).rebalances))"
WAYS = {
    "grep -c": ["grep", "-c", "-E", "Preparing to rebalance|Stabilized group|Bumped group epoch", "{path}"],
    "lines -> events": [sys.executable, "-c", READ],
    "lines -> causes": [sys.executable, "-c", WHY],
}


def write_lines(path: Path, count: int) -> None:
    """A log of so many lines, the same each time."""
    with gzip.open(RUNS, "rt", encoding="utf-8") as file:
        about_groups = [line for run in map(json.loads, file) for line in run["broker"]]
    with path.open("w", encoding="utf-8") as out:
        for number in range(count):
            place, rest = divmod(number, ONE_IN)
            out.write(about_groups[place % len(about_groups)] if rest == 0 else OTHER[rest - 1])
            out.write("\n")


def seconds(words: list[str], path: Path) -> float:
    """Processor time of one way, so that a busy machine does not count."""
    begin = _used()
    named = [each.replace("{path!r}", repr(str(path))).replace("{path}", str(path)) for each in words]
    subprocess.run(named, check=True, capture_output=True)  # to /dev/null grep would stop at its first line
    return _used() - begin


def _used() -> float:
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(rounds: int = ROUNDS, count: int = LINES) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "server.log")
        write_lines(path, count)
        taken = [{name: seconds(words, path) for name, words in WAYS.items()} for _ in range(rounds)]
        megabytes = path.stat().st_size / 1e6
    medians = {name: median(each[name] for each in taken) for name in WAYS}
    print(f"{count:,} lines, {megabytes:.0f} MB; median of {rounds}, Python {sys.version.split()[0]}")
    print(
        text_table(
            {
                "way": name,
                "s": f"{each:.2f}",
                "microseconds a line": f"{1e6 * each / count:.2f}",
                "x grep": f"{each / max(medians['grep -c'], 0.001):.0f}",
            }
            for name, each in medians.items()
        )
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
