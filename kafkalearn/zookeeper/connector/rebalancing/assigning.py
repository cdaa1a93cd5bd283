"""What a consumer reads of the whole group, and the assignment that it computes from it, for itself alone."""

from __future__ import annotations

from functools import lru_cache

from kafkalearn.assignor.assignment import Assignment
from kafkalearn.assignor.members import OldConsumer
from kafkalearn.assignor.registry import assign
from kafkalearn.errors import KafkaLearnError
from kafkalearn.zookeeper.connector.group_update import GroupUpdate
from kafkalearn.zookeeper.connector.state import PartitionInfo
from kafkalearn.zookeeper.contents import read_topic
from kafkalearn.zookeeper.layout import BROKER_TOPICS, consumer_of_thread, consumer_path, ids_path, topic_path
from kafkalearn.zookeeper.subscriptions import read_subscription, stream_counts


class NoView(Exception):  # noqa: N818  (no error of ours: Kafka writes it to the log, and the try has failed)
    """The group cannot be read as it stands in ZooKeeper."""


def own_topics(update: GroupUpdate, name: str) -> dict[str, int]:
    """The threads by topic that the consumer's own node comes to: it reads what it wrote."""
    return _topics_of(update, name, update.connectors[name].consumer_id)


def threads_of_group(update: GroupUpdate, name: str) -> tuple[list[OldConsumer], tuple[str, ...], dict[str, int]]:
    """All consumers with their threads by topic, their ids, and the partitions of all their topics."""
    own_topics(update, name)
    ids = update.children(name, ids_path(update.settings.group))
    threads = [OldConsumer(each, _topics_of(update, name, each)) for each in ids]
    topics = dict.fromkeys(topic for each in threads for topic, _ in each.stream_counts)
    counts = {topic: len(read_topic(update.data(name, topic_path(topic)))) for topic in topics}
    members = update.children(name, ids_path(update.settings.group))
    return threads, members, {topic: count for topic, count in counts.items() if count}


def own_part(
    update: GroupUpdate, name: str, threads: list[OldConsumer], partition_counts: dict[str, int]
) -> tuple[PartitionInfo, ...]:
    """The partitions of the consumer's own threads."""
    settings, own = update.settings, update.connectors[name].consumer_id
    try:
        assignment = _assigned(
            settings.partition_assignment_strategy,
            tuple(partition_counts.items()),
            tuple(threads),
            settings.release,
        )
    except KafkaLearnError as reason:  # roundrobin up to 0.10.1, of threads that are not alike
        raise NoView(f"java.lang.IllegalArgumentException: {reason}") from None
    mine = [
        PartitionInfo(topic, partition, thread)
        for thread, partitions in assignment.items()
        if consumer_of_thread(thread) == own
        for topic, partition in partitions
    ]
    return tuple(sorted(mine))


@lru_cache(maxsize=1024)
def _assigned(
    strategy: str, counts: tuple[tuple[str, int], ...], threads: tuple[OldConsumer, ...], release: str
) -> Assignment:
    """Everybody computes the same from the same view."""
    return assign(strategy, dict(counts), threads, side="old-consumer", release=release)


def _topics_of(update: GroupUpdate, name: str, consumer_id: str) -> dict[str, int]:
    content = update.data(name, consumer_path(update.settings.group, consumer_id))
    if content is None:
        raise NoView(f"the node of {consumer_id} is gone")
    try:
        return stream_counts(
            read_subscription(content),
            lambda: update.children(name, BROKER_TOPICS),
            excludes_internal=update.settings.exclude_internal_topics,
        )
    except AssertionError as reason:
        raise NoView(f"java.lang.AssertionError: {reason}") from None
    except KafkaLearnError as reason:
        raise NoView(str(reason)) from None
