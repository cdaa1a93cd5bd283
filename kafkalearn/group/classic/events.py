"""What can happen to a group's coordinator: requests arrive, time passes, the partition moves away.

Every request names its `client`, a label that the answers carry back: two clients may use one member id.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from kafkalearn.arguments import LARGEST_INT
from kafkalearn.fields import Checked, Whole
from kafkalearn.group.limits import Duration, Timeout

Generation: TypeAlias = Annotated[int, Whole(-1, LARGEST_INT)]
SessionTimeout: TypeAlias = Annotated[int, Whole(-LARGEST_INT, LARGEST_INT)]  # a coordinator refuses what is too short
JoinVersion: TypeAlias = Annotated[int, Whole(0, 9)]
CommitVersion: TypeAlias = Annotated[int, Whole(0, 10)]

UNKNOWN = ""  # the member id of who has none yet


@dataclass(frozen=True, slots=True)
class JoinGroup(Checked):
    """A client asks to be a member of the next generation."""

    client: str
    member_id: str = UNKNOWN
    session_timeout_ms: SessionTimeout = 10_000
    rebalance_timeout_ms: Timeout = 300_000  # max.poll.interval.ms of the Java client
    protocols: tuple[tuple[str, Hashable], ...] = (("range", ()),)  # (assignor, metadata), the preferred first
    instance_id: str | None = None
    protocol_type: str = "consumer"
    version: JoinVersion = 9  # of the request: 4 and up must first be given a member id; 9 can skip the assignment
    drawn_id: str | None = None  # the member id that the broker draws if it draws one; None: it gets a number


@dataclass(frozen=True, slots=True)
class SyncGroup(Checked):
    """A member asks for its assignment; the leader brings everybody's."""

    client: str
    member_id: str
    generation: Generation
    assignments: tuple[tuple[str, Hashable], ...] = ()  # (member id, assignment), from the leader only
    instance_id: str | None = None
    protocol_type: str | None = None
    protocol: str | None = None
    store_error: str = "NONE"  # what the log answers when the group is written down


@dataclass(frozen=True, slots=True)
class Heartbeat(Checked):
    """A member says that it is alive."""

    client: str
    member_id: str
    generation: Generation
    instance_id: str | None = None


@dataclass(frozen=True, slots=True)
class LeaveGroup(Checked):
    """A member leaves, or an administrator removes a static one: then `member_id` is empty.

    One request can be for several: `others` are (member id, instance id) of the rest (KIP-345, 2.4).
    """

    client: str
    member_id: str
    instance_id: str | None = None
    others: tuple[tuple[str, str | None], ...] = ()


@dataclass(frozen=True, slots=True)
class OffsetCommit(Checked):
    """A member commits offsets; or a client that is in no group, with the generation -1 and no member id."""

    client: str
    member_id: str = UNKNOWN
    generation: Generation = -1
    instance_id: str | None = None
    version: CommitVersion = 9  # of the request: from 9 on clients know that a group is not there


@dataclass(frozen=True, slots=True)
class TimePassed(Checked):
    """Time passes; every timer that is due meanwhile fires at its own moment."""

    ms: Duration


@dataclass(frozen=True, slots=True)
class PartitionMoved:
    """Another broker leads the group's partition of ``__consumer_offsets`` now."""


@dataclass(frozen=True, slots=True)
class OffsetsExpired:
    """The coordinator's periodic clean-up finds that the empty group has no offset left."""


@dataclass(frozen=True, slots=True)
class GroupDeleted:
    """An administrator deletes the group; one that has members is not deleted."""


ClassicRequest: TypeAlias = JoinGroup | SyncGroup | Heartbeat | LeaveGroup | OffsetCommit
ClassicEvent: TypeAlias = ClassicRequest | TimePassed | PartitionMoved | OffsetsExpired | GroupDeleted
