"""Timing wheels as a picture: a row of buckets for each wheel, the timers in them, and where the clock stands.

The settings come first, so that they can be bound once: ``play(trace, partial(draw_wheels, settings))``.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafkalearn.base.durations import whole_units
from kafkalearn.base.errors import listed
from kafkalearn.base.facts import in_words
from kafkalearn.base.trace import Frame
from kafkalearn.drawing import svg
from kafkalearn.drawing.player import Picture, picture
from kafkalearn.purgatory.wheel import (
    Add,
    Advance,
    Bucket,
    Cancel,
    Flush,
    Flushed,
    Placed,
    Settings,
    Timer,
    WheelEvent,
    Wheels,
)

LEFT, CELL_WIDTH, CELL_HEIGHT = 212, 38, 62
TOP, ROW_HEIGHT, LEAST_LEVELS, MOST_CELLS = 92, 124, 3, 20
MOST_NAMES, MOST_LETTERS, MOST_QUEUED = 2, 4, 6


def draw_wheels(
    settings: Settings, frame: Frame[Wheels, WheelEvent], before: Frame[Wheels, WheelEvent] | None = None
) -> Picture:
    """One moment of timing wheels, drawn: the finest wheel on top.

    Parameters
    ----------
    settings : Settings
        Those of the run.
    frame, before : Frame
        A frame of `kafkalearn.purgatory.wheel.simulate` and the one before it.

    Examples
    --------
    >>> from kafkalearn.purgatory.wheel import simulate
    >>> settings = Settings()
    >>> draw_wheels(settings, simulate(settings, [Add("fetch", 445)])[1]).label
    'fetch is due at 445 ms: it goes into the bucket of 400 ms in wheel 3.'
    """
    wheels: Wheels = frame.state
    level_count = max([LEAST_LEVELS, *(each.place.level for each in [*wheels.queue, *_emptied(wheels)])])
    bottom = TOP + level_count * ROW_HEIGHT
    return picture(
        bottom + 62,
        svg.text(
            25, 38, f"It is {wheels.now_ms:,} ms; the wheels' clock is at {wheels.clock_ms:,}", svg.TITLE, bold=True
        ),
        *(_wheel(settings, wheels, level, TOP + (level - 1) * ROW_HEIGHT) for level in range(1, level_count + 1)),
        svg.text(25, bottom + 22, "queue of buckets", svg.BODY, bold=True),
        svg.text(LEFT, bottom + 22, _queue_words(wheels), svg.BODY),
        svg.text(25, bottom + 46, "the clock moves when the first of them is due", svg.SMALL, colour=svg.MUTED),
        label=describe_wheels(settings, frame, before),
    )


def _emptied(wheels: Wheels) -> list[Flushed]:
    return [effect for effect in wheels.effects if isinstance(effect, Flushed)]


def _wheel(settings: Settings, wheels: Wheels, level: int, top: float) -> str:
    tick_ms = settings.tick_of(level)
    shown = range(min(settings.wheel_size, MOST_CELLS))
    by_bucket = {each.place.bucket: each for each in wheels.queue if each.place.level == level}
    emptied = {each.place.bucket for each in _emptied(wheels) if each.place.level == level}
    now = wheels.clock_ms // tick_ms % settings.wheel_size
    newest = _newest(wheels)
    return "\n".join(
        [
            svg.text(25, top + 30, f"wheel {level}", svg.BODY, bold=True),
            svg.text(25, top + 54, f"{settings.wheel_size} buckets of", svg.SMALL, colour=svg.MUTED),
            svg.text(25, top + 74, whole_units(tick_ms), svg.SMALL, colour=svg.MUTED),
            *(_cell(by_bucket.get(bucket), bucket, top, bucket in emptied, newest) for bucket in shown),
            svg.pointer(LEFT + (now + 0.5) * CELL_WIDTH, top - 2, size=8) if now in shown else "",
        ]
    )


def _newest(wheels: Wheels) -> set[str]:
    """The timers that were put into a bucket by the last event."""
    placed = [effect for effect in wheels.effects if isinstance(effect, Placed)]
    moved = [each for effect in _emptied(wheels) for each in effect.moved]
    return {each.timer.name for each in (*placed, *moved)}


def _cell(bucket: Bucket | None, number: int, top: float, is_emptied: bool, newest: set[str]) -> str:
    x = LEFT + number * CELL_WIDTH
    timers = bucket.timers if bucket else ()
    is_new = any(timer.name in newest for timer in timers)
    border = svg.edge(is_emptied or is_new, svg.MUTED if bucket else svg.FAINT)
    fill = svg.READ if timers else svg.EMPTY if bucket or is_emptied else svg.PANEL
    names = [timer.name[:MOST_LETTERS] for timer in timers[: MOST_NAMES + 1]]
    if len(timers) > MOST_NAMES + 1:
        names[MOST_NAMES:] = [f"+{len(timers) - MOST_NAMES}"]
    words = [
        svg.text(x + CELL_WIDTH / 2, top + 20 + 17 * at, name, svg.SMALL, "middle") for at, name in enumerate(names)
    ]
    return "\n".join(
        [
            svg.rect(x + 2, top, CELL_WIDTH - 4, CELL_HEIGHT, fill, **border),
            *words,
            svg.text(x + CELL_WIDTH / 2, top + CELL_HEIGHT + 18, str(number), svg.SMALL, "middle", svg.MUTED),
        ]
    )


def _queue_words(wheels: Wheels) -> str:
    shown = [f"{each.place.bucket_time_ms:,} ms (wheel {each.place.level})" for each in wheels.queue[: MOST_QUEUED - 2]]
    more = len(wheels.queue) - len(shown)
    return ", ".join(shown) + (f", {more} more" if more > 0 else "") or "empty: the reaper sleeps"


def describe_wheels(
    settings: Settings, frame: Frame[Wheels, WheelEvent], before: Frame[Wheels, WheelEvent] | None = None
) -> str:
    """What the last event did, in a sentence.

    >>> from kafkalearn.purgatory.wheel import simulate
    >>> settings = Settings()
    >>> describe_wheels(settings, simulate(settings, [Add("fetch", 445), Flush(400)])[2])
    'The bucket of 400 ms in wheel 3 is emptied: fetch falls into wheel 2.'
    """
    wheels: Wheels = frame.state
    match frame.event:
        case Add():
            (placed,) = [effect for effect in wheels.effects if isinstance(effect, Placed)]
            return _placed_words(placed)
        case Cancel():
            return f"{in_words(frame.event)}."
        case Flush():
            return _flushed_words(_emptied(wheels)[0])
        case Advance(to_ms):
            emptied = [_flushed_words(each) for each in _emptied(wheels)]
            return " ".join([f"It is {to_ms:,} ms.", *emptied]) if emptied else f"It is {to_ms:,} ms: nothing is due."
    return (
        f"Wheels of {settings.wheel_size} buckets, the finest of {whole_units(settings.tick_ms)} each; nothing waits."
    )


def _placed_words(placed: Placed) -> str:
    timer, at = placed.timer, placed.place
    if at is None:
        return f"{timer.name} is due now: it runs at once."
    where = f"the bucket of {at.bucket_time_ms:,} ms in wheel {at.level}"
    return f"{timer.name} is due at {timer.expires_ms:,} ms: it goes into {where}."


def _flushed_words(flushed: Flushed) -> str:
    at = flushed.place
    parts = []
    if flushed.fired:
        parts.append(f"{_names(flushed.fired)} {'runs' if len(flushed.fired) == 1 else 'run'}")
    moved = [(each.place.level, each.timer) for each in flushed.moved if each.place is not None]
    for level in sorted({level for level, _ in moved}):
        timers = [timer for where, timer in moved if where == level]
        parts.append(f"{_names(timers)} {'falls' if len(timers) == 1 else 'fall'} into wheel {level}")
    done = ", ".join(parts) or "nothing is in it any more, but the clock has moved"
    return f"The bucket of {at.bucket_time_ms:,} ms in wheel {at.level} is emptied: {done}."


def _names(timers: Iterable[Timer]) -> str:
    return listed(timer.name for timer in timers)


def wheels_text(
    settings: Settings, frame: Frame[Wheels, WheelEvent], before: Frame[Wheels, WheelEvent] | None = None
) -> str:
    """The same as plain text.

    >>> from kafkalearn.purgatory.wheel import simulate
    >>> settings = Settings()
    >>> print(wheels_text(settings, simulate(settings, [Add("a", 5), Add("b", 445)])[2]))
    b is due at 445 ms: it goes into the bucket of 400 ms in wheel 3.
    time 0 ms, clock 0 ms
      5 ms, wheel 1, bucket 5: a
      400 ms, wheel 3, bucket 1: b
    """
    wheels: Wheels = frame.state
    lines = [describe_wheels(settings, frame, before), f"time {wheels.now_ms} ms, clock {wheels.clock_ms} ms"]
    for each in wheels.queue:
        names = ", ".join(timer.name for timer in each.timers) or "nothing"
        lines.append(f"  {each.place.bucket_time_ms} ms, wheel {each.place.level}, bucket {each.place.bucket}: {names}")
    return "\n".join(lines)
