"""The one shape that every simulator has: a run is a trace, a trace is a tuple of whole moments.

A simulator is frozen *settings*, a frozen *state*, a few *event* classes and a pure function
``step(settings, state, event) -> state``. `run` applies events in order and keeps every moment, so going back in time
is indexing, and comparing two moments is ``==``. Views, tables, Spark and the notebooks all read traces and nothing
else. A simulator's own ``simulate(settings, events)`` is a `run` from its start; `extend` goes on from any moment.

Settings stay the same during a run. Time and chance enter through events only.

Most simulators replace fields of their state. Where a state is large and a search tries millions of steps, the step
works on `Parts` instead.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from itertools import accumulate
from typing import Any, Generic, Self, SupportsIndex, TypeVar, overload

from kafkalearn.base.errors import counted

MOST_SHOWN, LINE = 14, 100  # moments of a run that its text shows, and letters of each

Settings = TypeVar("Settings")
# A moment never changes: where one of any state is read, one of a narrower state will do.
State = TypeVar("State", covariant=True)
Event = TypeVar("Event", covariant=True)
Other = TypeVar("Other")


@dataclass(frozen=True, slots=True)
class Frame(Generic[State, Event]):
    """One moment of a run: the state just after `event`, which is None in frame 0."""

    index: int
    event: Event | None
    state: State


class Trace(tuple[Frame[State, Event], ...], Generic[State, Event]):
    """A run: a tuple of its moments, which shows itself as a short list of its events.

    Slices and sums of traces are traces.

    Examples
    --------
    >>> run(lambda most, state, event: state + event, None, 0, [5, 2])
    a run of 3 moments
      0  the start
      1  5
      2  2
    """

    __slots__ = ()

    @overload
    def __getitem__(self, at: SupportsIndex) -> Frame[State, Event]: ...
    @overload
    def __getitem__(self, at: slice) -> Trace[State, Event]: ...
    def __getitem__(self, at: SupportsIndex | slice) -> Frame[State, Event] | Trace[State, Event]:
        """One moment, or a part of the run."""
        return Trace(tuple.__getitem__(self, at)) if isinstance(at, slice) else tuple.__getitem__(self, at)

    @overload
    def __add__(self, other: tuple[Frame[State, Event], ...], /) -> Trace[State, Event]: ...
    @overload
    def __add__(self, other: tuple[Other, ...], /) -> tuple[Frame[State, Event] | Other, ...]: ...
    def __add__(self, other: tuple[object, ...], /) -> tuple[object, ...]:
        """One run after the other."""
        both: tuple[Any, ...] = tuple.__add__(self, other)
        return Trace(both)

    def __repr__(self) -> str:
        """How many moments, and the event of each; of a long run its two ends."""
        lines = [_line(frame) for frame in self]
        if len(lines) > MOST_SHOWN:
            half = MOST_SHOWN // 2
            lines[half : len(lines) - half] = [f"  ... {len(lines) - 2 * half} more ..."]
        return "\n".join([f"a run of {counted(len(self), 'moment')}", *lines])


class Trapped(Trace[State, Event]):
    """A run whose end never ends: it goes round from `loop_start` on, or it stands in a dead end (None).

    Of a loop the last moment is that of `loop_start` again. A part of such a run, or the sum of two, is any trace.

    Examples
    --------
    >>> turned = run(lambda _, lamp, event: not lamp, None, True, ["off", "on"])
    >>> Trapped(turned, loop_start=0)
    a run of 3 moments, from 0 on round and round
      0  the start
      1  off
      2  on
    """

    loop_start: int | None  # its place among the moments

    def __new__(cls, frames: Iterable[Frame[State, Event]] = (), loop_start: int | None = None) -> Self:
        """The same moments, and where the loop begins."""
        made = super().__new__(cls, frames)
        made.loop_start = loop_start
        return made

    def __repr__(self) -> str:
        """The run, and how it goes on."""
        first, *lines = super().__repr__().split("\n")
        ends = "the last a dead end" if self.loop_start is None else f"from {self.loop_start} on round and round"
        return "\n".join([f"{first}, {ends}", *lines])


def _line(frame: Frame[State, Event]) -> str:
    words = "the start" if frame.event is None else _in_short(frame.event)
    return f"{frame.index:>3}  {words if len(words) <= LINE else words[: LINE - 3] + '...'}"


def _in_short(event: object) -> str:
    """An event with what differs from its defaults."""
    if not is_dataclass(event) or type(event).__str__ is not object.__str__:
        return str(event)
    given = [(each.name, getattr(event, each.name), each.default) for each in fields(event) if each.repr]
    words = ", ".join(f"{name}={value!r}" for name, value, default in given if value != default)
    return f"{type(event).__name__}({words})"


def run(
    step: Callable[[Settings, State, Event], State], settings: Settings, initial: State, events: Iterable[Event]
) -> Trace[State, Event]:
    """Every moment of a run: the initial state, then the state after each event in turn.

    Parameters
    ----------
    step : callable
        ``step(settings, state, event)`` returns the next state and changes nothing.
    settings : Settings
        What stays the same: the first argument of every step.
    initial : State
        The state of frame 0.
    events : iterable of Event
        Read once, in order; it must end.

    Returns
    -------
    Trace
        One frame more than there are events. ``trace[-1].state`` is where the run ended.

    Raises
    ------
    IllegalEvent
        Whatever `step` raises for an event that makes no sense passes through; no partial trace is kept.

    Examples
    --------
    >>> def step(most, state, event):
    ...     return min(state + event, most)
    >>> [frame.state for frame in run(step, 6, 0, [5, 2])]
    [0, 5, 6]
    """
    events = tuple(events)
    states = accumulate(events, partial(step, settings), initial=initial)
    moments = enumerate(zip((None, *events), states, strict=True))
    return Trace(Frame(index, event, state) for index, (event, state) in moments)


def extend(
    step: Callable[[Settings, State, Event], State],
    settings: Settings,
    trace: Trace[State, Event],
    events: Iterable[Event],
) -> Trace[State, Event]:
    """The same run carried on: the frames of `trace`, then one for each further event.

    Cutting a trace and extending it is how a run branches: ``extend(step, settings, trace[:4], other_events)``
    is what would have happened after frame 3 had other events come.

    Examples
    --------
    >>> def step(most, state, event):
    ...     return min(state + event, most)
    >>> first = run(step, 6, 0, [5, 2])
    >>> [frame.state for frame in extend(step, 9, first[:2], [100])]
    [0, 5, 9]
    """
    if not trace:
        raise ValueError("cannot extend an empty trace: it has no state to go on from; use run()")
    more = run(step, settings, trace[-1].state, events)[1:]
    start = trace[-1].index
    return Trace((*trace, *(Frame(start + frame.index, frame.event, frame.state) for frame in more)))


class Parts:
    """A state taken apart for one step: its parts, each read and replaced by its place.

    Whoever runs the step can watch which parts it reads, and reuse the answer wherever these are the same
    (`kafkalearn.base.search`). The rules do not notice who is watching.

    >>> parts = Parts(["leader", 7])
    >>> parts.write(1, parts.read(1) + 1)
    >>> parts.all()
    ('leader', 8)
    """

    __slots__ = ("_parts",)

    def __init__(self, parts: Iterable[Hashable]) -> None:
        """Begin with the parts as they are before the event."""
        self._parts = list(parts)

    def read(self, place: int) -> Hashable:
        """The part at a place."""
        return self._parts[place]

    def write(self, place: int, part: Hashable) -> None:
        """Replace the part at a place."""
        self._parts[place] = part

    def all(self) -> tuple[Hashable, ...]:
        """All parts as they are now."""
        return tuple(self._parts)


@contextmanager
def no_cycle_collection() -> Iterator[None]:
    """Disable cyclic garbage collection inside the block and restore it afterwards.

    The collector scans new objects again and again: with it a million tuples, none in a cycle, take thrice as long.

    >>> with no_cycle_collection():
    ...     gc.isenabled()
    False
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
