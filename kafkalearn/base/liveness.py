"""What may never come: the shortest way into a dead end, or into a loop, from which a promise of progress is not kept.

`kafkalearn.base.search` finds runs after which something is *wrong*. What users report more often is that something
*stops*: a partition without a leader, a reader that is held back, a group that rebalances without end. No single state
shows that. `find_stuck` looks for a run that goes on for ever and is *fair*, and in which from some moment on the
promise is never so again.

Fair means: an event of `fair` that stays possible happens at last. A broker that lives fetches again, a timer ends. A
run in which the follower never fetches though it always could shows nothing about Kafka, and is not reported. An event
that changes nothing is as good as happened. What is not in `fair` may happen and need not: crashes, and the restart
that nobody promised.

The search keeps the whole graph of states. In the part of it where the promise is not so it looks for *strongly
connected components*, sets of states from each of which each other can be reached (Tarjan). One is a trap if each fair
event is impossible somewhere in it, or leads on inside it: then a run can stay in it for ever and be fair.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic

from kafkalearn.base.checks import iterable, one_of
from kafkalearn.base.errors import KafkaLearnError, counted, listed, shown
from kafkalearn.base.search import Event, Model, Settings, State, Steps, checked_steps, require_model
from kafkalearn.base.trace import Trapped, no_cycle_collection, run


@dataclass(frozen=True, slots=True)
class Stuck(Generic[State, Event]):
    """What a search for a dead end or a loop has found, and how much it has looked at.

    Examples
    --------
    >>> Stuck("nothing left", "a leader", None, 165, 700)
    nothing left: in each fair run of 165 states it comes again: a leader
    """

    outcome: str  # "found", or why it ended without: "nothing left", "depth", "budget"
    promise: str
    trace: Trapped[State, Event] | None  # a shortest run into the trap, and once round it
    state_count: int  # different states found
    step_count: int  # events tried

    @property
    def loop_start(self) -> int | None:
        """The moment from which the run goes round; None in a dead end, where it ends, and where there is no run."""
        return None if self.trace is None else self.trace.loop_start

    @property
    def is_dead_end(self) -> bool:
        """Whether nothing that has to happen can happen any more."""
        return self.trace is not None and self.loop_start is None

    def __repr__(self) -> str:
        """The verdict, and the run that was found."""
        if self.trace is None:
            ended = {
                "depth": "not found so deep, more events may lead on",
                "budget": "not found, too many states",
                "nothing left": f"nothing left: in each fair run of {self.state_count:,} states it comes again",
            }
            return f"{ended[self.outcome]}: {self.promise}"
        into = len(self.trace) - 1 if self.loop_start is None else self.loop_start
        how = (
            f"after {counted(into, 'event')} nothing that has to happen can"
            if self.loop_start is None
            else f"after {counted(into, 'event')} the run goes round and round, from frame {self.loop_start}"
        )
        return f"found: {how}, and it never comes: {self.promise}\n{self.trace}"


def find_stuck(
    model: Model[Settings, State, Event],
    initial: State,
    events: Sequence[Event],
    promise: str | None = None,
    *,
    fair: Iterable[Event | type] | None = None,
    depth: int | None = None,
    budget: int = 200_000,
    at_most: Mapping[type, int] | None = None,
) -> Stuck[State, Event]:
    """The shortest fair run from some moment of which on a promise is never so, or word that there is none.

    Parameters
    ----------
    model : Model
        The simulator. Its states, in the normal form of `Model.happen`, have to repeat: what counts up without end
        (times, generations) has to be counted from now on.
    initial : State
        Where every schedule begins.
    events : sequence of Event
        What may happen.
    promise : str, optional
        A name in ``model.promises``; not needed where there is one alone. It is to come again and again.
    fair : iterable of events or types, optional
        What happens at last if it stays possible; if not given, every event without a limit.
    depth, budget : int
        The longest way in, and after about how many different states to give up; the graph of 200,000 takes about 300
        megabytes.
    at_most : mapping of type to int, or None
        How often events of a type may happen in one run. One of them that is in `fair` happens so often at last.

    Returns
    -------
    Stuck
        ``trace`` is None if there is no such run. With the outcome ``"nothing left"`` there is none at all: whatever
        happens, if it is fair, the promise comes again.

    Raises
    ------
    KafkaLearnError
        If there is no such promise, an event of `fair` is not in `events`, or a limit is not a whole number.

    Notes
    -----
    Fairness is the weak one: an event that is possible now and then, and impossible in between, need not happen.

    Examples
    --------
    Two people at a door: each waits until the other goes first.

    >>> from kafkalearn.base.search import whole
    >>> def step(_, where, event):
    ...     return "through" if event == "go first" else {"outside": "waiting"}.get(where, where)
    >>> door = whole(None, step, {"somebody is through": lambda _, where: where == "through"})
    >>> find_stuck(door, "outside", ["come", "go first"]).outcome
    'nothing left'
    >>> find_stuck(door, "outside", ["come", "go first"], fair=["come"])
    found: after 1 event nothing that has to happen can, and it never comes: somebody is through
    a run of 2 moments, the last a dead end
      0  the start
      1  come
    """
    require_model(model)
    known = {name for name, _ in model.promises}
    if promise is None and len(known) != 1:
        raise KafkaLearnError(f"say which promise: the model has {listed(sorted(known)) or 'none'}")
    name = next(iter(known)) if promise is None else one_of("promise", promise, sorted(known))
    tests = tuple(each for each in model.promises if each[0] == name)
    steps = checked_steps(replace(model, promises=tests, relabellings=()), initial, events, depth, budget, at_most)
    must = _bits(_fair(fair, steps.events, at_most or {}))
    with no_cycle_collection():
        graph = _Graph(steps, depth, budget)
        trap = graph.nearest_trap(must)
        if trap is None:
            return Stuck(graph.outcome, name, None, len(graph.keys), graph.step_count)
        way = graph.way_to(trap.entry)
        around = () if trap.is_dead_end else graph.around(trap, must)
        played = run(model.step, model.settings, initial, [steps.events[index] for index in (*way, *around)])
    trapped = Trapped(played, len(way) if around else None)
    return Stuck("found", name, trapped, len(graph.keys), graph.step_count)


def _fair(chosen: Iterable[Event | type] | None, events: tuple[Event, ...], at_most: Mapping[type, int]) -> list[int]:
    """The places of the events that happen at last if they stay possible."""
    if chosen is None:
        return [index for index, event in enumerate(events) if type(event) not in at_most]
    found: list[int] = []
    for each in iterable("fair", chosen, of="events or types of events"):
        meant = [
            at for at, event in enumerate(events) if event == each or (isinstance(each, type) and type(event) is each)
        ]
        if not meant:
            raise KafkaLearnError(f"{shown(each)} is to be fair, and is none of the events of the search")
        found += meant
    return found


def _bits(places: Iterable[int]) -> int:
    return sum(1 << place for place in {*places})


@dataclass(frozen=True, slots=True)
class _Trap:
    """States in which a fair run can stay for ever; the entry was met first."""

    entry: int
    states: frozenset[int]
    is_dead_end: bool


class _Graph:
    """All states that can be reached, by number in the order in which they were met, and what leads to which."""

    def __init__(self, steps: Steps[Settings, State, Event], depth: int | None, budget: int) -> None:
        """Look at all that can be reached within the limits."""
        self.keys = {steps.start: 0}
        self.came_from: list[tuple[int, int]] = [(-1, -1)]  # the state before, and the event
        self.after: list[tuple[tuple[int, int], ...]] = []  # by state that was gone on from: event and next state
        self.possible: list[int] = []  # the same as bits, the events alone
        self.is_kept: list[bool] = []  # by state: whether the promise is so in it
        self.step_count, self.outcome = 0, "nothing left"
        level, level_end = 0, 1
        keys = [steps.start]
        for state, key in enumerate(keys):  # grows as it is read
            if state == level_end:
                level, level_end = level + 1, len(keys)
            if level == depth or len(keys) >= budget:
                self.outcome = "depth" if level == depth else "budget"
                break
            self.is_kept.append(not steps.broken(key))
            self.step_count += len(steps.events)
            changes = []
            for index, new in steps.all_after(key):
                number = self.keys.setdefault(new, len(keys))
                if number == len(keys):
                    keys.append(new)
                    self.came_from.append((state, index))
                changes.append((index, number))
            self.after.append(tuple(changes))
            self.possible.append(_bits(index for index, _ in changes))

    def nearest_trap(self, must: int) -> _Trap | None:
        """The set of states in which a fair run stays for ever that is reached by the fewest events."""
        traps = (trap for states in self._components() if (trap := self._trap(states, must)))
        return min(traps, key=lambda trap: trap.entry, default=None)

    def _trap(self, states: list[int], must: int) -> _Trap | None:
        """A component as a trap, if a run can stay in it and be fair."""
        inside, waiting = frozenset(states), must
        for state in states:
            waiting &= self.possible[state] & ~_bits(index for index, new in self.after[state] if new in inside)
        # Where nothing that has to happen can, a run may simply end.
        ends = [state for state in states if not self.possible[state] & must]
        if ends and (min(ends) == min(states) or waiting):
            return _Trap(min(ends), inside, is_dead_end=True)
        return None if waiting else _Trap(min(states), inside, is_dead_end=False)

    def _components(self) -> Iterator[list[int]]:
        """The strongly connected components of the states in which the promise is not so; Tarjan, without recursion."""
        order: dict[int, int] = {}
        lowest: dict[int, int] = {}
        stack: list[int] = []
        on_stack: set[int] = set()
        for root in range(len(self.after)):
            if root in order or self.is_kept[root]:
                continue
            path = [(root, self._owing_after(root))]
            while path:
                state, rest = path[-1]
                if state not in order:
                    order[state] = lowest[state] = len(order)
                    stack.append(state)
                    on_stack.add(state)
                for new in rest:
                    if new not in order:
                        path.append((new, self._owing_after(new)))
                        break
                    if new in on_stack:
                        lowest[state] = min(lowest[state], order[new])
                else:
                    path.pop()
                    if path:
                        lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[state])
                    if lowest[state] == order[state]:
                        component = [stack.pop()]
                        while component[-1] != state:
                            component.append(stack.pop())
                        on_stack.difference_update(component)
                        yield component

    def _owing_after(self, state: int) -> Iterator[int]:
        """The next states in which the promise is not so either, of those that were gone on from."""
        return iter([new for _, new in self.after[state] if new < len(self.after) and not self.is_kept[new]])

    def way_to(self, state: int) -> list[int]:
        """The events from the start to a state."""
        events: list[int] = []
        while state:
            state, index = self.came_from[state]
            events.append(index)
        return events[::-1]

    def around(self, trap: _Trap, must: int) -> list[int]:
        """A way from the entry through the trap and back, on which each fair event happens or is impossible once."""
        here, events = trap.entry, list[int]()
        waiting = must & self.possible[here]
        while waiting:

            def serves(index: int, state: int, waiting: int = waiting) -> bool:
                return bool(waiting >> index & 1 or waiting & ~self.possible[state])

            for index, state in self._walk(here, trap.states, serves):
                events.append(index)
                here, waiting = state, waiting & self.possible[state] & ~(1 << index)
        if here != trap.entry or not events:
            events += [index for index, _ in self._walk(here, trap.states, lambda _, state: state == trap.entry)]
        return events

    def _walk(self, start: int, inside: frozenset[int], is_there: Callable[[int, int], bool]) -> list[tuple[int, int]]:
        """The shortest way from a state on inside a component, until a step will do."""
        came: dict[int, tuple[int, int]] = {}
        waiting = deque([start])
        while waiting:
            state = waiting.popleft()
            for index, new in self.after[state]:
                if new not in inside:
                    continue
                if is_there(index, new):
                    way = [(index, new)]
                    while state != start:
                        before, by = came[state]
                        way.append((by, state))
                        state = before
                    return way[::-1]
                if new != start and new not in came:
                    came[new] = (state, index)
                    waiting.append(new)
        raise AssertionError("a component is strongly connected: each of its states leads to each other")
