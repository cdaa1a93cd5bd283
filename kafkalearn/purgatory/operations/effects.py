"""What an event led to: operations that wait or are completed, lists that were walked or purged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

AT_ONCE, WHILE_LISTED, BY_EVENT, BY_FORCE, BY_TIME = "at once", "while listed", "by an event", "by force", "by time"
"""How an operation was completed. `BY_TIME` alone runs onExpiration too."""


@dataclass(frozen=True, slots=True)
class Completed:
    """An operation is completed; if `has_expired`, its onExpiration ran too."""

    name: str
    how: str

    @property
    def has_expired(self) -> bool:
        """Whether time ended it."""
        return self.how == BY_TIME


@dataclass(frozen=True, slots=True)
class Parked:
    """An operation waits."""

    name: str


@dataclass(frozen=True, slots=True)
class Checked:
    """The list of a key was walked, and so many operations of it were completed."""

    key: str
    completed_count: int


@dataclass(frozen=True, slots=True)
class Purged:
    """All lists were walked to drop what is completed."""

    dropped_count: int


PurgatoryEffect: TypeAlias = Completed | Parked | Checked | Purged
