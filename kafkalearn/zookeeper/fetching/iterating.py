"""The stream's iterator: chunk by chunk out of the queue, record by record out of the chunk."""

from __future__ import annotations

from kafkalearn.errors import IllegalEvent
from kafkalearn.zookeeper.fetching.effects import Ended, OffsetsApart, Raised, Read, Skipped, Waited
from kafkalearn.zookeeper.fetching.events import Next
from kafkalearn.zookeeper.fetching.fetcher_threads import unblock
from kafkalearn.zookeeper.fetching.leader_finding import go_on_finding
from kafkalearn.zookeeper.fetching.settings import Settings
from kafkalearn.zookeeper.fetching.state import (
    ENDED,
    FAILED,
    SHUTDOWN_COMMAND,
    Chunk,
    Pipeline,
    with_effect,
    with_info,
    with_stream,
)

TIMED_OUT, TOO_LARGE, FAILED_STATE = (
    "ConsumerTimeoutException",
    "MessageSizeTooLargeException",
    "IllegalStateException: Iterator is in failed state",
)


def next_record(settings: Settings, state: Pipeline, event: Next) -> Pipeline:
    """What the application gets for its question: a record, an exception, the end, or nothing yet."""
    if event.stream >= len(state.streams):
        raise IllegalEvent(f"there is no stream {event.stream}; the consumer has {len(state.streams)}, from 0 on")
    stream = state.streams[event.stream]
    if stream.status == ENDED:
        return with_effect(state, Ended(event.stream))
    if stream.status == FAILED:
        return with_effect(state, Raised(event.stream, FAILED_STATE))
    if stream.chunk is None:
        if not stream.queue:
            waits = settings.consumer_timeout_ms < 0
            return with_effect(state, Waited(event.stream) if waits else Raised(event.stream, TIMED_OUT))
        state = _take(state, event.stream)
        if (taken := state.streams[event.stream].chunk) is not None:
            state = _read(state, event.stream, taken)
        return _let_others_go_on(settings, state)
    return _read(state, event.stream, stream.chunk)


def _take(state: Pipeline, number: int) -> Pipeline:
    """The next chunk out of the queue, unless it ends the stream or holds nothing whole."""
    stream = state.streams[number]
    chunk, queue = stream.queue[0], stream.queue[1:]
    if chunk == SHUTDOWN_COMMAND:
        return with_effect(with_stream(state, number, stream._replace(queue=queue, status=ENDED)), Ended(number))
    info = state.info(chunk.topic_partition)
    if info.consumed_offset < chunk.fetch_offset:
        state = with_info(state, info._replace(consumed_offset=chunk.fetch_offset))
        state = with_effect(state, OffsetsApart(chunk.topic_partition, info.consumed_offset, chunk.fetch_offset))
    if not chunk.offsets:
        state = with_stream(state, number, stream._replace(queue=queue, status=FAILED))
        return with_effect(state, Raised(number, TOO_LARGE))
    return with_stream(state, number, stream._replace(queue=queue, chunk=chunk))


def _read(state: Pipeline, number: int, chunk: Chunk) -> Pipeline:
    """One record out of the chunk: those below the consumed offset are passed over, but never the chunk's last."""
    info = state.info(chunk.topic_partition)
    skipped = tuple(each for each in chunk.offsets[:-1] if each < info.consumed_offset)
    offset, *rest = chunk.offsets[len(skipped) :]
    if skipped:
        state = with_effect(state, Skipped(chunk.topic_partition, skipped))
    left = chunk._replace(offsets=tuple(rest)) if rest else None
    state = with_stream(state, number, state.streams[number]._replace(chunk=left))
    state = with_info(state, info._replace(consumed_offset=offset + 1))
    return with_effect(state, Read(number, chunk.topic_partition, offset))


def _let_others_go_on(settings: Settings, state: Pipeline) -> Pipeline:
    """A place in the queue is free: a fetcher may go on, and when its lock is free, the leader finder."""
    state = unblock(settings, state)
    finder = state.leader_finder
    if finder is None or finder.waits_for is None or finder.waits_for in state.blocked:
        return state
    return go_on_finding(settings, state, finder)
