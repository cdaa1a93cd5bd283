"""What holds in every producer, and what a user hopes for: no rule keeps both promises."""

from __future__ import annotations

from kafkalearn.partitioning.batching import all_full
from kafkalearn.partitioning.keyless.settings import Settings
from kafkalearn.partitioning.keyless.state import Producer
from kafkalearn.promises import judges


def _only_the_last_fills_up(settings: Settings, producer: Producer) -> bool:
    return all(batch.is_full for queue in producer.queues for batch in (queue or ())[:-1])


def _fit_their_buffers(settings: Settings, producer: Producer) -> bool:
    return all(batch.byte_count <= batch.limit_bytes for queue in producer.queues for batch in queue or ())


def _were_written(settings: Settings, producer: Producer) -> bool:
    waiting = [sum(batch.record_count for batch in queue or ()) for queue in producer.queues]
    return all(count <= written for count, written in zip(waiting, producer.record_counts, strict=True))


INVARIANTS = {
    "only the last batch of a queue is filling up": _only_the_last_fills_up,
    "no batch exceeds its buffer": _fit_their_buffers,
    "every record that waits was written": _were_written,
    "another partition is drawn at twice batch.size at the latest": lambda settings, producer: (
        producer.produced_bytes < 2 * settings.batch_size
    ),
}

PROMISES = {
    "no partition is two records ahead of another": lambda settings, producer: (
        max(producer.record_counts) - min(producer.record_counts) < 2
    ),
    "only one batch is filling up": lambda settings, producer: (
        sum(not all_full(queue or ()) for queue in producer.queues) < 2
    ),
}

check, broken = judges(INVARIANTS, PROMISES)
