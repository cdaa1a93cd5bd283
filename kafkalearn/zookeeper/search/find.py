"""The shortest schedule that breaks a promise of old consumers: who is quicker is tried in every way.

Two consumers read the members of their group at different moments, and compute different assignments: the *split
brain*. That two do not read the same partition then is owed to the node of its owner, which can be created once; but
one of them finds it in its way, waits and tries again, and after four tries it gives up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Unpack

from kafkalearn.arguments import iterable, one_of, sequence
from kafkalearn.errors import KafkaLearnError
from kafkalearn.explore import Search, explore, whole
from kafkalearn.explore.model import Limits
from kafkalearn.zookeeper.connector.events import (
    BrokerStarted,
    ConnectorEvent,
    CreateMessageStreams,
    HandleEvent,
    RebalanceStep,
    Reconnect,
    SessionExpired,
    TopicCreated,
    TopicGrown,
    WakeWatcher,
)
from kafkalearn.zookeeper.connector.promises import NOBODY_GIVES_UP, PROMISES
from kafkalearn.zookeeper.connector.settings import Settings
from kafkalearn.zookeeper.connector.simulator import simulate, step
from kafkalearn.zookeeper.connector.state import Group
from kafkalearn.zookeeper.schedules import play
from kafkalearn.zookeeper.subscriptions import Streams

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
        ``depth``, ``budget`` and ``progress``, as for `kafkalearn.explore.explore`.

    Raises
    ------
    KafkaLearnError
        If a name is unknown, or a limit is no whole number.

    Examples
    --------
    >>> from kafkalearn.zookeeper.connector.promises import SAME_VIEW
    >>> found = find(promises=[SAME_VIEW])
    >>> [each.attempt.members for each in found.trace[-1].state.connectors]
    [('billing_c1',), ('billing_c1', 'billing_c2')]

    References
    ----------
    Apache Kafka 0.8 to 1.1, ``ZookeeperConsumerConnector``; its wiki's page on the rewrite of the consumer names both
    the herd and the split brain as the reasons for a coordinator.
    """
    chosen = Settings(auto_commit_enable=False) if settings is None else settings
    names = sequence("consumers", consumers, of="names")
    if not names:
        raise KafkaLearnError("consumers must be the names of at least one consumer, got none")
    named = {one_of("promise", name, PROMISES): PROMISES[name] for name in iterable("promises", promises, of="names")}
    initial, others, at_most = _beginning(chosen, one_of("beginning", begins, BEGINNINGS), names, partition_count)
    turns = [turn(name) for name in names for turn in (HandleEvent, WakeWatcher, RebalanceStep)]
    return explore(whole(chosen, step, named), initial, [*others, *turns], at_most=at_most, **limits)


def _beginning(
    settings: Settings, begins: str, names: tuple[str, ...], partition_count: int
) -> tuple[Group, Sequence[ConnectorEvent], dict[type, int]]:
    """The first state, the events besides turns, and how often they may happen."""
    joins = [CreateMessageStreams(name, Streams({TOPIC: 1})) for name in names]
    empty = simulate(settings, [BrokerStarted(), TopicCreated(TOPIC, partition_count)])[-1].state
    if begins == JOINING:
        return empty, joins, {CreateMessageStreams: len(joins)}
    if begins == SETTLED:
        return play(settings, joins[:-1], empty)[-1].state, joins[-1:], {CreateMessageStreams: 1}
    ends = [event(name) for name in names for event in (SessionExpired, Reconnect)]
    at_rest = play(settings, joins, empty)[-1].state
    if begins == CALLED:
        at_rest = simulate(settings, [TopicGrown(TOPIC, partition_count + 1)], at_rest)[-1].state
    return at_rest, ends, {SessionExpired: 1, Reconnect: 1}
