"""The simulator of a group's commits to both stores; and how much each store has to write under the same load.

A group that goes over to the topic without dual commit finds nothing there:

>>> from kafkalearn.zookeeper.commits.model import Produce, Shutdown, Start
>>> from kafkalearn.zookeeper.commits.simulator import simulate
>>> moved = [Start("c1"), Shutdown("c1"), Produce(count=3), Start("c2", "kafka", dual_commit_enabled=False)]
>>> broken(Settings(), simulate(Settings(), moved)[-1].state)
('no record is passed over',)

Under the same load ZooKeeper falls behind first. A commit to ZooKeeper is one write for each partition whose offset has
changed. Each is a transaction that the one leader puts into its log and flushes to its disk, alone or with those that
came in the meantime; the client waits for one before it sends the next. A commit to the topic is one request for all
partitions of a consumer, changed or not: its records are one batch, which the coordinator appends without a flush, and
groups have many coordinators.

What a write takes depends on disk and network, so it is a setting: give `Costs` what you have measured. `MEASURED` has
what one machine took.

>>> commit_times(1), commit_times(100)
(CommitTimes(zookeeper_us=380, topic_us=98), CommitTimes(zookeeper_us=38000, topic_us=692))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

from kafkalearn.base.checks import Checked, Count, iterable, whole_number
from kafkalearn.base.errors import IllegalEvent, listed, no_event, refusing_events
from kafkalearn.base.promises import Predicate, Since
from kafkalearn.base.simulator import simulator
from kafkalearn.offsets import replicated
from kafkalearn.offsets.replicated import Answered, NotReached, SentTo
from kafkalearn.offsets.store.model import Commit, Fetch
from kafkalearn.zookeeper.commits import model
from kafkalearn.zookeeper.commits.model import CommittingEvent, OldGroup, Settings
from kafkalearn.zookeeper.fetching.cluster import SMALLEST
from kafkalearn.zookeeper.layout import offset_path

# A client's channel to its group's coordinator: found by asking any broker, used, and given up when it errs.

NOT_AVAILABLE, NO_CONNECTION = "COORDINATOR_NOT_AVAILABLE", "no connection"
NOT_COORDINATOR = "NOT_COORDINATOR"


def connected(settings: Settings, state: OldGroup, name: str) -> OldGroup:
    """The state once a consumer has a channel, if it can have one; else it has none, and waits to ask again."""
    consumer = state.consumer(name)
    if consumer.channel is not None:
        return state
    leader = state.topic.partition.controller.leader
    if leader is None:
        return backing_off(settings, state, name, NOT_AVAILABLE)
    if not state.topic.partition.replica(leader).is_running:
        return backing_off(settings, state, name, NO_CONNECTION)
    return model.with_effect(
        model.with_consumer(state, consumer._replace(channel=leader)), model.Connected(name, leader)
    )


def disconnected(state: OldGroup, name: str) -> OldGroup:
    """The state once a consumer has given its channel up."""
    consumer = state.consumer(name)
    if consumer.channel is None:
        return state
    return model.with_effect(
        model.with_consumer(state, consumer._replace(channel=None)), model.Disconnected(name, consumer.channel)
    )


def backing_off(settings: Settings, state: OldGroup, name: str, why: str) -> OldGroup:
    """The state while a consumer's thread sleeps for offsets.channel.backoff.ms."""
    return model.with_effect(state, model.BackingOff(name, why, settings.offsets_channel_backoff_ms))


def send_commit(settings: Settings, state: OldGroup, channel: int, partition: int, offset: int) -> OldGroup:
    """The state once a commit of one partition has come to the broker at the other end of the channel."""
    commit = Commit(settings.group, settings.topic, partition, offset, now_ms=state.topic.partition.now_ms)
    return _sent(settings, state, SentTo(channel, commit))


def fetch_offset(settings: Settings, state: OldGroup, channel: int, partition: int) -> tuple[OldGroup, str, int]:
    """What the broker at the other end answers: an error, and the offset, -1 if nothing is committed."""
    request = Fetch(settings.group, settings.topic, partition)
    state = _sent(settings, state, SentTo(channel, request))
    last = next(each for each in reversed(state.effects) if isinstance(each, Answered | NotReached))
    if isinstance(last, NotReached):
        return state, NO_CONNECTION, -1
    return state, last.answer.error, -1 if last.answer.offset is None else last.answer.offset


def _sent(settings: Settings, state: OldGroup, request: SentTo) -> OldGroup:
    topic = replicated.step(settings.coordinator, state.topic, request)
    return model.with_effect(replace(state, topic=topic), *topic.effects)


