"""Who may call a partition its own when a sticky assignment begins: the members' claims, set against each other.

Each member reports what it was assigned last, its *claims*, and in which generation of the group. A member that
was away (a long pause, a network cut) comes back with claims of an older generation, on partitions that others
were given meanwhile. So two members can claim one partition:

- of different generations: the higher one has it;
- of the same generation: neither has it, one of the two must be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from kafkalearn.assignor.assignment import Expand
from kafkalearn.assignor.members import Member

UNKNOWN_GENERATION = -1  # what a member without one counts as

Item = TypeVar("Item", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Claims(Generic[Item]):
    """The claims that stand."""

    standing: dict[str, list[Item]]  # of each member, in the order reported
    doubled: frozenset[Item]  # claimed twice in one generation: nobody's


@dataclass(frozen=True, slots=True)
class Outcome(Generic[Item]):
    """What a sticky algorithm comes to."""

    held: dict[str, list[Item]]  # of each member
    in_transfer: frozenset[Item]  # what its new owner may not have before the old one has let go
    expand: Expand = tuple  # from items to topic-partitions


def settle_claims(members: Iterable[Member], claimed_by: Callable[[Member], Sequence[Item]]) -> Claims[Item]:
    """The claims of each member that stand against those of the others.

    Parameters
    ----------
    members : iterable of Member
        In map order: of three claims on one partition, the order decides.
    claimed_by : callable
        The partitions a member claims, in whatever form: topic-partitions, or numbers that stand for them.

    Examples
    --------
    >>> old, new = Member("A", ["t"], [("t", 0), ("t", 1)], 4), Member("B", ["t"], [("t", 1), ("t", 2)], 5)
    >>> claims = settle_claims([old, new], lambda member: [number for _, number in member.owned])
    >>> claims.standing, claims.doubled
    ({'A': [0], 'B': [1, 2]}, frozenset())

    References
    ----------
    Apache Kafka 3.5 to 4.3, ``AbstractStickyAssignor`` (KAFKA-12984, KIP-792).
    """
    standing: dict[str, list[Item]] = {}
    generations: dict[str, int] = {}
    claimant: dict[Item, str] = {}
    doubled: set[Item] = set()
    for member in members:
        member_id, generation = member.member_id, generation_of(member)
        generations[member_id] = generation
        standing[member_id] = mine = []
        for item in claimed_by(member):
            if item not in claimant:
                claimant[item] = member_id
                mine.append(item)
                continue
            other = claimant[item]
            if generation < generations[other]:
                continue
            if item in standing[other]:
                standing[other].remove(item)
            if generation > generations[other]:
                mine.append(item)
            else:
                doubled.add(item)
            claimant[item] = member_id
    return Claims(standing, frozenset(doubled))


def generation_of(member: Member) -> int:
    """The generation of a member's claims, as a number that can be compared."""
    return UNKNOWN_GENERATION if member.generation is None else member.generation
