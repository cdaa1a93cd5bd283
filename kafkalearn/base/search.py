"""Breadth-first search over event schedules: the shortest run that breaks a promise.

`explore` tries every event in every state that can be reached, level by level, so the first broken promise it meets
is reached by as few events as can be. It hands back that run as a trace, to be played. `survey` goes
on, and has such a run for each promise.

How it is quick: a simulator's state is made of *parts* (a controller, a ledger, each replica's log), and a step looks
at few of them. The search runs each step on `Parts` that watch which parts are read, and remembers the answer for
all states that agree there: a fetch of broker 2 need not be worked out again because broker 3 has crashed meanwhile.
The rules are those of the simulator, written once. Promises are remembered in the same way.

States that differ by the names of the brokers alone are one (`Relabelling`), and of two schedules that lead to one
state only the first is followed. Where events are limited a state is left out, too, that was reached as early with at
least as many of each left: whatever follows from it follows there, in as few events. What no promise that was asked
looks at, a model leaves out of its parts (`kafkalearn.replication.search.model`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import itemgetter
from typing import Any, Generic, NamedTuple, TypeAlias, TypedDict, TypeVar

from kafkalearn.base.checks import iterable, mapping, whole_number
from kafkalearn.base.errors import IllegalEvent, KafkaLearnError, shown
from kafkalearn.base.promises import Promises
from kafkalearn.base.trace import Parts, Trace, no_cycle_collection, run

__all__ = [
    "Model",
    "Progress",
    "Relabelling",
    "Search",
    "Survey",
    "explore",
    "survey",
    "whole",
]


# Answers remembered by what was looked at to find them.
#
# A state is a *key*: the tuple of its parts' numbers, a number belonging to one part at one place. What a function
# answers for some parts is kept in a tree. A node is ``[place, branches]``: look at the key's number there, and take
# that branch. A leaf is ``[LEAF, answer]``. So an answer is found again by just those parts that the function read when
# it was worked out, in the order in which it read them: which part it reads first, and which next, depends on nothing
# else.

Key: TypeAlias = tuple[int, ...]
Node: TypeAlias = list[object]  # [place, branches], or [LEAF, answer]

LEAF = -1
NOTHING = -2  # in place of the first place, in a tree that has learnt nothing yet


class Watched(Parts):
    """Parts that note which parts are read, in order, and which are written."""

    __slots__ = ("reads", "written")

    def __init__(self, parts: Iterable[Hashable]) -> None:
        """Begin with the parts as they are before the event."""
        super().__init__(parts)
        self.reads: dict[int, None] = {}
        self.written: dict[int, Hashable] = {}

    def read(self, place: int) -> Hashable:
        """The part at a place; one that was written in this step is not looked up again."""
        if place in self.written:
            return self.written[place]
        self.reads[place] = None
        return self._parts[place]

    def write(self, place: int, part: Hashable) -> None:
        """Replace the part at a place."""
        self.written[place] = part


class PartNumbers:
    """The numbers of parts: each part at each place has its own."""

    def __init__(self, place_count: int) -> None:
        """Begin with no part known."""
        self.by_place: list[dict[Hashable, int]] = [{} for _ in range(place_count)]
        self.parts: list[Hashable] = []
        self.places: list[int] = []  # by number
        self.blocked: list[int] = []  # by number: the events that make no sense because of this part, as bits
        self.blocking: list[int] = []  # the places where such parts are

    def number(self, place: int, part: Hashable) -> int:
        """The number of a part at a place, a new one if it was not seen there before."""
        known = self.by_place[place]
        number = known.get(part)
        if number is None:
            number = known[part] = len(self.parts)
            self.parts.append(part)
            self.places.append(place)
            self.blocked.append(0)
        return number

    def block(self, number: int, event: int) -> None:
        """Note that an event, by its index, makes no sense in any state with this part."""
        self.blocked[number] |= 1 << event
        if self.places[number] not in self.blocking:
            self.blocking.append(self.places[number])

    def key(self, parts: Iterable[Hashable]) -> Key:
        """The key of a state."""
        return tuple(self.number(place, part) for place, part in enumerate(parts))

    def parts_of(self, key: Key) -> list[Hashable]:
        """The parts of a key."""
        return [*map(self.parts.__getitem__, key)]


def new_tree() -> Node:
    """A tree that has learnt nothing yet."""
    return [NOTHING, None]


def learn(tree: Node, key: Key, reads: Iterable[int], answer: object) -> None:
    """Let a tree know the answer for every key that agrees with this one in what was read."""
    node: list[Any] = tree
    for place in reads:
        if node[0] == NOTHING:
            node[:] = place, {}
        # Looking elsewhere after seeing the same means that the answer depends on something that is no part.
        assert node[0] == place, f"no pure function of the parts: it looked at place {place}, before at {node[0]}"
        branches, number = node[1], key[place]
        if number not in branches:
            branches[number] = new_tree()
        node = branches[number]
    node[:] = LEAF, answer


# What a search has to know of a simulator.

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


# How far a search goes, and what it returns.


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a search has come."""

    depth: int  # events in the schedules it is looking at
    state_count: int  # different states found
    step_count: int  # events tried


