"""What an event led to: records written or refused, segments opened or deleted, and the work of the cleaner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class SegmentRolled:
    """The active segment was closed, and a new one was opened."""

    base_offset: int  # of the new one


@dataclass(frozen=True, slots=True)
class Appended:
    """A batch, or a marker, was written."""

    first_offset: int
    last_offset: int


@dataclass(frozen=True, slots=True)
class AppendRefused:
    """The broker refused a batch, or a marker; it did not look at the batches behind it."""

    error: str  # Kafka's name of the error


@dataclass(frozen=True, slots=True)
class DuplicateRecognised:
    """The log has this batch already: it was not written again, and its old offsets were answered."""

    first_offset: int
    last_offset: int


@dataclass(frozen=True, slots=True)
class DeleteRecordsRefused:
    """The broker refused to move the log start offset; nothing has changed."""

    error: str  # Kafka's name of the error


@dataclass(frozen=True, slots=True)
class SegmentsDeleted:
    """Old segments were deleted."""

    segment_count: int
    reasons: tuple[str, ...] = ()  # of each, the oldest first: one of `kafkalearn.log.retention`


@dataclass(frozen=True, slots=True)
class Cleanable:
    """What the cleaner may take of a log, and whether it will."""

    first_dirty_offset: int
    first_uncleanable_offset: int  # rounded down to the base of a segment
    clean_bytes: int
    cleanable_bytes: int
    must_clean: bool  # max.compaction.lag.ms has passed, and there is something to clean
    is_eligible: bool

    @property
    def ratio(self) -> float:
        """The dirty ratio: cleanable bytes to all that count; 0 for a log without any."""
        total = self.clean_bytes + self.cleanable_bytes
        return self.cleanable_bytes / total if total else 0.0


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether the cleaner kept a record, and why."""

    offset: int
    is_kept: bool
    reason: str  # one of `kafkalearn.log.cleaner.keep_rule`


@dataclass(frozen=True, slots=True)
class Cleaned:
    """The cleaner went over the log."""

    cleanable: Cleanable
    latest_offset: int  # the last offset that went into the offset map
    is_map_full: bool
    legacy_horizon_ms: int | None  # up to 3.0: tombstones of segments not younger than this went
    decisions: tuple[Decision, ...]  # on every record of the segments that it copied


@dataclass(frozen=True, slots=True)
class NotCleaned:
    """The cleaner looked at the log and left it as it was."""

    cleanable: Cleanable


@dataclass(frozen=True, slots=True)
class CleanerStopped:
    """An exception ended the cleaner thread, or made it leave this partition out; nothing was cleaned."""

    reason: str


LogEffect: TypeAlias = (
    SegmentRolled | Appended | AppendRefused | DuplicateRecognised | DeleteRecordsRefused
    | SegmentsDeleted | Cleaned | NotCleaned | CleanerStopped
)  # fmt: skip
