"""Requests in purgatory: followers, producers with acks=all, consumers (fetch.min.bytes), administrators.

A simulator: its events are those of `kafkalearn.replication`, whose `Settings` it has, and `ConsumerFetch`,
`SizedProduce` and `DelayedDelete` beside them.

`kafkalearn.replication` steps the partition, with the fetches of followers and the produce requests that wait on its
leader. Here consumers wait too: each for `min_bytes` of *committed* records. So an append wakes followers, and the
high watermark, which rises a fetch later, wakes consumers.

>>> [len(frame.state.consumers) for frame in simulate(Settings(), [ConsumerFetch("c1", 0), ConsumerFetch("c2", 0)])]
[0, 1, 2]
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, TypeAlias

from kafkalearn.base import facts
from kafkalearn.base.checks import LARGEST_INT, Offset, Whole
from kafkalearn.base.errors import IllegalEvent
from kafkalearn.base.promises import Promises, Since, failing
from kafkalearn.base.simulator import simulator
from kafkalearn.replication import simulator as replication
from kafkalearn.replication import state
from kafkalearn.replication.events import (
    NONE,
    DeleteRecords,
    Effect,
    FetchHandled,
    Produce,
    ProduceAnswered,
    RecordsDeleted,
    ReplicationEvent,
    RequestMillis,
)
from kafkalearn.replication.settings import Settings
from kafkalearn.replication.state import Partition

__all__ = [
    "PROMISES",
    "ConsumerFetch",
    "DelayedDelete",
    "Settings",
    "SizedProduce",
    "broken",
    "check",
    "simulate",
    "start",
    "step",
]


# What an event led to: the effects of replication, and consumers that wait or are answered.


class ConsumerParked(facts.Effect):
    """A consumer's fetch waits: its first read has found too little."""

    name: str
    found_bytes: int = 0  # committed, by that read


class ConsumerAnswered(facts.Effect):
    """A consumer has its answer; if it waited, the log was read a second time for it."""

    name: str
    high_watermark: int | None
    records: tuple[tuple[int, str], ...] = ()  # (offset, value)
    error: str = NONE


class DeleteParked(facts.Effect, says="the leader has deleted them; d{request} waits for the other replicas"):
    """The leader has deleted, and the request waits for the other live replicas."""

    request: int  # numbered from 1, as they came


class DeleteAnswered(facts.Effect):
    """An administrator has the answer, with the low watermark: the smallest log start of all live replicas."""

    request: int
    low_watermark: int | None
    error: str = NONE


RequestEffect: TypeAlias = ConsumerParked | ConsumerAnswered | DeleteParked | DeleteAnswered | Effect


# What happens to a partition and those who wait for it: all that happens in replication, and fetches of consumers.

RECORD_BYTES = 100


class ConsumerFetch(facts.Event):
    """A consumer asks the leader for committed records, and is ready to wait."""

    name: str
    offset: Offset
    min_bytes: Annotated[int, Whole(0, LARGEST_INT)] = 1  # fetch.min.bytes
    max_wait_ms: RequestMillis = 500  # fetch.max.wait.ms


class SizedProduce(facts.Event, says="a producer appends with acks={produce.acks}"):
    """A `Produce` whose records have `record_bytes` each."""

    produce: Produce
    record_bytes: Annotated[int, Whole(1, LARGEST_INT)] = RECORD_BYTES


class DelayedDelete(facts.Event):
    """An administrator deletes the records below an offset; the answer waits until all live replicas have done so."""

    before_offset: int  # -1: the high watermark
    timeout_ms: RequestMillis = 30_000


RequestEvent: TypeAlias = ConsumerFetch | SizedProduce | DelayedDelete | ReplicationEvent


@dataclass(frozen=True, slots=True)
class WaitingConsumer:
    """A consumer's fetch on the leader."""

    fetch: ConsumerFetch
    deadline_ms: int
    number: int  # in the order they came


@dataclass(frozen=True, slots=True)
class WaitingDelete:
    """A request to delete records on the leader, which has deleted them already."""

    request: int
    required_offset: int  # the low watermark that answers it
    deadline_ms: int


