"""What always holds of timing wheels, and what a coarse tick or a slow reaper breaks."""

from __future__ import annotations

from kafkalearn.promises import Promises, Since, judges
from kafkalearn.purgatory.wheel.settings import Settings
from kafkalearn.purgatory.wheel.state import Wheels

NEVER_EARLY = "no timer runs before its time"
NEVER_LATE = "no timer waits past its time"


def _lie_in_range(settings: Settings, wheels: Wheels) -> bool:
    return all(
        0 <= timer.expires_ms - bucket.place.bucket_time_ms < settings.tick_of(bucket.place.level)
        for bucket in wheels.queue
        for timer in bucket.timers
    )


def _is_queued_by_time(settings: Settings, wheels: Wheels) -> bool:
    places = [bucket.place for bucket in wheels.queue]
    return places == sorted(set(places))


def _never_early(settings: Settings, before: Wheels, wheels: Wheels) -> bool:
    return all(timer.expires_ms <= wheels.now_ms for effect in wheels.effects for timer in effect.fired)


INVARIANTS: Promises = {
    "a timer lies in a bucket whose range has its time": _lie_in_range,
    "a timer waits in one bucket": lambda settings, wheels: (
        len({timer.name for timer in wheels.timers}) == len(wheels.timers)
    ),
    "each bucket is queued once, by its time": _is_queued_by_time,
    "the clock of the wheels is not ahead of the real time": lambda settings, wheels: wheels.clock_ms <= wheels.now_ms,
}
PROMISES: Promises = {
    NEVER_EARLY: Since(_never_early),
    NEVER_LATE: lambda settings, wheels: all(timer.expires_ms >= wheels.now_ms for timer in wheels.timers),
}
"""A tick above 1 ms breaks the first: timers of one bucket run together. A reaper that comes late, the second."""

check, broken = judges(INVARIANTS, PROMISES)
