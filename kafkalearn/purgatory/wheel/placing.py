"""Where a timer goes: which wheel, which bucket. Pure arithmetic, the same for every way of keeping the buckets.

A wheel of *tick* u with n buckets covers n * u milliseconds from its clock on; the next, coarser one has n * u for its
tick. All wheels follow one clock, each rounds it down to its own tick.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafkalearn.arguments import LARGEST_LONG, whole_number
from kafkalearn.purgatory.wheel.settings import TICK_MS, WHEEL_SIZE, Settings


@dataclass(frozen=True, slots=True)
class Timer:
    """Something to run at a time."""

    name: str
    expires_ms: int


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A bucket of a wheel."""

    bucket_time_ms: int  # where the bucket's range starts; it is emptied then
    level: int  # 1 is the finest wheel
    bucket: int  # from 0


def place(clock_ms: int, expires_ms: int, tick_ms: int = TICK_MS, wheel_size: int = WHEEL_SIZE) -> Place | None:
    """The bucket for a timer, or None: it is due within the present tick and runs at once.

    Parameters
    ----------
    clock_ms : int
        The clock of the wheels: the start of the last bucket that was emptied. It may be behind the real time.
    expires_ms : int
        When the timer is due, on the same scale.
    tick_ms, wheel_size : int
        Tick of the finest wheel, and how many buckets each wheel has.

    Examples
    --------
    >>> place(0, 19), place(0, 445)
    (Place(bucket_time_ms=19, level=1, bucket=19), Place(bucket_time_ms=400, level=3, bucket=1))
    >>> place(400, 445), place(440, 445), place(445, 445)
    (Place(bucket_time_ms=440, level=2, bucket=2), Place(bucket_time_ms=445, level=1, bucket=5), None)

    References
    ----------
    Apache Kafka 4.3, ``org.apache.kafka.server.util.timer.TimingWheel.add``.
    """
    level = 1
    if expires_ms < clock_ms - clock_ms % tick_ms + tick_ms:
        return None
    while expires_ms >= clock_ms - clock_ms % tick_ms + tick_ms * wheel_size:
        tick_ms *= wheel_size
        level += 1
    number = expires_ms // tick_ms
    return Place(number * tick_ms, level, number % wheel_size)


def journey(
    delay_ms: int, start_ms: int = 0, tick_ms: int = TICK_MS, wheel_size: int = WHEEL_SIZE
) -> tuple[Place, ...]:
    """All buckets that a timer passes through until it runs, if nothing delays the emptying of buckets.

    Parameters
    ----------
    delay_ms : int
        How long the timer waits; 0 or less runs at once and passes through none.
    start_ms : int
        The wheels' clock when it is added.

    Raises
    ------
    KafkaLearnError
        If there is no such wheel, or it starts before time 0: see `Settings`.

    Examples
    --------
    >>> [each.bucket_time_ms for each in journey(445)], len(journey(30_000)), journey(0)
    ([400, 440, 445], 2, ())
    """
    settings = Settings(tick_ms, wheel_size, start_ms)
    whole_number("delay_ms", delay_ms, at_least=-LARGEST_LONG)
    expires_ms, clock_ms = start_ms + delay_ms, start_ms
    places: list[Place] = []
    while (found := place(clock_ms, expires_ms, settings.tick_ms, settings.wheel_size)) is not None:
        places.append(found)
        clock_ms = found.bucket_time_ms
    return tuple(places)