@dataclass(frozen=True, slots=True)
class Broker:
    """The partition with those who wait for it; `effects` are what the last event led to, in order."""

    partition: Partition
    record_bytes: tuple[int, ...] = ()  # by offset, from 0
    consumers: tuple[WaitingConsumer, ...] = ()
    fetch_count: int = 0
    deletes: tuple[WaitingDelete, ...] = ()
    delete_count: int = 0
    effects: tuple[RequestEffect, ...] = field(default=(), compare=False)

    def committed_bytes(self, offset: int) -> int:
        """The bytes of the records from an offset to the high watermark."""
        return sum(self.record_bytes[offset : self.partition.high_watermark or 0])

    @property
    def low_watermark(self) -> int | None:
        """The smallest log start of the live replicas, as the leader knows them from their fetches; None: no leader.

        References
        ----------
        Apache Kafka 4.3, ``Partition.lowWatermarkIfLeader``.
        """
        leader = self.partition.leader
        if leader is None:
            return None
        fenced = self.partition.controller.fenced
        followers = ((number, remote) for number, remote in enumerate(leader.remotes, start=1) if remote is not None)
        starts = (remote.log_start_offset for number, remote in followers if number not in fenced)
        return min([leader.log.log_start_offset, *starts])


def start(settings: Settings) -> Broker:
    """A new partition, and nobody waits.

    >>> start(Settings(replica_count=2)).consumers
    ()
    """
    return Broker(state.start(settings))


# Deleting records: the leader does it at once, and answers when all live replicas have followed. A follower learns the
# leader's log start from the answer to its fetch, moves its own, and tells it with its *next* fetch. So a delete waits
# for two fetches of each follower, as a write with acks=all does.

TIMED_OUT = "REQUEST_TIMED_OUT"


def ask(broker: Broker, event: DelayedDelete) -> Broker:
    """The partition whose leader has just deleted: the request is answered, or waits for the other replicas.

    References
    ----------
    Apache Kafka 4.3, ``ReplicaManager.deleteRecords`` and ``delayedDeleteRecordsRequired``.
    """
    deleted = next(each for each in broker.effects if isinstance(each, RecordsDeleted))
    others = tuple(each for each in broker.effects if each is not deleted)
    number = broker.delete_count + 1
    broker = replace(broker, delete_count=number)
    if deleted.error != NONE:
        return replace(broker, effects=(*others, DeleteAnswered(number, None, deleted.error)))
    required = broker.partition.high_watermark if event.before_offset < 0 else event.before_offset
    low_watermark = broker.low_watermark
    assert required is not None, "who has just deleted leads"
    assert low_watermark is not None, "who has just deleted leads"
    if low_watermark >= required:
        return replace(broker, effects=(*others, DeleteAnswered(number, low_watermark)))
    if event.timeout_ms == 0:
        return replace(broker, effects=(*others, DeleteAnswered(number, low_watermark, TIMED_OUT)))
    waiting = WaitingDelete(number, required, broker.partition.now_ms + event.timeout_ms)
    return replace(broker, deletes=(*broker.deletes, waiting), effects=(*others, DeleteParked(number)))


def settle(broker: Broker, has_changed: bool) -> tuple[tuple[WaitingDelete, ...], list[DeleteAnswered]]:
    """Who goes on waiting, and the answers of those who do not; `has_changed`: another leader, or another epoch.

    References
    ----------
    Apache Kafka 4.3, ``kafka.server.DelayedDeleteRecords.tryComplete``.
    """
    low = broker.low_watermark
    left: list[WaitingDelete] = []
    answers: list[DeleteAnswered] = []
    for each in broker.deletes:
        if has_changed or low is None:
            answers.append(DeleteAnswered(each.request, None, "NOT_LEADER_OR_FOLLOWER"))
        elif low >= each.required_offset:
            answers.append(DeleteAnswered(each.request, low))
        elif each.deadline_ms <= broker.partition.now_ms:
            answers.append(DeleteAnswered(each.request, low, TIMED_OUT))
        else:
            left.append(each)
    return tuple(left), answers


