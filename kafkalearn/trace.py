"""The one shape that every simulator has: a run is a trace, a trace is a tuple of whole moments.

A simulator is a frozen *state*, a few *event* classes and a pure function ``step(state, event) -> state``.
`run` applies events in order and keeps every moment, so going back in time is indexing, and comparing two
moments is ``==``. Views, tables, Spark and the notebooks all read traces and nothing else.

Settings that stay the same during a run are bound once: ``run(partial(step, settings), initial, events)``.
Time and chance enter through events only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Generic, TypeAlias, TypeVar

State = TypeVar("State")
Event = TypeVar("Event")


@dataclass(frozen=True, slots=True)
class Frame(Generic[State, Event]):
    """One moment of a run: the state just after `event`, which is None in frame 0."""

    index: int
    event: Event | None
    state: State


Trace: TypeAlias = tuple[Frame[State, Event], ...]


def run(step: Callable[[State, Event], State], initial: State, events: Iterable[Event]) -> Trace[State, Event]:
    """Every moment of a run: the initial state, then the state after each event in turn.

    Parameters
    ----------
    step : callable
        ``step(state, event)`` returns the next state and changes nothing.
    initial : State
        The state of frame 0.
    events : iterable of Event
        Read once, in order; it must end.

    Returns
    -------
    tuple of Frame
        One frame more than there are events. ``trace[-1].state`` is where the run ended.

    Raises
    ------
    IllegalEvent
        Whatever `step` raises for an event that makes no sense passes through; no partial trace is kept.

    Examples
    --------
    >>> [frame.state for frame in run(int.__add__, 0, [5, 2])]
    [0, 5, 7]
    """
    events = tuple(events)
    states = accumulate(events, step, initial=initial)
    moments = enumerate(zip((None, *events), states, strict=True))
    return tuple(Frame(index, event, state) for index, (event, state) in moments)


def extend(
    step: Callable[[State, Event], State], trace: Trace[State, Event], events: Iterable[Event]
) -> Trace[State, Event]:
    """The same run carried on: the frames of `trace`, then one for each further event.

    Cutting a trace and extending it is how a run branches: ``extend(step, trace[:4], other_events)`` is what
    would have happened after frame 3 had other events come.

    Examples
    --------
    >>> first = run(int.__add__, 0, [5, 2])
    >>> [frame.state for frame in extend(int.__add__, first[:2], [100])]
    [0, 5, 105]
    """
    if not trace:
        raise ValueError("cannot extend an empty trace: it has no state to go on from; use run()")
    more = run(step, trace[-1].state, events)[1:]
    start = trace[-1].index
    return trace + tuple(Frame(start + frame.index, frame.event, frame.state) for frame in more)
