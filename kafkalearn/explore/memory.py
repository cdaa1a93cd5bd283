"""Answers remembered by what was looked at to find them.

A state is a *key*: the tuple of its parts' numbers, a number belonging to one part at one place. What a function
answers for some parts is kept in a tree. A node is ``[place, branches]``: look at the key's number there, and take that
branch. A leaf is ``[LEAF, answer]``. So an answer is found again by just those parts that the function read when it
was worked out, in the order in which it read them: which part it reads first, and which next, depends on nothing
else.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, TypeAlias

from kafkalearn.parts import Parts

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
        return [self.parts[number] for number in key]


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
