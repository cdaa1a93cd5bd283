"""What a search for better settings finds: changes, solutions made of them, and the whole answer."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log

from kafkalearn.group.scenario.probes import CostRow
from kafkalearn.group.world.outcome import Outcome
from kafkalearn.group.world.settings import Settings
from kafkalearn.versions.units import value_text

SIZE_OF_STATIC = log(10)  # counts as much as a number made ten times what it was: it is another way to deploy


@dataclass(frozen=True, slots=True)
class Change:
    """One setting with another value."""

    setting: str
    before: int | None  # None: no ``group.instance.id``
    after: int

    @property
    def size(self) -> float:
        """How large it is: the logarithm of how many times more or less; from or to 0 it is larger than any other."""
        if self.before is None:
            return SIZE_OF_STATIC
        if not self.before or not self.after:
            return inf
        return abs(log(self.after / self.before))

    def __str__(self) -> str:
        """In words."""
        if self.setting == "group.instance.id":
            return "group.instance.id: one for each member"
        return f"{self.setting}: {value_text(self.setting, self.before)} -> {value_text(self.setting, self.after)}"


@dataclass(frozen=True)
class Solution:
    """Changes that avoid what can be avoided, and what came of the scenario with them."""

    changes: tuple[Change, ...]
    settings: Settings
    outcome: Outcome

    @property
    def size(self) -> float:
        """All changes together."""
        return sum(change.size for change in self.changes)

    def __str__(self) -> str:
        """The changes in words."""
        return " and ".join(map(str, self.changes)) or "no change"


@dataclass(frozen=True)
class Finding:
    """The answer of `find_change`."""

    before: Outcome
    avoidable_count: int  # rebalances that the changes were to avoid
    best: Solution | None  # the smallest; None: nothing that was tried avoids them
    others: tuple[Solution, ...]  # for each other setting that can do it alone, its smallest change
    tried_count: int
    costs: tuple[CostRow, ...]  # rows: what the best costs when something really happens

    def __repr__(self) -> str:
        """The whole answer in a few lines."""
        return str(self)

    def __str__(self) -> str:
        """The whole answer in a few lines."""
        if not self.avoidable_count:
            return "No rebalance can be avoided here: nothing to change."
        if self.best is None:
            return f"{self.avoidable_count} to avoid; none of {self.tried_count} combinations avoids them."
        unread = f"{self.before.records_not_read:,} -> {self.best.outcome.records_not_read:,}"
        lines = [f"{self.best}", f"  rebalances avoided: {self.avoidable_count}; records not read meanwhile: {unread}"]
        lines += [f"  or {other}" for other in self.others]
        lines += [
            f"  after {row['after']} unread for {_seconds(row['unread_before_ms'])} -> "
            f"{_seconds(row['unread_after_ms'])}"
            for row in self.costs
        ]
        return "\n".join(lines)


def _seconds(ms: int | None) -> str:
    return "ever" if ms is None else f"{ms / 1000:.1f} s"
