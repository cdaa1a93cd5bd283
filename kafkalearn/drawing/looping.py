"""Show a loop or a dead end at the end of a run: in the captions, in each picture, and in the player.

- `marked`: the sentences of a player, which say where the loop begins and what lies in it
- `strip`: all moments of the run side by side, the loop drawn as one; the moment on show is framed

``looping.js`` beside it is the button that plays the loop round and round.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from kafkalearn.base.errors import counted
from kafkalearn.base.trace import Event, Frame, State, Trapped
from kafkalearn.drawing import svg

Describe: TypeAlias = Callable[[Frame[State, Event], Frame[State, Event] | None], str]

STRIP_HEIGHT = 108
MARGIN, TOP, CELL, WIDEST = 16, 46, 26, 42  # pixels: at both sides, above the cells, their height, one's widest


def marked(trace: Trapped[State, Event], describe: Describe[State, Event]) -> Describe[State, Event]:
    """The sentences of a player, with the loop, or the dead end, named in them.

    Parameters
    ----------
    trace : Trapped
        From a ``find_stuck``.
    describe : callable
        ``describe(frame, before)``, as `kafkalearn.views.play` takes it.

    Examples
    --------
    >>> from kafkalearn.base.trace import run
    >>> turned = Trapped(run(lambda _, on, event: not on, None, False, ["turn", "turn"]), loop_start=0)
    >>> describe = marked(turned, lambda frame, before: f"{frame.event or 'start'}.")
    >>> [describe(frame, None) for frame in turned]
    ['Here the loop begins: start.', 'In the loop: turn.', 'In the loop, and again as in step 0: turn.']
    """
    places, last = {id(frame): place for place, frame in enumerate(trace)}, len(trace) - 1

    def sentence(frame: Frame[State, Event], before: Frame[State, Event] | None) -> str:
        words, place = describe(frame, before), places[id(frame)]
        if trace.loop_start is None:
            return f"Dead end, nothing that has to happen can: {words}" if place == last else words
        if place < trace.loop_start:
            return words
        if place == trace.loop_start:
            return f"Here the loop begins: {words}"
        again = f", and again as in step {trace.loop_start}" if place == last else ""
        return f"In the loop{again}: {words}"

    return sentence


def how_it_ends(trace: Trapped[Any, Any]) -> str:
    """The way in and the loop in one sentence.

    >>> from kafkalearn.base.trace import run
    >>> turned = run(lambda _, on, event: not on, None, False, ["turn", "turn"])
    >>> how_it_ends(Trapped(turned, loop_start=0)), how_it_ends(Trapped(turned))
    ('The loop: 2 events, round and round; step 2 is as step 0 was.', '2 events lead into a dead end.')
    """
    last = len(trace) - 1
    if trace.loop_start is None:
        return f"{counted(last, 'event')} {'leads' if last == 1 else 'lead'} into a dead end."
    into = trace.loop_start
    way = f"{counted(into, 'event')} {'leads' if into == 1 else 'lead'} in. " if into else ""
    return f"{way}The loop: {counted(last - into, 'event')}, round and round; step {last} is as step {into} was."


def strip(trace: Trapped[Any, Any], place: int, top: float, width: float) -> tuple[str, ...]:
    """The shapes of the strip below a picture: a cell for each moment, and the way back from the last.

    Parameters
    ----------
    trace : Trapped
        The whole run.
    place : int
        Of the moment on show.
    top, width : float
        Where the strip begins, and how wide the picture is, in pixels.
    """
    step = min(WIDEST, (width - 3 * MARGIN) / len(trace))
    first = len(trace) - 1 if trace.loop_start is None else trace.loop_start
    at, middle = top + TOP, [MARGIN + (each + 0.5) * step for each in range(len(trace))]
    shapes = [svg.line(0, top, width, top, svg.EMPTY)]
    for each in range(len(trace)):
        fill = svg.READ if each >= first else svg.EMPTY
        shapes.append(svg.rect(MARGIN + each * step, at, step, CELL, fill, stroke=svg.PANEL, stroke_width=svg.LINE))
        if step >= 24:
            shapes.append(svg.text(middle[each], at + 18, str(each), svg.SMALL, "middle"))
    if trace.loop_start is None:
        end = MARGIN + len(trace) * step + 5
        shapes.append(svg.line(end, at - 8, end, at + CELL + 8, svg.INK))
    else:
        right, down, up, left, tip = map(svg.number, (middle[-1], at, at - 30, middle[first], at - 10))
        back = f"M{right} {down}V{up}H{left}V{tip}"
        shapes.append(svg.element("path", d=back, fill="none", stroke=svg.INK, stroke_width=svg.LINE))
        shapes.append(svg.pointer(middle[first], at - 2, svg.INK, 7))
    shapes.append(svg.rect(MARGIN + place * step, at, step, CELL, stroke=svg.MARK, stroke_width=svg.STRONG))
    shapes.append(svg.text(MARGIN, at + CELL + 24, how_it_ends(trace), svg.SMALL))
    return tuple(shapes)
