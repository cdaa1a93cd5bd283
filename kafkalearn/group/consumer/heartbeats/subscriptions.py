"""Subscriptions: whether a heartbeat changes what the group reads, and whether its members subscribe alike."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from kafkalearn.group.consumer import effects as written
from kafkalearn.group.consumer.effects import Effect, RecordWritten
from kafkalearn.group.consumer.settings import Settings
from kafkalearn.group.consumer.state import Group, Member

LOOKS_EVERY_MS = 3_600_000  # the longest time between two looks at the topics of the cluster


@dataclass(frozen=True, slots=True)
class Look:
    """What a heartbeat found out about the subscriptions of the group."""

    group: Group  # its epoch one higher if they changed
    are_alike: bool  # what the assignor is given
    records: tuple[Effect, ...]


def has_new_topics(before: Member, updated: Member) -> bool:
    """Whether a member subscribes to other topics than before; their order is nothing."""
    return set(before.topics) != set(updated.topics)


def look(settings: Settings, group: Group, before: Member, updated: Member) -> Look:
    """The group epoch goes up if the subscription of the member, or of the topics subscribed to, has changed.

    A heartbeat that has no reason to look takes the subscriptions for what they were before it. So a member that
    joins with no topics, while a target is due, is taken for one like the others, and gets a share that nobody
    reads: a quirk of all releases so far.

    Parameters
    ----------
    settings : Settings
        Whose rules are followed.
    group : Group
        Before the heartbeat.
    before, updated : Member
        The member before its heartbeat, a fresh one if it is new, and with what the heartbeat changes.

    References
    ----------
    Apache Kafka 4.0 to 4.3, ``GroupMetadataManager.consumerGroupHeartbeat`` and ``updateSubscriptionMetadata``.
    """
    subscribers = Counter(topic for member in group.members for topic in member.topics)
    must_bump = has_new_topics(before, updated) or group.group_epoch == 0
    if not (must_bump or group.must_look):
        return Look(group, _are_alike(subscribers, len(group.members)), ())
    subscribers.subtract(before.topics)
    subscribers.update(updated.topics)
    is_one_more = group.find(updated.member_id) is None and group.static_id(updated.instance_id) is None
    are_alike = _are_alike(subscribers, len(group.members) + is_one_more)
    seen = tuple(topic for topic in group.topics if subscribers[topic.name] > 0)
    records: list[Effect] = []
    if seen != group.seen_topics and settings.rules.writes_topic_metadata:
        records.append(RecordWritten(written.TOPIC_METADATA))
    if must_bump or seen != group.seen_topics:
        group = replace(group, group_epoch=group.group_epoch + 1)
        records.append(RecordWritten(written.GROUP_METADATA))
    group = replace(group, seen_topics=seen, look_at_ms=group.now_ms + LOOKS_EVERY_MS)
    return Look(group, are_alike, tuple(records))


def _are_alike(subscribers: Counter[str], member_count: int) -> bool:
    return all(count == member_count for count in subscribers.values() if count > 0)
