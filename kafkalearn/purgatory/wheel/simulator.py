"""Timers in hierarchical timing wheels, bucket by bucket.

One queue holds the buckets of all wheels by their time. When its head is due, the wheels' clock is set to that
bucket's time and its timers are added again: those now due run, the others fall into a finer wheel. The clock moves
through buckets alone, never with the real time; empty stretches cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kafkalearn.errors import IllegalEvent, no_event
from kafkalearn.purgatory.wheel.effects import Flushed, Placed
from kafkalearn.purgatory.wheel.events import Add, Advance, Cancel, Flush, WheelEvent
from kafkalearn.purgatory.wheel.placing import Place, Timer, place
from kafkalearn.purgatory.wheel.settings import Settings
from kafkalearn.purgatory.wheel.state import Bucket, Wheels, start
from kafkalearn.trace import Trace, run


def step(settings: Settings, wheels: Wheels, event: WheelEvent) -> Wheels:
    """The wheels after `event`; their `effects` are the timers that were placed and the buckets that were emptied.

    Raises
    ------
    IllegalEvent
        If time would run backwards, a timer is cancelled that does not wait, or no bucket is due.

    Examples
    --------
    >>> settings = Settings()
    >>> wheels = step(settings, start(settings), Add("fetch", 450))
    >>> wheels.queue[0].place
    Place(bucket_time_ms=400, level=3, bucket=1)
    >>> [[timer.name for timer in each.fired] for each in step(settings, wheels, Advance(500)).effects]
    [[], [], ['fetch']]

    References
    ----------
    Apache Kafka 4.3, ``org.apache.kafka.server.util.timer.SystemTimer``, ``TimingWheel`` and ``TimerTaskList``.
    """
    wheels = replace(wheels, effects=())
    match event:
        case Add(name, delay_ms):
            return _added(settings, _without(wheels, name), Timer(name, wheels.now_ms + delay_ms))
        case Cancel(name):
            if not wheels.is_waiting(name):
                raise IllegalEvent(f"no timer {name!r} waits; waiting: {_names(wheels)}")
            return _without(wheels, name)
        case Flush(now_ms):
            _refuse_past(wheels, now_ms)
            if wheels.next_due_ms is None or wheels.next_due_ms > now_ms:
                raise IllegalEvent(f"no bucket is due at {now_ms} ms; the next one is due at {wheels.next_due_ms}")
            return _flushed(settings, replace(wheels, now_ms=now_ms))
        case Advance(to_ms):
            _refuse_past(wheels, to_ms)
            while wheels.next_due_ms is not None and wheels.next_due_ms <= to_ms:
                wheels = _flushed(settings, wheels)
            return replace(wheels, now_ms=to_ms)
    raise no_event(event, (Add, Cancel, Flush, Advance))


def simulate(
    settings: Settings, events: Iterable[WheelEvent], initial: Wheels | None = None
) -> Trace[Wheels, WheelEvent]:
    """The trace of some events, from `initial` or from empty wheels.

    >>> [frame.state.clock_ms for frame in simulate(Settings(), [Add("fetch", 45), Advance(50)])]
    [0, 0, 45]
    """
    return run(step, settings, start(settings) if initial is None else initial, events)


def bucket_by_bucket(settings: Settings, events: Iterable[WheelEvent]) -> tuple[WheelEvent, ...]:
    """The same events with each `Advance` taken apart: a `Flush` for each bucket, so that a player shows all of them.

    >>> bucket_by_bucket(Settings(), [Add("fetch", 450), Advance(500)])
    (Add(name='fetch', delay_ms=450), Flush(now_ms=400), Flush(now_ms=440), Flush(now_ms=450), Advance(to_ms=500))
    """
    wheels = start(settings)
    parts: list[WheelEvent] = []
    for event in events:
        while isinstance(event, Advance) and wheels.next_due_ms is not None and wheels.next_due_ms <= event.to_ms:
            parts.append(Flush(max(wheels.next_due_ms, wheels.now_ms)))
            wheels = step(settings, wheels, parts[-1])
        parts.append(event)
        wheels = step(settings, wheels, event)
    return tuple(parts)


def _names(wheels: Wheels) -> str:
    return ", ".join(timer.name for timer in wheels.timers) or "nothing"


def _refuse_past(wheels: Wheels, to_ms: int) -> None:
    if to_ms < wheels.now_ms:
        raise IllegalEvent(f"time does not run backwards: it is {wheels.now_ms} ms, got {to_ms}")


def _added(settings: Settings, wheels: Wheels, timer: Timer) -> Wheels:
    found = place(wheels.clock_ms, timer.expires_ms, settings.tick_ms, settings.wheel_size)
    queue = wheels.queue if found is None else _with_timer(wheels.queue, found, timer)
    return replace(wheels, queue=queue, effects=(*wheels.effects, Placed(timer, found)))


def _with_timer(queue: tuple[Bucket, ...], at: Place, timer: Timer) -> tuple[Bucket, ...]:
    if all(bucket.place != at for bucket in queue):
        queue = tuple(sorted((*queue, Bucket(at)), key=lambda bucket: bucket.place))
    return tuple(replace(bucket, timers=(*bucket.timers, timer)) if bucket.place == at else bucket for bucket in queue)


def _without(wheels: Wheels, name: str) -> Wheels:
    kept = (
        replace(bucket, timers=tuple(timer for timer in bucket.timers if timer.name != name)) for bucket in wheels.queue
    )
    return replace(wheels, queue=tuple(kept))


def _flushed(settings: Settings, wheels: Wheels) -> Wheels:
    head, *rest = wheels.queue
    before = wheels.effects
    wheels = replace(wheels, clock_ms=head.place.bucket_time_ms, queue=tuple(rest), effects=())
    for timer in head.timers:
        wheels = _added(settings, wheels, timer)
    fired = tuple(timer for placed in wheels.effects for timer in placed.fired)
    moved = tuple(placed for placed in wheels.effects if isinstance(placed, Placed) and placed.place is not None)
    return replace(wheels, effects=(*before, Flushed(head.place, fired, moved)))
