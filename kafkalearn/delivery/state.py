"""The parts of a delivery: the producer's batches, what is in flight, which callbacks were called, the partition.

The producer is a client: it knows the brokers by their answers alone. What was appended for it is kept beside the
partition, as the stamps on its batches; what a broker remembers of it follows from the log, as in Kafka, where a
broker rebuilds it from the batches.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from kafkalearn.delivery.effects import DeliveryEffect
from kafkalearn.delivery.settings import Settings
from kafkalearn.log.sequences import NO_PRODUCER, Stamp
from kafkalearn.replication import state as partition_state
from kafkalearn.replication.effects import NONE
from kafkalearn.replication.state import Log, Partition

ON_ITS_WAY = "on its way"  # to the broker
AT_BROKER = "waiting at the broker"  # written, and waits for the high watermark
ANSWERED = "answer on its way"

NETWORK_EXCEPTION = "NETWORK_EXCEPTION"  # the connection broke before an answer came
TIMEOUT = "TIMEOUT"  # delivery.timeout.ms is over


class Batch(NamedTuple):
    """Records that travel together."""

    number: int  # from 1, as the application sent them
    values: tuple[str, ...]
    stamp: Stamp | None = None  # given when it first goes out; None: not idempotent, or not sent yet
    attempt_count: int = 0  # counted only if `retries` has an end
    deadline_ms: int | None = None  # delivery.timeout.ms after the application sent it


class Request(NamedTuple):
    """A batch in flight."""

    batch: Batch
    to_broker: int
    stage: str = ON_ITS_WAY
    deadline_ms: int = 0  # request.timeout.ms after it went out
    base_offset: int | None = None  # once it is written
    error: str = NONE  # of the answer on its way


class Callback(NamedTuple):
    """The one call of the application's callback for a batch: the producer is done with it."""

    number: int
    values: tuple[str, ...]
    error: str  # "NONE": the batch is acknowledged


class Producer(NamedTuple):
    """The client's side."""

    batch_count: int = 0  # sent by the application
    value_count: int = 0  # values given out, m1, m2, ...
    waiting: tuple[Batch, ...] = ()  # to go out, or to go out again, in this order
    in_flight: tuple[Request, ...] = ()  # in the order they went out
    callbacks: tuple[Callback, ...] = ()  # in the order they were called
    put_aside: tuple[Callback, ...] = ()  # stored by the application after an error, and not sent again yet
    producer_id: int = NO_PRODUCER
    producer_epoch: int = 0
    next_sequence: int = 0

    @property
    def unresolved(self) -> tuple[Batch, ...]:
        """The batches whose callback was not called yet, as the application sent them."""
        done = {each.number for each in self.callbacks}
        batches = (*self.waiting, *(request.batch for request in self.in_flight))
        return tuple(sorted(batch for batch in batches if batch.number not in done))

    @property
    def on_the_wire(self) -> frozenset[str]:
        """The records that may yet arrive, even after their callback: acks=0, or a batch given up."""
        requests = (each for each in self.in_flight if each.stage == ON_ITS_WAY)
        return frozenset(value for request in requests for value in request.batch.values)

    @property
    def sent(self) -> tuple[tuple[int, tuple[str, ...], str | None], ...]:
        """All batches as (number, values, the callback's error; None: not called yet), as the application sent them."""
        known = {batch.number: (batch.number, batch.values, None) for batch in self.unresolved}
        known |= {each.number: tuple(each) for each in self.callbacks}
        return tuple(known[number] for number in sorted(known))

    @property
    def records(self) -> dict[str, tuple[int, str | None]]:
        """Each record by its value, as first sent: number and callback of the batch it was sent in last."""
        return {value: (number, error) for number, values, error in self.sent for value in values}


NOTHING_SENT = Producer()


class Appended(NamedTuple):
    """A stamped batch as a leader wrote it: epoch and offset say where to find it in any log."""

    leader_epoch: int
    base_offset: int
    stamp: Stamp
    timestamp_ms: int = 0

    def is_in(self, log: Log) -> bool:
        """Whether a log holds it."""
        records = log.records_from(self.base_offset, self.base_offset + self.stamp.record_count)
        is_whole = self.base_offset >= log.first_offset and len(records) == self.stamp.record_count
        return is_whole and all(record.leader_epoch == self.leader_epoch for record in records)


@dataclass(frozen=True, slots=True)
class Delivery:
    """A producer and its partition, at one moment. `effects` are no part of what makes two moments equal."""

    partition: Partition
    producer: Producer = NOTHING_SENT
    appended: tuple[Appended, ...] = ()  # stamped batches, in the order they were written
    effects: tuple[DeliveryEffect, ...] = field(default=(), compare=False)  # what the last event led to, in order


def start(settings: Settings) -> Delivery:
    """A producer that has sent nothing, and a new partition.

    >>> start(Settings()).partition.controller.isr, start(Settings()).producer.in_flight
    ((1, 2, 3), ())
    """
    return Delivery(partition_state.start(settings.topic))
