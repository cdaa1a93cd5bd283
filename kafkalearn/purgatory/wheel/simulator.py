"""Timers in hierarchical timing wheels, bucket by bucket.

One queue holds the buckets of all wheels by their time. When its head is due, the wheels' clock is set to that
bucket's time and its timers are added again: those now due run, the others fall into a finer wheel. The clock moves
through buckets alone, never with the real time; empty stretches cost nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from kafkalearn.arguments import whole_number
from kafkalearn.errors import IllegalEvent
from kafkalearn.purgatory.wheel.placing import TICK_MS, WHEEL_SIZE, Place, place
from kafkalearn.trace import Trace, extend, run


@dataclass(frozen=True, slots=True)
class Timer:
    """Something to run at a time."""

    name: str
    expires_ms: int


@dataclass(frozen=True, slots=True)
class Bucket:
    """A bucket in the queue, with its timers in the order they came; it stays queued when they are cancelled."""

    place: Place
    timers: tuple[Timer, ...] = ()


@dataclass(frozen=True, slots=True)
class Add:
    """A timer is set `delay_ms` from now; one of a name that is waiting already is moved."""

    name: str
    delay_ms: int


@dataclass(frozen=True, slots=True)
class Cancel:
    """What the timer was for has happened: it is taken out of its bucket."""

    name: str


@dataclass(frozen=True, slots=True)
class Flush:
    """The first due bucket is emptied; the real time is `now_ms`."""

    now_ms: int


@dataclass(frozen=True, slots=True)
class Advance:
    """The real time moves on to `to_ms`, and all buckets due by then are emptied, one after the other."""

    to_ms: int


WheelEvent: TypeAlias = Add | Cancel | Flush | Advance


@dataclass(frozen=True, slots=True)
class Placed:
    """A timer went into a bucket; None: it ran at once."""

    name: str
    place: Place | None


@dataclass(frozen=True, slots=True)
class Flushed:
    """A bucket was emptied: these ran, those went into a finer wheel."""

    place: Place
    fired: tuple[str, ...]
    moved: tuple[Placed, ...]


@dataclass(frozen=True, slots=True)
class Wheels:
    """All wheels at one moment.

    `effects` tell what the last event led to; they are no part of what makes two moments equal.
    """

    tick_ms: int = TICK_MS
    wheel_size: int = WHEEL_SIZE
    clock_ms: int = 0  # start of the last bucket that was emptied
    now_ms: int = 0  # the real time
    queue: tuple[Bucket, ...] = ()  # by bucket time
    effects: tuple[Placed | Flushed, ...] = ()

    @property
    def timers(self) -> tuple[Timer, ...]:
        """Those that wait, by bucket."""
        return tuple(timer for bucket in self.queue for timer in bucket.timers)

    @property
    def next_due_ms(self) -> int | None:
        """When the next bucket is to be emptied; None: nothing is queued, the reaper sleeps."""
        return self.queue[0].place.bucket_time_ms if self.queue else None

    def interval_ms(self, level: int) -> int:
        """What the wheel of a level covers: ``Wheels().interval_ms(2)`` is 400."""
        return self.tick_ms * self.wheel_size**level

    def clock_of(self, level: int) -> int:
        """The clock, as the wheel of a level sees it: rounded down to its tick."""
        tick_ms = self.tick_ms * self.wheel_size ** (level - 1)
        return self.clock_ms - self.clock_ms % tick_ms


def start(tick_ms: int = TICK_MS, wheel_size: int = WHEEL_SIZE, start_ms: int = 0) -> Wheels:
    """Empty wheels, their clock rounded down to the tick.

    >>> start(tick_ms=10, start_ms=1003).clock_ms
    1000
    """
    whole_number("tick_ms", tick_ms, at_least=1)
    whole_number("wheel_size", wheel_size, at_least=2)
    whole_number("start_ms", start_ms, at_least=0)
    return Wheels(tick_ms, wheel_size, start_ms - start_ms % tick_ms, start_ms)


def step(wheels: Wheels, event: WheelEvent) -> Wheels:
    """The wheels after `event`; their `effects` tell what ran and what moved.

    Raises
    ------
    IllegalEvent
        If time would run backwards, a timer is cancelled that does not wait, or no bucket is due.

    Examples
    --------
    >>> wheels = step(start(), Add("fetch", 450))
    >>> wheels.queue[0].place
    Place(bucket_time_ms=400, level=3, bucket=1)
    >>> [each.fired for each in step(wheels, Advance(500)).effects]
    [(), (), ('fetch',)]

    References
    ----------
    Apache Kafka 4.3, ``org.apache.kafka.server.util.timer.SystemTimer``, ``TimingWheel`` and ``TimerTaskList``.
    """
    wheels = replace(wheels, effects=())
    match event:
        case Add(name, delay_ms):
            return _added(_without(wheels, name), Timer(name, wheels.now_ms + delay_ms))
        case Cancel(name):
            if all(timer.name != name for timer in wheels.timers):
                raise IllegalEvent(f"no timer {name!r} waits; waiting: {_names(wheels)}")
            return _without(wheels, name)
        case Flush(now_ms):
            _refuse_past(wheels, now_ms)
            if wheels.next_due_ms is None or wheels.next_due_ms > now_ms:
                raise IllegalEvent(f"no bucket is due at {now_ms} ms; the next one is due at {wheels.next_due_ms}")
            return _flushed(replace(wheels, now_ms=now_ms))
        case Advance(to_ms):
            _refuse_past(wheels, to_ms)
            return _advanced(wheels, to_ms)
    raise IllegalEvent(f"{event!r} is no event of this simulator; it knows Add, Cancel, Flush, Advance")


def _names(wheels: Wheels) -> str:
    return ", ".join(timer.name for timer in wheels.timers) or "nothing"


def _refuse_past(wheels: Wheels, to_ms: int) -> None:
    if to_ms < wheels.now_ms:
        raise IllegalEvent(f"time does not run backwards: it is {wheels.now_ms} ms, got {to_ms}")


def _added(wheels: Wheels, timer: Timer) -> Wheels:
    found = place(wheels.clock_ms, timer.expires_ms, wheels.tick_ms, wheels.wheel_size)
    effects = (*wheels.effects, Placed(timer.name, found))
    queue = wheels.queue if found is None else _with_timer(wheels.queue, found, timer)
    return replace(wheels, queue=queue, effects=effects)


def _with_timer(queue: tuple[Bucket, ...], at: Place, timer: Timer) -> tuple[Bucket, ...]:
    if all(bucket.place != at for bucket in queue):
        queue = tuple(sorted((*queue, Bucket(at)), key=lambda bucket: bucket.place))
    return tuple(replace(bucket, timers=(*bucket.timers, timer)) if bucket.place == at else bucket for bucket in queue)


def _without(wheels: Wheels, name: str) -> Wheels:
    kept = (
        replace(bucket, timers=tuple(timer for timer in bucket.timers if timer.name != name)) for bucket in wheels.queue
    )
    return replace(wheels, queue=tuple(kept))


def _advanced(wheels: Wheels, to_ms: int) -> Wheels:
    while wheels.next_due_ms is not None and wheels.next_due_ms <= to_ms:
        wheels = _flushed(wheels)
    return replace(wheels, now_ms=to_ms)


def _flushed(wheels: Wheels) -> Wheels:
    head, *rest = wheels.queue
    before = wheels.effects
    wheels = replace(wheels, clock_ms=head.place.bucket_time_ms, queue=tuple(rest), effects=())
    for timer in head.timers:
        wheels = _added(wheels, timer)
    fired = tuple(placed.name for placed in wheels.effects if placed.place is None)
    moved = tuple(placed for placed in wheels.effects if placed.place is not None)
    return replace(wheels, effects=(*before, Flushed(head.place, fired, moved)))


def due_flushes(wheels: Wheels, to_ms: int) -> tuple[Flush | Advance, ...]:
    """`Advance` to a time taken apart, a `Flush` for each bucket, so that a player shows them one by one.

    >>> due_flushes(step(start(), Add("fetch", 450)), 500)
    (Flush(now_ms=400), Flush(now_ms=440), Flush(now_ms=450), Advance(to_ms=500))
    """
    events = []
    while wheels.next_due_ms is not None and wheels.next_due_ms <= to_ms:
        events.append(Flush(max(wheels.next_due_ms, wheels.now_ms)))
        wheels = step(wheels, events[-1])
    return (*events, Advance(to_ms))


def simulate(events: list[WheelEvent], wheels: Wheels | None = None) -> Trace:
    """The trace of some events, each `Advance` taken apart into the buckets it empties.

    >>> [frame.state.clock_ms for frame in simulate([Add("fetch", 45), Advance(50)])]
    [0, 0, 40, 45, 45]
    """
    trace = run(step, start() if wheels is None else wheels, [])
    for event in events:
        parts = due_flushes(trace[-1].state, event.to_ms) if isinstance(event, Advance) else (event,)
        trace = extend(step, trace, parts)
    return trace


def check(wheels: Wheels) -> tuple[str, ...]:
    """The promises that this moment breaks, each as a sentence; empty if all is well.

    >>> check(step(start(), Add("fetch", 450)))
    ()
    """
    broken = []
    for bucket in wheels.queue:
        at, tick_ms = bucket.place, wheels.interval_ms(bucket.place.level - 1)
        for timer in bucket.timers:
            if not at.bucket_time_ms <= timer.expires_ms < at.bucket_time_ms + tick_ms:
                broken.append(f"{timer.name} is due at {timer.expires_ms}, outside the range of its bucket {at}")
    if len({timer.name for timer in wheels.timers}) < len(wheels.timers):
        broken.append("a timer waits in two buckets")
    if wheels.clock_ms > wheels.now_ms:
        broken.append(f"the wheels' clock {wheels.clock_ms} is ahead of the real time {wheels.now_ms}")
    return tuple(broken)
