"""Uniform, when subscriptions differ: fill topic by topic, then balance the subscribers of each topic.

1. Partitions of topics that a member no longer subscribes to leave its target.
2. The topics with free partitions, those with the most partitions for each subscriber first: their free
   partitions go to the subscribers with the smallest load.
3. Topic by topic, in the same order, partitions go from the subscribers with the largest load to those with the
   smallest, until the loads differ by at most one; round after round, 16 at the most, until a round moves nothing.

The loads of each topic's subscribers end nearly equal; those of the whole group need not.
"""

from __future__ import annotations

from collections.abc import Iterable

from kafkalearn.assignor.group_spec import GroupSpec
from kafkalearn.assignor.uniform.balancing import LeastLoadedRange, MostLoadedRange
from kafkalearn.assignor.uniform.target import Target, target_of
from kafkalearn.java_collections import table_size

MOST_ROUNDS = 16


def uniform_general(spec: GroupSpec) -> dict[str, Target]:
    """The targets of a group whose members subscribe to different topics.

    References
    ----------
    Apache Kafka 4.0 to 4.3, ``UniformHeterogeneousAssignmentBuilder``.
    """
    group = _Group(spec)
    group.drop_unsubscribed()
    for topic in group.sorted_topics(topic for topic, owners in group.owners.items() if None in owners):
        group.fill(topic)
    shared = group.sorted_topics(topic for topic, members in group.subscribers.items() if len(members) > 1)
    _balance(group, shared)
    return dict(zip(group.member_ids, group.targets, strict=True))


def _balance(group: _Group, topics: list[str]) -> None:
    """Balance the topics in turn, until none has moved anything since the last one that did."""
    last_moved: str | None = None
    for _ in range(MOST_ROUNDS):
        for topic in topics:
            if topic == last_moved:
                return
            has_moved = group.balance(topic)
            if has_moved or last_moved is None:
                last_moved = topic


class _Group:
    """The members by number, in the order of the broker's map, and who owns what while it is worked out."""

    def __init__(self, spec: GroupSpec) -> None:
        counts, members = spec.partition_counts, spec.in_map_order
        numbers = {member.member_id: number for number, member in enumerate(members)}
        self._topic_id_halves = spec.topic_id_halves
        self._topics_of = [frozenset(member.topics) for member in members]
        self.member_ids = list(numbers)
        self.targets = [target_of(spec, member) for member in members]
        self.loads = [0] * len(members)
        self.owners: dict[str, list[int | None]] = {topic: [None] * counts[topic] for topic in spec.topics}
        self.subscribers = {
            topic: [numbers[member.member_id] for member in subscribers]
            for topic, subscribers in spec.subscribers(members).items()
        }

    def sorted_topics(self, topics: Iterable[str]) -> list[str]:
        """Those with the most partitions for a subscriber first, then those with the fewest subscribers, then by id."""
        return sorted(topics, key=self._urgency)

    def drop_unsubscribed(self) -> None:
        """Step 1; what stays is entered as owned."""
        for number, target in enumerate(self.targets):
            for topic in target.topics():
                if topic not in self._topics_of[number] or topic not in self.owners:
                    target.drop(topic)
                    continue
                for partition in target.partitions(topic):
                    self.owners[topic][partition] = number
                    self.loads[number] += 1

    def fill(self, topic: str) -> None:
        """Step 2 for one topic."""
        least = LeastLoadedRange(self._by_load(topic), self.loads)
        for partition in [number for number, owner in enumerate(self.owners[topic]) if owner is None]:
            self._give(topic, partition, least.next())

    def balance(self, topic: str) -> bool:
        """Step 3 for one topic; whether anything was moved."""
        members = self._by_load(topic)
        if self.loads[members[-1]] - self.loads[members[0]] <= 1:
            return False
        least, most = LeastLoadedRange(members, self.loads), MostLoadedRange(members, self.loads)
        owned: dict[int, list[int]] = {number: [] for number in members}
        for partition, owner in enumerate(self.owners[topic]):
            if owner is not None:  # step 2 has left none free
                owned[owner].append(partition)
        has_moved = False
        while (giver := _next_giver(most, owned)) is not None:
            partition, taker = owned[giver].pop(), least.next()
            if most.load - least.load <= 1:
                break
            self._take(topic, partition, giver)
            self._give(topic, partition, taker)
            has_moved = True
        return has_moved

    def _by_load(self, topic: str) -> list[int]:
        return sorted(self.subscribers[topic], key=lambda number: (self.loads[number], number))

    def _urgency(self, topic: str) -> tuple[float, int, tuple[int, int]]:
        partition_count, subscriber_count = len(self.owners[topic]), len(self.subscribers[topic])
        return -partition_count / subscriber_count, subscriber_count, self._topic_id_halves[topic]

    def _give(self, topic: str, partition: int, number: int) -> None:
        a_fair_share = -(-len(self.owners[topic]) // len(self.subscribers[topic]))
        self.targets[number].add(topic, partition, capacity=table_size(int(a_fair_share / 0.75) + 1))
        self.owners[topic][partition] = number
        self.loads[number] += 1

    def _take(self, topic: str, partition: int, number: int) -> None:
        self.targets[number].remove(topic, partition)
        self.loads[number] -= 1


def _next_giver(most: MostLoadedRange, owned: dict[int, list[int]]) -> int | None:
    """The next of the most loaded members that still has a partition of the topic; those without are excluded."""
    while (number := most.next()) is not None and not owned[number]:
        most.exclude_last_named()
    return number
