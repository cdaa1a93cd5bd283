"""What the cleaner leaves of a log in its first pass and in a later one: when a tombstone goes."""

from __future__ import annotations

import time
from collections.abc import Iterable

from kafkalearn.live.errors import NotReached
from kafkalearn.live.kafka import Kafka
from kafkalearn.live.reading.disk import CLEANED
from kafkalearn.live.waiting import wait_for
from kafkalearn.topic_partition import TopicPartition

PLACE = TopicPartition("customers", 0)
DELETE_RETENTION_MS = 1000
SEGMENT_MS = 1000
NEVER_MS = 10**14  # as min.compaction.lag.ms: leave the log alone
BEGAN_MS = 1_700_000_000_000  # timestamps are those of the script: a segment is closed by them, not by the clock
QUICK_CLEANER = {"log.cleaner.backoff.ms": 100, "log.initial.task.delay.ms": 100}
LATER_MS = 100_000  # so much later comes the record that closes the active segment

Script = tuple[tuple[str, str | None, int], ...]
"""(key, value or None, milliseconds since the script began)"""

ANNA_LEAVES: Script = (
    *(("anna", "Paris", 0), ("ben", "Rome", 10), ("anna", "Oslo", 1500)),
    *(("carl", "Bonn", 1510), ("anna", None, 3000), ("ben", "Bern", 3010)),
)
DORA_WAS_NEVER_THERE: Script = (
    *(("dora", None, 0), ("emil", "Lyon", 10), ("emil", "Graz", 1500)),
    *(("fay", "Kiel", 1510), ("fay", None, 3000), ("emil", None, 3010)),
)


def tombstone(release: str) -> dict[str, list[list[object]]]:
    """What is in the log before, after the first pass, and after one that comes later: [offset, key, value]."""
    return _passes(release, ANNA_LEAVES)


def tombstone_of_a_new_key(release: str) -> dict[str, list[list[object]]]:
    """The same where a tombstone is the first record of its key."""
    return _passes(release, DORA_WAS_NEVER_THERE)


def _passes(release: str, script: Script) -> dict[str, list[list[object]]]:
    with Kafka(1, release, config=QUICK_CLEANER) as kafka:
        config = {
            "cleanup.policy": "compact",
            "segment.ms": SEGMENT_MS,
            "min.cleanable.dirty.ratio": 0,
            "delete.retention.ms": DELETE_RETENTION_MS,
            "min.compaction.lag.ms": NEVER_MS,
        }
        kafka.create_topic(PLACE.topic, config=config)
        _send(kafka, script)
        _send(kafka, closing(script, 1))
        seen = {"before": _shown(kafka)}
        began_s = time.monotonic()
        _clean(kafka)
        seen["first pass"] = _shown(kafka)
        if time.monotonic() - began_s > DELETE_RETENTION_MS / 1000:  # the cleaner may have come a second time
            raise NotReached(f"the first pass was not over and looked at within {DELETE_RETENTION_MS} ms")
        time.sleep(DELETE_RETENTION_MS / 1000 + 0.2)  # the delete horizon, which the first pass has written, is past
        _send(kafka, closing(script, 2))
        _clean(kafka)
        seen["later pass"] = _shown(kafka)
        return seen


def closing(script: Script, number: int) -> Script:
    """A record whose timestamp closes the active segment, so that the cleaner may take it."""
    return (("closing", f"{number}", script[-1][2] + number * LATER_MS),)


def _send(kafka: Kafka, records: Iterable[tuple[str, str | None, int]]) -> None:
    kafka.send_records(
        PLACE.topic,
        [(key.encode(), value and value.encode(), BEGAN_MS + since_ms) for key, value, since_ms in records],
    )


def _clean(kafka: Kafka) -> None:
    """One pass, which takes all but the active segment."""
    wanted = kafka.disk(1).segments(*PLACE)[-1].base_offset
    kafka.alter_topic(PLACE.topic, {"min.compaction.lag.ms": 0})
    wait_for(lambda: kafka.disk(1).checkpoint(CLEANED).get(PLACE), wanted, f"{PLACE} cleaned up to")
    kafka.alter_topic(PLACE.topic, {"min.compaction.lag.ms": NEVER_MS})


def _shown(kafka: Kafka) -> list[list[object]]:
    records = wait_for(lambda: kafka.disk(1).records(*PLACE), lambda found: True)
    return [[each.offset, each.key.decode(), each.value and each.value.decode()] for each in records]