# A commit: to ZooKeeper, node by node; to the topic, in one request; or to the topic and then to ZooKeeper.


def commit(settings: Settings, state: OldGroup, name: str, by: str) -> OldGroup:
    """Commit what a consumer has consumed; ZooKeeper is written at once, the topic's answer may take its time."""
    consumer = state.consumer(name)
    if consumer.commit is not None:
        raise IllegalEvent(f"{name} is committing already; a second commit waits for the lock of the channel")
    if consumer.status == model.FETCHING:
        return _finished(state, name)  # its registry is empty, so there is nothing to commit
    if consumer.offsets_storage == model.ZOOKEEPER:
        for partition, offset in consumer.consumed:
            state = _write_znode(settings, state, name, partition, offset)
        return _finished(model.with_effect(state, model.CommitDone(name)), name)
    pending = model.PendingCommit(consumer.consumed, settings.tries(by))
    return try_commit(settings, state, name, pending)


def try_commit(settings: Settings, state: OldGroup, name: str, pending: model.PendingCommit) -> OldGroup:
    """One try: find the coordinator if there is no channel, then send."""
    state = connected(settings, state, name)  # for as long as it takes: that costs no try
    consumer = state.consumer(name)
    pending = pending._replace(errors=(), is_waiting=consumer.channel is None)
    state = model.with_consumer(state, consumer._replace(commit=pending))
    if consumer.channel is None:
        return state
    before = len(state.effects)
    for partition, offset in pending.offsets:
        state = send_commit(settings, state, consumer.channel, partition, offset)
    return answered(settings, state, state.effects[before:])


def answered(settings: Settings, state: OldGroup, effects: Iterable[model.CommittingEffect]) -> OldGroup:
    """What the effects of the coordinator mean for the consumers that wait for them."""
    for effect in effects:
        if not isinstance(effect, Answered | NotReached) or not isinstance(effect.request, Commit):
            continue
        partition, offset = effect.request.partition, effect.request.offset
        for consumer in state.consumers:
            pending = consumer.commit
            if pending is not None and not pending.is_waiting and (partition, offset) in pending.offsets:
                error = NO_CONNECTION if isinstance(effect, NotReached) else effect.answer.error
                state = _answered_one(settings, state, consumer.name, pending, partition, error)
    return state


def _answered_one(
    settings: Settings, state: OldGroup, name: str, pending: model.PendingCommit, partition: int, error: str
) -> OldGroup:
    consumer = state.consumer(name)
    if partition in dict(pending.errors):
        return state
    pending = pending._replace(errors=(*pending.errors, (partition, error)))
    state = model.with_consumer(state, consumer._replace(commit=pending))
    if len(pending.errors) < len(pending.offsets):
        return state  # the answer comes when all partitions have theirs
    errors = dict(pending.errors)
    if NO_CONNECTION not in errors.values() and consumer.dual_commit_enabled:
        for each, offset in pending.offsets:
            if errors[each] == "NONE":
                state = _write_znode(settings, state, name, each, offset)
    failed = [each for each in errors.values() if each != "NONE"]
    if {NO_CONNECTION, NOT_COORDINATOR, NOT_AVAILABLE} & set(failed):
        state = disconnected(state, name)
    consumer = state.consumer(name)
    if not failed:
        state = model.with_consumer(state, consumer._replace(commit=None))
        return _finished(model.with_effect(state, model.CommitDone(name)), name)
    if pending.tries_left == 1:
        state = model.with_consumer(state, consumer._replace(commit=None))
        return _finished(model.with_effect(state, model.CommitDropped(name, failed[0])), name)
    again = pending._replace(tries_left=pending.tries_left - 1, is_waiting=True)
    state = model.with_consumer(state, consumer._replace(commit=again))
    return backing_off(settings, state, name, failed[0])


def _write_znode(settings: Settings, state: OldGroup, name: str, partition: int, offset: int) -> OldGroup:
    """Write a node, unless the consumer believes that it has this content: from its last write, or from its start."""
    consumer = state.consumer(name)
    path = offset_path(settings.group, settings.topic, partition)
    if dict(consumer.checkpointed).get(partition) == offset:
        return model.with_effect(state, model.ZnodeUnchanged(path, offset))
    checkpointed = tuple({**dict(consumer.checkpointed), partition: offset}.items())
    state = model.with_consumer(state, consumer._replace(checkpointed=checkpointed))
    state = replace(state, zookeeper=model.replaced(state.zookeeper, partition, offset))
    return model.with_effect(state, model.ZnodeWritten(path, offset))


