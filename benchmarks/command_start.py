"""How long the command takes from the shell to its answer, beside a bare start of Python.

Each question is a process of its own; the processes take turns, so that a busy moment hits all alike.
Run it with ``python benchmarks/command_start.py [rounds]``.
"""

from __future__ import annotations

import subprocess
import sys
from statistics import median
from time import perf_counter

from kafkalearn.base.files import data_directory
from kafkalearn.base.tables import text_table

OWN = data_directory("own-cluster")
BARE = "python -c pass"
ASKED = {
    BARE: ["-c", "pass"],
    "where group, of 50": ["-m", "kafkalearn", "where", "group", "billing"],
    "where group, from --describe": [
        "-m", "kafkalearn", "where", "group", "billing", "--describe", str(OWN / "offsets-topic.txt"),
    ],
    "where key": ["-m", "kafkalearn", "where", "key", "user-42", "--partitions", "6"],
    "upgrade, one file": ["-m", "kafkalearn", "upgrade", "3.9", "4.0", "--file", str(OWN / "server.properties")],
    "safe, acks=1": ["-m", "kafkalearn", "safe", "--replicas", "3", "--acks", "1"],
    "--help of all": ["-m", "kafkalearn", "--help"],
}  # fmt: skip
GOAL_S = 0.2  # of where


def seconds(words: list[str]) -> float:
    """Wall time of a fresh Python from its start to its end."""
    begin = perf_counter()
    subprocess.run([sys.executable, *words], check=False, stdout=subprocess.DEVNULL)
    return perf_counter() - begin


def measure(rounds: int) -> dict[str, float]:
    """The median seconds of each, after one round that warms the file cache."""
    for words in ASKED.values():
        seconds(words)
    taken = [{name: seconds(words) for name, words in ASKED.items()} for _ in range(rounds)]
    return {name: median(each[name] for each in taken) for name in ASKED}


def main(rounds: int = 11) -> None:
    """Measure and print."""
    medians = measure(rounds)
    rows = [
        {"asked": name, "ms": f"{1000 * taken:.0f}", "/ bare start": f"{taken / medians[BARE]:.1f}"}
        for name, taken in medians.items()
    ]
    print(
        f"median of {rounds} starts each, Python {sys.version.split()[0]}; the goal of where is {GOAL_S * 1000:.0f} ms"
    )
    print(text_table(rows))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