class Limits(TypedDict, total=False):
    """How far a search goes, as `explore` takes it by name."""

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
    >>> Search("budget", None, (), 8, 165, 700)
    not found, too many states: none of 165 states, up to 8 events deep, breaks a promise; `go_on` looks further
    """

    outcome: str  # "found", or why it ended without: "nothing left", "depth", "budget"
    trace: Trace[State, Event] | None  # a shortest run that breaks a promise
    broken: tuple[str, ...]  # the promises that its last state breaks
    depth: int  # events in the longest schedules looked at
    state_count: int  # different states found
    step_count: int  # events tried
    _rest: _Open[Any, State, Event] | None = field(default=None, repr=False, compare=False)  # where it stopped

    def go_on(
        self,
        *,
        depth: int | None = None,
        budget: int = 1_000_000,
        progress: Callable[[Progress], None] | None = None,
    ) -> Search[State, Event]:
        """The same search from where it stopped: what one with the larger limits would have found.

        Parameters
        ----------
        depth : int or None
            The longest schedule to try, counted from the start.
        budget : int
            After about how many more states to give up.
        progress : callable or None
            As for `explore`.

        Raises
        ------
        KafkaLearnError
            If there is nothing to go on with: it has found something, or all was looked at; or if it was gone on with
            before, for what is remembered is used up by that.

        Examples
        --------
        >>> below = {"below the limit": lambda limit, number: number < limit}
        >>> model = whole(20, lambda limit, number, event: number + event, below)
        >>> first = explore(model, 0, [1, 2], budget=8)
        >>> first.outcome, first.go_on(budget=8).outcome, first.state_count
        ('budget', 'budget', 8)
        >>> explore(model, 0, [1, 2], budget=8).go_on().trace == explore(model, 0, [1, 2]).trace
        True
        """
        if self._rest is None or self.outcome not in {"budget", "depth"}:
            raise KafkaLearnError(f"there is nothing to go on with: the search has ended with {self.outcome!r}")
        if self._rest.found.step_count != self.step_count:
            raise KafkaLearnError("this search was gone on with before: go on with what that returned")
        _check_limits(depth, budget)
        with no_cycle_collection():
            return self._rest.searched(depth, self.state_count + budget, progress)

    def __repr__(self) -> str:
        """The verdict, and the run that was found."""
        if self.trace is None:
            ended = {"depth": f"not found in {self.depth} events", "budget": "not found, too many states"}
            so_far, further = f"{self.state_count:,} states", ""
            if self.outcome == "budget":
                so_far, further = f"{so_far}, up to {self.depth} events deep,", "; `go_on` looks further"
            return f"{ended.get(self.outcome, self.outcome)}: none of {so_far} breaks a promise{further}"
        return f"found: {'; '.join(self.broken)}\n{self.trace}"


# Steps and promises of a model, remembered, and the one key that a state has under all its names.

Changes: TypeAlias = tuple[int, tuple[tuple[int, int], ...]]
"""The places a step replaces parts at, as bits; and place and new number of each."""

NO_CHANGE: Changes = (0, ())


class Steps(Generic[Settings, State, Event]):
    """What each event leads to, and which promises a state breaks.

    To a model's parts comes one more, at the last place: how often each limited event may still happen.
    """

    def __init__(
        self, model: Model[Settings, State, Event], events: tuple[Event, ...], at_most: dict[type, int], initial: State
    ) -> None:
        """Begin with nothing remembered."""
        self.model, self.events, self.initial = model, events, initial
        self.start_parts = (*model.split(initial), tuple(at_most.values()))
        self.limit_of = [list(at_most).index(type(event)) if type(event) in at_most else None for event in events]
        self.numbers = PartNumbers(len(self.start_parts))
        self.trees = [new_tree() for _ in events]
        self.promise_trees = [new_tree() for _ in model.promises]
        self.looked_at = [0] * len(model.promises)  # by promise: all places it has ever looked at, as bits
        self.namings = [_Naming(self.numbers, each) for each in _usable(model.relabellings, events)]
        self.possible, self.spend, self.at_stake = cache(self._possible), cache(self._spend), cache(self._at_stake)
        self.cover = cache(self._cover)
        self.best_namings = cache(self._best_namings)
        self.start = self.own(self.numbers.key(self.start_parts))

    def _possible(self, senseless: int) -> tuple[tuple[int, Node, bool], ...]:
        """The events that are not known to make no sense: index, tree, and whether they are limited."""
        return tuple(
            (index, tree, self.limit_of[index] is not None)
            for index, tree in enumerate(self.trees)
            if not senseless >> index & 1
        )

    def work_out(self, index: int, key: Key) -> Changes:
        """What an event changes in the state of this key, worked out and remembered."""
        watched = Watched(self.numbers.parts_of(key))
        try:
            self.model.happen(watched, self.events[index])
            changes = self._changes(watched, key)
        except IllegalEvent:
            changes = NO_CHANGE
            if len(watched.reads) == 1:
                self.numbers.block(key[next(iter(watched.reads))], index)
        learn(self.trees[index], key, watched.reads, changes)
        return changes

    def _changes(self, watched: Watched, key: Key) -> Changes:
        places = 0
        changes: list[tuple[int, int]] = []
        for place, part in watched.written.items():
            number = self.numbers.number(place, part)
            # A part written back as it was is no change; if it was not read, the next state may differ there.
            if number != key[place] or place not in watched.reads:
                places |= 1 << place
                changes.append((place, number))
        return places, tuple(changes)

    def _allowance(self, index: int, left: tuple[int, ...]) -> tuple[int, ...] | None:
        """What is left of the limited events after this one; None: it may not happen again."""
        limit = self.limit_of[index]
        if limit is None:
            return left
        return (*left[:limit], left[limit] - 1, *left[limit + 1 :]) if left[limit] > 0 else None

    def _spend(self, spent: tuple[int, int]) -> int | None:
        """The number of the allowance after an event, from the event and the number before; None as above."""
        index, number = spent
        before: Any = self.numbers.parts[number]
        left = self._allowance(index, before)
        if left is None:
            self.numbers.block(number, index)
            return None
        return self.numbers.number(len(self.start_parts) - 1, left)

    def _cover(self, known_and_new: tuple[tuple[int, ...], int]) -> tuple[int, ...] | None:
        """The allowances that a state is known with, and one more; None: one of them leaves as much of everything."""
        known, new = known_and_new
        parts: list[Any] = self.numbers.parts
        if any(_leaves_as_much(parts[each], parts[new]) for each in known):
            return None
        return (*(each for each in known if not _leaves_as_much(parts[new], parts[each])), new)

    def after(self, index: int, parts: tuple[Hashable, ...]) -> tuple[Hashable, ...] | None:
        """The parts after an event, not remembered; None: it makes no sense."""
        allowed: Any = parts[-1]
        inner, left = Parts(parts[:-1]), self._allowance(index, allowed)
        try:
            self.model.happen(inner, self.events[index])
        except IllegalEvent:
            return None
        return None if left is None else (*inner.all(), left)

    def broken(self, key: Key, replaced: int = -1) -> tuple[str, ...]:
        """The names of the promises that a state breaks; only those count that look where parts were replaced."""
        failed: list[str] = []
        at_stake: tuple[tuple[int, list[Any]], ...] = self.at_stake(replaced)
        for index, (place, branches) in at_stake:
            try:
                while place >= 0:
                    place, branches = branches[key[place]]
            except KeyError:
                place = NOTHING
            if not (branches if place == LEAF else self._test(index, key)):
                failed.append(self.model.promises[index][0])
        return tuple(dict.fromkeys(failed)) if failed else ()

    def _at_stake(self, replaced: int) -> tuple[tuple[int, Node], ...]:
        """The promises, by index, that have ever looked at one of these places: the others hold as they did."""
        at_stake = (index for index, places in enumerate(self.looked_at) if replaced & places or not places)
        return tuple((index, self.promise_trees[index]) for index in at_stake)

    def all_after(self, key: Key) -> Iterator[tuple[int, Key]]:
        """What each event that changes the state of this key leads to: its index, and the new key."""
        for index in range(len(self.events)):
            new = self.after_one(index, key)
            if new is not None:
                yield index, new

    def after_one(self, index: int, key: Key) -> Key | None:
        """The key after an event, as it is named; None: it makes no sense there, or changes nothing."""
        node: list[Any] = self.trees[index]
        place, branches = node
        try:
            while place >= 0:
                place, branches = branches[key[place]]
        except KeyError:
            place = NOTHING
        replaced, changes = branches if place == LEAF else self.work_out(index, key)
        if not replaced:
            return None
        parts = list(key)
        for at, number in changes:
            parts[at] = number
        if self.limit_of[index] is not None:
            left = self.spend((index, key[-1]))
            if left is None:
                return None
            parts[-1] = left
        new = tuple(parts)
        return None if new == key else new

    def _test(self, index: int, key: Key) -> bool:
        watched = Watched(self.numbers.parts_of(key))
        holds = self.model.promises[index][1](watched)
        learn(self.promise_trees[index], key, watched.reads, holds)
        looked_at = self.looked_at[index] | sum(1 << place for place in watched.reads)
        if looked_at != self.looked_at[index]:
            self.looked_at[index] = looked_at
            self.at_stake.cache_clear()
        return holds

    def own(self, key: Key) -> Key:
        """The key under which a state is kept: the smallest of all the keys it has under the relabellings."""
        if not self.namings:
            return key
        namings = self.best_namings(key[0])
        return key if namings == ONLY_AS_IT_IS else min([naming(key) for naming in namings])

    def _best_namings(self, first: int) -> tuple[Callable[[Key], Key], ...]:
        """The namings under which the first part of a key has its smallest number: no other's key is smallest."""
        namings = (_as_it_is, *self.namings)
        if any(naming.places[0] != 0 for naming in self.namings):
            return namings  # another part may come first: each has to be tried
        firsts = [first, *(naming[first] for naming in self.namings)]
        return tuple(naming for naming, number in zip(namings, firsts, strict=True) if number == min(firsts))


