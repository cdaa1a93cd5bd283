"""The event thread of ZooKeeper's client, and the listeners that it calls.

Five listeners are there: for the consumers of the group, for the data of the consumer's topics, for a new session, with
a filter for the list of all topics, and for the brokers once none was found. The first two and the last only set a
flag, so that many calls become one rebalance; the others rebalance on the event thread itself, which handles nothing
meanwhile.
"""

from __future__ import annotations

from kafkalearn.zookeeper.connector.group_update import GroupUpdate
from kafkalearn.zookeeper.connector.process.registering import listen, register
from kafkalearn.zookeeper.connector.rebalancing.lock import ask_for_rebalance
from kafkalearn.zookeeper.connector.state import CHILDREN, DATA, EVENT, SESSION, TOPIC_SESSION, TOPICS
from kafkalearn.zookeeper.layout import BROKER_TOPICS
from kafkalearn.zookeeper.subscriptions import Filtered


def handle_event(update: GroupUpdate, name: str) -> None:
    """Handle what came first."""
    first, *rest = update.connectors[name].notices
    update.change(name, notices=tuple(rest))
    _HANDLERS[first.kind](update, name, first.path)


def _children_changed(update: GroupUpdate, name: str, path: str) -> None:
    """Consumers of the group, or brokers, came or went."""
    update.listen_to_children(name, path)
    update.change(name, is_triggered=True)


def _data_changed(update: GroupUpdate, name: str, path: str) -> None:
    """A topic has more partitions, or is there for the first time; of one that is gone nothing follows."""
    update.exists(name, path)
    update.data(name, path)
    if update.node(path) is not None:
        update.change(name, is_triggered=True)


def _topics_changed(update: GroupUpdate, name: str, path: str) -> None:
    update.listen_to_children(name, path)
    topics_changed(update, name)


def topics_changed(update: GroupUpdate, name: str) -> None:
    """With a filter: if other topics than before pass it, listen to them and rebalance."""
    connector = update.connectors[name]
    assert isinstance(connector.subscription, Filtered), "who named its topics does not listen to the list of all"
    passed = connector.subscription.filter.among(
        update.children(name, BROKER_TOPICS), excludes_internal=update.settings.exclude_internal_topics
    )
    update.change(name, filtered=passed)
    if set(passed) == set(connector.filtered):
        return
    try:
        listen(update, name)
    except AssertionError:
        return  # the event thread writes it to the log and goes on
    ask_for_rebalance(update, name, EVENT)


def _session_is_new(update: GroupUpdate, name: str, path: str) -> None:
    """All ephemeral nodes are gone: forget what was owned, register again, rebalance."""
    update.change(name, registry=())
    if register(update, name, 0):
        ask_for_rebalance(update, name, EVENT)


def _listen_to_topics_again(update: GroupUpdate, name: str, path: str) -> None:
    """The second listener for a new session, of a consumer with a filter."""
    update.listen_to_children(name, BROKER_TOPICS)


_HANDLERS = {
    CHILDREN: _children_changed,
    DATA: _data_changed,
    TOPICS: _topics_changed,
    SESSION: _session_is_new,
    TOPIC_SESSION: _listen_to_topics_again,
}
