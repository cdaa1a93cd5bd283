"""Random walks: long runs, drawn by chance, where a search of all of them would never end.

`kafkalearn.base.search.explore` looks at every run, so it comes as far as its budget of states. `walk` draws some of
the runs that are much longer. It proves nothing, so it says what it has seen: how many different states, which events
never happened, and in how many states each *witness* held: what one expects a walk to come to. A run that breaks a
promise is cut down before it is shown: each event that can be left out is left out.

The same seed draws the same runs, on every machine and every Python.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic

from kafkalearn.base.checks import whole_number
from kafkalearn.base.errors import counted, listed
from kafkalearn.base.search import Event, Model, Settings, State, Steps, checked_steps
from kafkalearn.base.trace import Trace, no_cycle_collection, run


@dataclass(frozen=True, slots=True)
class Walks(Generic[State, Event]):
    """What random walks have met, and what they have not.

    Examples
    --------
    >>> Walks({}, 20, 2000, 700, {"add": 2000}, ("double",), ("small",))
    20 walks of 2,000 events, 700 different states: no promise was broken
    never happened: 'double'
    this proves nothing: what was not drawn was not seen
    """

    traces: Mapping[str, Trace[State, Event]]  # by the name of a promise: a run that breaks it, cut down
    walk_count: int
    step_count: int  # events that happened, in all walks
    state_count: int  # different states, up to the names of brokers and members where the model knows them
    happened: Mapping[str, int]  # how often, by the name of the event's type, or by the event itself if it is text
    never: tuple[Event, ...]  # events that were never possible where they were drawn
    judged: tuple[str, ...]  # the promises, in their order
    met: Mapping[str, int] = field(default_factory=dict)  # by witness: in how many states of the walks it held

    def __repr__(self) -> str:
        """What was broken, and what nobody has looked at."""
        seen = (
            f"{counted(self.walk_count, 'walk')} of {counted(self.step_count, 'event')}, "
            f"{counted(self.state_count, 'different state')}"
        )
        broken = [f"  {name}: {counted(len(trace) - 1, 'event')}" for name, trace in self.traces.items()]
        verdict = f"{seen}: broken" if broken else f"{seen}: no promise was broken"
        never = [f"never happened: {listed([*map(repr, self.never)])}"] if self.never else []
        missed = [name for name, count in self.met.items() if not count]
        never += [f"never met: {listed(missed)}"] if missed else []
        kept = len(broken) < len(self.judged)
        return "\n".join(
            [verdict, *broken, *never, *(["this proves nothing: what was not drawn was not seen"] if kept else [])]
        )


def walk(
    model: Model[Settings, State, Event],
    initial: State,
    events: Sequence[Event],
    *,
    seed: int = 0,
    walk_count: int = 200,
    length: int = 200,
    at_most: Mapping[type, int] | None = None,
    witnesses: Mapping[str, Callable[[Settings, State], bool]] | None = None,
) -> Walks[State, Event]:
    """Runs drawn by chance, each promise that one of them breaks, and what none of them has seen.

    Parameters
    ----------
    model, initial, events, at_most
        As for `kafkalearn.base.search.explore`.
    seed : int
        The same seed draws the same runs.
    walk_count, length : int
        How many runs, and of at most how many events each. A run ends early where nothing is possible any more. At each
        step the events are tried in an order drawn anew, until one makes sense and changes something.

    witnesses : mapping of str to callable, optional
        Predicates of ``(settings, state)`` by name: what the walks are expected to come to. `Walks.met` counts the
        states in which each held, and the text names those that none met.

    Returns
    -------
    Walks
        ``traces`` has, for each promise that was broken, the shortest of the runs to it, and of that what is needed: no
        event of it alone can be left out.

    Raises
    ------
    KafkaLearnError
        If a number is not a whole number, or too small.

    Examples
    --------
    >>> from kafkalearn.base.search import whole
    >>> def step(limit, number, event):
    ...     return number * 2 if event == "double" else number + 1
    >>> grow = whole(5000, step, {"below the limit": lambda limit, number: number < limit})
    >>> walk(grow, 1, ["double", "add"], walk_count=3, length=40)
    3 walks of 66 events, 62 different states: broken
      below the limit: 13 events
    """
    whole_number("seed", seed, at_least=0)
    whole_number("walk_count", walk_count, at_least=1)
    whole_number("length", length, at_least=1)
    steps = checked_steps(model, initial, events, None, 1, at_most)
    chance, seen = random.Random(seed), _Seen(steps)
    met = dict.fromkeys(witnesses or (), 0)
    with no_cycle_collection():
        for _ in range(walk_count):
            way = _one_walk(steps, chance, length, seen)
            for name, holds in (witnesses or {}).items():
                met[name] += sum(bool(holds(model.settings, state)) for state in _states(steps, way))
    traces = {name: _cut_down(steps, name, way) for name, way in seen.first.items()}
    happened = Counter(_name(steps.events[index]) for index in seen.happened.elements())
    never = tuple(event for index, event in enumerate(steps.events) if index not in seen.happened)
    judged = tuple(dict.fromkeys(name for name, _ in model.promises))
    return Walks(traces, walk_count, seen.happened.total(), len(seen.states), dict(happened), never, judged, met)


class _Seen:
    """What all walks together have met."""

    def __init__(self, steps: Steps[Any, Any, Any]) -> None:
        self.states = {hash(steps.start)}
        self.happened: Counter[int] = Counter()
        self.first: dict[str, list[int]] = {}  # by promise: the shortest way to a state that breaks it


def _one_walk(steps: Steps[Settings, State, Event], chance: random.Random, length: int, seen: _Seen) -> list[int]:
    key, way = steps.numbers.key(steps.start_parts), list[int]()
    _judge(steps.broken(key), way, seen)
    while len(way) < length:
        order = list(range(len(steps.events)))
        chance.shuffle(order)
        after = next(((index, new) for index in order if (new := steps.after_one(index, key)) is not None), None)
        if after is None:
            break
        index, key = after
        way.append(index)
        seen.happened[index] += 1
        seen.states.add(hash(steps.own(key)))
        if _judge(steps.broken(key), way, seen):
            break  # what comes after a broken promise is no news
    return way


def _states(steps: Steps[Settings, State, Event], way: list[int]) -> Iterator[State]:
    """The states of a walk, from the simulator's own step."""
    state = steps.initial
    yield state
    for index in way:
        state = steps.model.step(steps.model.settings, state, steps.events[index])
        yield state


