"""What holds whenever an old consumer fetches, and what its user hopes for.

A stream that nobody reads stops the others of the same fetcher:

>>> from kafkalearn.zookeeper.fetching.events import Append, Assigned, Fetch, FindLeaders, Next, StartConnections
>>> from kafkalearn.zookeeper.fetching.simulator import simulate
>>> settings = Settings(broker_ids=(1,), stream_count=2, fetch_message_max_bytes=100)
>>> owns = StartConnections([Assigned("orders", 0, stream=0, offset=0), Assigned("orders", 1, stream=1, offset=0)])
>>> records = [Append("orders", 0, count=9), Append("orders", 1, count=9)]
>>> rounds = [owns, FindLeaders(), *[Fetch(1)] * 3, *[Next(1)] * 3]
>>> broken(settings, simulate(settings, [*records, *rounds])[-1].state)
('a stream that is not read stops no other stream',)
"""

from __future__ import annotations

from types import MappingProxyType

from kafkalearn.promises import Predicate, Since, judges
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.zookeeper.fetching.settings import Settings
from kafkalearn.zookeeper.fetching.state import SHUTDOWN_COMMAND, Pipeline

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
        "consumed is never ahead of fetched": lambda settings, state: all(
            each.consumed_offset <= each.fetched_offset for each in state.registry
        ),
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

check, broken = judges(INVARIANTS, PROMISES)
