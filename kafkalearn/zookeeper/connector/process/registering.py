"""A consumer makes itself known in ZooKeeper, and leaves listeners there."""

from __future__ import annotations

from kafkalearn.zookeeper.connector.effects import Registered
from kafkalearn.zookeeper.connector.group_update import GroupUpdate
from kafkalearn.zookeeper.layout import BROKER_TOPICS, CONSUMERS, consumer_path, group_path, ids_path
from kafkalearn.zookeeper.subscriptions import stream_counts
from kafkalearn.zookeeper.tree.effects import NODE_EXISTS
from kafkalearn.zookeeper.tree.events import Create


def session_name(consumer: str, count: int) -> str:
    """The name of the first, second, ... session of a consumer.

    >>> session_name("c1", 1), session_name("c1", 2)
    ('c1', 'c1/2')
    """
    return consumer if count == 1 else f"{consumer}/{count}"


def register(update: GroupUpdate, name: str, timestamp_ms: int) -> bool:
    """Create the node of a consumer and those above it; whether no other session has one in the way."""
    connector, group = update.connectors[name], update.settings.group
    path = consumer_path(group, connector.consumer_id)
    for above in (CONSUMERS, group_path(group), ids_path(group)):
        update.ask(name, Create(connector.session, above))
    content = connector.subscription.registration(timestamp_ms).json()
    if update.ask(name, Create(connector.session, path, content, is_ephemeral=True)).result == NODE_EXISTS:
        update.data(name, path)
        if path not in update.tree.ephemerals(connector.session):
            return False
    update.emit(Registered(name, connector.consumer_id))
    return True


def listen(update: GroupUpdate, name: str) -> None:
    """Listen to the consumers of the group and to the consumer's own topics; for a filter, those that there are now.

    Raises
    ------
    AssertionError
        If a topic has no thread.
    """
    counts = stream_counts(
        update.connectors[name].subscription,
        lambda: update.children(name, BROKER_TOPICS),
        excludes_internal=update.settings.exclude_internal_topics,
    )
    update.change(name, is_registered=True)
    update.listen_to_children(name, ids_path(update.settings.group))
    update.listen_to_topics(name, tuple(counts))
