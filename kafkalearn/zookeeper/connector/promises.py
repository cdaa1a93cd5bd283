"""What always holds in a group of old consumers, and what its users hope for in vain at times."""

from __future__ import annotations

from collections import Counter

from kafkalearn.promises import Promises, Since, judges, of_inner
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.zookeeper.connector.settings import Settings
from kafkalearn.zookeeper.connector.state import BUILD, OFFSETS, OWN, SESSION, START, Connector, Group, Notice
from kafkalearn.zookeeper.contents import read_topic
from kafkalearn.zookeeper.layout import consumer_of_thread, owner_path, owners_path, topic_path
from kafkalearn.zookeeper.tree.promises import INVARIANTS as OF_TREE
from kafkalearn.zookeeper.tree.state import Tree

ONE_READER = "no partition is read by two consumers"
SAME_VIEW = "consumers that rebalance at once see the same members"
NOBODY_IN_THE_WAY = "nobody finds a partition owned by another"
NOBODY_GIVES_UP = "no rebalance fails in all its tries"
ALL_OWNED = "when all is quiet every partition has an owner"
ONE_IS_CALLED = "a change calls one consumer at most"
READER_OWNS = "who reads a partition with its session open is its owner in ZooKeeper"


def owners(group_id: str, tree: Tree, topic: str) -> dict[int, str]:
    """The thread that owns each partition of a topic, as ZooKeeper has it."""
    numbers = tree.children(owners_path(group_id, topic))
    nodes = {int(each): tree.node(owner_path(group_id, topic, int(each))) for each in numbers}
    return {number: node.data for number, node in nodes.items() if node is not None and node.data is not None}


def _owner_nodes_go_with_their_owner(settings: Settings, group: Group) -> bool:
    ids = {each.session: each.consumer_id for each in group.connectors}
    return all(
        node.data is not None and consumer_of_thread(node.data) == ids[node.session]
        for path, node in group.tree.nodes
        if f"/{settings.group}/owners/" in path and node.session in ids
    )


def _fetches_only_when_it_has_a_registry(settings: Settings, group: Group) -> bool:
    return all(not each.is_fetching or each.is_running for each in group.connectors)


def _one_thread_rebalances(settings: Settings, group: Group) -> bool:
    return all(each.attempt is None or each.attempt.thread not in each.waiting for each in group.connectors)


def _consumed_is_within_the_log(settings: Settings, group: Group) -> bool:
    ends = dict(group.log_ends)
    return all(
        info.consumed <= ends.get(info.topic_partition, 0)
        for each in group.connectors
        if each.is_fetching
        for info in each.registry
        if info.topic_partition in ends
    )


_OF_ITS_STATES = {name: holds for name, holds in OF_TREE.items() if not isinstance(holds, Since)}
"""An event of a group is many requests: what holds from one to the next is judged by the ZooKeeper alone."""

INVARIANTS: Promises = {
    **of_inner(_OF_ITS_STATES, lambda group: group.tree, lambda settings: settings.zookeeper),
    "an owner's node goes with the session of its owner": _owner_nodes_go_with_their_owner,
    "only a process that runs fetches": _fetches_only_when_it_has_a_registry,
    "one thread of a consumer rebalances at a time": _one_thread_rebalances,
    "nobody has read past the end of a log": _consumed_is_within_the_log,
}


def _one_reader(settings: Settings, group: Group) -> bool:
    readers = Counter(partition for each in group.connectors for partition in each.reads)
    return all(count == 1 for count in readers.values())


def _same_view(settings: Settings, group: Group) -> bool:
    attempts = (each.attempt for each in group.connectors if each.attempt is not None)
    return len({attempt.members for attempt in attempts if attempt.stage in (OFFSETS, BUILD, OWN, START)}) <= 1


def _all_owned(settings: Settings, group: Group) -> bool:
    if not group.is_quiet:
        return True
    live = [each for each in group.connectors if each.is_running and each.has_streams]
    topics = {topic for each in live for topic in each.topics}
    return all(len(owners(settings.group, group.tree, topic)) == len(_partitions(group, topic)) for topic in topics)


def _partitions(group: Group, topic: str) -> tuple[int, ...]:
    node = group.tree.node(topic_path(topic))
    return () if node is None else read_topic(node.data)


def _reader_owns(settings: Settings, group: Group) -> bool:
    """A consumer that has yet to learn of the end of its session is not asked."""
    sessions = {session.name for session in group.tree.sessions}
    return all(
        _owner(settings, group, info.topic_partition) == info.thread
        for each in group.connectors
        if each.reads and each.session in sessions and Notice(SESSION) not in each.notices
        for info in each.registry
    )


def _owner(settings: Settings, group: Group, partition: TopicPartition) -> str | None:
    node = group.tree.node(owner_path(settings.group, *partition))
    return None if node is None else node.data


def _is_called(connector: Connector) -> bool:
    return bool(connector.notices) or connector.is_triggered


PROMISES: Promises = {
    ONE_READER: _one_reader,
    READER_OWNS: _reader_owns,
    SAME_VIEW: _same_view,
    NOBODY_IN_THE_WAY: lambda settings, group: all(
        each.attempt is None or each.attempt.conflict is None for each in group.connectors
    ),
    NOBODY_GIVES_UP: lambda settings, group: not any(each.has_given_up for each in group.connectors),
    ALL_OWNED: _all_owned,
    ONE_IS_CALLED: lambda settings, group: sum(map(_is_called, group.connectors)) <= 1,
}
"""Broken by a pause longer than the session, by views that differ, by a late release, by every change."""

check, broken = judges(INVARIANTS, PROMISES)
