"""What a step led to, on the broker that is asked and on the broker that pushes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Appended:
    """The log has one more record."""

    offset: int


@dataclass(frozen=True, slots=True)
class Deleted:
    """Retention deleted the oldest record of the log, whether or not it was read."""

    offset: int


@dataclass(frozen=True, slots=True)
class Refused:
    """The pushing broker did not take the record, because at least one queue was full."""

    number: int


@dataclass(frozen=True, slots=True)
class Pushed:
    """Records were sent to a consumer, which has not acknowledged them yet."""

    consumer: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A full queue dropped its oldest waiting record: its consumer never gets it."""

    consumer: str
    number: int


@dataclass(frozen=True, slots=True)
class Pulled:
    """A consumer read records of the log and committed the offset after them."""

    consumer: str
    offsets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Missed:
    """A consumer found its next records deleted and went on with the first one that is left."""

    consumer: str
    count: int


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A consumer acknowledged records that were pushed to it; the broker forgot them."""

    consumer: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Rewound:
    """A consumer reads the log from this offset on again."""

    consumer: str
    offset: int


@dataclass(frozen=True, slots=True)
class NothingToRewind:
    """The pushing broker has forgotten what was acknowledged and cannot send it again."""

    consumer: str


Effect: TypeAlias = (
    Appended | Deleted | Refused | Pushed | Dropped | Pulled | Missed | Acknowledged | Rewound | NothingToRewind
)
"""What can happen to the two brokers."""
