"""What an event led to, in the order in which it happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Started:
    """A consumer begins at the committed offset, or at the one that is stored in the sink."""

    offset: int


@dataclass(frozen=True, slots=True)
class Reset:
    """A consumer begins, or reads on, where auto.offset.reset says: its offset is missing or out of range."""

    offset: int


@dataclass(frozen=True, slots=True)
class Failed:
    """A consumer has no offset to read from: its poll throws an exception, named as in the Java client."""

    exception: str


@dataclass(frozen=True, slots=True)
class Polled:
    """A poll returned the records of these offsets, perhaps none."""

    offsets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Processed:
    """A record was processed, and the sink answered: `kafkalearn.commits.sinks.APPLIED`, `KNOWN` or `REFUSED`."""

    offset: int
    answer: str


@dataclass(frozen=True, slots=True)
class CommitSent:
    """An asynchronous commit is on its way to the coordinator."""

    offset: int


@dataclass(frozen=True, slots=True)
class AutoCommitSent:
    """The client itself commits the position; what the coordinator answers follows."""

    offset: int


@dataclass(frozen=True, slots=True)
class Committed:
    """The coordinator has written a commit."""

    offset: int


@dataclass(frozen=True, slots=True)
class CommitRefused:
    """The coordinator has refused a commit with an error of the protocol."""

    offset: int
    error: str


@dataclass(frozen=True, slots=True)
class Checkpointed:
    """A checkpoint is complete: the results up to an offset count, and a restart begins there."""

    offset: int


@dataclass(frozen=True, slots=True)
class CheckpointRefused:
    """Another consumer has gone on from the last checkpoint: this one is cancelled, and its results never count."""

    offset: int


@dataclass(frozen=True, slots=True)
class Revoked:
    """The partition was taken from a consumer, which had polled these records and not processed them."""

    unprocessed: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Closed:
    """A consumer has closed; it had polled these records and not processed them."""

    unprocessed: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Crashed:
    """A consumer has crashed; it had polled these records and not processed them."""

    unprocessed: tuple[int, ...]


CommitEffect: TypeAlias = (
    Started | Reset | Failed | Polled | Processed | CommitSent | AutoCommitSent | Committed | CommitRefused
    | Checkpointed | CheckpointRefused | Revoked | Closed | Crashed
)  # fmt: skip
