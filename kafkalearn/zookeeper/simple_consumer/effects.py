"""What the application was answered, and what its own store has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.zookeeper.fetching.effects import Appended


@dataclass(frozen=True, slots=True)
class LeaderFound:
    """The broker that was asked named the leader, and the application is connected to it."""

    asked_id: int
    leader: int


@dataclass(frozen=True, slots=True)
class OffsetFound:
    """The leader named an offset, and the application goes on there."""

    offset: int


@dataclass(frozen=True, slots=True)
class Fetched:
    """These records came and were handled."""

    offsets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TooLarge:
    """Bytes came but no whole record: the next one is larger than the request allows."""

    offset: int


@dataclass(frozen=True, slots=True)
class Refused:
    """A broker answered with an error, or did not answer; nothing has changed."""

    broker_id: int
    error: str


@dataclass(frozen=True, slots=True)
class Saved:
    """The application's own store has this offset."""

    offset: int


@dataclass(frozen=True, slots=True)
class Restarted:
    """The application runs again, and goes on from this offset; None: it saved none."""

    offset: int | None


Effect: TypeAlias = LeaderFound | OffsetFound | Fetched | TooLarge | Refused | Saved | Restarted | Appended
