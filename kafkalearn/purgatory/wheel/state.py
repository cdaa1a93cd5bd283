"""All timing wheels at one moment: their buckets in one queue, and their clock."""

from __future__ import annotations

from dataclasses import dataclass, field

from kafkalearn.purgatory.wheel.effects import WheelEffect
from kafkalearn.purgatory.wheel.placing import Place, Timer
from kafkalearn.purgatory.wheel.settings import Settings


@dataclass(frozen=True, slots=True)
class Bucket:
    """A bucket in the queue, with its timers in the order they came; it stays queued when they are cancelled."""

    place: Place
    timers: tuple[Timer, ...] = ()


@dataclass(frozen=True, slots=True)
class Wheels:
    """All wheels at one moment; `effects` are what the last event led to."""

    clock_ms: int  # start of the last bucket that was emptied
    now_ms: int  # the real time
    queue: tuple[Bucket, ...] = ()  # by bucket time
    effects: tuple[WheelEffect, ...] = field(default=(), compare=False)

    @property
    def timers(self) -> tuple[Timer, ...]:
        """Those that wait, by bucket."""
        return tuple(timer for bucket in self.queue for timer in bucket.timers)

    @property
    def next_due_ms(self) -> int | None:
        """When the next bucket is to be emptied; None: nothing is queued, the reaper sleeps."""
        return self.queue[0].place.bucket_time_ms if self.queue else None

    def is_waiting(self, name: str) -> bool:
        """Whether a timer of that name waits."""
        return any(timer.name == name for timer in self.timers)


def start(settings: Settings) -> Wheels:
    """Empty wheels, their clock rounded down to the tick.

    >>> start(Settings(tick_ms=10, start_ms=1003)).clock_ms
    1000
    """
    return Wheels(settings.start_ms - settings.start_ms % settings.tick_ms, settings.start_ms)
