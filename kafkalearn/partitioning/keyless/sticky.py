"""Keyless records from 2.4 to 3.2 (KIP-480): one partition until a new batch has to be opened."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.errors import KafkaLearnError
from kafkalearn.partitioning.batching import has_room
from kafkalearn.partitioning.keyless.events import Send
from kafkalearn.partitioning.keyless.settings import Settings
from kafkalearn.partitioning.keyless.state import Producer, close_open_batch, move_to, write

GIVE_UP_AFTER_DRAWS = 10_000  # a source that never gives another partition would keep the sticky rule drawing


def send(settings: Settings, producer: Producer, event: Send, fixed: int | None) -> Producer:
    """The producer after a record; `fixed` is the partition its key or the application names, None for neither.

    A record that would open a batch on the sticky partition moves the sticky partition first, and a keyless one
    goes along. One with a key stays where its key belongs, but moves the sticky partition all the same.

    References
    ----------
    Apache Kafka 2.4 to 3.2, ``StickyPartitionCache.nextPartition`` and ``KafkaProducer.doSend``; KIP-480.
    """
    if producer.current is None and fixed is None:
        producer = _draw_other(settings, producer)
    partition = producer.drawn if fixed is None else fixed
    if not has_room(producer.queue(partition), event.key, event.value_bytes):
        producer = close_open_batch(producer, partition)
        if producer.current in (None, partition):  # a keyed record's new batch moves the sticky partition too
            producer = _draw_other(settings, producer)
        partition = producer.drawn if fixed is None else fixed
    return write(settings, producer, event, partition)


def _draw_other(settings: Settings, producer: Producer) -> Producer:
    """Another partition than the current one, unless there is only one to draw, or none is available."""
    candidates = settings.candidates
    if settings.available is not None and len(settings.available) == 1:
        return replace(producer, current=settings.available[0])  # there is nothing to draw
    must_differ = settings.available != ()
    for index in range(producer.draw_count, producer.draw_count + GIVE_UP_AFTER_DRAWS):
        drawn = candidates[settings.draw(index) % len(candidates)]
        if drawn != producer.current or not must_differ or len(candidates) == 1:
            return move_to(producer, drawn, draw_count=index + 1)
    raise KafkaLearnError(
        f"draw gave partition {producer.current} {GIVE_UP_AFTER_DRAWS} times running; the sticky rule draws until "
        "it gets another one: give Settings a draw function that varies, for example seeded(1)"
    )
