"""The parts of a delivery: a producer's settings with their defaults by release, events, effects, and the state.

The producer is a client: it knows the brokers by their answers alone. What was appended for it is kept beside the
partition, as the stamps on its batches; what a broker remembers of it follows from the log, as in Kafka, where a broker
rebuilds it from the batches.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, NamedTuple, TypeAlias

from kafkalearn.base import facts
from kafkalearn.base.checks import (
    LARGEST_INT,
    NOT_GIVEN,
    BrokerId,
    Checked,
    Count,
    FilledIn,
    Index,
    Offset,
    RecordCount,
    Whole,
    check_fields,
    fill_in,
)
from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.log.sequences import NO_PRODUCER, Stamp
from kafkalearn.releases import default
from kafkalearn.releases.lines import DEFAULT_RELEASE, RELEASES, AnswersFor, ReleaseName, at_least
from kafkalearn.replication import state as partition_state
from kafkalearn.replication.events import NONE, Effect, ReplicationEvent, RequestMillis, refuse_unknown_acks
from kafkalearn.replication.settings import Settings as TopicSettings
from kafkalearn.replication.state import Log, Partition

FOR_EVER = 2_147_483_647  # retries of 2.1 and later: as long as delivery.timeout.ms allows
MOST_IN_FLIGHT = 5  # batches that a broker remembers of a producer: of more in flight it could not recognise the oldest


ANSWERS_FOR = AnswersFor("delivery", RELEASES[0])


@dataclass(frozen=True, slots=True)
class ProducerSettings(Checked):
    """A producer, as its configuration says; what is not given is the release's default.

    Parameters
    ----------
    acks : 0, 1, "all" or None
        ``acks``: when the broker answers. None: 1 up to 2.8, all since 3.0.
    is_idempotent : bool or None
        ``enable.idempotence``. None: on since 3.0, if the other settings allow it, else silently off; since 4.0 more
        than 5 requests in flight are refused unless it is False. (In 3.0.0 and
        3.1.0 a fault left it off, KAFKA-13598; here "3.0" and "3.1" stand for the patch releases that have it on.)
    retries : int or None
        ``retries``. None: 0 up to 2.0, then without end.
    max_in_flight : int or None
        ``max.in.flight.requests.per.connection``.
    delivery_timeout_ms : int or None
        ``delivery.timeout.ms``: after so long the producer gives a batch up. None before 2.1: no limit.
    request_timeout_ms : int or None
        ``request.timeout.ms``: how long to wait for one answer; acks=all waits no longer at the broker either.
    puts_failures_aside : bool
        No setting of Kafka's, but what the application's callback does with an error: it stores the record, to send it
        again later (`kafkalearn.delivery.SendAgain`). False: it takes note of the error, and no more.
    release : str
        Of the producer; without one, the newest line.

    Raises
    ------
    KafkaLearnError
        If a producer would refuse to start so.

    Examples
    --------
    >>> ProducerSettings().acks, ProducerSettings().is_idempotent
    ('all', True)
    >>> ProducerSettings(release="2.8").acks, ProducerSettings(release="2.8").is_idempotent
    (1, False)
    >>> ProducerSettings(acks=1).is_idempotent  # the default gives way without a word
    False
    >>> ProducerSettings(is_idempotent=True, release="2.8").acks  # who asks for it gets the rest as well
    'all'
    >>> ProducerSettings(acks=1, is_idempotent=True)
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.KafkaLearnError: an idempotent producer needs acks='all', got acks=1; leave one of them away

    References
    ----------
    Apache Kafka 4.3, ``ProducerConfig.postProcessAndValidateIdempotenceConfigs``; KIP-98, KIP-679.
    """

    acks: FilledIn[int | str] = NOT_GIVEN
    is_idempotent: FilledIn[bool] = NOT_GIVEN
    retries: FilledIn[Index] = NOT_GIVEN
    max_in_flight: FilledIn[Count] = NOT_GIVEN
    delivery_timeout_ms: RequestMillis | None = None
    request_timeout_ms: FilledIn[RequestMillis] = NOT_GIVEN
    puts_failures_aside: bool = False
    release: ReleaseName = DEFAULT_RELEASE

    def __post_init__(self) -> None:
        """Fill in the release's defaults, and refuse what contradicts itself."""
        check_fields(self)
        ANSWERS_FOR.check(self.release)
        if self.is_idempotent and at_least("0.11.0", self.release):
            self._give_way()
        fill_in(
            self,
            acks=_acks_of(self.release),
            retries=default("retries", self.release, "producer"),
            max_in_flight=default("max.in.flight.requests.per.connection", self.release, "producer"),
            request_timeout_ms=30_000,  # up to 0.8.2 it was called timeout.ms
        )
        if at_least("2.1", self.release):
            fill_in(self, delivery_timeout_ms=default("delivery.timeout.ms", self.release, "producer"))
        refuse_unknown_acks(self.acks)
        self._settle_idempotence()

    def _give_way(self) -> None:
        """Who asks for idempotence gets what it needs in place of the release's defaults; what is given stays."""
        fill_in(self, acks="all", retries=FOR_EVER)
        if not at_least("1.0", self.release):
            fill_in(self, max_in_flight=1)

    def _settle_idempotence(self) -> None:
        conflict = self._conflict()
        # Since 4.0 too many requests in flight are refused unless idempotence is switched off, even beside acks=1.
        gives_way = not at_least("4.0", self.release) or self.is_idempotent is False
        if not gives_way and self.max_in_flight > MOST_IN_FLIGHT:
            words = f"at most {MOST_IN_FLIGHT} requests in flight, got max_in_flight={self.max_in_flight}"
            raise KafkaLearnError(f"an idempotent producer needs {words}; leave it away, or set is_idempotent=False")
        if self.is_idempotent and conflict:
            raise KafkaLearnError(f"an idempotent producer needs {conflict}; leave one of them away")
        is_default = at_least("0.11.0", self.release) and default("enable.idempotence", self.release, "producer")
        fill_in(self, is_idempotent=bool(is_default) and not conflict)

    def _conflict(self) -> str:
        """What stands in the way of idempotence; empty: nothing."""
        if not at_least("0.11.0", self.release):
            return f"Kafka 0.11 or later, got release {self.release!r}"
        if self.acks != "all":
            return f"acks='all', got acks={self.acks!r}"
        if self.retries == 0:
            return "retries above 0, got retries=0"
        most = MOST_IN_FLIGHT if at_least("1.0", self.release) else 1
        if self.max_in_flight > most:
            return f"at most {most} requests in flight, got max_in_flight={self.max_in_flight}"
        return ""


