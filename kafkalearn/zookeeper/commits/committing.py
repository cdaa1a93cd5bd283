"""A commit: to ZooKeeper, node by node; to the topic, in one request; or to the topic and then to ZooKeeper."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kafkalearn.errors import IllegalEvent
from kafkalearn.offsets.replicated.effects import Answered, NotReached
from kafkalearn.offsets.store.events import Commit
from kafkalearn.zookeeper.commits.channel import (
    NO_CONNECTION,
    NOT_AVAILABLE,
    NOT_COORDINATOR,
    backing_off,
    connected,
    disconnected,
    send_commit,
)
from kafkalearn.zookeeper.commits.effects import (
    CommitDone,
    CommitDropped,
    CommittingEffect,
    Gone,
    ZnodeUnchanged,
    ZnodeWritten,
)
from kafkalearn.zookeeper.commits.events import ZOOKEEPER
from kafkalearn.zookeeper.commits.settings import Settings
from kafkalearn.zookeeper.commits.state import (
    CLOSING,
    FETCHING,
    OldGroup,
    PendingCommit,
    replaced,
    with_consumer,
    with_effect,
    without_consumer,
)
from kafkalearn.zookeeper.layout import offset_path


def commit(settings: Settings, state: OldGroup, name: str, by: str) -> OldGroup:
    """Commit what a consumer has consumed; ZooKeeper is written at once, the topic's answer may take its time."""
    consumer = state.consumer(name)
    if consumer.commit is not None:
        raise IllegalEvent(f"{name} is committing already; a second commit waits for the lock of the channel")
    if consumer.status == FETCHING:
        return _finished(state, name)  # its registry is empty, so there is nothing to commit
    if consumer.offsets_storage == ZOOKEEPER:
        for partition, offset in consumer.consumed:
            state = _write_znode(settings, state, name, partition, offset)
        return _finished(with_effect(state, CommitDone(name)), name)
    pending = PendingCommit(consumer.consumed, settings.tries(by))
    return try_commit(settings, state, name, pending)


def try_commit(settings: Settings, state: OldGroup, name: str, pending: PendingCommit) -> OldGroup:
    """One try: find the coordinator if there is no channel, then send."""
    state = connected(settings, state, name)  # for as long as it takes: that costs no try
    consumer = state.consumer(name)
    pending = pending._replace(errors=(), is_waiting=consumer.channel is None)
    state = with_consumer(state, consumer._replace(commit=pending))
    if consumer.channel is None:
        return state
    before = len(state.effects)
    for partition, offset in pending.offsets:
        state = send_commit(settings, state, consumer.channel, partition, offset)
    return answered(settings, state, state.effects[before:])


def answered(settings: Settings, state: OldGroup, effects: Iterable[CommittingEffect]) -> OldGroup:
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
    settings: Settings, state: OldGroup, name: str, pending: PendingCommit, partition: int, error: str
) -> OldGroup:
    consumer = state.consumer(name)
    if partition in dict(pending.errors):
        return state
    pending = pending._replace(errors=(*pending.errors, (partition, error)))
    state = with_consumer(state, consumer._replace(commit=pending))
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
        state = with_consumer(state, consumer._replace(commit=None))
        return _finished(with_effect(state, CommitDone(name)), name)
    if pending.tries_left == 1:
        state = with_consumer(state, consumer._replace(commit=None))
        return _finished(with_effect(state, CommitDropped(name, failed[0])), name)
    again = pending._replace(tries_left=pending.tries_left - 1, is_waiting=True)
    state = with_consumer(state, consumer._replace(commit=again))
    return backing_off(settings, state, name, failed[0])


def _write_znode(settings: Settings, state: OldGroup, name: str, partition: int, offset: int) -> OldGroup:
    """Write a node, unless the consumer believes that it has this content: from its last write, or from its start."""
    consumer = state.consumer(name)
    path = offset_path(settings.group, settings.topic, partition)
    if dict(consumer.checkpointed).get(partition) == offset:
        return with_effect(state, ZnodeUnchanged(path, offset))
    checkpointed = tuple({**dict(consumer.checkpointed), partition: offset}.items())
    state = with_consumer(state, consumer._replace(checkpointed=checkpointed))
    state = replace(state, zookeeper=replaced(state.zookeeper, partition, offset))
    return with_effect(state, ZnodeWritten(path, offset))


def _finished(state: OldGroup, name: str) -> OldGroup:
    """A consumer whose last commit this was goes now."""
    if state.consumer(name).status != CLOSING:
        return state
    return with_effect(without_consumer(state, name), Gone(name))
