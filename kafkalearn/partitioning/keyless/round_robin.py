"""Keyless records up to 2.3: dealt out one by one, from a counter with a random start."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.hashing import int32, to_positive
from kafkalearn.partitioning.keyless.model import Producer, Send, Settings, write


def send(settings: Settings, producer: Producer, event: Send) -> Producer:
    """The producer after a keyless record: the counter picks among the available partitions.

    References
    ----------
    Apache Kafka 0.8.2.1 to 2.3, ``DefaultPartitioner`` (0.8.2: ``Partitioner``). 0.8.2.0 alone counted over all
    partitions and skipped those without a leader one by one; that is not modelled.
    """
    counted = count(settings, producer)
    dealt = to_positive(counted.counter - 1)
    return write(settings, counted, event, settings.candidates[dealt % len(settings.candidates)])


def count(settings: Settings, producer: Producer) -> Producer:
    """The producer with its counter one further; the first use draws where it starts."""
    if producer.counter is None:
        producer = replace(producer, counter=settings.draw(producer.draw_count), draw_count=producer.draw_count + 1)
    return replace(producer, counter=int32(producer.counter + 1))
