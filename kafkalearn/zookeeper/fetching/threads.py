"""Which fetcher of a broker serves a partition, by one formula; and where Scala puts a fetcher in its map."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kafkalearn.base.checks import LARGEST_INT, text, whole_number
from kafkalearn.base.errors import IllegalEvent, listed
from kafkalearn.base.hashing import MASK_32, int32, java_string_hash, kafka_abs
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.zookeeper.fetching import cluster, model
from kafkalearn.zookeeper.fetching.model import Fetcher, FetcherId, LeaderFinder, Pipeline, Settings
from kafkalearn.zookeeper.layout import immutable_order, mutable_order


def fetcher_id(topic: str, partition: int, num_consumer_fetchers: int = 1) -> int:
    """The number of the fetcher that serves a partition, among those that go to the same broker.

    Parameters
    ----------
    topic : str
        The topic's name.
    partition : int
        The partition's number.
    num_consumer_fetchers : int
        ``num.consumer.fetchers`` of the old consumer, or ``num.replica.fetchers`` of a follower: the rule is the same.

    Returns
    -------
    int
        From 0 up to, but not with, `num_consumer_fetchers`.

    Raises
    ------
    KafkaLearnError
        If there is no such partition, or no fetcher.

    Examples
    --------
    >>> [fetcher_id("orders", partition, 3) for partition in range(5)]  # the hash is negative: abs turns it round
    [2, 1, 0, 2, 1]

    Neighbours part ways; first partitions of several topics may meet:

    >>> fetcher_id("orders", 0, 4), fetcher_id("clicks", 0, 4)
    (1, 1)

    References
    ----------
    Apache Kafka 0.8.2 to 1.1.1, ``AbstractFetcherManager.getFetcherId``.
    """
    text("topic", topic)
    whole_number("partition", partition, 0, LARGEST_INT)
    whole_number("num_consumer_fetchers", num_consumer_fetchers, 1, LARGEST_INT)
    return kafka_abs(int32(31 * java_string_hash(topic) + partition)) % num_consumer_fetchers


PRODUCT_SEED = 0xCAFEBABE  # MurmurHash3.productSeed


def fetcher_hash(broker_id: int, fetcher_id: int) -> int:
    """The hash code of a broker's id with a fetcher's: the order in which fetchers are asked and stopped follows it.

    >>> from kafkalearn.zookeeper.layout import mutable_order
    >>> mutable_order([(1, 1), (2, 0), (1, 0)], lambda key: fetcher_hash(*key))
    [(1, 0), (2, 0), (1, 1)]

    References
    ----------
    Apache Kafka 1.1.1, ``BrokerIdAndFetcherId``; Scala 2.11, ``scala.runtime.Statics.mix`` and ``finalizeHash``.
    """
    mixed = PRODUCT_SEED
    for each in (broker_id, fetcher_id):
        scrambled = _rotate_left(each * 0xCC9E2D51 & MASK_32, 15) * 0x1B873593 & MASK_32
        mixed = _rotate_left(mixed ^ scrambled, 13) * 5 + 0xE6546B64 & MASK_32
    mixed ^= 2  # as many fields
    mixed = (mixed ^ mixed >> 16) * 0x85EBCA6B & MASK_32
    mixed = (mixed ^ mixed >> 13) * 0xC2B2AE35 & MASK_32
    return mixed ^ mixed >> 16


def _rotate_left(value: int, bits: int) -> int:
    return (value << bits | value >> 32 - bits) & MASK_32


# A fetcher's round: a request for all its partitions, then the answers one by one, each into a queue that has room. All
# of this happens under one lock of the fetcher. Where a queue is full it waits with the lock in hand.


def fetch(settings: Settings, state: Pipeline, event: cluster.Fetch) -> Pipeline:
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
        return _hand_back(state, key, fetcher.topic_partitions, cluster.NO_CONNECTION)
    answers = cluster.answer_fetch(settings, state.cluster, key.broker_id, fetcher.offsets)
    before = len(state.effects)
    state = go_on(settings, model.with_fetcher(state, fetcher._replace(in_hand=answers)), key)
    return state if len(state.effects) > before else model.with_effect(state, cluster.NothingFetched(*key))


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
        elif answer.error == cluster.OUT_OF_RANGE:
            offset = cluster.answer_offset(
                state.cluster, key.broker_id, answer.topic_partition, settings.auto_offset_reset
            )
            if offset is None:
                failed = (*failed, answer.topic_partition)
            else:
                state = reset(state, answer.topic_partition, answer.fetch_offset, offset)
                state = model.with_fetcher(state, _moved_to_end(fetcher, answer.topic_partition, offset))
        elif answer.error is not None:
            failed = (*failed, answer.topic_partition)
        state = model.with_fetcher(state, state.fetcher(key)._replace(in_hand=answers[1:]))
    state = model.with_fetcher(state, state.fetcher(key)._replace(failed=()))
    return _hand_back(state, key, failed, cluster.NOT_LEADER) if failed else state


def reset(state: Pipeline, topic_partition: TopicPartition, fetch_offset: int, offset: int) -> Pipeline:
    """Both offsets of a partition become where ``auto.offset.reset`` goes on, whatever its queue still holds."""
    info = state.info(topic_partition)._replace(fetched_offset=offset, consumed_offset=offset)
    return model.with_effect(model.with_info(state, info), cluster.OffsetReset(topic_partition, fetch_offset, offset))


def unblock(settings: Settings, state: Pipeline) -> Pipeline:
    """Let the fetchers that wait go on where there is room now, the one first that has waited longest."""
    for key in state.blocked:
        waits_for = state.info(state.fetcher(key).in_hand[0].topic_partition).stream
        if len(state.streams[waits_for].queue) < settings.queued_max_message_chunks:
            state = replace(state, blocked=tuple(each for each in state.blocked if each != key))
            state = go_on(settings, state, key)
    return state


def _enqueue(state: Pipeline, fetcher: Fetcher, answer: cluster.FetchAnswer) -> Pipeline:
    info = state.info(answer.topic_partition)
    stream = state.streams[info.stream]
    chunk = model.Chunk(answer.topic_partition, answer.fetch_offset, answer.offsets)
    state = model.with_stream(state, info.stream, stream._replace(queue=(*stream.queue, chunk)))
    state = model.with_effect(
        state, cluster.Enqueued(answer.topic_partition, info.stream, answer.fetch_offset, answer.offsets)
    )
    if not answer.offsets:
        return state  # nothing whole came: the same offset is asked for again
    end = answer.offsets[-1] + 1
    state = model.with_info(state, info._replace(fetched_offset=end))
    return model.with_fetcher(state, _moved_to_end(fetcher, answer.topic_partition, end))


def _moved_to_end(fetcher: Fetcher, topic_partition: TopicPartition, offset: int) -> Fetcher:
    """Who got something comes last in the next request."""
    others = tuple(each for each in fetcher.offsets if each[0] != topic_partition)
    return fetcher._replace(offsets=(*others, (topic_partition, offset)))


def _block(state: Pipeline, fetcher: Fetcher, stream: int) -> Pipeline:
    state = replace(model.with_fetcher(state, fetcher), blocked=(*state.blocked, fetcher.key))
    return model.with_effect(state, cluster.FetcherBlocked(*fetcher.key, stream))


def _die(state: Pipeline, fetcher: Fetcher, answer: cluster.FetchAnswer, fetched_offset: int) -> Pipeline:
    state = model.with_fetcher(state, fetcher._replace(in_hand=(), failed=(), is_dead=True))
    died = cluster.FetcherDied(*fetcher.key, answer.topic_partition, fetched_offset, answer.fetch_offset)
    return model.with_effect(state, died)


def _hand_back(state: Pipeline, key: FetcherId, topic_partitions: tuple[TopicPartition, ...], error: str) -> Pipeline:
    """Partitions with an error leave the fetcher and have no leader again."""
    fetcher = state.fetcher(key)
    kept = tuple(each for each in fetcher.offsets if each[0] not in topic_partitions)
    no_leader = tuple(dict.fromkeys((*state.no_leader, *topic_partitions)))
    state = replace(model.with_fetcher(state, fetcher._replace(offsets=kept)), no_leader=no_leader)
    return model.with_effect(state, *(cluster.PartitionFailed(each, error) for each in topic_partitions))


# A round of the leader finder: ask any broker for leaders, give each partition to its fetcher, stop idle fetchers. To
# give a partition to a fetcher, and to see whether it is idle, takes the fetcher's lock. A fetcher that is blocked on a
# full queue keeps it, and so the leader finder waits, and every partition that has no leader with it.


def find_leaders(settings: Settings, state: Pipeline, event: cluster.FindLeaders) -> Pipeline:
    """One round; IllegalEvent while the thread waits for partitions, or for a lock."""
    finder = state.leader_finder
    if finder is None:
        raise IllegalEvent("the leader finder does not run: the consumer has no connections; StartConnections first")
    if finder.waits_for is not None:
        broker_id, number = finder.waits_for
        raise IllegalEvent(
            f"the leader finder waits for the lock of fetcher {number} of broker {broker_id}, "
            "which waits for room in a queue; read the stream"
        )
    if not state.no_leader:
        raise IllegalEvent("the leader finder sleeps: every partition has a leader")
    if not state.cluster.live_brokers:
        return model.with_effect(state, cluster.MetadataFailed(state.no_leader))
    leaders = {each: leader for each in state.no_leader if (leader := state.log(each).leader) is not None}
    state = replace(state, no_leader=tuple(each for each in state.no_leader if each not in leaders))
    return go_on_finding(settings, state, LeaderFinder(_by_fetcher(settings, leaders)))


def go_on_finding(settings: Settings, state: Pipeline, finder: LeaderFinder) -> Pipeline:
    """The rest of a round, as far as the locks let it come; `finder` is how far it has come."""
    found = tuple(each for _, group in finder.to_add for each in group)
    while finder.to_add:
        key, group = finder.to_add[0]
        if key in state.blocked:
            return _wait(state, finder, key)
        if not state.has_fetcher(key):
            state = model.with_effect(
                replace(state, fetchers=(*state.fetchers, Fetcher(key))), cluster.FetcherStarted(*key)
            )
        state, is_added = _add(settings, state, key, group)
        if not is_added:
            again = tuple(dict.fromkeys((*state.no_leader, *found)))
            state = model.with_effect(replace(state, no_leader=again), cluster.MetadataFailed(found))
        finder = LeaderFinder(finder.to_add[1:] if is_added else ())
    if not finder.to_ask:
        keys = mutable_order((each.key for each in state.fetchers), lambda key: fetcher_hash(*key))
        finder = LeaderFinder(to_ask=tuple(keys))
    return _stop_idle(state, finder)


def _by_fetcher(
    settings: Settings, leaders: Mapping[TopicPartition, int]
) -> tuple[tuple[FetcherId, tuple[TopicPartition, ...]], ...]:
    """The partitions of each fetcher, in the order of the map that they are handed over in."""
    groups: dict[FetcherId, list[TopicPartition]] = {}
    for each, leader in leaders.items():
        key = FetcherId(leader, fetcher_id(*each, settings.num_consumer_fetchers))
        groups.setdefault(key, []).append(each)
    return tuple((key, tuple(mutable_order(sorted(group)))) for key, group in groups.items())


def _add(
    settings: Settings, state: Pipeline, key: FetcherId, group: tuple[TopicPartition, ...]
) -> tuple[Pipeline, bool]:
    """Partitions more for a fetcher, all of them or, if the offset of one could not be had, none."""
    fetcher = state.fetcher(key)
    offsets = dict(fetcher.offsets)  # who is there already keeps the offset that it has
    for topic_partition in (each for each in group if each not in fetcher.topic_partitions):
        offset = state.info(topic_partition).fetched_offset
        if offset < 0:
            begin = cluster.answer_offset(state.cluster, key.broker_id, topic_partition, settings.auto_offset_reset)
            if begin is None:
                return state, False
            state = reset(state, topic_partition, offset, begin)
            offset = begin
        offsets[topic_partition] = offset
    order: list[TopicPartition] = immutable_order(offsets)
    topics = list(dict.fromkeys(each.topic for each in order))
    order.sort(key=lambda each: topics.index(each.topic))  # as PartitionStates puts them: topic by topic
    added = [
        cluster.PartitionAdded(each, *key, offsets[each]) for each in group if each not in fetcher.topic_partitions
    ]
    fetcher = fetcher._replace(offsets=tuple((each, offsets[each]) for each in order))
    return model.with_effect(model.with_fetcher(state, fetcher), *added), True


def _stop_idle(state: Pipeline, finder: LeaderFinder) -> Pipeline:
    """Ask each fetcher for its number of partitions, under its lock; those without one are stopped in the end."""
    idle = finder.idle
    for at, key in enumerate(finder.to_ask):
        if key in state.blocked:
            return _wait(state, LeaderFinder((), finder.to_ask[at:], idle), key)
        if not state.fetcher(key).offsets:
            idle = (*idle, key)
    fetchers = tuple(each for each in state.fetchers if each.key not in idle)
    state = replace(state, fetchers=fetchers, leader_finder=LeaderFinder())
    return model.with_effect(state, *(cluster.FetcherStopped(*key) for key in idle))


def _wait(state: Pipeline, finder: LeaderFinder, key: FetcherId) -> Pipeline:
    state = replace(state, leader_finder=finder._replace(waits_for=key))
    return state if finder.waits_for == key else model.with_effect(state, cluster.FinderBlocked(*key))


# The stream's iterator: chunk by chunk out of the queue, record by record out of the chunk.

TIMED_OUT, TOO_LARGE, FAILED_STATE = (
    "ConsumerTimeoutException",
    "MessageSizeTooLargeException",
    "IllegalStateException: Iterator is in failed state",
)


def next_record(settings: Settings, state: Pipeline, event: cluster.Next) -> Pipeline:
    """What the application gets for its question: a record, an exception, the end, or nothing yet."""
    if event.stream >= len(state.streams):
        raise IllegalEvent(f"there is no stream {event.stream}; the consumer has {len(state.streams)}, from 0 on")
    stream = state.streams[event.stream]
    if stream.status == model.ENDED:
        return model.with_effect(state, cluster.Ended(event.stream))
    if stream.status == model.FAILED:
        return model.with_effect(state, cluster.Raised(event.stream, FAILED_STATE))
    if stream.chunk is None:
        if not stream.queue:
            waits = settings.consumer_timeout_ms < 0
            return model.with_effect(
                state, cluster.Waited(event.stream) if waits else cluster.Raised(event.stream, TIMED_OUT)
            )
        state = _take(state, event.stream)
        if (taken := state.streams[event.stream].chunk) is not None:
            state = _read(state, event.stream, taken)
        return _let_others_go_on(settings, state)
    return _read(state, event.stream, stream.chunk)


def _take(state: Pipeline, number: int) -> Pipeline:
    """The next chunk out of the queue, unless it ends the stream or holds nothing whole."""
    stream = state.streams[number]
    chunk, queue = stream.queue[0], stream.queue[1:]
    if chunk == model.SHUTDOWN_COMMAND:
        return model.with_effect(
            model.with_stream(state, number, stream._replace(queue=queue, status=model.ENDED)), cluster.Ended(number)
        )
    info = state.info(chunk.topic_partition)
    if info.consumed_offset < chunk.fetch_offset:
        state = model.with_info(state, info._replace(consumed_offset=chunk.fetch_offset))
        state = model.with_effect(
            state, cluster.OffsetsApart(chunk.topic_partition, info.consumed_offset, chunk.fetch_offset)
        )
    if not chunk.offsets:
        state = model.with_stream(state, number, stream._replace(queue=queue, status=model.FAILED))
        return model.with_effect(state, cluster.Raised(number, TOO_LARGE))
    return model.with_stream(state, number, stream._replace(queue=queue, chunk=chunk))


def _read(state: Pipeline, number: int, chunk: model.Chunk) -> Pipeline:
    """One record out of the chunk: those below the consumed offset are passed over, but never the chunk's last."""
    info = state.info(chunk.topic_partition)
    skipped = tuple(each for each in chunk.offsets[:-1] if each < info.consumed_offset)
    offset, *rest = chunk.offsets[len(skipped) :]
    if skipped:
        state = model.with_effect(state, cluster.Skipped(chunk.topic_partition, skipped))
    left = chunk._replace(offsets=tuple(rest)) if rest else None
    state = model.with_stream(state, number, state.streams[number]._replace(chunk=left))
    state = model.with_info(state, info._replace(consumed_offset=offset + 1))
    return model.with_effect(state, cluster.Read(number, chunk.topic_partition, offset))


def _let_others_go_on(settings: Settings, state: Pipeline) -> Pipeline:
    """A place in the queue is free: a fetcher may go on, and when its lock is free, the leader finder."""
    state = unblock(settings, state)
    finder = state.leader_finder
    if finder is None or finder.waits_for is None or finder.waits_for in state.blocked:
        return state
    return go_on_finding(settings, state, finder)
