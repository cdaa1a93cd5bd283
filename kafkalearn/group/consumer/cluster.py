"""The topics of the cluster change: one is created, gets more partitions, is deleted, is created again."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from kafkalearn.assignor.group_spec import topic_halves
from kafkalearn.errors import IllegalEvent
from kafkalearn.group.consumer.effects import OFFSET_COMMIT, tombstone
from kafkalearn.group.consumer.events import TopicChanged
from kafkalearn.group.consumer.settings import Settings
from kafkalearn.group.consumer.state import Group, Held
from kafkalearn.group.consumer.topics import Topic
from kafkalearn.group.limits import MOST_PARTITIONS
from kafkalearn.topic_partition import TopicPartition

Place = TypeVar("Place", Held, TopicPartition)


def change_topic(settings: Settings, group: Group, event: TopicChanged) -> Group:
    """The group with the topic changed; its coordinator looks at topics only with the next heartbeat.

    Raises
    ------
    IllegalEvent
        If the topic is not there, loses partitions, or is given an id that it cannot have.

    References
    ----------
    Apache Kafka 4.0 to 4.3, ``GroupMetadataManager.onMetadataUpdate``, ``OffsetMetadataManager.onPartitionsDeleted``.
    """
    topic = next((each for each in group.topics if each.name == event.topic), None)
    if event.partition_count is None:
        group = _delete(group, topic, event)
    elif topic is None:
        group = _create(settings, group, event, event.partition_count)
    else:
        group = _grow(group, topic, event, event.partition_count)
    total = sum(group.partition_counts.values())
    if total > MOST_PARTITIONS:
        raise IllegalEvent(f"{event!r}: the topics would have {total:,} partitions, {MOST_PARTITIONS:,} at most")
    is_subscribed = any(event.topic in member.topics for member in group.members)
    return replace(group, look_at_ms=group.now_ms) if is_subscribed else group


def _delete(group: Group, topic: Topic | None, event: TopicChanged) -> Group:
    if topic is None:
        raise IllegalEvent(f"{event!r}: there is no such topic; there are {list(group.partition_counts)}")
    left = tuple(each for each in group.committed if each.topic != topic.name)
    return replace(
        group,
        topics=tuple(each for each in group.topics if each is not topic),
        former_topics=(*group.former_topics, topic),
        committed=left,
        effects=(tombstone(OFFSET_COMMIT),) * (len(group.committed) - len(left)),
    )


def _create(settings: Settings, group: Group, event: TopicChanged, partition_count: int) -> Group:
    former = next((each for each in group.former_topics if each.name == event.topic), None)
    topic_id = event.topic_id
    if topic_id is None and former is None:
        topic_id = dict(settings.topic_ids).get(event.topic)
    _check_id(settings, group, event, topic_id)
    if former is not None:
        group = _renamed(group, former)
    number = 1 if former is None else former.number + 1
    topic = Topic(event.topic, partition_count, topic_id, number)
    return replace(group, topics=tuple(sorted((*group.topics, topic))), effects=())


def _check_id(settings: Settings, group: Group, event: TopicChanged, topic_id: str | None) -> None:
    if topic_id is None and settings.topic_ids:
        raise IllegalEvent(f"{event!r}: the settings give the ids of topics, so a new topic needs one: topic_id=")
    if topic_id is not None and not settings.topic_ids:
        raise IllegalEvent(f"{event!r}: the settings give no ids of topics, so no topic can have one; leave it out")
    topics = (*group.topics, *group.former_topics)
    if topic_id is not None:
        topic_halves({event.topic: topic_id})
    if topic_id is not None and topic_id in {each.topic_id for each in topics}:
        raise IllegalEvent(f"{event!r}: another topic has this id; Kafka gives each topic its own, also one made anew")


def _grow(group: Group, topic: Topic, event: TopicChanged, partition_count: int) -> Group:
    if partition_count < topic.partition_count:
        raise IllegalEvent(f"{event!r}: the topic has {topic.partition_count} partitions, and Kafka takes none away")
    if event.topic_id not in (None, topic.topic_id):
        raise IllegalEvent(f"{event!r}: the topic has the id {topic.topic_id!r} until it is deleted")
    grown = topic._replace(partition_count=partition_count)
    return replace(group, topics=tuple(grown if each is topic else each for each in group.topics), effects=())


def _renamed(group: Group, former: Topic) -> Group:
    """The group with another name for all that it still holds of a topic whose name is taken again."""
    name = former.name_when_replaced

    def renamed(places: tuple[Place, ...]) -> tuple[Place, ...]:
        return tuple(each._replace(topic=name) if each.topic == former.name else each for each in places)

    return replace(
        group,
        members=tuple(
            replace(each, assigned=renamed(each.assigned), pending_revocation=renamed(each.pending_revocation))
            for each in group.members
        ),
        targets=tuple((member_id, renamed(target)) for member_id, target in group.targets),
        former_topics=tuple(each._replace(name=name) if each is former else each for each in group.former_topics),
    )
