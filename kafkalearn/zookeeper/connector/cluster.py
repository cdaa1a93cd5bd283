"""Brokers and topics, as far as old consumers see them in ZooKeeper, and records."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.errors import IllegalEvent
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.zookeeper.connector.group_update import GroupUpdate
from kafkalearn.zookeeper.contents import broker_content, read_topic, topic_content
from kafkalearn.zookeeper.layout import BROKER_IDS, BROKER_TOPICS, broker_path, topic_path
from kafkalearn.zookeeper.tree.events import Create, Delete, SessionClosed, SessionOpened, SetData

CONTROLLER = "controller"
"""The session of whoever writes the nodes of topics; it never expires here."""


def start_broker(update: GroupUpdate, broker_id: int) -> None:
    """A broker opens a session and registers."""
    session = _broker_session(broker_id)
    if update.tree.session(session) is not None:
        raise IllegalEvent(f"broker {broker_id} runs already")
    _write_common_nodes(update)
    update.happen(SessionOpened(session, 6000))
    update.happen(Create(session, broker_path(broker_id), broker_content(port=9092 + broker_id), is_ephemeral=True))


def stop_broker(update: GroupUpdate, broker_id: int) -> None:
    """A broker closes its session."""
    if update.tree.session(_broker_session(broker_id)) is None:
        raise IllegalEvent(f"broker {broker_id} does not run")
    update.happen(SessionClosed(_broker_session(broker_id)))


def keep_alive(update: GroupUpdate, ms: int) -> None:
    """Brokers and controller are heard of all the time: their sessions are prolonged before time passes."""
    prolonged = tuple(
        each._replace(expires_ms=update.settings.zookeeper.expiry_ms(update.tree.now_ms + ms, each.timeout_ms))
        if each.name == CONTROLLER or each.name.startswith("broker ")
        else each
        for each in update.tree.sessions
    )
    update.tree = replace(update.tree, sessions=prolonged)


def create_topic(update: GroupUpdate, topic: str, partition_count: int) -> None:
    """A topic's node comes."""
    if update.node(topic_path(topic)) is not None:
        raise IllegalEvent(f"there is a topic {topic!r} already; TopicGrown gives it more partitions")
    _write_common_nodes(update)
    update.happen(Create(CONTROLLER, topic_path(topic), topic_content(topic, [[0]] * partition_count)))


def grow_topic(update: GroupUpdate, topic: str, partition_count: int) -> None:
    """A topic's node changes."""
    had = len(partitions_of(update, topic))
    if partition_count <= had:
        raise IllegalEvent(f"{topic} has {had} partitions and can only get more, got {partition_count}")
    update.happen(SetData(CONTROLLER, topic_path(topic), topic_content(topic, [[0]] * partition_count)))


def delete_topic(update: GroupUpdate, topic: str) -> None:
    """A topic's node goes; its consumers only write a warning to their logs."""
    partitions_of(update, topic)
    update.happen(Delete(CONTROLLER, topic_path(topic)))
    update.log_ends = {each: end for each, end in update.log_ends.items() if each.topic != topic}


def produce(update: GroupUpdate, topic: str, partition: int, record_count: int) -> None:
    """Records come to the end of a partition."""
    if partition not in partitions_of(update, topic):
        raise IllegalEvent(f"{topic} has no partition {partition}")
    place = TopicPartition(topic, partition)
    update.log_ends[place] = update.log_end(place) + record_count


def partitions_of(update: GroupUpdate, topic: str) -> tuple[int, ...]:
    """The partitions of a topic.

    Raises
    ------
    IllegalEvent
        If there is no such topic.
    """
    node = update.node(topic_path(topic))
    if node is None:
        known = ", ".join(update.tree.children(BROKER_TOPICS)) or "none"
        raise IllegalEvent(f"there is no topic {topic!r}; topics: {known}")
    return read_topic(node.data)


def _broker_session(broker_id: int) -> str:
    return f"broker {broker_id}"


def _write_common_nodes(update: GroupUpdate) -> None:
    """The first of them all writes the nodes that everything else is below."""
    if update.tree.session(CONTROLLER) is None:
        update.happen(SessionOpened(CONTROLLER, 6000))
        for path in ("/brokers", BROKER_IDS, BROKER_TOPICS, "/consumers"):
            update.happen(Create(CONTROLLER, path))
