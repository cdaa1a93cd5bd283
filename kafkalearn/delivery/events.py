"""What can happen between a producer and its partition.

The events of `kafkalearn.replication` happen as well, but for its ``Produce``: here a producer stands behind each
request, or somebody who makes one by hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.replication import NONE, Effect, ReplicationEvent


@dataclass(frozen=True, slots=True)
class Send:
    """The application sends a batch; its request goes out at once if nothing waits and there is room in flight."""

    record_count: int = 1
    values: tuple[str, ...] = ()  # of the records, each its own; empty: m1, m2, ... in the order sent


@dataclass(frozen=True, slots=True)
class RequestSent:
    """The first batch that waits goes out, to the leader as it is known now."""


@dataclass(frozen=True, slots=True)
class RequestArrived:
    """The oldest request on its way reaches its broker, which works on it."""


@dataclass(frozen=True, slots=True)
class AnswerArrived:
    """The oldest answer on its way reaches the producer."""


@dataclass(frozen=True, slots=True)
class ConnectionLost:
    """The connection breaks: what is in flight, requests and answers, never arrives."""


@dataclass(frozen=True, slots=True)
class GaveUp:
    """``delivery.timeout.ms`` is over for the oldest batch: the application is told that it failed."""


@dataclass(frozen=True, slots=True)
class ProduceRequest:
    """A request made by hand: it reaches the broker at once, and what the broker answers is among the effects."""

    values: tuple[str, ...]
    acks: int | str = "all"
    producer_id: int | None = None  # None: no idempotent producer
    producer_epoch: int = 0
    first_sequence: int = 0
    timeout_ms: int = 30_000
    to_broker: int | None = None  # None: the leader, as the controller has it


ProducerEvent: TypeAlias = (
    Send | RequestSent | RequestArrived | AnswerArrived | ConnectionLost | GaveUp | ProduceRequest
)
DeliveryEvent: TypeAlias = ProducerEvent | ReplicationEvent


@dataclass(frozen=True, slots=True)
class BatchAppended:
    """The leader has written a batch."""

    number: int | None  # None: of a request made by hand
    base_offset: int


@dataclass(frozen=True, slots=True)
class DuplicateRecognised:
    """The leader has this batch already: it writes nothing and answers the old offset."""

    number: int | None
    base_offset: int


@dataclass(frozen=True, slots=True)
class BatchRefused:
    """The leader has written nothing."""

    number: int | None
    error: str


@dataclass(frozen=True, slots=True)
class BatchWillBeRetried:
    """The producer has put a batch back to be sent again; the application hears nothing."""

    number: int
    error: str


@dataclass(frozen=True, slots=True)
class ApplicationTold:
    """The application has heard what became of its batch."""

    number: int
    error: str = NONE


@dataclass(frozen=True, slots=True)
class EpochRaised:
    """The producer found a gap it cannot fill, raises its epoch, and counts from 0 again."""

    producer_epoch: int


DeliveryEffect: TypeAlias = (
    BatchAppended | DuplicateRecognised | BatchRefused | BatchWillBeRetried | ApplicationTold | EpochRaised | Effect
)
