"""A member's target assignment inside the broker: topics and their partitions, walked as Java walks them.

In which order the broker walks a target decides what a member keeps when it has too much, so the order is part of
the answer. It follows from what the target went through: read from its record, copied when it is first changed
(the copy is a smaller map), changed, written to a record again. A target whose partitions are the same in the
end is not written: the one from before stays, with its order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kafkalearn.assignor.group_spec import GroupSpec
from kafkalearn.assignor.members import Member
from kafkalearn.java_collections import DEFAULT_CAPACITY, JavaHashMap, JavaHashSet, table_size
from kafkalearn.topic_partition import TopicPartition


class Target:
    """The partitions that a member shall have, while they are worked out.

    Parameters
    ----------
    recorded : iterable of TopicPartition
        The target so far, in the order of its record.
    topic_hash : callable
        The hash code of a topic's id.

    Examples
    --------
    >>> target = Target([TopicPartition("t", number) for number in (18, 2, 1)], topic_hash=len)
    >>> target.partitions("t")  # 18 and 2 share a bucket of 16
    [1, 18, 2]
    >>> target.remove("t", 18)
    >>> target.add("u", 0)
    >>> " ".join(map(str, target.listing()))
    'u-0 t-1 t-2'
    """

    __slots__ = ("_is_copy", "_recorded", "_sets", "_topic_hash")

    def __init__(self, recorded: Iterable[TopicPartition], topic_hash: Callable[[str], int]) -> None:
        """The target as the broker reads it from a record."""
        by_topic: dict[str, list[int]] = {}
        for topic, partition in recorded:
            by_topic.setdefault(topic, []).append(partition)
        self._topic_hash = topic_hash
        self._sets: JavaHashMap[str, JavaHashSet[int]] = JavaHashMap(hash_code=topic_hash)
        for topic, partitions in by_topic.items():
            self._sets[topic] = JavaHashSet.copy_of(partitions)
        self._is_copy = False
        self._recorded = self._walk()

    def topics(self) -> list[str]:
        """The topics in the order of the map."""
        return list(self._sets)

    def partitions(self, topic: str) -> list[int]:
        """The partitions of a topic in the order of their set."""
        return list(self._sets[topic])

    def add(self, topic: str, partition: int, capacity: int = DEFAULT_CAPACITY) -> None:
        """Give the member one more partition; `capacity` is that of the set made for a topic it had nothing of."""
        self._copy_once()
        self._sets.compute_if_absent(topic, lambda: JavaHashSet(capacity=capacity)).add(partition)

    def remove(self, topic: str, partition: int) -> None:
        """Take a partition away."""
        self._copy_once()
        self._sets[topic].discard(partition)
        if not self._sets[topic]:
            del self._sets[topic]

    def drop(self, topic: str) -> None:
        """Take all partitions of a topic away."""
        self._copy_once()
        del self._sets[topic]

    def listing(self) -> tuple[TopicPartition, ...]:
        """The partitions as the broker has them afterwards."""
        walk = self._walk()
        return self._recorded if set(walk) == set(self._recorded) else walk

    def _walk(self) -> tuple[TopicPartition, ...]:
        return tuple(TopicPartition(topic, partition) for topic in self._sets for partition in self._sets[topic])

    def _copy_once(self) -> None:
        if self._is_copy:
            return
        copy: JavaHashMap[str, JavaHashSet[int]] = JavaHashMap(table_size(len(self._sets)), self._topic_hash)
        for topic in self._sets:
            copy[topic] = JavaHashSet.copy_of(self._sets[topic])
        self._sets, self._is_copy = copy, True


def target_of(spec: GroupSpec, member: Member) -> Target:
    """The target of a member so far; partitions of topics that are gone are left out at once."""
    known = (partition for partition in member.owned if partition.topic in spec.topic_id_halves)
    return Target(known, spec.topic_hash)
