"""The simulator of an old consumer's fetch pipeline: which event leads to which rule, what holds, what users hope for.

A stream that nobody reads stops the others of the same fetcher:

>>> from kafkalearn.zookeeper.fetching.cluster import Append, Assigned, Fetch, FindLeaders, Next, StartConnections
>>> from kafkalearn.zookeeper.fetching.simulator import simulate
>>> settings = Settings(broker_ids=(1,), stream_count=2, fetch_message_max_bytes=100)
>>> owns = StartConnections([Assigned("orders", 0, stream=0, offset=0), Assigned("orders", 1, stream=1, offset=0)])
>>> records = [Append("orders", 0, count=9), Append("orders", 1, count=9)]
>>> rounds = [owns, FindLeaders(), *[Fetch(1)] * 3, *[Next(1)] * 3]
>>> broken(settings, simulate(settings, [*records, *rounds])[-1].state)
('a stream that is not read stops no other stream',)
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.base.promises import Predicate, Since
from kafkalearn.base.simulator import simulator
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.zookeeper.fetching import cluster, threads
from kafkalearn.zookeeper.fetching.model import (
    SHUTDOWN_COMMAND,
    LeaderFinder,
    PartitionTopicInfo,
    Pipeline,
    Settings,
    start,
    with_effect,
)

# Fetching begins when a rebalance has ended, and stops when the next one begins, or for good.


def start_connections(settings: Settings, state: Pipeline, event: cluster.StartConnections) -> Pipeline:
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


def stop_connections(settings: Settings, state: Pipeline, event: cluster.StopConnections) -> Pipeline:
    """No thread fetches; what is queued or half read is thrown away; then what was consumed is committed."""
    _refuse_after_shutdown(state)
    cleared = sum(len(each.queue) + (each.chunk is not None) for each in state.streams)
    state = _without_threads(state)
    streams = tuple(each._replace(queue=(), chunk=None) for each in state.streams)
    state = with_effect(replace(state, streams=streams), cluster.QueuesCleared(cleared))
    if settings.auto_commit_enable:
        state = _commit(state)
    return replace(state, registry=())


def shut_down(settings: Settings, state: Pipeline, event: cluster.Shutdown) -> Pipeline:
    """No thread fetches; queues hold the shutdown message alone; a chunk that is half read can be read to its end."""
    _refuse_after_shutdown(state)
    cleared = sum(len(each.queue) for each in state.streams)
    state = _without_threads(state)
    streams = tuple(each._replace(queue=(SHUTDOWN_COMMAND,)) for each in state.streams)
    state = with_effect(replace(state, streams=streams, is_shut_down=True), cluster.QueuesCleared(cleared))
    return _commit(state) if settings.auto_commit_enable else state


def commit_offsets(settings: Settings, state: Pipeline, event: cluster.CommitOffsets) -> Pipeline:
    """What has been consumed goes to the store."""
    _refuse_after_shutdown(state)
    return _commit(state)


def _commit(state: Pipeline) -> Pipeline:
    offsets = tuple((each.topic_partition, each.consumed_offset) for each in state.registry)
    return with_effect(state, cluster.Committed(offsets)) if offsets else state


def _without_threads(state: Pipeline) -> Pipeline:
    return replace(state, no_leader=(), leader_finder=None, fetchers=(), blocked=())


def _refuse_after_shutdown(state: Pipeline) -> None:
    if state.is_shut_down:
        raise IllegalEvent("the consumer is shut down; only its streams can be read to their end")


_RULES: cluster.Rules[Settings, Pipeline] = {
    cluster.StartConnections: start_connections,
    cluster.StopConnections: stop_connections,
    cluster.Shutdown: shut_down,
    cluster.CommitOffsets: commit_offsets,
    cluster.FindLeaders: threads.find_leaders,
    cluster.Fetch: threads.fetch,
    cluster.Next: threads.next_record,
}


def step(settings: Settings, state: Pipeline, event: cluster.FetchingEvent) -> Pipeline:
    """The state after `event`; its ``effects`` are what happened, in order.

    Raises
    ------
    IllegalEvent
        If the event makes no sense here: a round of a fetcher that is blocked, connections that exist already. What
        Kafka would throw at the application is an effect, `Raised`.

    Examples
    --------
    >>> from kafkalearn.zookeeper.fetching.cluster import Next
    >>> step(Settings(), start(Settings()), Next()).effects
    (Waited(stream=0),)

    References
    ----------
    Apache Kafka 1.1.1: ``ConsumerFetcherManager``, ``ConsumerFetcherThread``, ``AbstractFetcherManager``,
    ``AbstractFetcherThread``, ``PartitionTopicInfo``, ``ConsumerIterator``, ``ZookeeperConsumerConnector``.
    """
    return cluster.step_by(_RULES, settings, state, event)


NONE_SKIPPED = "no record is passed over"
NONE_TWICE = "no record is read a second time while the partition is owned"
NOBODY_STOPPED = "a stream that is not read stops no other stream"
FINDER_FREE = "the leader finder can go on"
NO_FETCHER_DEAD = "no fetcher has died"


def _queues_are_bounded(settings: Settings, state: Pipeline) -> bool:
    return all(len(each.queue) <= max(1, settings.queued_max_message_chunks) for each in state.streams)


def _chunks_are_owned(settings: Settings, state: Pipeline) -> bool:
    owned = {each.topic_partition: each.stream for each in state.registry}
    return all(
        chunk == SHUTDOWN_COMMAND or owned.get(chunk.topic_partition) == number
        for number, stream in enumerate(state.streams)
        for chunk in (*stream.queue, *filter(None, [stream.chunk]))
    )


def _every_partition_is_somewhere(settings: Settings, state: Pipeline) -> bool:
    """An owned partition waits for a leader, is being added, or is with a fetcher: while the threads run."""
    if state.leader_finder is None:
        return not state.fetchers and not state.no_leader
    places = {each for fetcher in state.fetchers for each in fetcher.topic_partitions}
    places |= {*state.no_leader, *(each for _, group in state.leader_finder.to_add for each in group)}
    return places == {each.topic_partition for each in state.registry}


def _blocked_fetchers_wait(settings: Settings, state: Pipeline) -> bool:
    return {each.key for each in state.fetchers if each.in_hand} == set(state.blocked) and all(
        len(state.streams[state.info(state.fetcher(key).in_hand[0].topic_partition).stream].queue)
        >= settings.queued_max_message_chunks
        for key in state.blocked
    )


def _only_what_was_fetched_is_consumed(settings: Settings, before: Pipeline, state: Pipeline) -> bool:
    """Whether what is consumed is below fetched, or in a chunk that was fetched before the offset was reset.

    A reset empties no queue: what is read of its chunks afterwards moves consumed ahead of fetched.
    """
    was, ends = _consumed(before), dict[TopicPartition, int]()
    for stream in before.streams:
        for chunk in (*stream.queue, *filter(None, [stream.chunk])):
            end = chunk.offsets[-1] + 1 if chunk.offsets else chunk.fetch_offset
            ends[chunk.topic_partition] = max(end, ends.get(chunk.topic_partition, end))
    return all(
        each.consumed_offset <= max(each.fetched_offset, was.get(at, -1), ends.get(at, -1))
        for each in state.registry
        for at in [each.topic_partition]
    )


def _consumed(state: Pipeline) -> dict[TopicPartition, int]:
    return {each.topic_partition: each.consumed_offset for each in state.registry}


def _none_is_passed_over(settings: Settings, before: Pipeline, state: Pipeline) -> bool:
    was = _consumed(before)
    return all(now <= was.get(each, now) + 1 for each, now in _consumed(state).items())


def _none_is_read_twice(settings: Settings, before: Pipeline, state: Pipeline) -> bool:
    was = _consumed(before)
    return all(now >= was.get(each, now) for each, now in _consumed(state).items())


def _nobody_is_stopped(settings: Settings, state: Pipeline) -> bool:
    """Whether no partition of a blocked fetcher has records to come while its own stream has nothing to read."""
    waiting = {each for fetcher in state.fetchers if fetcher.in_hand for each in fetcher.topic_partitions}
    return not any(
        each.topic_partition in waiting
        and each.fetched_offset < state.log(each.topic_partition).end_offset
        and not state.streams[each.stream].queue
        and state.streams[each.stream].chunk is None
        for each in state.registry
    )


INVARIANTS: MappingProxyType[str, Predicate] = MappingProxyType(
    {
        "a queue holds no more chunks than queued.max.message.chunks": _queues_are_bounded,
        "a chunk is in the queue of the stream that its partition belongs to": _chunks_are_owned,
        "an owned partition has a fetcher, or waits for one": _every_partition_is_somewhere,
        "a fetcher is blocked exactly while the queue that it needs is full": _blocked_fetchers_wait,
        "nothing is consumed that was not fetched": Since(_only_what_was_fetched_is_consumed),
    }
)
"""What holds in every state."""

PROMISES: MappingProxyType[str, Predicate] = MappingProxyType(
    {
        NONE_SKIPPED: Since(_none_is_passed_over),
        NONE_TWICE: Since(_none_is_read_twice),
        NOBODY_STOPPED: _nobody_is_stopped,
        FINDER_FREE: lambda settings, state: state.leader_finder is None or state.leader_finder.waits_for is None,
        NO_FETCHER_DEAD: lambda settings, state: not any(each.is_dead for each in state.fetchers),
    }
)
"""What a user hopes for. An offset that is out of range breaks the first two, a full queue the next two."""

simulate, check, broken = simulator(start, step, INVARIANTS, PROMISES)
