"""What an event led to: answers, members removed, records written to ``__consumer_offsets``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.topic_partition import TopicPartition

NONE = "NONE"

MEMBER_METADATA = "consumer-group-member-metadata"
TOPIC_METADATA = "consumer-group-partition-metadata"
GROUP_METADATA = "consumer-group-metadata"
TARGET_MEMBER = "consumer-group-target-assignment-member"
TARGET_METADATA = "consumer-group-target-assignment-metadata"
CURRENT_ASSIGNMENT = "consumer-group-current-member-assignment"
OFFSET_COMMIT = "offset-commit"
CLASSIC_GROUP = "group-metadata"


@dataclass(frozen=True, slots=True)
class HeartbeatAnswered:
    """The answer to a ConsumerGroupHeartbeat; with an error, there is nothing but the error."""

    member_id: str
    error: str = NONE
    member_epoch: int | None = None
    heartbeat_interval_ms: int | None = None
    assignment: tuple[TopicPartition, ...] | None = None  # None: as before


@dataclass(frozen=True, slots=True)
class CommitAnswered:
    """The answer to an OffsetCommit: an error for each partition."""

    member_id: str
    errors: tuple[tuple[TopicPartition, str], ...]


@dataclass(frozen=True, slots=True)
class FetchAnswered:
    """The answer to an OffsetFetch: the partitions that have a committed offset, or an error."""

    error: str
    committed: tuple[TopicPartition, ...] = ()


@dataclass(frozen=True, slots=True)
class DeleteAnswered:
    """The answer to the DeleteGroups of an administrator."""

    error: str


@dataclass(frozen=True, slots=True)
class MemberFenced:
    """A timer of a member ran out; it is removed, and its next request is answered UNKNOWN_MEMBER_ID."""

    member_id: str
    reason: str  # "session timeout" or "rebalance timeout"
    at_ms: int


@dataclass(frozen=True, slots=True)
class RecordWritten:
    """The coordinator wrote a record of this kind to ``__consumer_offsets``."""

    kind: str


Effect: TypeAlias = HeartbeatAnswered | CommitAnswered | FetchAnswered | DeleteAnswered | MemberFenced | RecordWritten


def tombstone(kind: str) -> RecordWritten:
    """The record that removes one of this kind.

    >>> tombstone(MEMBER_METADATA).kind
    'tombstone:consumer-group-member-metadata'
    """
    return RecordWritten(f"tombstone:{kind}")