def _leaves_as_much(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return all(mine >= its for mine, its in zip(one, other, strict=True))


def _usable(relabellings: tuple[Relabelling, ...], events: tuple[Event, ...]) -> list[Relabelling]:
    known = set(events)
    return [each for each in relabellings if set(map(each.event, events)) == known]


def _as_it_is(key: Key) -> Key:
    return key


ONLY_AS_IT_IS = (_as_it_is,)


class _Naming(dict[int, int]):
    """A relabelling of keys; a dictionary of part numbers, each worked out when it is first asked for."""

    def __init__(self, numbers: PartNumbers, relabelling: Relabelling) -> None:
        super().__init__()
        self.last_place = len(relabelling.places)  # there are no names there
        self.places = (*relabelling.places, self.last_place)
        self.numbers, self.part = numbers, relabelling.part
        self.ordered = itemgetter(*sorted(range(len(self.places)), key=lambda place: self.places[place]))

    def __call__(self, key: Key) -> Key:
        return tuple(map(self.__getitem__, self.ordered(key)))

    def __missing__(self, number: int) -> int:
        place, part = self.numbers.places[number], self.numbers.parts[number]
        moved = part if place == self.last_place else self.part(place, part)
        self[number] = found = self.numbers.number(self.places[place], moved)
        return found


# The search itself: level by level, each state once.

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
        After about how many different states to give up; a million take a few hundred megabytes, which a result that
        can go on (`Search.go_on`) keeps.
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
        If `depth`, `budget` or a limit is not a whole number, or too small.

    Examples
    --------
    >>> def step(limit, number, event):
    ...     return number * 2 if event == "double" else number + 1
    >>> grow = whole(20, step, {"below the limit": lambda limit, number: number < limit})
    >>> found = explore(grow, 1, ["double", "add"])
    >>> found.outcome, found.broken, [frame.state for frame in found.trace]
    ('found', ('below the limit',), [1, 2, 4, 8, 16, 32])
    """
    steps = checked_steps(model, initial, events, depth, budget, at_most)
    with no_cycle_collection():
        return _Open(steps, 1).searched(depth, budget, progress)


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
    >>> def step(limit, number, event):
    ...     return min(number * 2 if event == "double" else number + 1, limit)
    >>> promises = {"no 12": lambda _, number: number != 12, "no 5": lambda _, number: number != 5}
    >>> found = survey(whole(20, step, promises), 1, ["double", "add"])
    >>> found.outcome, {name: [frame.state for frame in trace] for name, trace in found.traces.items()}
    ('found', {'no 5': [1, 2, 4, 5], 'no 12': [1, 2, 3, 6, 12]})
    """
    steps = checked_steps(model, initial, events, depth, budget, at_most)
    with no_cycle_collection():
        found = _Open(steps, len({name for name, _ in model.promises})).search(depth, budget, progress)
        traces = {name: _run(steps, found.path(bad)) for name, bad in found.first.items()}
    return Survey(found.outcome, traces, found.depth, found.state_count, found.step_count)


def checked_steps(
    model: Model[Settings, State, Event],
    initial: State,
    events: Sequence[Event],
    depth: int | None,
    budget: int,
    at_most: Mapping[type, int] | None,
) -> Steps[Settings, State, Event]:
    require_model(model)
    _check_limits(depth, budget)
    return Steps(model, tuple(iterable("events", events, of="events")), checked_limits(at_most), initial)


def require_model(model: object) -> None:
    """Refuse what is no model."""
    if not isinstance(model, Model):
        raise KafkaLearnError(f"model must be a Model, as `whole` makes it of a step, got {shown(model)}")


def checked_limits(at_most: object) -> dict[type, int]:
    """How often events of each type may happen.

    >>> checked_limits({"Fetch": 2})
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.KafkaLearnError: at_most must be a dict from type to how often, got 'Fetch' for a type
    """
    given = mapping("at_most", {} if at_most is None else at_most, of="type to how often")
    limits: dict[type, int] = {}
    for kind, count in given.items():
        if not isinstance(kind, type):
            raise KafkaLearnError(f"at_most must be a dict from type to how often, got {shown(kind)} for a type")
        limits[kind] = whole_number(f"at_most[{kind.__name__}]", count, at_least=0)
    return limits


def _check_limits(depth: int | None, budget: int) -> None:
    whole_number("budget", budget, at_least=1)
    if depth is not None:
        whole_number("depth", depth, at_least=0)


class _Found:
    """The states found so far, by fingerprint: the hash of a key, 64 bits, an eighth of the memory.

    Two states with the same fingerprint would be taken for one. With a million states that happens about once in
    thirty million searches.
    """

    def __init__(self, start: Key, wanted: int) -> None:
        self.start, self.wanted = hash(start), wanted
        # The state from which each state was first reached. A key that a relabelling turns into a state's own has None.
        self.reached_from: dict[int, int | None] = {self.start: None}
        self.outcome, self.depth = "nothing left", 0  # why the search ended, and how many events deep
        # By all parts of a state but what is left of the limited events: of how many sets of them none covers another.
        self.left_with: dict[int, tuple[int, ...]] = {hash(start[:-1]): (start[-1],)}
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


class _Open(Generic[Settings, State, Event]):
    """A search that may go on: the states of this depth that it has not gone on from, and those of the next."""

    def __init__(self, steps: Steps[Settings, State, Event], wanted: int) -> None:
        """Begin; the search is to end when so many promises are broken."""
        self.steps, self.found = steps, _Found(steps.start, wanted)
        self.here: list[Key] = []
        self.further = [steps.start]
        if broken := steps.broken(steps.start):
            self.found.meet(broken, self.found.start)

    def searched(
        self, depth: int | None, budget: int, progress: Callable[[Progress], None] | None
    ) -> Search[State, Event]:
        """What is found within these limits, counted from the start."""
        found = self.search(depth, budget, progress)
        trace = None if found.bad is None else _run(self.steps, found.path(found.bad))
        return Search(found.outcome, trace, found.broken, found.depth, found.state_count, found.step_count, self)

    def search(self, depth: int | None, budget: int, progress: Callable[[Progress], None] | None) -> _Found:
        """Look on until so many promises are broken as are wanted, or a limit is met."""
        found = self.found
        while found.bad is None and found.state_count < budget and (self.here or self.further):
            if not self.here:
                if found.depth == depth:
                    break
                found.depth += 1
                self.here, self.further = self.further, list[Key]()
            if progress:
                progress(Progress(found.depth, found.state_count, found.step_count))
            gone = _go_on(self.steps, found, self.here[:PROGRESS_EVERY], budget, self.further)
            del self.here[:gone]
        is_done, is_between = not (self.here or self.further), not self.here
        if found.bad is not None:
            found.outcome = "found"
        else:
            found.outcome = "nothing left" if is_done else "depth" if is_between and found.depth == depth else "budget"
        return found


def _go_on(
    steps: Steps[Settings, State, Event], found: _Found, frontier: list[Key], budget: int, new_states: list[Key]
) -> int:
    """Add the new states one event further on; ends early at the first that breaks a promise, or with the budget.

    Returns how many states of the frontier it has gone on from.
    """
    # This loop is the whole cost of a search, so it is written out: everything in it is looked up beforehand.
    reached_from = found.reached_from
    possible: Callable[[int], tuple[tuple[int, list[Any], bool], ...]] = steps.possible
    blocked, blocking = steps.numbers.blocked, steps.numbers.blocking
    work_out, spend, own, broken = steps.work_out, steps.spend, steps.own, steps.broken
    left_with, cover, has_limits = found.left_with, steps.cover, any(each is not None for each in steps.limit_of)
    for gone, key in enumerate(frontier, start=1):
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
            if has_limits:
                rest = hash(new[:-1])
                covered = cover((left_with.get(rest, ()), new[-1]))
                if covered is None:
                    reached_from[fingerprint] = None
                    continue
                left_with[rest] = covered
            reached_from[fingerprint] = here
            new_states.append(new)
            found.state_count += 1
            names = broken(after, replaced)
            if names and found.meet(names, fingerprint):
                return gone
        if found.state_count >= budget:
            return gone
    return len(frontier)


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
