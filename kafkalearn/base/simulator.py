"""What every simulator has beside its rules, made once: `simulate`, `check` and `broken`.

A simulator writes its settings, its state, its events, ``start``, ``step``, `INVARIANTS` and `PROMISES`.
The last line of its module is ``simulate, check, broken = simulator(start, step, INVARIANTS, PROMISES)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from types import UnionType
from typing import Protocol, TypeVar, Union, get_args, get_origin, get_type_hints

from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.base.promises import Broken, Check, Promises, judges
from kafkalearn.base.trace import Trace, run

Settings = TypeVar("Settings")
State = TypeVar("State")
Event = TypeVar("Event")
Given = TypeVar("Given", contravariant=True)


class Simulate(Protocol[Given, State, Event]):
    """Simulate a list of events, one after the other."""

    def __call__(self, settings: Given, events: Iterable[Event], initial: State | None = None) -> Trace[State, Event]:
        """The run from `initial`, or from the start: its trace has one moment more than there are events."""
        ...


def simulator(
    start: Callable[[Settings], State],
    step: Callable[[Settings, State, Event], State],
    invariants: Promises,
    promises: Promises,
    progress: Promises | None = None,
) -> tuple[Simulate[Settings, State, Event], Check, Broken]:
    """The functions `simulate`, `check` and `broken` of a simulator, made from its rules and its promises.

    Parameters
    ----------
    start, step : callable
        ``start(settings)`` is the initial state, ``step(settings, state, event)`` the next one.
    invariants, promises, progress
        As in `kafkalearn.base.promises.judges`.

    Examples
    --------
    >>> simulate, check, broken = simulator(
    ...     start=lambda most: 0,
    ...     step=lambda most, level, amount: min(level + amount, most),
    ...     invariants={"at most full": lambda most, level: level <= most},
    ...     promises={"not full": lambda most, level: level < most},
    ... )
    >>> [(frame.state, broken(6, frame.state)) for frame in simulate(6, [5, 2])]
    [(0, ()), (5, ()), (6, ('not full',))]
    >>> simulate(6, [1], initial=4)[-1].state
    5
    """

    def simulate(settings: Settings, events: Iterable[Event], initial: State | None = None) -> Trace[State, Event]:
        """The run of these events from `initial`, or from the start; a step's refusal passes through as IllegalEvent.

        Parameters
        ----------
        settings : Settings
            What stays the same: the simulator's own.
        events : iterable
            What happens, in order; read once.
        initial : optional
            A state to go on from; None: ``start(settings)``.

        Returns
        -------
        Trace
            One moment more than there are events: ``trace[-1].state`` is where the run ended.

        Raises
        ------
        KafkaLearnError
            If `settings` or `initial` are another simulator's.
        """
        kinds = _kinds(start)
        _require("settings", settings, kinds.get("settings"))
        if initial is not None:
            _require("initial", initial, kinds.get("return"))
        return run(step, settings, start(settings) if initial is None else initial, events)

    return simulate, *judges(invariants, promises, progress)


@cache
def _kinds(start: Callable[..., object]) -> dict[str, tuple[type, ...]]:
    """The classes that ``start`` says it takes and gives, as far as its annotations are classes."""
    hints = get_type_hints(start).items()
    kinds = {name: get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,) for name, hint in hints}
    return {name: of for name, of in kinds.items() if all(isinstance(each, type) for each in of)}


def _require(name: str, given: object, kinds: tuple[type, ...] | None) -> None:
    if kinds and not isinstance(given, kinds):
        names = " or ".join(f"{kind.__module__}.{kind.__qualname__}" for kind in kinds)
        raise KafkaLearnError(f"{name} must be {names}, got {shown(given)}")
