"""Ways of doing the same over the same rows, timed in turns, each beside the first.

The ways take turns, so that a busy moment of the machine hits all alike; the figure is the median of a way's turns,
the ratio that of the medians. Slow ways get fewer turns. Java compiles what runs often, so the first turns of all
are thrown away.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from statistics import median
from time import perf_counter

from pyspark.sql import SparkSession

from kafkalearn.tables import text_table


@dataclass(frozen=True, slots=True)
class Way:
    """One way, as a function that makes its query anew: Spark keeps what a query object has shuffled before."""

    name: str
    run: Callable[[], object]
    is_slow: bool = False


def compare(ways: list[Way], rounds: int, slow_rounds: int, warm_up: int = 3) -> list[dict[str, str]]:
    """A row for each way: its turns, the median and the shortest of them in seconds, the ratio to the first way."""
    seconds = {way.name: [] for way in ways}
    for turn in range(-warm_up, rounds):
        for way in ways:
            if way.is_slow and not 0 <= turn < slow_rounds:
                continue
            begin = perf_counter()
            way.run()
            if turn >= 0:
                seconds[way.name].append(perf_counter() - begin)
    base = median(seconds[ways[0].name])
    return [
        {
            "way": name,
            "turns": str(len(its)),
            "median s": f"{median(its):.2f}",
            "shortest s": f"{min(its):.2f}",
            "ratio": f"{median(its) / base:.2f}",
        }
        for name, its in seconds.items()
    ]


def machine(spark: SparkSession) -> str:
    """What the figures depend on, without naming the machine."""
    java = spark._jvm.java.lang.System.getProperty("java.version")
    packages = ", ".join(f"{name} {version(name)}" for name in ("pyspark", "pyarrow", "numpy"))
    cores = spark.sparkContext.defaultParallelism
    return (
        f"{platform.system()} {platform.machine()}, {cores} of {os.cpu_count()} cores, "
        f"Python {platform.python_version()}, Java {java}, {packages}, "
        f"Java heap {spark.conf.get('spark.driver.memory')}"
    )


def report(title: str, spark: SparkSession, rows: list[dict[str, str]]) -> None:
    """Print the table and what it was measured on."""
    print(f"{title}\n{machine(spark)}\n\n{text_table(rows)}")
