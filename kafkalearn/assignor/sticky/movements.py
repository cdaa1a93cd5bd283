"""Which partitions a balancing has moved so far, so that none is moved one way and another of its topic back."""

from __future__ import annotations

from collections import defaultdict

from kafkalearn.java_collections import JavaHashSet
from kafkalearn.topic_partition import TopicPartition

Route = tuple[str, str]  # the member a partition came from at first, and the one it went to


class Movements:
    """The partitions moved in one balancing, by topic and route.

    References
    ----------
    Apache Kafka 3.8 to 4.3, ``AbstractStickyAssignor.PartitionMovements``.
    """

    def __init__(self) -> None:
        """Nothing has moved yet."""
        self._routes: dict[TopicPartition, Route] = {}
        self._moved: defaultdict[tuple[str, Route], JavaHashSet[TopicPartition]] = defaultdict(JavaHashSet)

    def instead_of(self, partition: TopicPartition, owner: str, taker: str) -> TopicPartition:
        """The partition to move when `partition` shall go from `owner` to `taker`.

        It is one of the same topic that was moved from the taker to where this one came from, if there is one:
        moving that back comes to the same and leaves one partition more where it was.
        """
        origin, _ = self._routes.get(partition, (owner, taker))
        return next(iter(self._moved.get((partition.topic, (taker, origin)), ())), partition)

    def record(self, partition: TopicPartition, owner: str, taker: str) -> None:
        """Remember that `partition` went from `owner` to `taker`; one that is back at its origin is forgotten."""
        origin = owner
        if partition in self._routes:
            origin = self._forget(partition)
        if origin != taker:
            self._routes[partition] = (origin, taker)
            self._moved[partition.topic, (origin, taker)].add(partition)

    def _forget(self, partition: TopicPartition) -> str:
        """Where the forgotten partition came from."""
        route = self._routes.pop(partition)
        moved = self._moved[partition.topic, route]
        moved.discard(partition)
        if not moved:
            del self._moved[partition.topic, route]
        return route[0]
