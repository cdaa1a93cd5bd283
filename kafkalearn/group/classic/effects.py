"""What an event leads to, in order: answers, transitions, records written to ``__consumer_offsets``."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TypeAlias

NONE = "NONE"  # Kafka's name for: no error
LEFT = "left"  # why a member was removed that has left by itself


@dataclass(frozen=True, slots=True)
class JoinAnswered:
    """The answer to JoinGroup; only the leader gets the members."""

    client: str
    error: str
    member_id: str
    generation: int = -1
    protocol: str | None = None
    leader: str | None = None
    members: tuple[tuple[str, str | None, Hashable], ...] = ()  # (member id, instance id, metadata)
    is_assignment_skipped: bool = False


@dataclass(frozen=True, slots=True)
class SyncAnswered:
    """The answer to SyncGroup."""

    client: str
    error: str
    assignment: Hashable = None


@dataclass(frozen=True, slots=True)
class HeartbeatAnswered:
    """The answer to Heartbeat."""

    client: str
    error: str


@dataclass(frozen=True, slots=True)
class LeaveAnswered:
    """The answer to LeaveGroup; where it was for several, with an error for each of the others."""

    client: str
    error: str
    of_others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CommitAnswered:
    """The answer to OffsetCommit: one error for all of its partitions."""

    client: str
    error: str


@dataclass(frozen=True, slots=True)
class DeleteAnswered:
    """The answer to the DeleteGroups of an administrator."""

    error: str


@dataclass(frozen=True, slots=True)
class StateChanged:
    """The group went from one state to another."""

    at_ms: int
    before: str
    after: str
    cause: str
    who: str = ""  # the member that was the cause, if one was


@dataclass(frozen=True, slots=True)
class MemberRemoved:
    """A member is no longer in the group."""

    at_ms: int
    member_id: str
    client: str
    why: str


@dataclass(frozen=True, slots=True)
class GroupWritten:
    """The group was written as one record to ``__consumer_offsets``."""

    is_tombstone: bool = False


Answer: TypeAlias = JoinAnswered | SyncAnswered | HeartbeatAnswered | LeaveAnswered | CommitAnswered
Effect: TypeAlias = Answer | DeleteAnswered | StateChanged | MemberRemoved | GroupWritten
