"""What a rebalance costs, and how even it leaves the group: pure functions of assignments, with rows for a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from kafkalearn.arguments import one_of
from kafkalearn.assignor.assignment import Assignment

PROTOCOLS = ("eager", "cooperative")
"""How a change is carried out: everybody gives everything up first, or only what moves is given up."""


@dataclass(frozen=True, slots=True)
class Load:
    """How the partitions are spread over the members."""

    member_count: int
    partition_count: int
    fewest: int  # partitions of the member with the fewest
    most: int
    idle_count: int  # members without a partition

    @property
    def spread(self) -> int:
        """How many more the busiest member has than the idlest."""
        return self.most - self.fewest

    def rows(self) -> list[dict[str, str | int]]:
        """A row for each number."""
        return [*_rows(self), {"measure": "spread", "value": self.spread}]


def load(assignment: Assignment) -> Load:
    """How even an assignment is.

    Examples
    --------
    >>> from kafkalearn.assignor import Member, assign
    >>> load(assign("range", {"a": 1, "b": 1}, [Member("C0", ["a", "b"]), Member("C1", ["a", "b"])]))
    Load(member_count=2, partition_count=2, fewest=0, most=2, idle_count=1)
    """
    counts = list(assignment.counts().values())
    return Load(
        member_count=len(counts),
        partition_count=sum(counts),
        fewest=min(counts, default=0),
        most=max(counts, default=0),
        idle_count=counts.count(0),
    )


@dataclass(frozen=True, slots=True)
class Change:
    """How many partitions kept their owner from one assignment to the next, and how many did not."""

    kept_count: int  # have the same owner
    moved_count: int  # have another one
    new_count: int  # had none before
    lost_count: int  # have none any more

    def revoked_count(self, protocol: str) -> int:
        """How many partitions stop being read for the change, under a protocol in `PROTOCOLS`.

        >>> change = Change(kept_count=45, moved_count=5, new_count=0, lost_count=0)
        >>> change.revoked_count("eager"), change.revoked_count("cooperative")
        (50, 5)
        """
        one_of("protocol", protocol, PROTOCOLS)
        gone = self.moved_count + self.lost_count
        return gone + self.kept_count if protocol == "eager" else gone

    def rows(self) -> list[dict[str, str | int]]:
        """A row for each number."""
        revoked = [{"measure": f"revoked, {each}", "value": self.revoked_count(each)} for each in PROTOCOLS]
        return [*_rows(self), *revoked]


def change(before: Assignment, after: Assignment) -> Change:
    """What moves between two assignments of a group; members may have come and gone.

    Examples
    --------
    >>> from kafkalearn.assignor import Member, assign
    >>> before = assign("range", {"t": 4}, [Member(name, ["t"]) for name in ("C0", "C1", "C2")])
    >>> after = assign("range", {"t": 4}, [Member(name, ["t"]) for name in ("C1", "C2")])
    >>> change(before, after)
    Change(kept_count=1, moved_count=3, new_count=0, lost_count=0)
    """
    owner_before, owner_after = before.owners(), after.owners()
    in_both = owner_before.keys() & owner_after.keys()
    kept_count = sum(owner_before[partition] == owner_after[partition] for partition in in_both)
    return Change(
        kept_count=kept_count,
        moved_count=len(in_both) - kept_count,
        new_count=len(owner_after) - len(in_both),
        lost_count=len(owner_before) - len(in_both),
    )


def _rows(measures: Load | Change) -> list[dict[str, str | int]]:
    numbers: Mapping[str, int] = asdict(measures)
    return [{"measure": name.removesuffix("_count"), "value": number} for name, number in numbers.items()]
