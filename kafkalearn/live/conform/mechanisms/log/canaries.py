"""Logs that a broker looks after last: when it has been at them, it has been at all others.

The cleaner takes the dirtiest log first, and goes on until none is left: a large log with one dirty record comes
last. Retention looks at every log in turn: between two looks at one log it was at all the others.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from kafkalearn.live.reading.disk import CLEANED
from kafkalearn.live.requests.values import NEWEST_PRODUCE_WITH_NAMES, produce
from kafkalearn.live.waiting import wait_for
from kafkalearn.topic_partition import TopicPartition

if TYPE_CHECKING:
    from kafkalearn.live.kafka import Kafka

NEVER_MS = 10**14
"""As min.compaction.lag.ms: the cleaner leaves the log alone."""

HOUSEKEEPING = {
    "log.cleaner.backoff.ms": 20,
    "log.cleaner.threads": 1,
    "log.initial.task.delay.ms": 100,
    "log.retention.check.interval.ms": 50,
    "log.segment.delete.delay.ms": 100,
    "transaction.partition.verification.enable": False,  # transactions are played without their coordinator
}
"""What a broker needs so that nothing is waited for, and a script may be its transaction coordinator."""

BIG_BYTES = 300_000
STARTED_AGO_MS = 30 * 86_400_000
STEP_MS = 2_000
ROUNDS = 2


class Canaries:
    """The two logs of one cluster."""

    def __init__(self, kafka: Kafka) -> None:
        """Create them."""
        self._kafka = kafka
        self._at_ms = int(time.time() * 1000) - STARTED_AGO_MS
        self._cleaned, self._retained = TopicPartition("canary-of-the-cleaner", 0), TopicPartition("canary-of-age", 0)
        compacted = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": 0, "min.compaction.lag.ms": NEVER_MS}
        kafka.create_topic(self._cleaned.topic, config={**compacted, "segment.ms": 1000})
        kafka.create_topic(self._retained.topic, config={"retention.ms": 3_600_000, "segment.ms": 1000})
        self._append(self._cleaned, b"big", bytes(BIG_BYTES))

    def await_cleaner(self) -> None:
        """Return when the cleaner has been at every log that it may clean, as it is configured when this begins."""
        topic, disk = self._cleaned.topic, self._kafka.disk(1)
        self._kafka.alter_topic(topic, {"min.compaction.lag.ms": 0})
        for _ in range(ROUNDS):
            self._append(self._cleaned, b"small", b"")
            end = disk.segments(*self._cleaned)[-1].base_offset
            wait_for(lambda end=end: disk.checkpoint(CLEANED).get(self._cleaned), end, f"{topic} cleaned up to")
        self._kafka.alter_topic(topic, {"min.compaction.lag.ms": NEVER_MS})

    def await_retention(self) -> None:
        """Return when old segments of every log were looked for."""
        for _ in range(ROUNDS + 1):
            end = self._append(self._retained, b"small", b"") + 1
            wait_for(lambda: self._kafka.log_start_offset(*self._retained), end, f"{self._retained} begins at")

    def _append(self, place: TopicPartition, key: bytes, value: bytes) -> int:
        self._at_ms += STEP_MS
        words = produce(place, [(key, value, self._at_ms)])
        answer = self._kafka.ask(1, "Produce", words, NEWEST_PRODUCE_WITH_NAMES)
        return answer["responses"][0]["partitionResponses"][0]["baseOffset"]


_OF_CLUSTER: WeakKeyDictionary[Kafka, Canaries] = WeakKeyDictionary()


def canaries_of(kafka: Kafka) -> Canaries:
    """The canaries of a cluster; they are created when they are asked for first."""
    if kafka not in _OF_CLUSTER:
        _OF_CLUSTER[kafka] = Canaries(kafka)
    return _OF_CLUSTER[kafka]
