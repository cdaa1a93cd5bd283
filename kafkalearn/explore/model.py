"""What a search is told of a simulator, and what it tells in return."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from kafkalearn.trace import Trace

State = TypeVar("State")
Event = TypeVar("Event")


class Draft:
    """The parts of a state while a step is worked out, each read and replaced by its place."""

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

    def parts(self) -> tuple:
        """All parts as they are now."""
        return tuple(self._parts)


class Relabelling(NamedTuple):
    """A way of renaming that changes no rule: what follows from an event follows from it under its new name too."""

    places: tuple[int, ...]  # the part at place p goes to places[p]
    part: Callable[[int, Hashable], Hashable]  # the part that was at this place, with the new names in it
    event: Callable[[Hashable], Hashable]  # an event, with the new names in it


@dataclass(frozen=True, slots=True)
class Model(Generic[State, Event]):
    """A simulator, as a search sees it.

    Parameters
    ----------
    step : callable
        The simulator's own ``step(state, event)``. The run that is found is played with it.
    split : callable
        ``split(state)`` is the tuple of its parts; a part is never changed, and can be hashed.
    happen : callable
        ``happen(draft, event)`` is the same step on parts. It may bring them into a normal form as well, if states
        with the same normal form have the same future: times told from now on, for example.
    promises : tuple of (str, callable)
        A name, and whether it holds in a draft. A name may come more than once, each test looking at a few parts.
    relabellings : tuple of Relabelling
        All that change no rule, less the one that renames nothing. A search uses those under which its events are
        the same set.
    """

    step: Callable[[State, Event], State]
    split: Callable[[State], tuple]
    happen: Callable[[Draft, Event], None]
    promises: tuple[tuple[str, Callable[[Draft], bool]], ...] = ()
    relabellings: tuple[Relabelling, ...] = ()


def whole(step: Callable[[State, Event], State], promises: Mapping[str, Callable[[State], bool]]) -> Model:
    """The model of a simulator whose states are not split into parts: right for small searches.

    >>> model = whole(lambda number, event: number + event, {"even": lambda number: number % 2 == 0})
    >>> [name for name, holds in model.promises if not holds(Draft([7]))]
    ['even']
    """

    def happen(draft: Draft, event: Event) -> None:
        draft.write(0, step(draft.read(0), event))

    tests = tuple((name, lambda draft, holds=holds: holds(draft.read(0))) for name, holds in promises.items())
    return Model(step, lambda state: (state,), happen, tests)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a search has come."""

    depth: int  # events in the schedules it is looking at
    state_count: int  # different states found
    step_count: int  # events tried


@dataclass(frozen=True, slots=True)
class Search(Generic[State, Event]):
    """What a search has found, and how much it has looked at."""

    outcome: str  # "found", or why it ended without: "nothing left", "depth", "budget"
    trace: Trace[State, Event] | None  # a shortest run that breaks a promise
    broken: tuple[str, ...]  # the promises that its last state breaks
    depth: int  # events in the longest schedules looked at
    state_count: int  # different states found
    step_count: int  # events tried