def _finished(state: OldGroup, name: str) -> OldGroup:
    """A consumer whose last commit this was goes now."""
    if state.consumer(name).status != model.CLOSING:
        return state
    return model.with_effect(model.without_consumer(state, name), model.Gone(name))


# A consumer starts: which of the stores it believes, and where it begins where they have nothing.

NOTHING = -1  # what both stores answer where nothing is committed


def start_consumer(settings: Settings, state: OldGroup, event: model.Start) -> OldGroup:
    """A consumer more; it runs once it has an offset for each of its partitions."""
    if any(each.name == event.consumer for each in state.consumers):
        raise IllegalEvent(f"consumer {event.consumer} runs already; it can Shutdown or Crash first")
    partitions = tuple(range(settings.partition_count)) if event.partitions is None else event.partitions
    if wrong := [each for each in partitions if each >= settings.partition_count]:
        raise IllegalEvent(
            f"there is no partition {wrong[0]}; {settings.topic} has {settings.partition_count}, from 0 on"
        )
    if taken := [each.name for each in state.consumers if set(each.partitions) & set(partitions)]:
        raise IllegalEvent(
            f"{listed(taken)} owns a partition that {event.consumer} is to get; one consumer owns a partition"
        )
    new = model.Consumer(event.consumer, event.offsets_storage, event.dual_commit_enabled, partitions)
    return fetch_offsets(settings, replace(state, consumers=(*state.consumers, new)), event.consumer)


def fetch_offsets(settings: Settings, state: OldGroup, name: str) -> OldGroup:
    """Read where the group is: in ZooKeeper; or in the topic; or, with dual commit, in both, and take the larger."""
    consumer = state.consumer(name)
    in_topic: dict[int, int] = {}
    if consumer.offsets_storage != model.ZOOKEEPER:
        state = connected(settings, state, name)
        consumer = state.consumer(name)
        if consumer.channel is None:
            return state
        errors = []
        for partition in consumer.partitions:
            state, error, in_topic[partition] = fetch_offset(settings, state, consumer.channel, partition)
            errors.append(error)
        for error in (NO_CONNECTION, NOT_COORDINATOR):
            if error in errors:
                return backing_off(settings, disconnected(state, name), name, error)
        if failed := [error for error in errors if error != "NONE"]:
            return backing_off(settings, state, name, failed[0])
    in_zookeeper = {
        partition: NOTHING if (offset := state.zookeeper[partition]) is None else offset
        for partition in consumer.partitions
        if consumer.offsets_storage == model.ZOOKEEPER or consumer.dual_commit_enabled
    }
    found = tuple(
        (each, max(in_zookeeper.get(each, NOTHING), in_topic.get(each, NOTHING))) for each in consumer.partitions
    )
    for partition, offset in found:
        state = _begin(settings, state, name, partition, offset, in_zookeeper.get(partition), in_topic.get(partition))
    return model.with_consumer(state, state.consumer(name)._replace(status=model.RUNNING, checkpointed=found))


def _begin(
    settings: Settings,
    state: OldGroup,
    name: str,
    partition: int,
    found: int,
    in_zookeeper: int | None,
    in_topic: int | None,
) -> OldGroup:
    """Begin at what was found; if that is nothing, or beyond the end, auto.offset.reset decides at the first fetch."""
    end = state.log_ends[partition]
    is_reset = not 0 <= found <= end
    reset = 0 if settings.auto_offset_reset == SMALLEST else end
    offset = reset if is_reset else found
    if state.first[partition] is None:
        state = replace(state, first=model.replaced(state.first, partition, offset))
    consumer = state.consumer(name)
    state = model.with_consumer(state, consumer._replace(consumed=(*consumer.consumed, (partition, offset))))
    return model.with_effect(state, model.Began(name, partition, offset, in_zookeeper, in_topic, is_reset))


def _produce(settings: Settings, state: OldGroup, event: model.Produce) -> OldGroup:
    _known(settings, event.partition)
    end = state.log_ends[event.partition] + event.count
    reads = (*state.reads[event.partition], *(0 for _ in range(event.count)))
    return replace(
        state,
        log_ends=model.replaced(state.log_ends, event.partition, end),
        reads=model.replaced(state.reads, event.partition, reads),
    )


def _read(settings: Settings, state: OldGroup, event: model.Read) -> OldGroup:
    _known(settings, event.partition)
    consumer = state.consumer(event.consumer)
    if consumer.status == model.FETCHING or event.partition not in consumer.partitions:
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
        model.with_consumer(state, consumer._replace(consumed=consumed)),
        reads=model.replaced(state.reads, event.partition, counts),
    )
    return model.with_effect(state, model.RecordsRead(consumer.name, event.partition, tuple(range(begin, end))))