def _acks_of(release: str) -> int | str:
    acks = default("acks", release, "producer")
    return "all" if acks in ("all", "-1") else int(str(acks))


@dataclass(frozen=True, slots=True)
class Settings:
    """A producer and the partition it writes to.

    Parameters
    ----------
    topic : TopicSettings
        The partition and its brokers: ``kafkalearn.replication.Settings``.
    producer : ProducerSettings
        The one producer.

    Examples
    --------
    >>> settings = Settings(TopicSettings(replica_count=2, min_insync_replicas=2), ProducerSettings(acks=1))
    >>> settings.topic.min_insync_replicas, settings.producer.acks
    (2, 1)
    """

    topic: TopicSettings = field(default_factory=TopicSettings)
    producer: ProducerSettings = field(default_factory=ProducerSettings)

    def __post_init__(self) -> None:
        """Refuse what is no pair of settings."""
        if not isinstance(self.topic, TopicSettings):
            raise KafkaLearnError(f"topic must be TopicSettings, got {shown(self.topic)}")
        if not isinstance(self.producer, ProducerSettings):
            raise KafkaLearnError(f"producer must be ProducerSettings, got {shown(self.producer)}")

    def unordered(self) -> Settings:
        """The same, but the controller prefers no broker: what a search runs with."""
        return replace(self, topic=replace(self.topic, assignment=()))


