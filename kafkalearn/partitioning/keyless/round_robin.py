"""Keyless records up to 2.3: dealt out one by one, from a counter with a random start."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.hashing import int32, to_positive
from kafkalearn.partitioning.keyless.effects import CounterStarted
from kafkalearn.partitioning.keyless.events import Send
from kafkalearn.partitioning.keyless.settings import Settings
from kafkalearn.partitioning.keyless.state import Producer, write


def send(settings: Settings, producer: Producer, event: Send) -> Producer:
    """The producer after a keyless record: the counter picks among the available partitions.

    References
    ----------
    Apache Kafka 0.8.2.1 to 2.3, ``DefaultPartitioner`` (0.8.2: ``Partitioner``). 0.8.2.0 alone counted over all
    partitions and skipped those without a leader one by one; that is not modelled.
    """
    counter, started = _started(settings, producer)
    counted = replace(started, counter=int32(counter + 1))
    return write(settings, counted, event, settings.candidates[to_positive(counter) % len(settings.candidates)])


def count(settings: Settings, producer: Producer) -> Producer:
    """The producer with its counter one further; the first use draws where it starts."""
    counter, started = _started(settings, producer)
    return replace(started, counter=int32(counter + 1))


def _started(settings: Settings, producer: Producer) -> tuple[int, Producer]:
    if producer.counter is not None:
        return producer.counter, producer
    counter = settings.draw(producer.draw_count)
    effects = (CounterStarted(counter),)
    return counter, replace(producer, counter=counter, draw_count=producer.draw_count + 1, effects=effects)
