"""Who owns a partition when a sticky assignment begins: the reports of the members, compared with each other.

Each member reports what it was assigned last (`ownedPartitions`) and in which generation of the group. A member that
was away (a long pause, a network cut) comes back and reports, from an older generation, partitions that others
were given meanwhile. So two members can report one partition:

- from different generations: the one of the newer generation owns it;
- from the same generation: neither owns it, one of the two must be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from kafkalearn.assignor.members import Member
from kafkalearn.topic_partition import TopicPartition

UNKNOWN_GENERATION = -1  # what a member without one counts as

Item = TypeVar("Item", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Owned(Generic[Item]):
    """What the members really own."""

    by_member: dict[str, list[Item]]  # in the order reported
    reported_twice: frozenset[Item]  # by two members of one generation: nobody owns it


@dataclass(frozen=True, slots=True)
class StickyResult(Generic[Item]):
    """The result of a sticky algorithm."""

    held: dict[str, list[Item]]  # by each member
    in_transfer: frozenset[Item]  # the new owner must wait for these until the old one has given them up
    expand: Callable[[Sequence[Item]], Iterable[TopicPartition]]


def owned_partitions(members: Iterable[Member], reported_by: Callable[[Member], Sequence[Item]]) -> Owned[Item]:
    """What each member owns, after its report is compared with those of the others.

    Parameters
    ----------
    members : iterable of Member
        In map order: if three members report one partition, the order decides.
    reported_by : callable
        The partitions a member reports, in any form: topic-partitions, or numbers that stand for them.

    Examples
    --------
    >>> old, new = Member("A", ["t"], [("t", 0), ("t", 1)], 4), Member("B", ["t"], [("t", 1), ("t", 2)], 5)
    >>> owned = owned_partitions([old, new], lambda member: [number for _, number in member.owned])
    >>> owned.by_member, owned.reported_twice
    ({'A': [0], 'B': [1, 2]}, frozenset())

    References
    ----------
    Apache Kafka 3.5 to 4.3, ``AbstractStickyAssignor`` (KAFKA-12984, KIP-792).
    """
    by_member: dict[str, list[Item]] = {}
    generations: dict[str, int] = {}
    reporter: dict[Item, str] = {}
    reported_twice: set[Item] = set()
    for member in members:
        member_id, generation = member.member_id, generation_of(member)
        generations[member_id] = generation
        mine: list[Item] = []
        by_member[member_id] = mine
        for item in reported_by(member):
            if item not in reporter:
                reporter[item] = member_id
                mine.append(item)
                continue
            other = reporter[item]
            if generation < generations[other]:
                continue
            if item in by_member[other]:
                by_member[other].remove(item)
            if generation > generations[other]:
                mine.append(item)
            else:
                reported_twice.add(item)
            reporter[item] = member_id
    return Owned(by_member, frozenset(reported_twice))


def generation_of(member: Member) -> int:
    """The generation from which a member reports, as a number that can be compared."""
    return UNKNOWN_GENERATION if member.generation is None else member.generation
