"""Ways of doing the same over the same rows, timed in turns, each beside the first.

The ways take turns, so that a busy moment of the machine hits all alike; the figure is the median of a way's turns,
the ratio that of the medians, by the clock and by the time of the processor, which other work on the machine hardly
changes. Slow ways get fewer turns. Java compiles what runs often, so the first turns of all are thrown away.

A way that fails is a line of the table: it says why it cannot, and the others go on. Every figure is on disk before
the next turn begins (`_figures`), and the table is printed however a run ends, short of being killed.
"""

from __future__ import annotations

import argparse
import os
import platform
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from statistics import median
from time import perf_counter, strftime
from typing import TYPE_CHECKING

from _figures import Figures, figures_path, note
from _memory import peak_mib, reset_peak
from _processes import Watch
from _reasons import reason_of

from kafkalearn.base.tables import text_table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LONGEST_REASON = 60  # characters


class WrongAnswer(Exception):  # noqa: N818  (the way has not failed: it has answered)
    """A way has another answer than the first."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way, as a function that makes its query anew: Spark keeps what a query object has shuffled before."""

    name: str
    run: Callable[[], object]
    is_slow: bool = False


def parser(description: str, rows: int, rounds: int, warm_up: int) -> argparse.ArgumentParser:
    """The options that all of these benchmarks have."""
    options = argparse.ArgumentParser(description=description)
    options.add_argument("--rows", type=int, default=rows)
    options.add_argument("--rounds", type=int, default=rounds, help="turns of each way")
    options.add_argument("--slow-rounds", type=int, default=1, help="turns of each slow way")
    options.add_argument("--warm-up", type=int, default=warm_up, help="turns that are thrown away")
    options.add_argument("--without", nargs="*", default=[], help="ways to leave out, by a word of their names")
    options.add_argument("--go-on", action="store_true", help="take over the figures of a run that was stopped")
    return options


def measure(name: str, title: str, measured_on: str, ways: Sequence[Way], options: argparse.Namespace) -> None:
    """Time the ways in turns and print the table; `name` is that of the file with the figures."""
    chosen = [way for way in ways if not any(word in way.name for word in options.without)]
    path = figures_path(name)
    figures = Figures(path, {"title": title, "machine": measured_on}, options.go_on)
    note(f"{title}: {len(chosen)} ways; every figure goes to {path}; stopped, it goes on with --go-on")
    signal.signal(signal.SIGTERM, _end)
    try:
        take_turns(chosen, figures, options.rounds, options.slow_rounds, options.warm_up)
    finally:
        print(f"{title}\n{measured_on}\n\n{text_table(table(chosen, figures))}", flush=True)
    wrong = [f"{way}: {reason}" for way, reason in figures.reasons.items() if reason.startswith(WrongAnswer.__name__)]
    if wrong:
        sys.exit("\n".join(wrong))


def _end(number: int, frame: object) -> None:
    """Ask the run to end, so that its table is printed."""
    sys.exit(128 + number)


def take_turns(ways: Sequence[Way], figures: Figures, rounds: int, slow_rounds: int, warm_up: int) -> None:
    """Let the ways take turns, and note what each has taken or why it cannot."""
    for turn in range(-warm_up, rounds):
        for way in ways:
            wanted = slow_rounds if way.is_slow else rounds
            is_done = len(figures.seconds.get(way.name, ())) >= wanted or way.name in figures.reasons
            if is_done or (way.is_slow and turn < 0):
                continue
            name = "warm-up" if turn < 0 else f"turn {len(figures.seconds.get(way.name, ())) + 1} of {wanted}"
            note(f"{strftime('%H:%M:%S')} {way.name}, {name} ...")
            figures.begin(way.name)
            took = _timed(way, figures)
            if took is not None and turn >= 0:
                figures.took(way.name, *took, peak_mib())
                note(f"{strftime('%H:%M:%S')} {way.name}: {took[0]:.2f} s")


def _timed(way: Way, figures: Figures) -> tuple[float, float | None] | None:
    """The seconds that a way takes, and those of the processor; None: it cannot, which is noted."""
    reset_peak()
    watch, begin = Watch(), perf_counter()
    try:
        with watch:
            way.run()
    except (KeyboardInterrupt, SystemExit):
        figures.stopped(way.name)
        raise
    except Exception as error:  # whatever a library raises where it gives up
        reason = reason_of(error, LONGEST_REASON)
        figures.cannot(way.name, reason)
        note(f"{strftime('%H:%M:%S')} {way.name} cannot, after {perf_counter() - begin:.0f} s: {reason}")
        return None
    return perf_counter() - begin, watch.processor_seconds


def table(ways: Sequence[Way], figures: Figures) -> list[dict[str, str]]:
    """A row for each way: its turns, the median and the shortest of them in seconds, the ratios to the first way."""
    return [_row(way.name, ways[0].name, figures) for way in ways]


def _row(name: str, base: str, figures: Figures) -> dict[str, str]:
    seconds, reason = figures.seconds.get(name, []), figures.reasons.get(name)
    ratio = _ratio(figures.seconds, name, base)
    if reason is not None:
        ratio = f"{ratio}, then cannot: {reason}" if seconds else f"cannot: {reason}"
    return {
        "way": name,
        "turns": str(len(seconds)),
        "median s": _median(figures.seconds, name),
        "shortest s": f"{min(seconds):.2f}" if seconds else "-",
        "ratio": ratio if seconds or reason is not None else "not measured",
        "CPU s": _median(figures.processor_seconds, name),
        "CPU ratio": _ratio(figures.processor_seconds, name, base),
        "peak MiB": f"{figures.peak_mib[name]:,}" if name in figures.peak_mib else "-",
    }


def _median(seconds: dict[str, list[float]], name: str) -> str:
    return f"{median(seconds[name]):.2f}" if name in seconds else "-"


def _ratio(seconds: dict[str, list[float]], name: str, base: str) -> str:
    if name not in seconds or not median(seconds.get(base, [0])):
        return "-"
    return f"{median(seconds[name]) / median(seconds[base]):.2f}"


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
