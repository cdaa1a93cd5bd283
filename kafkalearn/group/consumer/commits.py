"""Commits and fetches carry the member epoch: one of another epoch is refused, whole."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.group.consumer.effects import NONE, OFFSET_COMMIT, CommitAnswered, FetchAnswered, RecordWritten
from kafkalearn.group.consumer.events import OffsetCommit, OffsetFetch
from kafkalearn.group.consumer.settings import Settings
from kafkalearn.group.consumer.state import CLASSIC, CONSUMER, Group, Member
from kafkalearn.topic_partition import TopicPartition

FIRST_FOR_GROUPS = 9  # the version of OffsetCommit since which clients know the errors of this protocol
FIRST_WITH_TOPIC_IDS = 10


def commit(settings: Settings, group: Group, event: OffsetCommit) -> Group:
    """The group with what was committed, and the answer among its effects.

    Partitions that do not exist are answered for one by one, before the group is asked. Of the others, all are
    written, or none: the first one that the member may not commit refuses the request.

    References
    ----------
    Apache Kafka 4.3, ``KafkaApis.handleOffsetCommitRequest``, ``OffsetMetadataManager.commitOffset`` and
    ``validateOffsetCommit``, ``ConsumerGroup.validateOffsetCommit`` (KIP-1251).
    """
    known = tuple(each for each in event.partitions if each.partition < group.partition_counts.get(each.topic, 0))
    error = _error(settings, group, event, known)
    if known and error == NONE:
        committed = tuple(sorted({*group.committed, *known}))
        group_type = CLASSIC if group.group_type is None else group.group_type
        group = replace(group, committed=committed, group_type=group_type, is_deleted=False)
    errors = tuple(
        (each, error if each in known else _error_of_missing(group, event, each)) for each in event.partitions
    )
    records = tuple(RecordWritten(OFFSET_COMMIT) for _ in known) if error == NONE else ()
    return replace(group, effects=(*records, CommitAnswered(event.member_id, errors)))


def fetch(settings: Settings, group: Group, event: OffsetFetch) -> Group:
    """The group, and among its effects what it has committed; a member of another epoch is refused.

    References
    ----------
    Apache Kafka 4.0 to 4.3, ``OffsetMetadataManager.fetchOffsets``, ``ConsumerGroup.validateOffsetFetch``.
    """
    error = NONE
    if group.group_type == CONSUMER and not (event.member_id is None and event.member_epoch < 0):
        member = group.find(event.member_id)
        if member is None:
            error = "UNKNOWN_MEMBER_ID"
        elif member.epoch != event.member_epoch:
            error = "STALE_MEMBER_EPOCH"
    return replace(group, effects=(FetchAnswered(error, group.committed if error == NONE else ()),))


def _error_of_missing(group: Group, event: OffsetCommit, partition: TopicPartition) -> str:
    names_by_id = event.version >= FIRST_WITH_TOPIC_IDS and partition.topic not in group.partition_counts
    return "UNKNOWN_TOPIC_ID" if names_by_id else "UNKNOWN_TOPIC_OR_PARTITION"


def _error(settings: Settings, group: Group, event: OffsetCommit, partitions: tuple[TopicPartition, ...]) -> str:
    """The error that all partitions of the request are answered with."""
    if event.member_epoch < 0 and not group.members:
        return NONE  # a client without a group may write offsets for one that is empty, or that does not exist
    if group.group_type is None:
        return "GROUP_ID_NOT_FOUND" if event.version >= FIRST_FOR_GROUPS else "ILLEGAL_GENERATION"
    member = group.find(event.member_id)
    if group.group_type != CONSUMER or member is None:
        return "UNKNOWN_MEMBER_ID"
    if event.version < FIRST_FOR_GROUPS:
        return "UNSUPPORTED_VERSION"
    if event.member_epoch == member.epoch:
        return NONE
    if event.member_epoch > member.epoch or not settings.rules.accepts_older_commits:
        return "STALE_MEMBER_EPOCH"
    may_be_written = all(_is_given(member, partition, event.member_epoch) for partition in partitions)
    return NONE if may_be_written else "STALE_MEMBER_EPOCH"


def _is_given(member: Member, partition: TopicPartition, epoch: int) -> bool:
    """Whether a member had this partition at an earlier epoch already, and has not confirmed that it gave it up."""
    held = (*member.assigned, *member.pending_revocation)
    return any(each[:2] == partition and each.epoch <= epoch for each in held)