def _rewind(settings: Settings, state: OldGroup, event: model.Rewind) -> OldGroup:
    _known(settings, event.partition)
    path = offset_path(settings.group, settings.topic, event.partition)
    state = replace(state, zookeeper=model.replaced(state.zookeeper, event.partition, event.offset))
    return model.with_effect(state, model.ZnodeWritten(path, event.offset))


def _commit_offsets(settings: Settings, state: OldGroup, event: model.CommitOffsets) -> OldGroup:
    # Both pass a flag, and the code asks for the flag alone.
    by = model.APPLICATION if event.retry_on_failure else model.TIMER
    return commit(settings, state, _open(state, event.consumer), by)


def _auto_commit(settings: Settings, state: OldGroup, event: model.AutoCommit) -> OldGroup:
    if not settings.auto_commit_enable:
        raise IllegalEvent("auto.commit.enable is off: there is no timer; use CommitOffsets")
    return commit(settings, state, _open(state, event.consumer), model.TIMER)


def _backoff_passed(settings: Settings, state: OldGroup, event: model.BackoffPassed) -> OldGroup:
    consumer = state.consumer(event.consumer)
    if consumer.status == model.FETCHING:
        return fetch_offsets(settings, state, consumer.name)
    if consumer.commit is None or not consumer.commit.is_waiting:
        raise IllegalEvent(f"{consumer.name} is not backing off")
    return try_commit(settings, state, consumer.name, consumer.commit)


def _shutdown(settings: Settings, state: OldGroup, event: model.Shutdown) -> OldGroup:
    consumer = state.consumer(_open(state, event.consumer))
    if consumer.commit is not None:
        raise IllegalEvent(f"{consumer.name} is committing; its shutdown waits for the lock of the channel")
    if not settings.auto_commit_enable or consumer.status != model.RUNNING:
        return model.with_effect(model.without_consumer(state, consumer.name), model.Gone(consumer.name))
    return commit(
        settings, model.with_consumer(state, consumer._replace(status=model.CLOSING)), consumer.name, model.SHUTDOWN
    )


def _crash(settings: Settings, state: OldGroup, event: model.Crash) -> OldGroup:
    name = state.consumer(event.consumer).name
    return model.with_effect(model.without_consumer(state, name), model.Gone(name))


def _open(state: OldGroup, name: str) -> str:
    if state.consumer(name).status == model.CLOSING:
        raise IllegalEvent(f"{name} is shutting down already")
    return name


def _known(settings: Settings, partition: int) -> None:
    if partition >= settings.partition_count:
        raise IllegalEvent(
            f"there is no partition {partition}; {settings.topic} has {settings.partition_count}, from 0 on"
        )


_RULES: Mapping[type, Callable[[Settings, OldGroup, Any], OldGroup]] = {  # each takes events of its class
    model.Produce: _produce,
    model.Start: start_consumer,
    model.Read: _read,
    model.Rewind: _rewind,
    model.CommitOffsets: _commit_offsets,
    model.AutoCommit: _auto_commit,
    model.BackoffPassed: _backoff_passed,
    model.Shutdown: _shutdown,
    model.Crash: _crash,
}


