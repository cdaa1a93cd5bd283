"""Searching all schedules of a few old consumers: the split brain and the herd, found and handed back to be played.

`find` looks for a state that breaks a promise, `find_stuck` for a partition that nobody reads any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Unpack

from kafkalearn.base.checks import iterable, one_of, sequence, whole_number
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.liveness import Stuck
from kafkalearn.base.liveness import find_stuck as find_stuck_in
from kafkalearn.base.search import Limits, Search, explore, whole
from kafkalearn.base.trace import Trace, extend
from kafkalearn.zookeeper.connector.model import (
    AttemptFailed,
    BrokerStarted,
    ConnectorEvent,
    CreateMessageStreams,
    GaveUp,
    Group,
    HandleEvent,
    Notified,
    RebalanceBegan,
    RebalanceStep,
    Reconnect,
    RequestsSent,
    SessionExpired,
    Settings,
    Shutdown,
    TopicCreated,
    TopicGrown,
    WakeWatcher,
)
from kafkalearn.zookeeper.connector.simulator import (
    ALL_READ,
    NOBODY_GIVES_UP,
    ONE_IS_CALLED,
    PROGRESS,
    PROMISES,
    simulate,
    step,
)
from kafkalearn.zookeeper.schedules import play, settle
from kafkalearn.zookeeper.subscriptions import Streams

__all__ = [
    "BEGINNINGS",
    "HerdCost",
    "find",
    "find_herd",
    "find_stuck",
    "herd",
    "herd_costs",
]


# The shortest schedule that breaks a promise: who is quicker is tried in every way. Two consumers read the members of
# their group at different moments, and compute different assignments: the *split brain*. That two do not read the same
# partition then is owed to the node of its owner, which can be created once; but one of them finds it in its way, waits
# and tries again, and after four tries it gives up.

JOINING, SETTLED, EXPIRING, CALLED = "joining", "settled", "expiring", "called"
BEGINNINGS = {
    JOINING: "nobody is there, and each consumer joins once",
    SETTLED: "all consumers but the last read, and the last joins",
    EXPIRING: "all consumers read, and the session of one expires",
    CALLED: "the topic has just grown, all consumers are called, and the session of one expires",
}
"""Where a search begins, and what may happen besides the turns of the threads."""

TOPIC = "orders"


def find(
    settings: Settings | None = None,
    promises: Iterable[str] = (NOBODY_GIVES_UP,),
    *,
    begins: str = JOINING,
    consumers: Sequence[str] = ("c1", "c2"),
    partition_count: int = 2,
    **limits: Unpack[Limits],
) -> Search[Group, ConnectorEvent]:
    """The shortest run that breaks one of these promises, or word that there is none.

    Parameters
    ----------
    settings : kafkalearn.zookeeper.connector.Settings, optional
    promises : iterable of str
        Names in `kafkalearn.zookeeper.connector.PROMISES`.
    begins : str
        A name in `BEGINNINGS`.
    consumers : sequence of str
        Their names; each has one thread. More than three make the search long.
    partition_count : int
        Of the one topic, ``orders``.
    limits
        ``depth``, ``budget`` and ``progress``, as for `kafkalearn.base.search.explore`.

    Raises
    ------
    KafkaLearnError
        If a name is unknown, or a limit is not a whole number.

    Examples
    --------
    >>> from kafkalearn.zookeeper.connector.simulator import SAME_VIEW
    >>> found = find(promises=[SAME_VIEW])
    >>> [each.attempt.members for each in found.trace[-1].state.connectors]
    [('billing_c1',), ('billing_c1', 'billing_c2')]

    References
    ----------
    Apache Kafka 0.8 to 1.1, ``ZookeeperConsumerConnector``; its wiki's page on the rewrite of the consumer names both
    the herd and the split brain as the reasons for a coordinator.
    """
    chosen = Settings(auto_commit_enable=False) if settings is None else settings
    named = {one_of("promise", name, PROMISES): PROMISES[name] for name in iterable("promises", promises, of="names")}
    initial, events, at_most = _schedules(chosen, begins, consumers, partition_count)
    return explore(whole(chosen, step, named), initial, events, at_most=at_most, **limits)


def find_stuck(
    settings: Settings | None = None,
    promise: str = ALL_READ,
    *,
    begins: str = JOINING,
    consumers: Sequence[str] = ("c1", "c2"),
    partition_count: int = 2,
    asleep: Iterable[str] = (),
    depth: int | None = None,
    budget: int = 200_000,
) -> Stuck[Group, ConnectorEvent]:
    """The shortest way to a group that stands still, a promise of progress not kept, or word that there is none.

    Every thread takes its turn at last, and whose session has ended connects again; who joins and whose session ends is
    left open, and so are the turns of those that may sleep.

    Parameters
    ----------
    settings, begins, consumers, partition_count
        As for `find`.
    promise : str
        A name in `kafkalearn.zookeeper.connector.PROGRESS`.
    asleep : iterable of str
        Consumers whose processes may stand still for good while ZooKeeper takes them to be alive.
    depth, budget
        As for `kafkalearn.base.liveness.find_stuck`.

    Raises
    ------
    KafkaLearnError
        If a name is unknown, or a limit is not a whole number.

    Examples
    --------
    A consumer that fails in all its tries waits for the next change; until then nobody reads what is its own.

    >>> stuck = find_stuck(Settings(auto_commit_enable=False, rebalance_max_retries=1))
    >>> stuck.is_dead_end, [each.name for each in stuck.trace[-1].state.connectors if each.has_given_up]
    (True, ['c2'])

    References
    ----------
    Apache Kafka 0.8 to 1.1, ``ZookeeperConsumerConnector.syncedRebalance``.
    """
    chosen = Settings(auto_commit_enable=False) if settings is None else settings
    model = whole(chosen, step, {one_of("promise", promise, PROGRESS): PROGRESS[promise]})
    initial, events, at_most = _schedules(chosen, begins, consumers, partition_count)
    still = {one_of("consumer", name, consumers) for name in iterable("asleep", asleep, of="names")}
    fair = [event for event in events if isinstance(event, Reconnect) or type(event) not in at_most]
    fair = [event for event in fair if getattr(event, "consumer", None) not in still]
    return find_stuck_in(model, initial, events, fair=fair, depth=depth, budget=budget, at_most=at_most)


def _schedules(
    settings: Settings, begins: str, consumers: Sequence[str], partition_count: int
) -> tuple[Group, Sequence[ConnectorEvent], dict[type, int]]:
    """Where a search begins, all that may happen, and what of it only so often."""
    names = sequence("consumers", consumers, of="names")
    if not names:
        raise KafkaLearnError("consumers must be the names of at least one consumer, got none")
    initial, others, at_most = _beginning(settings, one_of("beginning", begins, BEGINNINGS), names, partition_count)
    turns = [turn(name) for name in names for turn in (HandleEvent, WakeWatcher, RebalanceStep)]
    return initial, [*others, *turns], at_most


def _beginning(
    settings: Settings, begins: str, names: tuple[str, ...], partition_count: int
) -> tuple[Group, Sequence[ConnectorEvent], dict[type, int]]:
    """The first state, the events besides turns, and how often they may happen."""
    joins = [CreateMessageStreams(name, Streams({TOPIC: 1})) for name in names]
    empty = simulate(settings, [BrokerStarted(0), TopicCreated(TOPIC, partition_count)])[-1].state
    if begins == JOINING:
        return empty, joins, {CreateMessageStreams: len(joins)}
    if begins == SETTLED:
        return play(settings, joins[:-1], empty)[-1].state, joins[-1:], {CreateMessageStreams: 1}
    ends = [event(name) for name in names for event in (SessionExpired, Reconnect)]
    at_rest = play(settings, joins, empty)[-1].state
    if begins == CALLED:
        at_rest = simulate(settings, [TopicGrown(TOPIC, partition_count + 1)], at_rest)[-1].state
    return at_rest, ends, {SessionExpired: 1, Reconnect: 1}


# The herd: one consumer comes or goes, and every other one is called, stops, and asks ZooKeeper for everything.

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
    cluster = [BrokerStarted(0), TopicCreated(TOPIC, partitions)]
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
    asked = [effect for effect in effects if isinstance(effect, RequestsSent)]
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