def step(settings: Settings, broker: Broker, event: RequestEvent) -> Broker:
    """The partition after `event`; its `effects` are who was answered, in order, and who waits.

    Raises
    ------
    IllegalEvent
        As the simulator of replication; and if a consumer fetches that waits already.

    Examples
    --------
    >>> from kafkalearn.replication.events import Fetch, Produce
    >>> settings = Settings(replica_count=2)
    >>> events = [ConsumerFetch("c1", 0, max_wait_ms=5000), SizedProduce(Produce(acks=1)), Fetch(2), Fetch(2)]
    >>> for frame in simulate(settings, events)[1:]:
    ...     print([effect for effect in frame.state.effects if isinstance(effect, ConsumerParked | ConsumerAnswered)])
    [ConsumerParked(name='c1', found_bytes=0)]
    []
    []
    [ConsumerAnswered(name='c1', high_watermark=1, records=((0, 'm1'),), error='NONE')]

    References
    ----------
    Apache Kafka 4.3, ``kafka.server.DelayedFetch.tryComplete`` and ``ReplicaManager.fetchMessages``.
    """
    match event:
        case ConsumerFetch():
            return _fetch(broker, event)
        case SizedProduce(produce, record_bytes):
            return _stepped(settings, broker, produce, record_bytes)
        case DelayedDelete(before_offset):
            return ask(_stepped(settings, broker, DeleteRecords(before_offset), RECORD_BYTES), event)
    return _stepped(settings, broker, event, RECORD_BYTES)


def _fetch(broker: Broker, fetch: ConsumerFetch) -> Broker:
    if any(waiting.fetch.name == fetch.name for waiting in broker.consumers):
        raise IllegalEvent(f"{fetch.name} waits already: a consumer has one fetch under way to a broker")
    number = broker.fetch_count + 1
    deadline_ms = broker.partition.now_ms + fetch.max_wait_ms
    broker = replace(broker, fetch_count=number, effects=())
    if fetch.max_wait_ms == 0 or is_ready(broker, fetch):
        return replace(broker, effects=(_answer(broker, fetch),))
    waiting = (*broker.consumers, WaitingConsumer(fetch, deadline_ms, number))
    found_bytes = broker.committed_bytes(fetch.offset)
    return replace(broker, consumers=waiting, effects=(ConsumerParked(fetch.name, found_bytes),))


def _stepped(settings: Settings, before: Broker, event: ReplicationEvent, record_bytes: int) -> Broker:
    partition = replication.step(settings, before.partition, event)
    sizes = _sizes(before, partition, record_bytes)
    broker = replace(before, partition=partition, record_bytes=sizes, effects=())
    has_changed = _leadership(partition) != _leadership(before.partition)
    if has_changed:
        done = list(broker.consumers)
        answers = [ConsumerAnswered(each.fetch.name, None, error="NOT_LEADER_OR_FOLLOWER") for each in done]
    else:
        done = [each for each in broker.consumers if is_ready(broker, each.fetch)]
        late = [each for each in broker.consumers if each not in done and each.deadline_ms <= partition.now_ms]
        done += sorted(late, key=lambda each: (each.deadline_ms, each.number))
        answers = [_answer(broker, each.fetch) for each in done]
    consumers = tuple(each for each in broker.consumers if each not in done)
    deletes, answered = settle(broker, has_changed)
    effects = _in_order(partition.effects, [*answers, *answered])
    return replace(broker, consumers=consumers, deletes=deletes, effects=effects)


def _leadership(partition: Partition) -> tuple[int | None, int | None]:
    """Who leads, and in which epoch: fetches wait for one leader in one epoch."""
    leader = partition.leader
    return (None, None) if leader is None else (partition.controller.leader, leader.broker.leader_epoch)


def _sizes(before: Broker, partition: Partition, record_bytes: int) -> tuple[int, ...]:
    """The bytes of each record of the leader's log; those beyond its end are dropped."""
    leader = partition.leader
    if leader is None:
        return before.record_bytes
    end = leader.log_end_offset
    known = before.record_bytes[:end]
    return (*known, *[record_bytes] * (end - len(known)))


def is_ready(broker: Broker, fetch: ConsumerFetch) -> bool:
    """Whether a consumer is answered now: enough bytes are committed, or waiting would not help."""
    leader = broker.partition.leader
    if leader is None:
        return True
    log = leader.log
    if not log.log_start_offset <= fetch.offset <= log.log_end_offset:
        return True
    return broker.committed_bytes(fetch.offset) >= fetch.min_bytes


