"""What an event leads to, in order: answers, proposals, elections, truncations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

NONE = "NONE"  # Kafka's name for: no error


@dataclass(frozen=True, slots=True)
class FetchHandled:
    """A leader has worked on a follower's fetch: answered it at once, or let it wait."""

    leader_id: int
    broker_id: int
    fetch_offset: int
    is_parked: bool


@dataclass(frozen=True, slots=True)
class FetchAnswered:
    """A follower has received an answer and has acted on it.

    `truncated_from` and `truncated_to` are where its log ended before and after an answer that made it look for what
    to cut: `diverging`, or OFFSET_OUT_OF_RANGE. They are equal if there was nothing to cut; None if it was not asked
    to. `truncated_to` is the larger one if the follower had to begin anew where its leader's log begins.
    """

    broker_id: int
    high_watermark: int | None  # the leader's, as the answer carries it; None with an error
    records: tuple[tuple[int, str], ...] = ()  # (offset, value)
    error: str = NONE
    diverging: tuple[int, int] | None = None  # (epoch, end offset): here the logs part
    truncated_from: int | None = None
    truncated_to: int | None = None

    @property
    def was_cut(self) -> bool:
        """Whether records were cut off."""
        before, after = self.truncated_from, self.truncated_to
        return before is not None and after is not None and after < before


@dataclass(frozen=True, slots=True)
class ProduceParked:
    """An acks=all request waits for the high watermark."""

    request: int


@dataclass(frozen=True, slots=True)
class ProduceAnswered:
    """The producer of a request has its answer; `base_offset` is None where nothing was written."""

    request: int
    error: str
    base_offset: int | None = None


@dataclass(frozen=True, slots=True)
class NoReachableLeader:
    """A request found no broker that could take it."""


@dataclass(frozen=True, slots=True)
class ConsumerRead:
    """The records that a consumer received."""

    records: tuple[tuple[int, str], ...]  # (offset, value)
    error: str = NONE


@dataclass(frozen=True, slots=True)
class RecordsDeleted:
    """The answer to DeleteRecords, with the log start after it."""

    log_start_offset: int
    error: str = NONE


@dataclass(frozen=True, slots=True)
class AlterPartitionSent:
    """A leader has proposed an ISR to the controller."""

    isr: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class IsrWritten:
    """A leader has changed the ISR by itself (up to 2.6)."""

    isr: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LeaderChanged:
    """The controller has recorded another leader, or none."""

    leader: int | None
    leader_epoch: int
    is_clean: bool


@dataclass(frozen=True, slots=True)
class AssignmentChanged:
    """The controller has recorded other replicas: a reassignment has begun, has ended, or was cancelled."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ReassignmentAnswered:
    """The answer to AlterPartitionReassignments; NONE: it is recorded, which is not yet the end of it."""

    error: str = NONE


@dataclass(frozen=True, slots=True)
class ElectionAnswered:
    """The answer to ElectLeaders."""

    error: str = NONE


@dataclass(frozen=True, slots=True)
class ReplicaDeleted:
    """A broker has deleted its replica: it is no longer in the assignment."""

    broker_id: int


@dataclass(frozen=True, slots=True)
class LogTruncated:
    """A new follower has truncated its log before fetching (up to 2.7).

    `from_offset` and `to_offset` are where its log ended before and after. They are equal if there was nothing to cut:
    Kafka truncates all the same, and its log says that this "has no effect". A follower that was not asked to
    truncate has no such effect at all.
    """

    broker_id: int
    from_offset: int
    to_offset: int

    @property
    def was_cut(self) -> bool:
        """Whether records were cut off."""
        return self.to_offset < self.from_offset


@dataclass(frozen=True, slots=True)
class BrokerHalted:
    """A follower found its leader's log shorter than its own, and stopped its broker (up to 0.10.2)."""

    broker_id: int


Effect: TypeAlias = (
    FetchHandled
    | FetchAnswered
    | ProduceParked
    | ProduceAnswered
    | NoReachableLeader
    | ConsumerRead
    | RecordsDeleted
    | AlterPartitionSent
    | IsrWritten
    | LeaderChanged
    | AssignmentChanged
    | ReassignmentAnswered
    | ElectionAnswered
    | ReplicaDeleted
    | LogTruncated
    | BrokerHalted
)
