"""A fetcher's round: a request for all its partitions, then the answers one by one, each into a queue that has room.

All of this happens under one lock of the fetcher. Where a queue is full it waits with the lock in hand.
"""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.errors import IllegalEvent
from kafkalearn.phrases import listed
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.zookeeper.fetching.cluster import (
    NO_CONNECTION,
    NOT_LEADER,
    OUT_OF_RANGE,
    Answer,
    answer_fetch,
    answer_offset,
)
from kafkalearn.zookeeper.fetching.effects import (
    Enqueued,
    FetcherBlocked,
    FetcherDied,
    NothingFetched,
    OffsetReset,
    PartitionFailed,
)
from kafkalearn.zookeeper.fetching.events import Fetch
from kafkalearn.zookeeper.fetching.settings import Settings
from kafkalearn.zookeeper.fetching.state import (
    Chunk,
    Fetcher,
    FetcherId,
    Pipeline,
    with_effect,
    with_fetcher,
    with_info,
    with_stream,
)


def fetch(settings: Settings, state: Pipeline, event: Fetch) -> Pipeline:
    """One round of a fetcher that is not blocked."""
    key = FetcherId(event.broker_id, event.fetcher_id)
    if not state.has_fetcher(key):
        there = listed((f"{each.key.fetcher_id} of broker {each.key.broker_id}" for each in state.fetchers), last="or")
        raise IllegalEvent(f"there is no fetcher {key.fetcher_id} of broker {key.broker_id}; there is {there}")
    fetcher = state.fetcher(key)
    if fetcher.is_dead:
        raise IllegalEvent(f"the thread of fetcher {key.fetcher_id} of broker {key.broker_id} has ended")
    if fetcher.in_hand:
        raise IllegalEvent(
            f"fetcher {key.fetcher_id} of broker {key.broker_id} is blocked: it waits for room in a queue; "
            "read the stream"
        )
    if key.broker_id not in state.cluster.live_brokers:
        return _hand_back(state, key, fetcher.topic_partitions, NO_CONNECTION)
    answers = answer_fetch(settings, state.cluster, key.broker_id, fetcher.offsets)
    before = len(state.effects)
    state = go_on(settings, with_fetcher(state, fetcher._replace(in_hand=answers)), key)
    return state if len(state.effects) > before else with_effect(state, NothingFetched(*key))


def go_on(settings: Settings, state: Pipeline, key: FetcherId) -> Pipeline:
    """Deal with the answers that a fetcher has in hand, until all are dealt with or a queue is full."""
    failed = state.fetcher(key).failed
    while answers := state.fetcher(key).in_hand:
        answer, fetcher = answers[0], state.fetcher(key)
        if answer.error is None and (answer.offsets or answer.is_cut):
            info = state.info(answer.topic_partition)
            if info.fetched_offset != answer.fetch_offset:
                return _die(state, fetcher, answer, info.fetched_offset)
            if len(state.streams[info.stream].queue) >= settings.queued_max_message_chunks:
                return _block(state, fetcher._replace(failed=failed), info.stream)
            state = _enqueue(state, fetcher, answer)
        elif answer.error == OUT_OF_RANGE:
            offset = answer_offset(state.cluster, key.broker_id, answer.topic_partition, settings.auto_offset_reset)
            if offset is None:
                failed = (*failed, answer.topic_partition)
            else:
                state = reset(state, answer.topic_partition, answer.fetch_offset, offset)
                state = with_fetcher(state, _moved_to_end(fetcher, answer.topic_partition, offset))
        elif answer.error is not None:
            failed = (*failed, answer.topic_partition)
        state = with_fetcher(state, state.fetcher(key)._replace(in_hand=answers[1:]))
    state = with_fetcher(state, state.fetcher(key)._replace(failed=()))
    return _hand_back(state, key, failed, NOT_LEADER) if failed else state


def reset(state: Pipeline, topic_partition: TopicPartition, fetch_offset: int, offset: int) -> Pipeline:
    """Both offsets of a partition become where ``auto.offset.reset`` goes on, whatever its queue still holds."""
    info = state.info(topic_partition)._replace(fetched_offset=offset, consumed_offset=offset)
    return with_effect(with_info(state, info), OffsetReset(topic_partition, fetch_offset, offset))


def unblock(settings: Settings, state: Pipeline) -> Pipeline:
    """Let the fetchers that wait go on where there is room now, the one first that has waited longest."""
    for key in state.blocked:
        waits_for = state.info(state.fetcher(key).in_hand[0].topic_partition).stream
        if len(state.streams[waits_for].queue) < settings.queued_max_message_chunks:
            state = replace(state, blocked=tuple(each for each in state.blocked if each != key))
            state = go_on(settings, state, key)
    return state


def _enqueue(state: Pipeline, fetcher: Fetcher, answer: Answer) -> Pipeline:
    info = state.info(answer.topic_partition)
    stream = state.streams[info.stream]
    chunk = Chunk(answer.topic_partition, answer.fetch_offset, answer.offsets)
    state = with_stream(state, info.stream, stream._replace(queue=(*stream.queue, chunk)))
    state = with_effect(state, Enqueued(answer.topic_partition, info.stream, answer.fetch_offset, answer.offsets))
    if not answer.offsets:
        return state  # nothing whole came: the same offset is asked for again
    end = answer.offsets[-1] + 1
    state = with_info(state, info._replace(fetched_offset=end))
    return with_fetcher(state, _moved_to_end(fetcher, answer.topic_partition, end))


def _moved_to_end(fetcher: Fetcher, topic_partition: TopicPartition, offset: int) -> Fetcher:
    """Who got something comes last in the next request."""
    others = tuple(each for each in fetcher.offsets if each[0] != topic_partition)
    return fetcher._replace(offsets=(*others, (topic_partition, offset)))


def _block(state: Pipeline, fetcher: Fetcher, stream: int) -> Pipeline:
    state = replace(with_fetcher(state, fetcher), blocked=(*state.blocked, fetcher.key))
    return with_effect(state, FetcherBlocked(*fetcher.key, stream))


def _die(state: Pipeline, fetcher: Fetcher, answer: Answer, fetched_offset: int) -> Pipeline:
    state = with_fetcher(state, fetcher._replace(in_hand=(), failed=(), is_dead=True))
    died = FetcherDied(*fetcher.key, answer.topic_partition, fetched_offset, answer.fetch_offset)
    return with_effect(state, died)


def _hand_back(state: Pipeline, key: FetcherId, topic_partitions: tuple[TopicPartition, ...], error: str) -> Pipeline:
    """Partitions with an error leave the fetcher and have no leader again."""
    fetcher = state.fetcher(key)
    kept = tuple(each for each in fetcher.offsets if each[0] not in topic_partitions)
    no_leader = tuple(dict.fromkeys((*state.no_leader, *topic_partitions)))
    state = replace(with_fetcher(state, fetcher._replace(offsets=kept)), no_leader=no_leader)
    return with_effect(state, *(PartitionFailed(each, error) for each in topic_partitions))
