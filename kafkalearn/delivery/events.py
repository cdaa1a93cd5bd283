"""What can happen between a producer and its partition.

The events of `kafkalearn.replication` happen as well, but for its ``Produce``: here each request comes from a producer,
or is made by hand (`ProduceRequest`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from kafkalearn.arguments import LARGEST_INT
from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import BrokerId, Checked, Offset, RecordCount, Whole, check_fields
from kafkalearn.replication.events import ReplicationEvent, RequestMillis, refuse_unknown_acks


@dataclass(frozen=True, slots=True)
class Send(Checked):
    """The application sends a batch; its request goes out at once if nothing waits and there is room in flight."""

    record_count: RecordCount = 1
    values: tuple[str, ...] = ()  # of the records, each its own; empty: m1, m2, ... in the order sent


@dataclass(frozen=True, slots=True)
class SendAgain:
    """The application sends the oldest batch that it has put aside once more: for the producer it is a new batch."""


@dataclass(frozen=True, slots=True)
class RequestSent:
    """The first batch that waits goes out, to the leader of this moment."""


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
    """``delivery.timeout.ms`` is over for the oldest batch: its callback gets the error."""


@dataclass(frozen=True, slots=True)
class ProduceRequest(Checked):
    """A request made by hand: it reaches the broker at once, and the broker's answer is among the effects."""

    values: tuple[str, ...]
    acks: int | str = "all"
    producer_id: Offset | None = None  # None: no idempotent producer
    producer_epoch: Annotated[int, Whole(0, 2**15 - 1)] = 0
    first_sequence: Annotated[int, Whole(0, LARGEST_INT)] = 0
    timeout_ms: RequestMillis = 30_000
    to_broker: BrokerId | None = None  # None: the leader, as the controller has it

    def __post_init__(self) -> None:
        """Refuse what no producer could send."""
        check_fields(self)
        refuse_unknown_acks(self.acks)
        if not self.values:
            raise KafkaLearnError("a batch has at least one record; give its values: ProduceRequest(('a',))")


ProducerEvent: TypeAlias = (
    Send | SendAgain | RequestSent | RequestArrived | AnswerArrived | ConnectionLost | GaveUp | ProduceRequest
)
DeliveryEvent: TypeAlias = ProducerEvent | ReplicationEvent
