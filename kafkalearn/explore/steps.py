"""Steps and promises of a model, remembered, and the one key that a state has under all its names."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache
from operator import itemgetter
from typing import Any, Generic, TypeAlias

from kafkalearn.errors import IllegalEvent
from kafkalearn.explore.memory import LEAF, NOTHING, Key, Node, PartNumbers, Watched, learn, new_tree
from kafkalearn.explore.model import Event, Model, Relabelling, Settings, State
from kafkalearn.parts import Parts

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