# What can happen between a producer and its partition. The events of `kafkalearn.replication` happen as well, but for
# its ``Produce``: here each request comes from a producer, or is made by hand (`ProduceRequest`).


class Send(facts.Event):
    """The application sends a batch; its request goes out at once if nothing waits and there is room in flight."""

    record_count: RecordCount = 1
    values: tuple[str, ...] = ()  # of the records, each its own; empty: m1, m2, ... in the order sent


class SendAgain(facts.Event):
    """The application sends the oldest batch that it has put aside once more: for the producer it is a new batch."""


class RequestSent(facts.Event):
    """The first batch that waits goes out, to the leader of this moment."""


class RequestArrived(facts.Event):
    """The oldest request on its way reaches its broker, which works on it."""


class AnswerArrived(facts.Event, says="the answer arrives"):
    """The oldest answer on its way reaches the producer."""


class LateAnswerArrived(facts.Event, says="the answer arrives as the time of its batch is over, delivery.timeout.ms"):
    """The same, as ``delivery.timeout.ms`` is over for its batch: after an error it is not sent again."""


class ConnectionLost(facts.Event, says="the connection breaks: what is in flight never arrives"):
    """The connection breaks: what is in flight, requests and answers, never arrives."""


class GaveUp(facts.Event, says="the time of the oldest batch is over, delivery.timeout.ms"):
    """``delivery.timeout.ms`` is over for the oldest batch: its callback gets the error."""


class ProduceRequest(facts.Event):
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
    Send
    | SendAgain
    | RequestSent
    | RequestArrived
    | AnswerArrived
    | LateAnswerArrived
    | ConnectionLost
    | GaveUp
    | ProduceRequest
)
DeliveryEvent: TypeAlias = ProducerEvent | ReplicationEvent


# What an event leads to on the way from the producer to its partition, beside the effects of replication.


class BatchAppended(facts.Effect):
    """The leader has written a batch."""

    number: int | None  # None: of a request made by hand
    base_offset: int


class DuplicateRecognised(facts.Effect):
    """The leader has this batch already: it writes nothing and answers the old offset."""

    number: int | None
    base_offset: int


class BatchRefused(facts.Effect):
    """The leader has written nothing."""

    number: int | None
    error: str


class BatchWillBeRetried(facts.Effect):
    """The producer has put a batch back to be sent again; no callback is called."""

    number: int
    error: str


class CallbackInvoked(facts.Effect):
    """The producer has called the application's callback for a batch: with an error, or with ``"NONE"``."""

    number: int
    error: str = NONE


class BatchPutAside(facts.Effect):
    """The application has stored a batch whose callback got an error, to send it again later."""

    number: int
    error: str


class EpochRaised(facts.Effect, says="the producer raises its epoch to {producer_epoch} and counts from 0 again"):
    """The producer cannot know which numbers were used: it raises its epoch, and counts from 0 again."""

    producer_epoch: int


DeliveryEffect: TypeAlias = (
    BatchAppended | DuplicateRecognised | BatchRefused | BatchWillBeRetried | CallbackInvoked | BatchPutAside
    | EpochRaised | Effect
)  # fmt: skip


# The state: the producer's batches, what is in flight, which callbacks were called, the partition.

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


class StampedBatch(NamedTuple):
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
    appended: tuple[StampedBatch, ...] = ()  # stamped batches, in the order they were written
    effects: tuple[DeliveryEffect, ...] = field(default=(), compare=False)  # what the last event led to, in order


def start(settings: Settings) -> Delivery:
    """A producer that has sent nothing, and a new partition.

    >>> start(Settings()).partition.controller.isr, start(Settings()).producer.in_flight
    ((1, 2, 3), ())
    """
    return Delivery(partition_state.start(settings.topic))
