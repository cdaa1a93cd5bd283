"""X-rays of a gigabyte of segments: by headers alone beside ``cat``, whole beside Kafka's own DumpLogSegments.

The files are made here: batches of some 140 records with keys, values of 50 to 150 bytes and tombstones, as a
producer writes them with the default ``batch.size``; for the second question a fifth of it, because Kafka's tool prints
a line for each record. It comes with the jars that `kafkalearn.live` fetches once; the time that Java takes to start,
measured with an empty file, is taken off. Where the jars cannot be had, the run says so and goes on without.

Times of a busy machine say little, so that beside seconds of the clock those of the processor are taken; ways are taken
in turn, and medians compared. Run it with ``python benchmarks/xray.py [rounds] [megabytes]``.
"""

from __future__ import annotations

import resource
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter

from _dump_log import dump_log

from kafkalearn.base.errors import is_installed
from kafkalearn.base.tables import text_table
from kafkalearn.formats.batches import WHEEL
from kafkalearn.live.errors import KafkaNotFetched
from kafkalearn.live.jars import ProgramFailed
from kafkalearn.oncall import xray
from tests.formats.writing import batch

NAME = f"{0:020}.log"
NOW_MS = 1_795_176_000_000
DISTINCT = 150  # batches that are made; the file repeats them, each with its own offset
RECORDS, SPREAD = 140, 7
PLAIN_SHARE = 50  # plain Python reads one part in so many


@dataclass(frozen=True, slots=True)
class Times:
    """What one contender took."""

    what: str
    who: str
    size_bytes: int
    seconds: tuple[float, ...]
    processor_seconds: tuple[float, ...]


def make(folder: Path, size_bytes: int, records: int = RECORDS) -> Path:
    """A partition with one segment of a little more than a size."""
    random = Random(1)
    kinds = []
    for _ in range(DISTINCT):
        count = max(1, round(random.gauss(records, SPREAD)))
        rows = [(at, NOW_MS + 3 * at, b"user-%d" % random.randrange(10**6), _value(random)) for at in range(count)]
        kinds.append((count, batch(0, rows)[8:]))
    place = folder / "orders-0"
    place.mkdir(parents=True)
    offset = written = 0
    with (place / NAME).open("wb") as file:
        while written < size_bytes:
            count, rest = random.choice(kinds)
            file.write(struct.pack(">q", offset) + rest)
            offset, written = offset + count, written + 8 + len(rest)
    return place / NAME


def _value(random: Random) -> bytes | None:
    return None if random.random() < 0.02 else random.randbytes(random.randrange(50, 150))


def processor_seconds() -> float:
    """Of this process and of those that it has started."""
    own, others = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def timed(rounds: int, ways: dict[str, Callable[[], object]], what: str, size_bytes: int) -> list[Times]:
    """Every way in turn, round by round."""
    found: dict[str, list[tuple[float, float]]] = {who: [] for who in ways}
    for _ in range(rounds):
        for who, work in ways.items():
            begin, processor = perf_counter(), processor_seconds()
            work()
            found[who].append((perf_counter() - begin, processor_seconds() - processor))
    return [Times(what, who, size_bytes, *zip(*each, strict=True)) for who, each in found.items()]


def run(*words: str) -> None:
    subprocess.run(words, stdout=subprocess.DEVNULL, check=True)


def rows(times: list[Times]) -> list[dict[str, str]]:
    return [
        {
            "what": each.what,
            "who": each.who,
            "MB": f"{each.size_bytes / 1e6:,.0f}",
            "median s": f"{median(each.seconds):.2f}",
            "processor s": f"{median(each.processor_seconds):.2f}",
            "MB a processor second": f"{each.size_bytes / 1e6 / max(1e-9, median(each.processor_seconds)):,.0f}",
        }
        for each in times
    ]


def main(rounds: int = 3, megabytes: int = 1000) -> None:
    """Make the files, measure and print."""
    with tempfile.TemporaryDirectory(prefix="kafkalearn-xray-") as name:
        folder = Path(name)
        large, part, little, empty = (
            make(folder / size, bytes_, records)
            for size, bytes_, records in (
                ("large", megabytes * 10**6, RECORDS),
                ("part", megabytes * 2 * 10**5, RECORDS),
                ("little", megabytes * 10**6 // PLAIN_SHARE, RECORDS),
                ("empty", 1, 1),
            )
        )
        times = timed(
            rounds,
            {
                "cat": lambda: run("cat", str(large)),
                "xray, headers alone": lambda: xray(large, headers_only=True, now_ms=NOW_MS),
            },
            "headers",
            large.stat().st_size,
        )
        ways: dict[str, Callable[[], object]] = {"xray": lambda: xray(part, now_ms=NOW_MS)}
        try:
            dump, start = (dump_log(path, "--print-data-log") for path in (part, empty))
            ways |= {"DumpLogSegments": lambda: run(*dump), "Java's start": lambda: run(*start)}
        except (KafkaNotFetched, ProgramFailed) as reason:
            print(f"Not compared with Kafka's own tool: {reason}")
        times += timed(rounds, ways, "records", part.stat().st_size)
        times += timed(1, {"xray, Python alone": lambda: xray(little, is_fast=False, now_ms=NOW_MS)}, "records",
                       little.stat().st_size)  # fmt: skip
    memory_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    wheel = "with" if is_installed(WHEEL) else "WITHOUT"
    print(f"{rounds} rounds, Python {sys.version.split()[0]}, {wheel} {WHEEL}; at most {memory_mb:,.0f} MB in memory")
    print(text_table(rows(times)))
    by_who = {each.who: each for each in times}
    cat, headers = (median(by_who[who].seconds) for who in ("cat", "xray, headers alone"))
    print(f"headers alone: {headers / cat:.2f} x cat, by the clock")
    if "DumpLogSegments" in by_who:
        for kind in ("seconds", "processor_seconds"):
            own, tool, start = (median(getattr(by_who[who], kind)) for who in ways)
            print(f"records: DumpLogSegments without Java's start takes {(tool - start) / own:.1f} x xray, {kind}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
