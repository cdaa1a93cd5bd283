"""What a step led to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class OverwroteOwner:
    """A partition got a second owner, whose epoch is higher: it counts, and the log has more to say of the first."""

    member: str
    partition: int
    epoch_before: int
    epoch: int


@dataclass(frozen=True, slots=True)
class LoadFailed:
    """The load ended with an IllegalStateException, whose words these are."""

    offset: int
    message: str


@dataclass(frozen=True, slots=True)
class LoadEnded:
    """The load has read all of the log."""


@dataclass(frozen=True, slots=True)
class Removed:
    """The cleaner has removed the records at these offsets."""

    offsets: tuple[int, ...]


Effect: TypeAlias = OverwroteOwner | LoadFailed | LoadEnded | Removed
