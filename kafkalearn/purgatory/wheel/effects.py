"""What an event led to: timers that went into a bucket, buckets that were emptied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.purgatory.wheel.placing import Place, Timer


@dataclass(frozen=True, slots=True)
class Placed:
    """A timer went into a bucket; None: it ran at once."""

    timer: Timer
    place: Place | None

    @property
    def fired(self) -> tuple[Timer, ...]:
        """The timer, if it ran."""
        return (self.timer,) if self.place is None else ()


@dataclass(frozen=True, slots=True)
class Flushed:
    """A bucket was emptied: some of its timers ran, the others went into a finer wheel."""

    place: Place
    fired: tuple[Timer, ...]
    moved: tuple[Placed, ...]


WheelEffect: TypeAlias = Placed | Flushed
