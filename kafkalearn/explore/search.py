"""The search itself: level by level, each state once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from kafkalearn.arguments import whole_number
from kafkalearn.explore.memory import LEAF, NOTHING, Key
from kafkalearn.explore.model import Event, Model, Progress, Search, Settings, State, Survey
from kafkalearn.explore.steps import Steps
from kafkalearn.garbage import no_search
from kafkalearn.trace import Trace, run

PROGRESS_EVERY = 20_000  # states gone on from


def explore(
    model: Model[Settings, State, Event],
    initial: State,
    events: Sequence[Event],
    *,
    depth: int | None = None,
    budget: int = 1_000_000,
    at_most: Mapping[type, int] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Search[State, Event]:
    """The shortest run over `events` that breaks a promise, or word that there is none as far as was looked.

    Parameters
    ----------
    model : Model
        The simulator, and its promises.
    initial : State
        Where every schedule begins.
    events : sequence of Event
        What may happen, in any order and any number of times; where an event makes no sense it is left out.
    depth : int or None
        The longest schedule to try; None: until nothing new is found or the budget is spent.
    budget : int
        After about how many different states to give up; a million take a few hundred megabytes.
    at_most : mapping of type to int, or None
        How often events of a type may happen in one schedule: ``{BrokerCrashed: 1}``.
    progress : callable or None
        Called with a `Progress` at each new depth, and every 20,000 states in between.

    Returns
    -------
    Search
        ``trace`` is None if no promise was broken. If the outcome is ``"nothing left"``, none can be: every state
        that these events can lead to was looked at.

    Raises
    ------
    KafkaLearnError
        If `depth`, `budget` or a limit is no whole number, or too small.

    Examples
    --------
    >>> from kafkalearn.explore import whole
    >>> def step(limit, number, event):
    ...     return number * 2 if event == "double" else number + 1
    >>> grow = whole(20, step, {"below the limit": lambda limit, number: number < limit})
    >>> found = explore(grow, 1, ["double", "add"])
    >>> found.outcome, found.broken, [frame.state for frame in found.trace]
    ('found', ('below the limit',), [1, 2, 4, 8, 16, 32])
    """
    steps = _checked_steps(model, initial, events, depth, budget, at_most)
    with no_search():
        found, frontier, level = _search(steps, 1, depth, budget, progress)
        trace = None if found.bad is None else _run(steps, found.path(found.bad))
        outcome = _outcome(found, frontier, level == depth)
    return Search(outcome, trace, found.broken, level, found.state_count, found.step_count)


def survey(
    model: Model[Settings, State, Event],
    initial: State,
    events: Sequence[Event],
    *,
    depth: int | None = None,
    budget: int = 1_000_000,
    at_most: Mapping[type, int] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Survey[State, Event]:
    """For each promise the shortest run that breaks it, all in one search; arguments as for `explore`.

    Returns
    -------
    Survey
        ``traces`` has the same run for each promise as `explore` with this promise alone; a promise that is not there
        was not broken. If the outcome is ``"nothing left"`` or ``"found"``, it cannot be.

    Raises
    ------
    KafkaLearnError
        As `explore`.

    Examples
    --------
    >>> from kafkalearn.explore import whole
    >>> def step(limit, number, event):
    ...     return min(number * 2 if event == "double" else number + 1, limit)
    >>> promises = {"no 12": lambda _, number: number != 12, "no 5": lambda _, number: number != 5}
    >>> found = survey(whole(20, step, promises), 1, ["double", "add"])
    >>> found.outcome, {name: [frame.state for frame in trace] for name, trace in found.traces.items()}
    ('found', {'no 5': [1, 2, 4, 5], 'no 12': [1, 2, 3, 6, 12]})
    """
    steps = _checked_steps(model, initial, events, depth, budget, at_most)
    with no_search():
        wanted = len({name for name, _ in model.promises})
        found, frontier, level = _search(steps, wanted, depth, budget, progress)
        traces = {name: _run(steps, found.path(bad)) for name, bad in found.first.items()}
        outcome = _outcome(found, frontier, level == depth)
    return Survey(outcome, traces, level, found.state_count, found.step_count)


def _checked_steps(
    model: Model[Settings, State, Event],
    initial: State,
    events: Sequence[Event],
    depth: int | None,
    budget: int,
    at_most: Mapping[type, int] | None,
) -> Steps[Settings, State, Event]:
    whole_number("budget", budget, at_least=1)
    if depth is not None:
        whole_number("depth", depth, at_least=0)
    limits = {kind: whole_number(f"at_most[{kind.__name__}]", n, at_least=0) for kind, n in (at_most or {}).items()}
    return Steps(model, tuple(events), limits, initial)


class _Found:
    """The states found so far, by fingerprint: the hash of a key, 64 bits, an eighth of the memory.

    Two states with the same fingerprint would be taken for one. With a million states that happens about once in
    thirty million searches.
    """

    def __init__(self, start: Key, wanted: int) -> None:
        self.start, self.wanted = hash(start), wanted
        # The state from which each state was first reached. A key that a relabelling turns into a state's own has None.
        self.reached_from: dict[int, int | None] = {self.start: None}
        self.state_count = 1
        self.step_count = 0
        self.broken: tuple[str, ...] = ()
        self.bad: int | None = None  # the state that ends the search
        self.first: dict[str, int] = {}  # by promise: the first state that breaks it

    def meet(self, broken: tuple[str, ...], state: int) -> bool:
        """Note what a state breaks; whether as many promises are broken now as are wanted."""
        for name in broken:
            self.first.setdefault(name, state)
        if len(self.first) < self.wanted:
            return False
        self.bad, self.broken = state, broken
        return True

    def path(self, bad: int) -> list[int]:
        """The states that lead to a bad one, without the first."""
        states = [bad]
        while states[-1] != self.start:
            before = self.reached_from[states[-1]]
            assert before is not None, "a state's own key was reached from another's"
            states.append(before)
        return states[-2::-1]


def _search(
    steps: Steps[Settings, State, Event],
    wanted: int,
    depth: int | None,
    budget: int,
    progress: Callable[[Progress], None] | None,
) -> tuple[_Found, list[Key], int]:
    """What was found until so many promises are broken, what is left to go on from, and how many events deep."""
    found, level, frontier = _Found(steps.start, wanted), 0, [steps.start]
    broken = steps.broken(steps.start)
    if broken:
        found.meet(broken, found.start)
    while frontier and found.bad is None and level != depth and found.state_count < budget:
        level += 1
        next_frontier: list[Key] = []
        for begin in range(0, len(frontier), PROGRESS_EVERY):
            if progress:
                progress(Progress(level, found.state_count, found.step_count))
            next_frontier += _go_on(steps, found, frontier[begin : begin + PROGRESS_EVERY], budget)
            if found.bad is not None or found.state_count >= budget:
                break
        frontier = next_frontier
    return found, frontier, level


def _outcome(found: _Found, frontier: list[Key], is_at_depth: bool) -> str:
    if found.bad is not None:
        return "found"
    if not frontier:
        return "nothing left"
    return "depth" if is_at_depth else "budget"


def _go_on(steps: Steps[Settings, State, Event], found: _Found, frontier: list[Key], budget: int) -> list[Key]:
    """The new states one event further on; ends early at the first that breaks a promise, or with the budget."""
    # This loop is the whole cost of a search, so it is written out: everything in it is looked up beforehand.
    reached_from = found.reached_from
    possible: Callable[[int], tuple[tuple[int, list[Any], bool], ...]] = steps.possible
    blocked, blocking = steps.numbers.blocked, steps.numbers.blocking
    work_out, spend, own, broken = steps.work_out, steps.spend, steps.own, steps.broken
    new_states: list[Key] = []
    for key in frontier:
        senseless = 0
        for place in blocking:
            senseless |= blocked[key[place]]
        events, here = possible(senseless), hash(key)
        found.step_count += len(events)
        for index, (place, branches), is_limited in events:
            try:
                while place >= 0:
                    place, branches = branches[key[place]]
            except KeyError:
                place = NOTHING
            replaced, changes = branches if place == LEAF else work_out(index, key)
            if not replaced:
                continue
            parts = list(key)
            for place, number in changes:
                parts[place] = number
            if is_limited:
                left = spend((index, key[-1]))
                if left is None:
                    continue
                parts[-1] = left
            after = tuple(parts)
            fingerprint = hash(after)
            if fingerprint in reached_from:
                continue
            new = own(after)
            if new is not after:
                reached_from[fingerprint] = None
                fingerprint = hash(new)
                if fingerprint in reached_from:
                    continue
            reached_from[fingerprint] = here
            new_states.append(new)
            found.state_count += 1
            names = broken(after, replaced)
            if names and found.meet(names, fingerprint):
                return new_states
        if found.state_count >= budget:
            break
    return new_states


def _run(steps: Steps[Settings, State, Event], path: list[int]) -> Trace[State, Event]:
    """The run that leads along these states, played with the simulator's own step.

    The states found are named in their own way each, so the events are found again one by one.
    """
    parts: tuple[Hashable, ...] = steps.start_parts
    events: list[Event] = []
    for fingerprint in path:
        event, parts = _event_to(steps, parts, fingerprint)
        events.append(event)
    return run(steps.model.step, steps.model.settings, steps.initial, events)


def _event_to(
    steps: Steps[Settings, State, Event], parts: tuple[Hashable, ...], fingerprint: int
) -> tuple[Event, tuple[Hashable, ...]]:
    for index, event in enumerate(steps.events):
        after = steps.after(index, parts)
        if after is not None and hash(steps.own(steps.numbers.key(after))) == fingerprint:
            return event, after
    raise AssertionError("the model's relabellings change a rule: no event leads on in the names of the run")
