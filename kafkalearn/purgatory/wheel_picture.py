"""Timing wheels as a picture: a row of buckets for each wheel, the timers in them, and where the clock stands.

The settings come first, so that they can be bound once: ``play(trace, partial(draw_wheels, settings))``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kafkalearn.base.durations import whole_units
from kafkalearn.base.errors import listed
from kafkalearn.base.facts import in_words
from kafkalearn.base.trace import Frame
from kafkalearn.drawing import svg
from kafkalearn.drawing.axes import Axis
from kafkalearn.drawing.kit import Block, free, label, named, sheet, space, stack
from kafkalearn.drawing.player import Picture
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

NAMES, CELL, CELL_HEIGHT = 160, 40, 56  # pixels: of the names, of a bucket
CLOCK = 18  # above the buckets of a wheel, for its clock
LEAST_LEVELS, MOST_CELLS = 3, 20
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
    axis = Axis(NAMES, 0, min(settings.wheel_size, MOST_CELLS), CELL)
    page = stack(
        label(f"It is {wheels.now_ms:,} ms; the wheels' clock is at {wheels.clock_ms:,}", svg.TITLE, bold=True),
        _numbers(axis),
        *(_wheel(settings, wheels, level, axis) for level in range(1, level_count + 1)),
        space(height=10),
        named("the queue", "of buckets", _queue(wheels, axis.count * CELL), names=NAMES),
    )
    return sheet(page, describe_wheels(settings, frame, before))


def _at(x: float, axis: Axis) -> Axis:
    """The axis of buckets, where its block stands."""
    return replace(axis, left=x + axis.left)


def _emptied(wheels: Wheels) -> list[Flushed]:
    return [effect for effect in wheels.effects if isinstance(effect, Flushed)]


def _numbers(axis: Axis) -> Block:
    """The numbers of the buckets, the same in every wheel."""
    name = label("bucket", colour=svg.MUTED)
    return free(axis.x(axis.count), 28, name.draw, lambda x, y: [_at(x, axis).numbers(y + 16)])


def _wheel(settings: Settings, wheels: Wheels, level: int, axis: Axis) -> Block:
    """A wheel in its row: its buckets, and above them where its clock stands."""
    tick_ms = settings.tick_of(level)
    by_bucket = {each.place.bucket: each for each in wheels.queue if each.place.level == level}
    emptied = {each.place.bucket for each in _emptied(wheels) if each.place.level == level}
    now = wheels.clock_ms // tick_ms % settings.wheel_size
    newest = _newest(wheels)

    def buckets(x: float, y: float) -> list[str]:
        at = _at(x - NAMES, axis)
        clock = svg.pointer(at.middle(now), y - 3, size=8) if now in at.offsets else ""
        return [
            *(_cell(by_bucket.get(each), at.box(each, y, CELL_HEIGHT), each in emptied, newest) for each in at.offsets),
            clock,
        ]

    of_each = f"{settings.wheel_size} of {whole_units(tick_ms)}"
    cells = free(axis.count * axis.unit, CELL_HEIGHT, buckets)
    return stack(space(height=CLOCK), named(f"wheel {level}", of_each, cells, names=NAMES))


def _newest(wheels: Wheels) -> set[str]:
    """The timers that were put into a bucket by the last event."""
    placed = [effect for effect in wheels.effects if isinstance(effect, Placed)]
    moved = [each for effect in _emptied(wheels) for each in effect.moved]
    return {each.timer.name for each in (*placed, *moved)}


def _cell(bucket: Bucket | None, box: svg.Box, is_emptied: bool, newest: set[str]) -> str:
    timers = bucket.timers if bucket else ()
    is_new = any(timer.name in newest for timer in timers)
    border = svg.edge(is_emptied or is_new, svg.MUTED if bucket else svg.FAINT)
    fill = svg.READ if timers else svg.EMPTY if bucket or is_emptied else svg.PANEL
    names = [timer.name[:MOST_LETTERS] for timer in timers[: MOST_NAMES + 1]]
    if len(timers) > MOST_NAMES + 1:
        names[MOST_NAMES:] = [f"+{len(timers) - MOST_NAMES}"]
    x, y, width, _ = box
    words = [(x + width / 2, y + 17 + 17 * at, name) for at, name in enumerate(names)]
    return "\n".join([svg.rect(*box, fill, **border), svg.words_at(words, svg.SMALL)]).strip()


def _queue(wheels: Wheels, width: float) -> Block:
    return stack(
        label(_queue_words(wheels), svg.BODY, width=width),
        label("the clock moves when the first of them is due", colour=svg.MUTED),
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
