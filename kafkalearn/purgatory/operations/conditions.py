"""What an operation waits for: a condition on the facts of the broker, such as high watermarks, bytes, members.

Facts are named numbers, such as ``"HW orders-0"``; a condition reads them and never changes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.fields import Checked

Facts: TypeAlias = tuple[tuple[str, int], ...]
"""Each fact once, sorted by name; a fact that is not there is 0."""


def fact(facts: Facts, name: str) -> int:
    """The value of a fact; 0 if it is not there.

    >>> fact((("HW orders-0", 7),), "HW orders-0"), fact((), "HW orders-0")
    (7, 0)
    """
    return dict(facts).get(name, 0)


def with_fact(facts: Facts, name: str, value: int) -> Facts:
    """The facts with a new value for one of them.

    >>> with_fact((("b", 1),), "a", 2)
    (('a', 2), ('b', 1))
    """
    return tuple(sorted({**dict(facts), name: value}.items()))


@dataclass(frozen=True, slots=True)
class Reached(Checked):
    """Every fact named has reached its number, as DelayedProduce waits for the high watermarks of its partitions."""

    required: tuple[tuple[str, int], ...]

    def holds(self, facts: Facts) -> bool:
        """Whether the condition is true now."""
        return all(fact(facts, name) >= number for name, number in self.required)

    def __str__(self) -> str:
        """The condition in words."""
        return " and ".join(f"{name} >= {number}" for name, number in self.required)


@dataclass(frozen=True, slots=True)
class SumReached(Checked):
    """What the facts named have grown by adds up to a minimum, as DelayedFetch waits for bytes."""

    counted: tuple[tuple[str, int], ...]  # (fact, what it was where the fetch starts)
    minimum: int

    def holds(self, facts: Facts) -> bool:
        """Whether the condition is true now."""
        return sum(fact(facts, name) - before for name, before in self.counted) >= self.minimum

    def __str__(self) -> str:
        """The condition in words."""
        names = " + ".join(name if before == 0 else f"{name} - {before}" for name, before in self.counted)
        return f"{names} >= {self.minimum}"


@dataclass(frozen=True, slots=True)
class CaughtUp(Checked):
    """One fact has reached another, which may change as well, as DelayedJoin waits for all members that there are."""

    name: str
    target: str  # a fact, too

    def holds(self, facts: Facts) -> bool:
        """Whether the condition is true now."""
        return fact(facts, self.name) >= fact(facts, self.target)

    def __str__(self) -> str:
        """The condition in words."""
        return f"{self.name} >= {self.target}"


@dataclass(frozen=True, slots=True)
class Never:
    """Nothing completes it but time: the initial delay of an empty group."""

    def holds(self, facts: Facts) -> bool:
        """Never."""
        return False

    def __str__(self) -> str:
        """The condition in words."""
        return "no event"


Condition: TypeAlias = Reached | SumReached | CaughtUp | Never
