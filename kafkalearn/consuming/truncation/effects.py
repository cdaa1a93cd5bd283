"""What a step led to: what brokers answered, and what consumers made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.replication.effects import NONE
from kafkalearn.replication.effects import Effect as PartitionEffect


@dataclass(frozen=True, slots=True)
class Assigned:
    """The partition is this consumer's, and its position is set: to the committed one, or to be looked up."""

    consumer: str
    offset: int | None  # None: nothing was committed
    epoch: int | None


@dataclass(frozen=True, slots=True)
class MetadataLearnt:
    """A broker has said who leads; `is_used` is false where the consumer has heard of a newer epoch."""

    consumer: str
    leader: int | None
    leader_epoch: int
    is_used: bool


@dataclass(frozen=True, slots=True)
class NoLeaderKnown:
    """A poll has nobody to ask: the consumer waits for newer metadata, or the broker it knows does not answer."""

    consumer: str


@dataclass(frozen=True, slots=True)
class OffsetsForLeaderEpochAnswered:
    """A leader has said where an epoch ends in its log; (-1, -1): it knows of none."""

    consumer: str
    asked_epoch: int
    epoch: int
    end_offset: int
    error: str = NONE


@dataclass(frozen=True, slots=True)
class Fetched:
    """A leader has answered a fetch."""

    consumer: str
    offsets: tuple[int, ...]
    error: str = NONE


@dataclass(frozen=True, slots=True)
class TruncationFound:
    """A consumer has found the log cut behind it, and goes on from where its own past and the leader's part."""

    consumer: str
    from_offset: int
    to_offset: int


@dataclass(frozen=True, slots=True)
class OffsetReset:
    """A consumer has begun anew, by ``auto.offset.reset``."""

    consumer: str
    from_offset: int | None  # None: it had none
    to_offset: int


@dataclass(frozen=True, slots=True)
class ExceptionThrown:
    """Poll has thrown: LogTruncationException, OffsetOutOfRangeException or NoOffsetForPartitionException."""

    consumer: str
    name: str
    offset: int | None
    divergence: tuple[int, int] | None = None  # (epoch, offset): up to here the logs agree


@dataclass(frozen=True, slots=True)
class Committed:
    """The group has committed."""

    offset: int
    epoch: int | None


Effect: TypeAlias = (
    Assigned
    | MetadataLearnt
    | NoLeaderKnown
    | OffsetsForLeaderEpochAnswered
    | Fetched
    | TruncationFound
    | OffsetReset
    | ExceptionThrown
    | Committed
    | PartitionEffect
)
