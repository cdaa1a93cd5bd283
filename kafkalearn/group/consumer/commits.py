"""Commits carry the member epoch: one of another epoch is refused."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.group.consumer.effects import NONE, CommitAnswered
from kafkalearn.group.consumer.events import OffsetCommit
from kafkalearn.group.consumer.settings import Settings
from kafkalearn.group.consumer.state import Group, Member
from kafkalearn.topic_partition import TopicPartition


def commit(settings: Settings, group: Group, event: OffsetCommit) -> Group:
    """The group, unchanged, with the answer to a commit among its effects.

    References
    ----------
    Apache Kafka 4.3, ``ConsumerGroup.validateOffsetCommit`` and ``createAssignmentEpochValidator`` (KIP-1251).
    """
    errors = tuple((partition, _error(settings, group, event, partition)) for partition in event.partitions)
    return replace(group, effects=(CommitAnswered(event.member_id, errors),))


def _error(settings: Settings, group: Group, event: OffsetCommit, partition: TopicPartition) -> str:
    if event.member_epoch < 0 and not group.members:
        return NONE  # a client without a group may write offsets for an empty one
    member = group.find(event.member_id)
    if member is None:
        return "UNKNOWN_MEMBER_ID"
    if event.member_epoch == member.epoch:
        return NONE
    if event.member_epoch > member.epoch or not settings.rules.accepts_older_commits:
        return "STALE_MEMBER_EPOCH"
    given_at = _given_at(member, partition)
    return NONE if given_at is not None and given_at <= event.member_epoch else "STALE_MEMBER_EPOCH"


def _given_at(member: Member, partition: TopicPartition) -> int | None:
    """The epoch of the assignment that gave a member this partition; None: it does not have it."""
    held = (*member.assigned, *member.pending_revocation)
    return next((each.epoch for each in held if each[:2] == partition), None)
