"""Fetching begins when a rebalance has ended, and stops when the next one begins, or for good."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.errors import IllegalEvent
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.zookeeper.fetching.effects import Committed, QueuesCleared
from kafkalearn.zookeeper.fetching.events import CommitOffsets, Shutdown, StartConnections, StopConnections
from kafkalearn.zookeeper.fetching.settings import Settings
from kafkalearn.zookeeper.fetching.state import (
    SHUTDOWN_COMMAND,
    LeaderFinder,
    PartitionTopicInfo,
    Pipeline,
    with_effect,
)


def start_connections(settings: Settings, state: Pipeline, event: StartConnections) -> Pipeline:
    """A new registry; all its partitions wait for the leader finder."""
    _refuse_after_shutdown(state)
    if state.leader_finder is not None:
        raise IllegalEvent("the consumer has connections already; a rebalance stops them first: StopConnections")
    registry = []
    for topic, partition, stream, offset in event.assigned:
        topic_partition = state.log(TopicPartition(topic, partition)).topic_partition
        if not 0 <= stream < settings.stream_count:
            raise IllegalEvent(f"there is no stream {stream}; the consumer has {settings.stream_count}, from 0 on")
        registry.append(PartitionTopicInfo(topic_partition, stream, offset, offset))
    owned = tuple(each.topic_partition for each in registry)
    if len(set(owned)) < len(owned):
        raise IllegalEvent(f"a partition belongs to one stream; got {', '.join(map(str, owned))}")
    return replace(state, registry=tuple(registry), no_leader=owned, leader_finder=LeaderFinder())


def stop_connections(settings: Settings, state: Pipeline, event: StopConnections) -> Pipeline:
    """No thread fetches; what is queued or half read is thrown away; then what was consumed is committed."""
    _refuse_after_shutdown(state)
    cleared = sum(len(each.queue) + (each.chunk is not None) for each in state.streams)
    state = _without_threads(state)
    streams = tuple(each._replace(queue=(), chunk=None) for each in state.streams)
    state = with_effect(replace(state, streams=streams), QueuesCleared(cleared))
    if settings.auto_commit_enable:
        state = _commit(state)
    return replace(state, registry=())


def shut_down(settings: Settings, state: Pipeline, event: Shutdown) -> Pipeline:
    """No thread fetches; queues hold the shutdown message alone; a chunk that is half read can be read to its end."""
    _refuse_after_shutdown(state)
    cleared = sum(len(each.queue) for each in state.streams)
    state = _without_threads(state)
    streams = tuple(each._replace(queue=(SHUTDOWN_COMMAND,)) for each in state.streams)
    state = with_effect(replace(state, streams=streams, is_shut_down=True), QueuesCleared(cleared))
    return _commit(state) if settings.auto_commit_enable else state


def commit_offsets(settings: Settings, state: Pipeline, event: CommitOffsets) -> Pipeline:
    """What has been consumed goes to the store."""
    _refuse_after_shutdown(state)
    return _commit(state)


def _commit(state: Pipeline) -> Pipeline:
    offsets = tuple((each.topic_partition, each.consumed_offset) for each in state.registry)
    return with_effect(state, Committed(offsets)) if offsets else state


def _without_threads(state: Pipeline) -> Pipeline:
    return replace(state, no_leader=(), leader_finder=None, fetchers=(), blocked=())


def _refuse_after_shutdown(state: Pipeline) -> None:
    if state.is_shut_down:
        raise IllegalEvent("the consumer is shut down; only its streams can be read to their end")
