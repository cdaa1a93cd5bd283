"""The herd: one consumer comes or goes, and every other one is called, stops, and asks ZooKeeper for everything."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kafkalearn.arguments import iterable, one_of, whole_number
from kafkalearn.explore import Search
from kafkalearn.trace import Trace, extend
from kafkalearn.zookeeper.connector.effects import Asked, AttemptFailed, GaveUp, Notified, RebalanceBegan
from kafkalearn.zookeeper.connector.events import (
    BrokerStarted,
    ConnectorEvent,
    CreateMessageStreams,
    SessionExpired,
    Shutdown,
    TopicCreated,
    TopicGrown,
)
from kafkalearn.zookeeper.connector.promises import ONE_IS_CALLED
from kafkalearn.zookeeper.connector.settings import Settings
from kafkalearn.zookeeper.connector.simulator import simulate, step
from kafkalearn.zookeeper.connector.state import Group
from kafkalearn.zookeeper.schedules import settle
from kafkalearn.zookeeper.search.find import SETTLED, TOPIC, find
from kafkalearn.zookeeper.subscriptions import Streams

JOIN, LEAVE, EXPIRE, GROW = CHANGES = ("join", "leave", "expire", "grow")
"""What happens to a group at rest: a consumer joins, leaves, or loses its session; the topic gets a partition."""

MOST_CONSUMERS = 200


class HerdCost(NamedTuple):
    """What one change costs a group."""

    consumer_count: int  # at rest, before it
    notified: int  # consumers of which a watch fired
    rebalances: int
    failed_attempts: int
    reads: int  # requests to ZooKeeper that read
    writes: int  # and that write
    turns: int  # of threads, until all is quiet
    gave_up: int  # consumers that failed in all their tries


def find_herd(settings: Settings | None = None, consumer_count: int = 3) -> Search[Group, ConnectorEvent]:
    """The shortest run in which one change calls more than one consumer; with three it is the join itself.

    >>> found = find_herd()
    >>> found.trace[-1].event.consumer, [each.name for each in found.trace[-1].state.connectors if each.notices]
    ('c3', ['c1', 'c2'])
    """
    count = whole_number("consumer_count", consumer_count, at_least=1, at_most=9)
    names = tuple(f"c{number}" for number in range(1, count + 1))
    return find(settings, (ONE_IS_CALLED,), begins=SETTLED, consumers=names, partition_count=count)


def herd(
    consumer_count: int,
    change: str = JOIN,
    settings: Settings | None = None,
    partition_count: int | None = None,
) -> Trace[Group, ConnectorEvent]:
    """One change in a group at rest, until it is at rest again: the run, to be played.

    Parameters
    ----------
    consumer_count : int
        At rest, each with one thread; at most 200.
    change : str
        A name in `CHANGES`.
    partition_count : int, optional
        Two for each consumer, if not given.

    Raises
    ------
    KafkaLearnError
        If a number is too small or too large, or there is no such change.

    Examples
    --------
    >>> trace = herd(3)
    >>> cost = herd_cost(trace)
    >>> cost.notified, cost.rebalances
    (3, 4)
    """
    chosen = Settings(auto_commit_enable=False) if settings is None else settings
    count = whole_number("consumer_count", consumer_count, at_least=1, at_most=MOST_CONSUMERS)
    partitions = 2 * count if partition_count is None else partition_count
    one_of("change", change, CHANGES)
    names = [f"c{number:03}" for number in range(1, count + 1)]
    cluster = [BrokerStarted(), TopicCreated(TOPIC, partitions)]
    joins = [CreateMessageStreams(name, Streams({TOPIC: 1})) for name in names]
    at_rest = settle(chosen, simulate(chosen, [*cluster, *joins])[-1].state)[-1].state
    event: ConnectorEvent = {
        JOIN: CreateMessageStreams(f"c{count + 1:03}", Streams({TOPIC: 1})),
        LEAVE: Shutdown(names[-1]),
        EXPIRE: SessionExpired(names[-1]),
        GROW: TopicGrown(TOPIC, partitions + 1),
    }[change]
    changed = extend(step, chosen, simulate(chosen, (), at_rest), [event])
    settled = settle(chosen, changed[-1].state)
    return extend(step, chosen, changed, [frame.event for frame in settled if frame.event is not None])


def herd_cost(trace: Trace[Group, ConnectorEvent]) -> HerdCost:
    """What a run of `herd` cost.

    >>> herd_cost(herd(2, "leave")).rebalances
    1
    """
    effects = [effect for frame in trace[1:] for effect in frame.state.effects]
    asked = [effect for effect in effects if isinstance(effect, Asked)]
    before = [each for each in trace[0].state.connectors if each.is_running]
    names = {each.name for each in before}
    return HerdCost(
        len(before),
        len({effect.consumer for effect in effects if isinstance(effect, Notified)} & names),
        sum(isinstance(effect, RebalanceBegan) for effect in effects),
        sum(isinstance(effect, AttemptFailed) for effect in effects),
        sum(effect.read_count for effect in asked),
        sum(effect.write_count for effect in asked),
        len(trace) - 1,
        sum(isinstance(effect, GaveUp) for effect in effects),
    )


def herd_costs(consumer_counts: Iterable[int], change: str = JOIN, settings: Settings | None = None) -> list[HerdCost]:
    """What one change costs groups of several sizes.

    >>> [(cost.consumer_count, cost.rebalances, cost.reads) for cost in herd_costs([1, 2, 4])]
    [(1, 2, 29), (2, 3, 47), (4, 5, 89)]
    """
    return [herd_cost(herd(count, change, settings)) for count in iterable("consumer_counts", consumer_counts)]
