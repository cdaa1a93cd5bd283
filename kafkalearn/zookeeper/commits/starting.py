"""A consumer starts: which of the stores it believes, and where it begins where they have nothing."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.errors import IllegalEvent
from kafkalearn.phrases import listed
from kafkalearn.zookeeper.commits.channel import (
    NO_CONNECTION,
    NOT_COORDINATOR,
    backing_off,
    connected,
    disconnected,
    fetch_offset,
)
from kafkalearn.zookeeper.commits.effects import Began
from kafkalearn.zookeeper.commits.events import ZOOKEEPER, Start
from kafkalearn.zookeeper.commits.settings import Settings
from kafkalearn.zookeeper.commits.state import (
    RUNNING,
    Consumer,
    OldGroup,
    replaced,
    with_consumer,
    with_effect,
)
from kafkalearn.zookeeper.fetching.cluster import SMALLEST

NOTHING = -1  # what both stores answer where nothing is committed


def start_consumer(settings: Settings, state: OldGroup, event: Start) -> OldGroup:
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
    new = Consumer(event.consumer, event.offsets_storage, event.dual_commit_enabled, partitions)
    return fetch_offsets(settings, replace(state, consumers=(*state.consumers, new)), event.consumer)


def fetch_offsets(settings: Settings, state: OldGroup, name: str) -> OldGroup:
    """Read where the group is: in ZooKeeper; or in the topic; or, with dual commit, in both, and take the larger."""
    consumer = state.consumer(name)
    in_topic: dict[int, int] = {}
    if consumer.offsets_storage != ZOOKEEPER:
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
        if consumer.offsets_storage == ZOOKEEPER or consumer.dual_commit_enabled
    }
    found = tuple(
        (each, max(in_zookeeper.get(each, NOTHING), in_topic.get(each, NOTHING))) for each in consumer.partitions
    )
    for partition, offset in found:
        state = _begin(settings, state, name, partition, offset, in_zookeeper.get(partition), in_topic.get(partition))
    return with_consumer(state, state.consumer(name)._replace(status=RUNNING, checkpointed=found))


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
        state = replace(state, first=replaced(state.first, partition, offset))
    consumer = state.consumer(name)
    state = with_consumer(state, consumer._replace(consumed=(*consumer.consumed, (partition, offset))))
    return with_effect(state, Began(name, partition, offset, in_zookeeper, in_topic, is_reset))
