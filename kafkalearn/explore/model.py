"""What a search has to know of a simulator, and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypedDict, TypeVar

from kafkalearn.parts import Parts
from kafkalearn.promises import Promises
from kafkalearn.trace import Trace

Settings = TypeVar("Settings")
State = TypeVar("State")
Event = TypeVar("Event")


class Relabelling(NamedTuple):
    """A way of renaming that changes no rule: what follows from an event follows from it under its new name too."""

    places: tuple[int, ...]  # the part at place p goes to places[p]
    part: Callable[[int, Hashable], Hashable]  # the part that was at this place, with the new names in it
    event: Callable[[Hashable], Hashable]  # an event, with the new names in it


@dataclass(frozen=True, slots=True)
class Model(Generic[Settings, State, Event]):
    """A simulator, as a search sees it.

    Parameters
    ----------
    settings : Settings
        Those of the run; the first argument of `step`.
    step : callable
        The simulator's own ``step(settings, state, event)``. The run that is found is played with it.
    split : callable
        ``split(state)`` is the tuple of its parts; a part is never changed, and can be hashed.
    happen : callable
        ``happen(parts, event)`` is the same step on parts. It may bring them into a normal form as well, if states
        with the same normal form have the same future: times counted from now on, for example.
    promises : tuple of (str, callable)
        A name, and whether it holds in a parts. A name may come more than once, each test looking at a few parts.
    relabellings : tuple of Relabelling
        All that change no rule, less the one that renames nothing. A search uses those under which its events are
        the same set.
    """

    settings: Settings
    step: Callable[[Settings, State, Event], State]
    split: Callable[[State], tuple[Hashable, ...]]
    happen: Callable[[Parts, Event], None]
    promises: tuple[tuple[str, Callable[[Parts], bool]], ...] = ()
    relabellings: tuple[Relabelling, ...] = ()


def whole(
    settings: Settings, step: Callable[[Settings, State, Event], State], promises: Promises
) -> Model[Settings, State, Event]:
    """The model of a simulator whose states are not split into parts: right for small searches.

    Parameters
    ----------
    settings, step
        Those of the simulator.
    promises : mapping of str to callable
        Names, and predicates of ``(settings, state)``: `PROMISES` of the simulator, or some of them.

    Examples
    --------
    >>> model = whole(None, lambda settings, number, event: number + event, {"even": lambda _, number: number % 2 == 0})
    >>> [name for name, holds in model.promises if not holds(Parts([7]))]
    ['even']
    """

    def happen(parts: Parts, event: Event) -> None:
        state: Any = parts.read(0)
        parts.write(0, step(settings, state, event))

    def test_of(holds: Any) -> Callable[[Parts], bool]:  # a promise of this simulator: of its settings and states
        return lambda parts: holds(settings, parts.read(0))

    tests = tuple((name, test_of(holds)) for name, holds in promises.items())
    return Model(settings, step, lambda state: (state,), happen, tests)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a search has come."""

    depth: int  # events in the schedules it is looking at
    state_count: int  # different states found
    step_count: int  # events tried


class Limits(TypedDict, total=False):
    """How far a search goes, as `kafkalearn.explore.explore` takes it by name."""

    depth: int | None
    budget: int
    progress: Callable[[Progress], None] | None


class EventLimits(Limits, total=False):
    """The same, and how often events of a type may happen."""

    at_most: Mapping[type, int] | None


@dataclass(frozen=True, slots=True)
class Survey(Generic[State, Event]):
    """For each promise that can be broken a shortest run to it, and how much was looked at."""

    outcome: str  # why it ended: "found" all, "nothing left", "depth", "budget"
    traces: Mapping[str, Trace[State, Event]]  # by the name of the promise
    depth: int  # events in the longest schedules looked at
    state_count: int  # different states found
    step_count: int  # events tried

    def __repr__(self) -> str:
        """The verdict, and how many events lead to each promise's end."""
        broken = [f"  {name}: {len(trace) - 1} events" for name, trace in self.traces.items()]
        return "\n".join([f"{self.outcome}, {self.state_count:,} states", *broken])


@dataclass(frozen=True, slots=True)
class Search(Generic[State, Event]):
    """What a search has found, and how much it has looked at.

    Examples
    --------
    >>> Search("nothing left", None, (), 8, 165, 700)
    nothing left: none of 165 states breaks a promise
    """

    outcome: str  # "found", or why it ended without: "nothing left", "depth", "budget"
    trace: Trace[State, Event] | None  # a shortest run that breaks a promise
    broken: tuple[str, ...]  # the promises that its last state breaks
    depth: int  # events in the longest schedules looked at
    state_count: int  # different states found
    step_count: int  # events tried

    def __repr__(self) -> str:
        """The verdict, and the run that was found."""
        if self.trace is None:
            ended = {"depth": f"not found in {self.depth} events", "budget": "not found, too many states"}
            return f"{ended.get(self.outcome, self.outcome)}: none of {self.state_count:,} states breaks a promise"
        return f"found: {'; '.join(self.broken)}\n{self.trace}"