def _judge(broken: Iterable[str], way: list[int], seen: _Seen) -> bool:
    """Keep the way if it is the shortest so far to a promise that is broken here; whether one is."""
    names = tuple(broken)
    for name in names:
        if name not in seen.first or len(way) < len(seen.first[name]):
            seen.first[name] = list(way)
    return bool(names)


def _cut_down(steps: Steps[Settings, State, Event], name: str, way: list[int]) -> Trace[State, Event]:
    """The run with every event left out that can be: what is left breaks the promise, and less of it does not."""
    events = [steps.events[index] for index in way]
    at = 0
    while at < len(events):
        shorter = events[:at] + events[at + 1 :]
        if _breaks(steps, name, shorter):
            events, at = shorter, 0
        else:
            at += 1
    return run(steps.model.step, steps.model.settings, steps.initial, events)


def _breaks(steps: Steps[Settings, State, Event], name: str, events: Sequence[Event]) -> bool:
    """Whether these events can happen one after the other, and the promise is broken at the end."""
    place = {event: index for index, event in enumerate(steps.events)}
    parts: Any = steps.start_parts
    for event in events:
        parts = steps.after(place[event], parts)
        if parts is None:
            return False
    return name in steps.broken(steps.numbers.key(parts))


def _name(event: object) -> str:
    return event if isinstance(event, str) else type(event).__name__
