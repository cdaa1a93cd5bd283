"""What an operator sees of a cleaner that fails: tests/vectors/log/cleaner-metrics.json."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from kafkalearn.live import Kafka
from kafkalearn.live.cluster import Disk
from kafkalearn.live.errors import wait_for
from tools.real.metrics import Metrics

FILE = "log/cleaner-metrics.json"
ABOUT = (
    "A compacted partition, step by step: write (records as key and value, in one batch, of which the first closes the "
    "segment before), clean (the cleaner has run), damage (a byte of the oldest dirty segment is changed on the disk, "
    "and the cleaner has met it), look, restart (of the broker). Seen after each: the line of "
    "cleaner-offset-checkpoint (null: none), the log end offset, the first offset of each segment, metrics of "
    "kafka.log. Rounds: time-since-last-run-ms, in ms. Written by python3 -m tools.real uncleanable."
)
CONFIG = {"log.cleaner.backoff.ms": 200, "log.cleaner.threads": 1, "log.initial.task.delay.ms": 100}
SEGMENT_MS = 1000
NEVER, ALWAYS = 1.0, 0.01
TOPIC = "kept"
STEPS: Sequence[list[Any]] = (
    ["write", [["a", "1"], ["b", "1"]]],
    ["write", [["a", "2"]]],
    ["clean"],
    ["write", [["b", "2"], ["c", "1"]]],
    ["write", [["a", "3"]]],
    ["damage"],
    ["write", [["c", "2"]]],
    ["look"],
    ["restart"],
)


def recorded(version: str, line: str) -> list[dict[str, Any]]:
    """The one case, by a broker of a release."""
    with Kafka(release=line, config=CONFIG) as kafka:
        config = {"cleanup.policy": "compact", "segment.ms": SEGMENT_MS, "min.cleanable.dirty.ratio": NEVER}
        kafka.create_topic(TOPIC, 1, config=config)
        seen = []
        for kind, *rest in STEPS:
            before = time.time()
            _do(kafka, kind, *rest)
            time.sleep(1.5)
            with Metrics(kafka) as metrics:
                seen.append({**_seen(kafka, metrics), "took": round(1000 * (time.time() - before))})
            print(kind, seen[-1], flush=True)
    return [{"name": "a batch is damaged", "steps": STEPS, "seen": seen}]


def _do(kafka: Kafka, kind: str, *rest: Any) -> None:
    disk = kafka.disk(1)
    if kind == "write":
        time.sleep(SEGMENT_MS / 1000 + 0.2)
        (records,) = rest
        producer = kafka.producer(linger_ms=5000)
        for key, value in records:
            producer.produce(TOPIC, value, key, partition=0)
        if producer.flush(30):
            raise TimeoutError("records are not taken")
    elif kind == "clean":
        before = disk.checkpoint("cleaner-offset-checkpoint")
        kafka.alter_topic(TOPIC, {"min.cleanable.dirty.ratio": ALWAYS})
        wait_for(lambda: disk.checkpoint("cleaner-offset-checkpoint") != before, True, "the cleaner")
        kafka.alter_topic(TOPIC, {"min.cleanable.dirty.ratio": NEVER})
    elif kind == "damage":
        _damage(disk)
        kafka.alter_topic(TOPIC, {"min.cleanable.dirty.ratio": ALWAYS})
        time.sleep(2)
    elif kind == "restart":
        kafka.alter_topic(TOPIC, {"min.cleanable.dirty.ratio": NEVER})  # else the cleaner meets it again
        kafka.stop(1)
        kafka.restart(1)


def _damage(disk: Disk) -> None:
    """Change the last byte of the segment that is cleaned next."""
    cleaned = _checkpoint(disk) or 0
    segments = [each for each in disk.segments(TOPIC, 0) if each.base_offset >= cleaned]
    path = disk.folder / f"{TOPIC}-0" / f"{segments[0].base_offset:020}.log"
    with path.open("r+b") as file:
        file.seek(-1, 2)
        last = file.read(1)
        file.seek(-1, 2)
        file.write(bytes([last[0] ^ 0xFF]))


def _checkpoint(disk: Disk) -> int | None:
    return next(
        (offset for at, offset in disk.checkpoint("cleaner-offset-checkpoint").items() if at.topic == TOPIC), None
    )


def _seen(kafka: Kafka, metrics: Metrics) -> dict[str, Any]:
    disk = kafka.disk(1)
    read: Callable[..., dict[str, float]] = metrics.read
    manager = read("kafka.log:type=LogCleanerManager,*", "name")
    cleaner = read("kafka.log:type=LogCleaner,*", "name")
    names = ("uncleanable-partitions-count", "uncleanable-bytes")
    return {
        "cleaner-offset-checkpoint": _checkpoint(disk),
        "log end offset": kafka.high_watermark(TOPIC, 0),
        "segments": [each.base_offset for each in disk.segments(TOPIC, 0)],
        **{name: int(manager[name]) for name in names},
        "DeadThreadCount": int(cleaner["DeadThreadCount"]),
        "rounds": int(manager["time-since-last-run-ms"]),
    }
