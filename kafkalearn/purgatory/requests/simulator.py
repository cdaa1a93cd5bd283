"""A partition with everybody who waits for it: followers, producers with acks=all, and consumers.

`kafkalearn.replication` steps the partition, with the fetches of followers and the produce requests that wait on its
leader. Here consumers wait too: each for `min_bytes` of *committed* records. So an append wakes followers, and the
high watermark, which rises a fetch later, wakes consumers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kafkalearn.errors import IllegalEvent
from kafkalearn.purgatory.requests.deleting import ask, settle
from kafkalearn.purgatory.requests.effects import ConsumerAnswered, ConsumerParked, RequestEffect
from kafkalearn.purgatory.requests.events import (
    RECORD_BYTES,
    ConsumerFetch,
    DelayedDelete,
    RequestEvent,
    SizedProduce,
)
from kafkalearn.purgatory.requests.settings import Settings
from kafkalearn.purgatory.requests.state import Broker, WaitingConsumer, start
from kafkalearn.replication.effects import Effect, FetchHandled
from kafkalearn.replication.events import DeleteRecords, ReplicationEvent
from kafkalearn.replication.simulator import step as step_partition
from kafkalearn.replication.state import Partition
from kafkalearn.trace import Trace, run


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


def simulate(
    settings: Settings, events: Iterable[RequestEvent], initial: Broker | None = None
) -> Trace[Broker, RequestEvent]:
    """The trace of some events, from `initial` or from a new partition.

    >>> [len(frame.state.consumers) for frame in simulate(Settings(), [ConsumerFetch("c1", 0), ConsumerFetch("c2", 0)])]
    [0, 1, 2]
    """
    return run(step, settings, start(settings) if initial is None else initial, events)


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
    partition = step_partition(settings, before.partition, event)
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
