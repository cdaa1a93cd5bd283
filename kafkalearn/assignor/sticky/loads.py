"""Who holds what while a sticky assignment with different subscriptions is worked out."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Mapping, Sequence

from kafkalearn.assignor.group_spec import GroupSpec
from kafkalearn.java_collections import utf16_key
from kafkalearn.topic_partition import TopicPartition


class Loads:
    """The partitions of each member, with the members kept in order of how many they have.

    Attributes
    ----------
    users : dict of str to list of str
        The subscribers of each topic.
    held : dict of str to list of TopicPartition
        The partitions of each member, in the order they came to it.
    owner : dict of TopicPartition to str
        The same, seen from the partition.
    aside : set of str
        The members that take no part in the balancing.
    """

    def __init__(self, spec: GroupSpec) -> None:
        """Nobody has anything yet."""
        self.users = {
            topic: [member.member_id for member in subscribers]
            for topic, subscribers in spec.subscribers(spec.members).items()
        }
        self.held: dict[str, list[TopicPartition]] = {member.member_id: [] for member in spec.members}
        self.owner: dict[TopicPartition, str] = {}
        self.aside: set[str] = set()
        self._takes = {member.member_id: frozenset(member.topics) for member in spec.members}
        self._most_possible = {
            member_id: sum(spec.partition_counts[topic] for topic in self.users if topic in topics)
            for member_id, topics in self._takes.items()
        }
        self._counts: dict[str, Counter[str]] = {topic: Counter() for topic in self.users}  # by owner
        self._order = sorted((0, utf16_key(member_id), member_id) for member_id in self.held)
        self._known_balance: bool | None = None  # None: something has moved since it was last worked out

    def may_take(self, member_id: str, topic: str) -> bool:
        """Whether a member subscribes to a topic."""
        return topic in self._takes[member_id]

    def give(self, partition: TopicPartition, member_id: str) -> None:
        """Append a partition that nobody has to a member's list."""
        self._reorder(member_id, 1)
        self.held[member_id].append(partition)
        self.owner[partition] = member_id
        self._counts[partition.topic][member_id] += 1

    def take(self, partition: TopicPartition) -> None:
        """Take a partition out of its owner's list."""
        member_id = self.owner.pop(partition)
        self._reorder(member_id, -1)
        self.held[member_id].remove(partition)
        self._counts[partition.topic][member_id] -= 1

    def lightest(self, topic: str) -> str:
        """Of the subscribers of a topic the one with the fewest partitions; among equals the first by id."""
        return next(member_id for _, _, member_id in self._order if self.may_take(member_id, topic))

    def set_aside_the_settled(self) -> None:
        """Set aside the members that have all they can get, none of which anybody else can take."""
        self.aside = {member_id for member_id in self.held if self._is_settled(member_id)}
        self._order = [place for place in self._order if place[2] not in self.aside]

    def is_balanced(self) -> bool:
        """Whether no single partition can go to a subscriber that has at least two fewer than its owner."""
        if self._known_balance is None:
            nearly_equal = not self._order or self._order[-1][0] - self._order[0][0] <= 1
            self._known_balance = nearly_equal or not any(map(self._can_improve, self.users))
        return self._known_balance

    def unevenness(self, held: Mapping[str, Sequence[TopicPartition]]) -> int:
        """The sum of the differences in load between any two members that take part."""
        loads = sorted(len(held[member_id]) for _, _, member_id in self._order)
        return sum((2 * place - len(loads) + 1) * load for place, load in enumerate(loads))

    def _can_improve(self, topic: str) -> bool:
        heaviest = max(len(self.held[owner]) for owner, count in self._counts[topic].items() if count)
        with_room = [user for user in self.users[topic] if len(self.held[user]) != self._most_possible[user]]
        return any(len(self.held[user]) + 1 < heaviest for user in with_room)

    def _is_settled(self, member_id: str) -> bool:
        held = self.held[member_id]
        return len(held) == self._most_possible[member_id] and all(len(self.users[topic]) == 1 for topic, _ in held)

    def _reorder(self, member_id: str, change: int) -> None:
        count, by_id = len(self.held[member_id]), utf16_key(member_id)
        del self._order[bisect_left(self._order, (count, by_id, member_id))]
        insort(self._order, (count + change, by_id, member_id))
        self._known_balance = None