@refusing_events
def step(settings: Settings, state: OldGroup, event: CommittingEvent) -> OldGroup:
    """The state after `event`; its ``effects`` are what was read, written, answered and dropped, in order.

    Raises
    ------
    IllegalEvent
        If the event makes no sense here: two consumers for one partition, a second commit while one is on its way.

    Examples
    --------
    >>> from kafkalearn.zookeeper.commits import Start, start
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
    if not isinstance(event, model.OF_COORDINATORS):
        raise no_event(event, (*_RULES, *model.OF_COORDINATORS))
    topic = replicated.step(settings.coordinator, state.topic, event)
    state = replace(state, topic=topic, effects=topic.effects)
    return answered(settings, state, topic.effects)


NONE_SKIPPED = "no record is passed over"
NONE_TWICE = "no record is read twice"
SAME_IN_BOTH = "the two stores do not contradict each other"


def _none_is_passed_over(settings: Settings, state: OldGroup) -> bool:
    """Whether a consumer that runs has before it no record that the group should have read and nobody did."""
    return all(
        all(state.reads[partition][state.first[partition] : offset])
        for consumer in state.consumers
        for partition, offset in consumer.consumed
    )


def _stores_agree(settings: Settings, state: OldGroup) -> bool:
    pairs = zip(state.zookeeper, state.in_topic(settings), strict=True)
    return all(None in pair or pair[0] == pair[1] for pair in pairs)


def _one_owner(settings: Settings, state: OldGroup) -> bool:
    owned = [partition for consumer in state.consumers for partition in consumer.partitions]
    return len(owned) == len(set(owned))


def _consumed_is_there(settings: Settings, state: OldGroup) -> bool:
    return all(
        0 <= offset <= state.log_ends[partition] for each in state.consumers for partition, offset in each.consumed
    )


def _zookeeper_consumers_ask_no_coordinator(settings: Settings, state: OldGroup) -> bool:
    return all(
        each.offsets_storage != model.ZOOKEEPER or (each.channel is None and each.commit is None)
        for each in state.consumers
    )


def _who_runs_has_offsets(settings: Settings, state: OldGroup) -> bool:
    return all(
        each.status != model.RUNNING or tuple(dict(each.consumed)) == each.partitions for each in state.consumers
    )


INVARIANTS: MappingProxyType[str, Predicate] = MappingProxyType(
    {
        "a partition has at most one consumer": _one_owner,
        "what was consumed is in the log": _consumed_is_there,
        "who commits to ZooKeeper needs no coordinator": _zookeeper_consumers_ask_no_coordinator,
        "a consumer that runs has an offset for each of its partitions": _who_runs_has_offsets,
        "the log only grows": Since(
            lambda settings, before, state: all(
                now >= was for now, was in zip(state.log_ends, before.log_ends, strict=True)
            )
        ),
    }
)
"""What holds in every state."""

PROMISES: MappingProxyType[str, Predicate] = MappingProxyType(
    {
        NONE_SKIPPED: _none_is_passed_over,
        NONE_TWICE: lambda settings, state: all(count < 2 for counts in state.reads for count in counts),
        SAME_IN_BOTH: _stores_agree,
    }
)
"""What a user hopes for. A migration without dual commit breaks the first or the second, by auto.offset.reset."""

simulate, check, broken = simulator(model.start, step, INVARIANTS, PROMISES)


@dataclass(frozen=True, slots=True)
class Costs(Checked):
    """What writing takes, in microseconds, and what a store gets done in a second.

    Parameters
    ----------
    znode_write_us : int
        From a client's write of a node to its answer, while nobody else writes.
    znode_writes_per_second : int
        Writes that the leader gets done when many come at once, and share flushes.
    request_us, record_us : int
        From a commit request of one partition to its answer, and what each further partition adds.
    requests_per_second : int
        Commit requests of one partition that one broker gets done when many clients commit at once.
    """

    znode_write_us: Count
    znode_writes_per_second: Count
    request_us: Count
    record_us: Count
    requests_per_second: Count


MEASURED = Costs(380, 1100, 98, 6, 11_000)
"""Kafka 1.1.1 and ZooKeeper 3.4.10, one of each, clients and servers together on two cores that had other work: the
quick tenth of all writes, the median of three runs, two digits. They are in tests/vectors/zookeeper/offset-stores.json.
No network lies between, no follower is waited for, the disk flushes 100 bytes in 0.14 ms. Elsewhere, measure."""


class CommitTimes(NamedTuple):
    """How long a consumer waits for a commit of all its partitions, in each store."""

    zookeeper_us: int
    topic_us: int


def commit_times(partition_count: int, costs: Costs = MEASURED) -> CommitTimes:
    """How long a consumer waits for a commit, if the offset of each of its partitions has changed.

    Parameters
    ----------
    partition_count : int
        Partitions that it owns.
    costs : Costs
        What a write takes.

    Examples
    --------
    >>> commit_times(10).zookeeper_us // commit_times(10).topic_us
    25
    """
    count = whole_number("partition_count", partition_count, at_least=1)
    return CommitTimes(costs.znode_write_us * count, costs.request_us + costs.record_us * (count - 1))


def backlogs(asked: Iterable[int], done_per_second: int) -> list[int]:
    """How many writes wait at the end of each second, when so many are asked for in it and so many can be done.

    Parameters
    ----------
    asked : iterable of int
        Writes that come in each second, in order; a second without any is a 0.
    done_per_second : int
        What the store gets done.

    Raises
    ------
    KafkaLearnError
        If one of them is no such number.

    Examples
    --------
    >>> backlogs([1000, 5000, 0, 1000], 2000)
    [0, 3000, 1000, 0]
    """
    whole_number("done_per_second", done_per_second, at_least=1)
    waiting = 0
    found: list[int] = []
    for number in iterable("asked", asked, of="whole numbers"):
        waiting = max(0, waiting + whole_number("asked", number, at_least=0) - done_per_second)
        found.append(waiting)
    return found
