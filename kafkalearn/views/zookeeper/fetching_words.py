"""A fetch pipeline in words: a sentence or two about each moment."""

from __future__ import annotations

from collections.abc import Callable

from kafkalearn.phrases import capitalised, counted, listed
from kafkalearn.trace import Frame
from kafkalearn.zookeeper.fetching import effects, events
from kafkalearn.zookeeper.fetching.events import FetchingEvent
from kafkalearn.zookeeper.fetching.state import Pipeline


def describe_fetching(
    frame: Frame[Pipeline, FetchingEvent], before: Frame[Pipeline, FetchingEvent] | None = None
) -> str:
    """A sentence or two about a frame of `kafkalearn.zookeeper.fetching`; the frame before it is not needed.

    Examples
    --------
    >>> from kafkalearn.zookeeper.fetching import Append, Assigned, Fetch, FindLeaders, Next, Settings, simulate
    >>> owns = events.StartConnections([Assigned("orders", 0, offset=0)])
    >>> for frame in simulate(Settings(), [Append("orders", 0, count=3), owns, FindLeaders(), Fetch(1), Next()]):
    ...     print(describe_fetching(frame))
    The consumer owns nothing yet.
    Offsets 0 to 2 are new in orders-0.
    A rebalance has ended: the consumer owns orders-0, which has no leader yet.
    Fetcher 0 of broker 1 is started. Fetcher 0 of broker 1 fetches orders-0 from 0.
    A chunk is in the queue of stream 0: 0 to 2 of orders-0.
    The application reads 0 of orders-0.
    """
    if frame.event is None:
        return "The consumer owns nothing yet."
    said = [words for each in frame.state.effects if (words := _WORDS[type(each)](each))]
    return " ".join(capitalised(each) + "." for each in (_event_words(frame), *said) if each)


def span(offsets: tuple[int, ...]) -> str:
    """Offsets that follow each other, in short.

    >>> span((4,)), span((4, 5, 6))
    ('4', '4 to 6')
    """
    return str(offsets[0]) if len(offsets) == 1 else f"{offsets[0]} to {offsets[-1]}"


def _event_words(frame: Frame[Pipeline, FetchingEvent]) -> str:
    match frame.event:
        case events.StartConnections():
            owned = [each.topic_partition for each in frame.state.registry]
            has = "has" if len(owned) == 1 else "have"
            return f"a rebalance has ended: the consumer owns {listed(owned)}, which {has} no leader yet"
        case events.StopConnections():
            return "a rebalance begins: no thread fetches, and nothing is owned any more"
        case events.Shutdown():
            return "the consumer is shut down: each queue has the shutdown message alone"
        case events.FindLeaders() if not frame.state.effects:
            return "the leader finder asks, and finds no leader"
    return broker_words(frame.event)


def broker_words(event: object) -> str:
    """What happens to brokers and their logs, in a few words; nothing for any other event.

    >>> broker_words(events.LeaderMoved("orders", 0, None))
    'nobody leads orders-0 now'
    """
    match event:
        case events.RecordsDeleted(topic, partition, before):
            return f"the records of {topic}-{partition} before {before} are deleted"
        case events.LogTruncated(topic, partition, end):
            return f"an election cuts {topic}-{partition}: it ends at {end}"
        case events.LeaderMoved(topic, partition, broker_id):
            return f"{'nobody' if broker_id is None else f'broker {broker_id}'} leads {topic}-{partition} now"
        case events.BrokerCrashed(broker_id):
            return f"broker {broker_id} crashes"
        case events.BrokerRestarted(broker_id):
            return f"broker {broker_id} runs again"
    return ""


def _are(offsets: tuple[int, ...]) -> str:
    return "is" if len(offsets) == 1 else "are"


def _enqueued(each: effects.Enqueued) -> str:
    if not each.offsets:
        return f"a chunk without a whole record of {each.topic_partition} is in the queue of stream {each.stream}"
    return f"a chunk is in the queue of stream {each.stream}: {span(each.offsets)} of {each.topic_partition}"


def appended_words(each: effects.Appended) -> str:
    """Which records are new.

    >>> from kafkalearn.topic_partition import TopicPartition
    >>> appended_words(effects.Appended(TopicPartition("orders", 0), (3,)))
    'offset 3 is new in orders-0'
    """
    noun = "offset" if len(each.offsets) == 1 else "offsets"
    return f"{noun} {span(each.offsets)} {_are(each.offsets)} new in {each.topic_partition}"


_WORDS: dict[type, Callable[[object], str]] = {
    effects.Appended: appended_words,
    effects.MetadataFailed: lambda each: (
        f"the round of the leader finder fails; {listed(each.topic_partitions)} are still without a leader"
    ),
    effects.FetcherStarted: lambda each: f"fetcher {each.fetcher_id} of broker {each.broker_id} is started",
    effects.FetcherStopped: lambda each: (
        f"fetcher {each.fetcher_id} of broker {each.broker_id} has no partition and is stopped"
    ),
    effects.PartitionAdded: lambda each: (
        f"fetcher {each.fetcher_id} of broker {each.broker_id} fetches {each.topic_partition} from {each.offset}"
    ),
    effects.OffsetReset: lambda each: (
        f"fetched and consumed of {each.topic_partition} are reset to {each.offset}: "
        f"{'nothing was committed' if each.fetch_offset < 0 else f'it has no {each.fetch_offset}'}"
    ),
    effects.PartitionFailed: lambda each: f"without a leader again, {each.error}: {each.topic_partition}",
    effects.NothingFetched: lambda each: f"fetcher {each.fetcher_id} of broker {each.broker_id} gets nothing",
    effects.Enqueued: _enqueued,
    effects.FetcherBlocked: lambda each: (
        f"fetcher {each.fetcher_id} of broker {each.broker_id} waits: the queue of stream {each.stream} is full"
    ),
    effects.FinderBlocked: lambda each: (
        f"the leader finder waits for the lock of fetcher {each.fetcher_id} of broker {each.broker_id}"
    ),
    effects.FetcherDied: lambda each: (
        f"fetcher {each.fetcher_id} of broker {each.broker_id} dies: it fetched {each.topic_partition} from "
        f"{each.fetch_offset}, and {each.fetched_offset} is next"
    ),
    effects.Read: lambda each: f"the application reads {each.offset} of {each.topic_partition}",
    effects.Skipped: lambda each: (
        f"{span(each.offsets)} of {each.topic_partition} {_are(each.offsets)} passed over, below what is consumed"
    ),
    effects.OffsetsApart: lambda each: (
        f"{each.consumed_offset} is consumed and the chunk begins at {each.fetch_offset}: Consumer may lose data"
    ),
    effects.Waited: lambda each: f"stream {each.stream} has nothing: its thread waits",
    effects.Raised: lambda each: f"stream {each.stream} throws {each.exception}",
    effects.Ended: lambda each: f"stream {each.stream} has ended",
    effects.Committed: lambda each: "committed: " + listed(f"{name} {offset}" for name, offset in each.offsets),
    effects.QueuesCleared: lambda each: f"{counted(each.chunk_count, 'chunk')} thrown away",
}
