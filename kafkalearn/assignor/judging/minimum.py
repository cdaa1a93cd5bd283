"""The fewest partitions that have to move, to measure the assignors against.

Of all assignments that are complete and subscribed, take those whose loads are as even as can be (the sum of their
squares is the smallest), and of these the one that moves the fewest partitions. With equal subscriptions that is
a matter of counting. With different ones it is a flow problem: partitions are placed one by one, each on the
cheapest way, which may push others on from member to member.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import inf

from kafkalearn.assignor.assignment import Assignment
from kafkalearn.assignor.group_spec import GroupSpec
from kafkalearn.assignor.members import Member
from kafkalearn.topic_partition import TopicPartition

Push = tuple[TopicPartition, str | None]  # what comes to a member, and from whom; None: from nobody


def fewest_moves(before: Assignment, partition_counts: Mapping[str, int], members: Sequence[Member]) -> int:
    """How many partitions must change their owner before the group is as evenly loaded as it can be.

    Parameters
    ----------
    before : Assignment
        Who had what, members that have left included: what they had must move.
    partition_counts, members
        The group now, as given to the assignor.

    Returns
    -------
    int
        Partitions that nobody had before do not count; nor do those that nobody can own now.

    Notes
    -----
    Any size where all members subscribe alike. Else the work grows with the square of the partitions: a second
    for some 400 of them on 15 members.

    Examples
    --------
    >>> from kafkalearn.assignor import assign
    >>> before = assign("sticky", {"t": 50}, [Member(f"m{number}", ["t"]) for number in range(10)])
    >>> fewest_moves(before, {"t": 50}, [Member(f"m{number}", ["t"]) for number in range(10) if number != 3])
    5
    """
    spec = GroupSpec(partition_counts, members)
    topics_of = {member.member_id: frozenset(member.topics) for member in spec.members}
    owner_before = before.owners()
    partitions = [partition for topic in spec.topics for partition in spec.partitions(topic)]
    had = sum(partition in owner_before for partition in partitions)
    if spec.subscribe_alike:
        return had - _most_kept_if_alike([owner_before.get(partition) for partition in partitions], list(topics_of))
    placement = _Placement(topics_of, owner_before)
    for partition in partitions:
        placement.place(partition)
    return sum(owner_before.get(partition, owner) != owner for partition, owner in placement.owner.items())


def _most_kept_if_alike(owners: Sequence[str | None], members: Sequence[str]) -> int:
    low, extra_count = divmod(len(owners), max(len(members), 1))
    counts = Counter(owners)
    over_count = sum(counts[member_id] > low for member_id in members)
    return sum(min(counts[member_id], low) for member_id in members) + min(extra_count, over_count)


class _Placement:
    """Partitions placed so that loads are even, and among even placements as few as possible have moved."""

    def __init__(self, topics_of: Mapping[str, frozenset[str]], owner_before: Mapping[TopicPartition, str]) -> None:
        self.owner: dict[TopicPartition, str] = {}
        self._topics_of = topics_of
        all_topics = {topic for topics in topics_of.values() for topic in topics}
        self._subscribers = {
            topic: [each for each, topics in topics_of.items() if topic in topics] for topic in all_topics
        }
        self._owner_before = owner_before
        self._loads: Counter[str] = Counter()

    def place(self, partition: TopicPartition) -> None:
        """Place one more partition on the cheapest way."""
        cost, came_by = self._ways(partition)
        last = min(self._topics_of, key=lambda member_id: self._weight(member_id) + cost[member_id])
        self._loads[last] += 1
        while last is not None:
            pushed, giver = came_by[last]
            self.owner[pushed] = last
            last = giver

    def _ways(self, partition: TopicPartition) -> tuple[dict[str, float], dict[str, Push]]:
        """What it costs in moves to give each member one partition more, and by which push it comes about."""
        cost = {
            m: self._move_cost(partition, m) if partition.topic in self._topics_of[m] else inf for m in self._topics_of
        }
        came_by: dict[str, Push] = dict.fromkeys(self._topics_of, (partition, None))
        has_improved = True
        while has_improved:
            has_improved = False
            for pushed, giver in self.owner.items():
                had = self._owner_before.get(pushed)
                without = cost[giver] - (had is not None and had != giver)
                for taker in self._subscribers[pushed.topic]:
                    way = without + (had is not None and had != taker)
                    if way < cost[taker]:
                        cost[taker], came_by[taker] = way, (pushed, giver)
                        has_improved = True
        return cost, came_by

    def _move_cost(self, partition: TopicPartition, member_id: str) -> int:
        return self._owner_before.get(partition, member_id) != member_id

    def _weight(self, member_id: str) -> int:
        """What one partition more on a member adds to the squares, made heavier than all moves together."""
        return (2 * self._loads[member_id] + 1) * (len(self.owner) + 2)
