"""A round of the leader finder: ask any broker for leaders, give each partition to its fetcher, stop idle fetchers.

To give a partition to a fetcher, and to see whether it is idle, takes the fetcher's lock. A fetcher that is blocked on
a full queue keeps it, and so the leader finder waits, and every partition that has no leader with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kafkalearn.errors import IllegalEvent
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.zookeeper.fetching.cluster import answer_offset
from kafkalearn.zookeeper.fetching.effects import (
    FetcherStarted,
    FetcherStopped,
    FinderBlocked,
    MetadataFailed,
    PartitionAdded,
)
from kafkalearn.zookeeper.fetching.events import FindLeaders
from kafkalearn.zookeeper.fetching.fetcher_ids import fetcher_hash, fetcher_id
from kafkalearn.zookeeper.fetching.fetcher_threads import reset
from kafkalearn.zookeeper.fetching.settings import Settings
from kafkalearn.zookeeper.fetching.state import (
    Fetcher,
    FetcherId,
    LeaderFinder,
    Pipeline,
    with_effect,
    with_fetcher,
)
from kafkalearn.zookeeper.scala_maps import immutable_order, mutable_order


def find_leaders(settings: Settings, state: Pipeline, event: FindLeaders) -> Pipeline:
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
        return with_effect(state, MetadataFailed(state.no_leader))
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
            state = with_effect(replace(state, fetchers=(*state.fetchers, Fetcher(key))), FetcherStarted(*key))
        state, is_added = _add(settings, state, key, group)
        if not is_added:
            again = tuple(dict.fromkeys((*state.no_leader, *found)))
            state = with_effect(replace(state, no_leader=again), MetadataFailed(found))
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
            begin = answer_offset(state.cluster, key.broker_id, topic_partition, settings.auto_offset_reset)
            if begin is None:
                return state, False
            state = reset(state, topic_partition, offset, begin)
            offset = begin
        offsets[topic_partition] = offset
    order: list[TopicPartition] = immutable_order(offsets)
    topics = list(dict.fromkeys(each.topic for each in order))
    order.sort(key=lambda each: topics.index(each.topic))  # as PartitionStates puts them: topic by topic
    added = [PartitionAdded(each, *key, offsets[each]) for each in group if each not in fetcher.topic_partitions]
    fetcher = fetcher._replace(offsets=tuple((each, offsets[each]) for each in order))
    return with_effect(with_fetcher(state, fetcher), *added), True


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
    return with_effect(state, *(FetcherStopped(*key) for key in idle))


def _wait(state: Pipeline, finder: LeaderFinder, key: FetcherId) -> Pipeline:
    state = replace(state, leader_finder=finder._replace(waits_for=key))
    return state if finder.waits_for == key else with_effect(state, FinderBlocked(*key))
