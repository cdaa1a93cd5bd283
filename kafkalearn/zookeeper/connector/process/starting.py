"""A consumer starts: its application asks for streams; and it starts anew, in part, when its session has expired."""

from __future__ import annotations

from kafkalearn.errors import IllegalEvent
from kafkalearn.zookeeper.connector.effects import Threw
from kafkalearn.zookeeper.connector.events import CreateMessageStreams
from kafkalearn.zookeeper.connector.group_update import GroupUpdate
from kafkalearn.zookeeper.connector.process.registering import listen, register, session_name
from kafkalearn.zookeeper.connector.rebalancing.lock import ask_for_rebalance
from kafkalearn.zookeeper.connector.state import (
    CHILDREN,
    DATA,
    MAIN,
    SESSION,
    TOPIC_SESSION,
    TOPICS,
    Connector,
    Notice,
)
from kafkalearn.zookeeper.layout import BROKER_IDS, BROKER_TOPICS, ids_path, named_consumer_id, topic_path
from kafkalearn.zookeeper.subscriptions import Filtered, Streams, stream_counts
from kafkalearn.zookeeper.tree.events import SessionOpened

TWICE = "kafka.common.MessageStreamsExistException: ZookeeperConsumerConnector can create message streams at most once"
TWICE_BY_FILTER = (
    "java.lang.RuntimeException: Each consumer connector can create message streams by filter at most once."
)
NO_STREAMS = "java.lang.AssertionError: assertion failed"
NODE_IN_THE_WAY = (
    "org.I0Itec.zkclient.exception.ZkNodeExistsException: "
    "org.apache.zookeeper.KeeperException$NodeExistsException: KeeperErrorCode = NodeExists"
)


def create_message_streams(update: GroupUpdate, event: CreateMessageStreams) -> None:
    """A process starts, connects, registers, listens, and rebalances on its main thread."""
    name = event.consumer
    had = update.connectors.get(name)
    if had is not None and had.is_running:
        by_filter = isinstance(event.subscription, Filtered)
        return update.emit(Threw(name, TWICE_BY_FILTER if by_filter else TWICE))
    _new_process(update, event, had)
    if isinstance(event.subscription, Streams):
        try:
            stream_counts(event.subscription, tuple)
        except AssertionError:
            return update.emit(Threw(name, NO_STREAMS))  # before anything is written
    else:
        found = event.subscription.filter.among(
            update.children(name, BROKER_TOPICS), excludes_internal=update.settings.exclude_internal_topics
        )
        update.change(name, filtered=found)
    if not register(update, name, event.timestamp_ms):
        return update.emit(Threw(name, NODE_IN_THE_WAY))
    try:
        listen(update, name)
    except AssertionError:
        return update.emit(Threw(name, NO_STREAMS))  # its node stays
    return ask_for_rebalance(update, name, MAIN)


def _new_process(update: GroupUpdate, event: CreateMessageStreams, had: Connector | None) -> None:
    consumer_id = event.consumer_id or named_consumer_id(update.settings.group, event.consumer)
    count = 1 if had is None else had.session_count + 1
    session = session_name(event.consumer, count)
    update.connectors[event.consumer] = Connector(
        event.consumer, consumer_id, count, session=session, subscription=event.subscription
    )
    update.happen(SessionOpened(session, update.settings.zookeeper_session_timeout_ms))


def reconnect(update: GroupUpdate, name: str) -> None:
    """A client whose session has expired gets another; every listener is called, as nobody knows what it missed."""
    connector = update.connectors[name]
    if update.tree.session(connector.session) is not None:
        raise IllegalEvent(f"the session {connector.session!r} of {name} is open: there is nothing to reconnect")
    count = connector.session_count + 1
    session = session_name(name, count)
    update.happen(SessionOpened(session, update.settings.zookeeper_session_timeout_ms))
    notices = connector.notices
    if connector.is_registered:
        notices += (Notice(SESSION),)
        notices += (Notice(TOPIC_SESSION),) if connector.watches_topics else ()
        notices += (Notice(CHILDREN, ids_path(update.settings.group)),)
        notices += (Notice(CHILDREN, BROKER_IDS),) if connector.watches_brokers else ()
        notices += (Notice(TOPICS, BROKER_TOPICS),) if connector.watches_topics else ()
        notices += tuple(Notice(DATA, topic_path(topic)) for topic in connector.topics)
    update.change(name, session=session, session_count=count, notices=notices)
