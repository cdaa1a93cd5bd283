"""The simulator of a group's commits to both stores: which event leads to which rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from kafkalearn.errors import IllegalEvent, no_event
from kafkalearn.offsets.replicated import simulator as topic_simulator
from kafkalearn.trace import Trace, run
from kafkalearn.zookeeper.commits.committing import answered, commit, try_commit
from kafkalearn.zookeeper.commits.effects import Gone, RecordsRead, ZnodeWritten
from kafkalearn.zookeeper.commits.events import (
    OF_COORDINATORS,
    AutoCommit,
    BackoffPassed,
    CommitOffsets,
    CommittingEvent,
    Crash,
    Produce,
    Read,
    Rewind,
    Shutdown,
    Start,
)
from kafkalearn.zookeeper.commits.settings import APPLICATION, SHUTDOWN, TIMER, Settings
from kafkalearn.zookeeper.commits.starting import fetch_offsets, start_consumer
from kafkalearn.zookeeper.commits.state import (
    CLOSING,
    FETCHING,
    RUNNING,
    OldGroup,
    replaced,
    start,
    with_consumer,
    with_effect,
    without_consumer,
)
from kafkalearn.zookeeper.layout import offset_path


def _produce(settings: Settings, state: OldGroup, event: Produce) -> OldGroup:
    _known(settings, event.partition)
    end = state.log_ends[event.partition] + event.count
    reads = (*state.reads[event.partition], *(0 for _ in range(event.count)))
    return replace(
        state,
        log_ends=replaced(state.log_ends, event.partition, end),
        reads=replaced(state.reads, event.partition, reads),
    )


def _read(settings: Settings, state: OldGroup, event: Read) -> OldGroup:
    _known(settings, event.partition)
    consumer = state.consumer(event.consumer)
    if consumer.status == FETCHING or event.partition not in consumer.partitions:
        raise IllegalEvent(f"{consumer.name} does not read partition {event.partition} (it is {consumer.status})")
    begin = dict(consumer.consumed)[event.partition]
    end = begin + event.count
    if end > state.log_ends[event.partition]:
        there = state.log_ends[event.partition] - begin
        raise IllegalEvent(
            f"{consumer.name} cannot read {event.count} records of partition {event.partition}: {there} are there"
        )
    counts = state.reads[event.partition]
    counts = (*counts[:begin], *(each + 1 for each in counts[begin:end]), *counts[end:])
    consumed = tuple((each, end if each == event.partition else offset) for each, offset in consumer.consumed)
    state = replace(
        with_consumer(state, consumer._replace(consumed=consumed)), reads=replaced(state.reads, event.partition, counts)
    )
    return with_effect(state, RecordsRead(consumer.name, event.partition, tuple(range(begin, end))))


def _rewind(settings: Settings, state: OldGroup, event: Rewind) -> OldGroup:
    _known(settings, event.partition)
    path = offset_path(settings.group, settings.topic, event.partition)
    state = replace(state, zookeeper=replaced(state.zookeeper, event.partition, event.offset))
    return with_effect(state, ZnodeWritten(path, event.offset))


def _commit_offsets(settings: Settings, state: OldGroup, event: CommitOffsets) -> OldGroup:
    by = APPLICATION if event.retry_on_failure else TIMER  # both pass a flag, and the code asks for the flag alone
    return commit(settings, state, _open(state, event.consumer), by)


def _auto_commit(settings: Settings, state: OldGroup, event: AutoCommit) -> OldGroup:
    if not settings.auto_commit_enable:
        raise IllegalEvent("auto.commit.enable is off: there is no timer; use CommitOffsets")
    return commit(settings, state, _open(state, event.consumer), TIMER)


def _backoff_passed(settings: Settings, state: OldGroup, event: BackoffPassed) -> OldGroup:
    consumer = state.consumer(event.consumer)
    if consumer.status == FETCHING:
        return fetch_offsets(settings, state, consumer.name)
    if consumer.commit is None or not consumer.commit.is_waiting:
        raise IllegalEvent(f"{consumer.name} is not backing off")
    return try_commit(settings, state, consumer.name, consumer.commit)


def _shutdown(settings: Settings, state: OldGroup, event: Shutdown) -> OldGroup:
    consumer = state.consumer(_open(state, event.consumer))
    if consumer.commit is not None:
        raise IllegalEvent(f"{consumer.name} is committing; its shutdown waits for the lock of the channel")
    if not settings.auto_commit_enable or consumer.status != RUNNING:
        return with_effect(without_consumer(state, consumer.name), Gone(consumer.name))
    return commit(settings, with_consumer(state, consumer._replace(status=CLOSING)), consumer.name, SHUTDOWN)


def _crash(settings: Settings, state: OldGroup, event: Crash) -> OldGroup:
    name = state.consumer(event.consumer).name
    return with_effect(without_consumer(state, name), Gone(name))


def _open(state: OldGroup, name: str) -> str:
    if state.consumer(name).status == CLOSING:
        raise IllegalEvent(f"{name} is shutting down already")
    return name


def _known(settings: Settings, partition: int) -> None:
    if partition >= settings.partition_count:
        raise IllegalEvent(
            f"there is no partition {partition}; {settings.topic} has {settings.partition_count}, from 0 on"
        )


_RULES: Mapping[type, Callable[[Settings, OldGroup, Any], OldGroup]] = {  # each takes events of its class
    Produce: _produce,
    Start: start_consumer,
    Read: _read,
    Rewind: _rewind,
    CommitOffsets: _commit_offsets,
    AutoCommit: _auto_commit,
    BackoffPassed: _backoff_passed,
    Shutdown: _shutdown,
    Crash: _crash,
}


def step(settings: Settings, state: OldGroup, event: CommittingEvent) -> OldGroup:
    """The state after `event`; its ``effects`` are what was read, written, answered and dropped, in order.

    Raises
    ------
    IllegalEvent
        If the event makes no sense here: two consumers for one partition, a second commit while one is on its way.

    Examples
    --------
    >>> step(Settings(), start(Settings()), Start("c1")).effects
    (Began(consumer='c1', partition=0, offset=0, in_zookeeper=-1, in_topic=None, is_reset=True),)

    References
    ----------
    Apache Kafka 1.1.1: ``ZookeeperConsumerConnector.commitOffsets``, ``fetchOffsets``, ``addPartitionTopicInfo``,
    ``ClientUtils.channelToOffsetManager``; the coordinator is `kafkalearn.offsets.replicated`.
    """
    rule = _RULES.get(type(event))
    if rule is not None:
        return rule(settings, replace(state, effects=()), event)
    if not isinstance(event, OF_COORDINATORS):
        raise no_event(event, (*_RULES, *OF_COORDINATORS))
    topic = topic_simulator.step(settings.coordinator, state.topic, event)
    state = replace(state, topic=topic, effects=topic.effects)
    return answered(settings, state, topic.effects)


def simulate(
    settings: Settings, events: Iterable[CommittingEvent], initial: OldGroup | None = None
) -> Trace[OldGroup, CommittingEvent]:
    """A run of the group from `initial`, or from empty partitions and empty stores.

    >>> run_of_one = [Produce(count=4), Start("c1"), Read("c1", count=4), CommitOffsets("c1")]
    >>> simulate(Settings(auto_offset_reset="smallest"), run_of_one)[-1].state.zookeeper
    (4,)
    """
    return run(step, settings, start(settings) if initial is None else initial, events)
