"""How a group ends, and how it goes on elsewhere: it is deleted, its offsets expire, its partition moves."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.group.consumer.effects import (
    CLASSIC_GROUP,
    GROUP_METADATA,
    NONE,
    OFFSET_COMMIT,
    TARGET_METADATA,
    TOPIC_METADATA,
    DeleteAnswered,
    Effect,
    tombstone,
)
from kafkalearn.group.consumer.settings import Settings
from kafkalearn.group.consumer.state import CLASSIC, UNREVOKED_PARTITIONS, Group, Member, new_group


def delete(settings: Settings, group: Group) -> Group:
    """The group after DeleteGroups: gone with all its offsets, if it has no members.

    References
    ----------
    Apache Kafka 4.0 to 4.3, ``GroupCoordinatorShard.deleteGroups``, ``ConsumerGroup.validateDeleteGroup``.
    """
    if group.group_type is None:
        return replace(group, effects=(DeleteAnswered("GROUP_ID_NOT_FOUND"),))
    if group.members:
        return replace(group, effects=(DeleteAnswered("NON_EMPTY_GROUP"),))
    offsets = (tombstone(OFFSET_COMMIT),) * len(group.committed)
    return _forgotten(settings, group, (*offsets, *_tombstones_of(group), DeleteAnswered(NONE)))


def expire(settings: Settings, group: Group) -> Group:
    """The group without its expired offsets; if nothing is left of it, it is gone.

    References
    ----------
    Apache Kafka 4.0 to 4.3, ``GroupCoordinatorShard.cleanupExpiredOffsets``, ``OffsetMetadataManager`` of the same.
    """
    if group.group_type is None:
        return replace(group, effects=())
    subscribed = {topic for member in group.members for topic in member.topics}
    left = tuple(each for each in group.committed if each.topic in subscribed)
    offsets = (tombstone(OFFSET_COMMIT),) * (len(group.committed) - len(left))
    if left or group.members:
        return replace(group, committed=left, effects=offsets)
    return _forgotten(settings, group, (*offsets, *_tombstones_of(group)))


def _tombstones_of(group: Group) -> tuple[Effect, ...]:
    """The records that remove an empty group; Kafka writes them all, whether there is something to remove or not."""
    if group.group_type == CLASSIC:
        return (tombstone(CLASSIC_GROUP),)
    return tuple(map(tombstone, (TARGET_METADATA, TOPIC_METADATA, GROUP_METADATA)))


def _forgotten(settings: Settings, group: Group, effects: tuple[Effect, ...]) -> Group:
    return replace(
        new_group(settings, group.topics),
        former_topics=group.former_topics,
        is_deleted=True,
        now_ms=group.now_ms,
        effects=effects,
    )


def move(settings: Settings, group: Group) -> Group:
    """The group as the new coordinator has read it from ``__consumer_offsets``, with all timers begun anew.

    It looks at the topics with the next heartbeat. A static member that is away and had partitions to give up has the
    time for that again, and is removed when it is over.

    References
    ----------
    Apache Kafka 4.0 to 4.3, ``GroupMetadataManager.onLoaded``.
    """
    members = tuple(_begun_anew(settings, group, member) for member in group.members)
    return replace(group, members=members, look_at_ms=group.now_ms, effects=())


def _begun_anew(settings: Settings, group: Group, member: Member) -> Member:
    is_giving_up = member.state == UNREVOKED_PARTITIONS
    return replace(
        member,
        session_ends_at_ms=group.now_ms + settings.session_timeout_ms,
        revocation_ends_at_ms=group.now_ms + member.rebalance_timeout_ms if is_giving_up else None,
    )