def _answer(broker: Broker, fetch: ConsumerFetch) -> ConsumerAnswered:
    """The answer that a consumer gets now; the log is read again."""
    leader = broker.partition.leader
    if leader is None:
        return ConsumerAnswered(fetch.name, None, error="NOT_LEADER_OR_FOLLOWER")
    log = leader.log
    if not log.log_start_offset <= fetch.offset <= log.log_end_offset:
        return ConsumerAnswered(fetch.name, None, error="OFFSET_OUT_OF_RANGE")
    found = log.records_from(fetch.offset, log.high_watermark)
    records = tuple((fetch.offset + index, record.value) for index, record in enumerate(found))
    return ConsumerAnswered(fetch.name, log.high_watermark, records)


def _in_order(effects: tuple[Effect, ...], answers: list[RequestEffect]) -> tuple[RequestEffect, ...]:
    """Those woken by a follower's fetch are answered while the leader works on it, all others at the end."""
    at = next((index for index, effect in enumerate(effects) if isinstance(effect, FetchHandled)), len(effects))
    return (*effects[:at], *answers, *effects[at:])


WITHIN_TIMEOUT = "no request waits past its timeout"
ALL_ANSWERED = "every produce request that waits is answered"
WITHOUT_ERROR = "no consumer gets an error"
ENOUGH_BYTES = "a consumer that waits gets as many bytes as it asked for"


def _has_no_answer_yet(settings: Settings, broker: Broker) -> bool:
    now_ms = broker.partition.now_ms
    return not any(is_ready(broker, each.fetch) or each.deadline_ms <= now_ms for each in broker.consumers)


def _has_all_sizes(settings: Settings, broker: Broker) -> bool:
    leader = broker.partition.leader
    return leader is None or len(broker.record_bytes) == leader.log_end_offset


def _keeps_invariants_of_replication(settings: Settings, before: Broker, broker: Broker) -> bool:
    return not failing(replication.INVARIANTS, settings, broker.partition, before.partition)


def _answers(broker: Broker) -> list[ConsumerAnswered]:
    return [effect for effect in broker.effects if isinstance(effect, ConsumerAnswered)]


def _answered_once(settings: Settings, before: Broker, broker: Broker) -> bool:
    """Whether all who no longer wait were answered, once each, and nobody was who still waits."""
    names = [answer.name for answer in _answers(broker)]
    waiting = {each.fetch.name for each in broker.consumers}
    gone = {each.fetch.name for each in before.consumers} - waiting
    return len(set(names)) == len(names) and gone <= set(names) and waiting.isdisjoint(names)


def _within_timeout(settings: Settings, broker: Broker) -> bool:
    waiting = (each for replica in broker.partition.replicas for requests in replica.waiting for each in requests)
    return all(each.deadline_ms >= broker.partition.now_ms for each in (*broker.consumers, *waiting))


def _all_answered(settings: Settings, before: Broker, broker: Broker) -> bool:
    answered = {effect.request for effect in broker.effects if isinstance(effect, ProduceAnswered)}
    return _waiting_produces(before) <= _waiting_produces(broker) | answered


def _waiting_produces(broker: Broker) -> set[int]:
    return {each.request for replica in broker.partition.replicas for each in replica.waiting.produces}


def _enough_bytes(settings: Settings, before: Broker, broker: Broker) -> bool:
    asked = {each.fetch.name: each.fetch.min_bytes for each in before.consumers}
    got = {each.name: sum(broker.record_bytes[offset] for offset, _ in each.records) for each in _answers(broker)}
    return all(got[name] >= asked[name] for name in asked.keys() & got.keys())


INVARIANTS: Promises = {
    "a consumer waits with one fetch": lambda settings, broker: (
        len({waiting.fetch.name for waiting in broker.consumers}) == len(broker.consumers)
    ),
    "no consumer waits that could be answered": _has_no_answer_yet,
    "each record of the leader has its size": _has_all_sizes,
    "the partition keeps the invariants of replication": Since(_keeps_invariants_of_replication),
    "every fetch of a consumer is answered once": Since(_answered_once),
}
PROMISES: Promises = {
    WITHIN_TIMEOUT: _within_timeout,
    ALL_ANSWERED: Since(_all_answered),
    WITHOUT_ERROR: Since(lambda settings, before, broker: all(answer.error == NONE for answer in _answers(broker))),
    ENOUGH_BYTES: Since(_enough_bytes),
}
"""A leader that is frozen breaks the first, one that crashes the second, an election the third; the last breaks
wherever ``fetch.max.wait.ms`` ends the wait. What the partition itself promises is in `kafkalearn.replication`."""

simulate, check, broken = simulator(start, step, INVARIANTS, PROMISES)
