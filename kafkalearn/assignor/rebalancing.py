"""From one rebalance to the next: what members report, the rounds of a cooperative group, assignors compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from kafkalearn.arguments import iterable
from kafkalearn.assignor.assignment import Assignment
from kafkalearn.assignor.judging.measures import change, load
from kafkalearn.assignor.judging.minimum import fewest_moves
from kafkalearn.assignor.members import Member
from kafkalearn.assignor.registry import assign, find_assignor
from kafkalearn.assignor.sticky.owned import generation_of
from kafkalearn.java_collections import utf16_key
from kafkalearn.topic_partition import TopicPartition


def rejoin(
    assignor: str, members: Iterable[Member], assignment: Mapping[str, Sequence[TopicPartition]], generation: int
) -> tuple[Member, ...]:
    """The members as they join the next rebalance, each reporting what it was assigned in this one.

    Parameters
    ----------
    assignor : str
        A cooperative client reports its partitions sorted; the others leave them as they are.
    members : iterable of Member
        Those in the group now. A new one, that is not in `assignment`, stays as it is.
    assignment : Assignment
        The last one.
    generation : int
        Of the group then.

    Examples
    --------
    >>> members = [Member("C0", ["t"]), Member("C1", ["t"])]
    >>> first = assign("sticky", {"t": 4}, members)
    >>> second = assign("sticky", {"t": 4}, rejoin("sticky", members[:1], first, generation=1))
    >>> print(second)
    C0: t-0 t-2 t-1 t-3
    """
    find_assignor(assignor)  # refuses an unknown one
    return tuple(
        replace(member, owned=_reported(assignor, assignment[member.member_id]), generation=generation)
        if member.member_id in assignment
        else member
        for member in members
    )


def _reported(assignor: str, owned: Sequence[TopicPartition]) -> tuple[TopicPartition, ...]:
    if assignor != "cooperative-sticky":
        return tuple(owned)
    keys = {topic: utf16_key(topic) for topic in {partition.topic for partition in owned}}
    return tuple(sorted(owned, key=lambda partition: (keys[partition.topic], partition.partition)))


@dataclass(frozen=True, slots=True)
class Round:
    """One rebalance of a cooperative group."""

    members: tuple[Member, ...]  # as they joined, with what they reported
    assignment: Assignment

    def revoked(self) -> dict[str, tuple[TopicPartition, ...]]:
        """What each member has to give up, without those that give up nothing."""
        gone = {each.member_id: set(each.owned) - set(self.assignment[each.member_id]) for each in self.members}
        return {member_id: tuple(sorted(partitions)) for member_id, partitions in gone.items() if partitions}


def cooperative_rounds(partition_counts: Mapping[str, int], members: Iterable[Member]) -> tuple[Round, ...]:
    """The rebalances of a cooperative-sticky group until nobody has to give anything up.

    A member that gives something up joins again, so that another round follows; a partition that is to move belongs
    to nobody in the first round. What does not move is read all the time. There are one or two rounds; with
    different subscriptions, now and then three.

    Examples
    --------
    >>> C0 = Member("C0", ["t"], owned=[("t", 0), ("t", 1)], generation=1)
    >>> for each in cooperative_rounds({"t": 2}, [C0, Member("C1", ["t"])]):
    ...     print(each.assignment, each.revoked())
    C0: t-0
    C1: none {'C0': (TopicPartition(topic='t', partition=1),)}
    C0: t-0
    C1: t-1 {}
    """
    members = tuple(members)
    generation = max(map(generation_of, members), default=0)
    rounds = [Round(members, assign("cooperative-sticky", partition_counts, members))]
    while rounds[-1].revoked():
        generation += 1
        members = rejoin("cooperative-sticky", members, rounds[-1].assignment, generation)
        rounds.append(Round(members, assign("cooperative-sticky", partition_counts, members)))
    return tuple(rounds)


def compare(
    assignors: Iterable[str], partition_counts: Mapping[str, int], before: Sequence[Member], after: Sequence[Member]
) -> list[dict[str, str | int]]:
    """A row for each assignor: what the rebalance costs when the members `before` become the members `after`.

    Examples
    --------
    >>> from kafkalearn.tables import text_table
    >>> ten = [Member(f"m{number:02}", ["t"]) for number in range(10)]
    >>> nine = [member for member in ten if member.member_id != "m03"]
    >>> print(text_table(compare(["range", "roundrobin", "sticky"], {"t": 50}, ten, nine)))
    assignor    moved  fewest  revoked, eager  revoked, cooperative  spread
    range       9      5       50              9                     1
    roundrobin  47     5       50              47                    1
    sticky      5      5       50              5                     1
    """
    given = iterable("assignors", assignors, of="names")
    return [_comparison(assignor, partition_counts, before, after) for assignor in given]


def _comparison(
    assignor: str, partition_counts: Mapping[str, int], before: Sequence[Member], after: Sequence[Member]
) -> dict[str, str | int]:
    first = settled(assignor, partition_counts, before)
    second = settled(assignor, partition_counts, rejoin(assignor, after, first, generation=1))
    moved = change(first, second)
    return {
        "assignor": assignor,
        "moved": moved.moved_count,
        "fewest": fewest_moves(first, partition_counts, after),
        "revoked, eager": moved.revoked_count("eager"),
        "revoked, cooperative": moved.revoked_count("cooperative"),
        "spread": load(second).spread,
    }


def settled(assignor: str, partition_counts: Mapping[str, int], members: Sequence[Member]) -> Assignment:
    """The assignment with which a group settles: the assignor's, or of a cooperative group that of its last round."""
    if assignor == "cooperative-sticky":
        return cooperative_rounds(partition_counts, members)[-1].assignment
    return assign(assignor, partition_counts, members)
