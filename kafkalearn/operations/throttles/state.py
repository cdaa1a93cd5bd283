"""Where partitions lie and what moves, and the two halves of every limit: rates on brokers, lists on topics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from kafkalearn.operations.placement.brokers import Replicas, brokers_of
from kafkalearn.operations.reassignment.cluster import Cluster, Move
from kafkalearn.operations.throttles.effects import Effect
from kafkalearn.operations.throttles.settings import Settings
from kafkalearn.replication.controller.assignment import Assignment
from kafkalearn.topic_partition import TopicPartition


class Placed(NamedTuple):
    """A partition, its replicas, those that come and go too, and the limit its move was begun with; None: none."""

    at: TopicPartition
    assignment: Assignment
    throttle: int | None = None

    @property
    def sides(self) -> tuple[Replicas, Replicas]:
        """Who sends and who receives while it moves."""
        return self.assignment.original, self.assignment.adding


class Lists(NamedTuple):
    """The throttled replicas of a topic, each (partition, broker): on the leader's side, and on the follower's."""

    topic: str
    leader: tuple[tuple[int, int], ...]
    follower: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Throttled:
    """A cluster with its moves and limits.

    Attributes
    ----------
    partitions : tuple of Placed
        Every partition.
    rates : tuple of (int, int)
        ``leader.replication.throttled.rate`` and ``follower.replication.throttled.rate`` of each broker that has them.
    lists : tuple of Lists
        ``leader.replication.throttled.replicas`` and ``follower.replication.throttled.replicas`` of each topic.
    """

    partitions: tuple[Placed, ...]
    rates: tuple[tuple[int, int], ...] = ()
    lists: tuple[Lists, ...] = ()
    effects: tuple[Effect, ...] = field(default=(), compare=False)

    @property
    def moves(self) -> tuple[Placed, ...]:
        """What moves."""
        return tuple(each for each in self.partitions if each.assignment.is_changing)

    def with_partitions(self, changed: Mapping[TopicPartition, Placed]) -> Throttled:
        """The state with these in place of those of their names."""
        return replace(self, partitions=tuple(changed.get(each.at, each) for each in self.partitions))

    def limit(self, at: TopicPartition, broker_id: int) -> int | None:
        """The limit that a new replica's copying has on its own broker; None: none."""
        listed = any((at.partition, broker_id) in each.follower for each in self.lists if each.topic == at.topic)
        return dict(self.rates).get(broker_id) if listed else None

    def cluster(self, settings: Settings) -> Cluster:
        """The same as `kafkalearn.operations.reassignment` takes it, for what the tool prints."""
        topics: dict[str, list[Replicas]] = {}
        for at, assignment, _ in self.partitions:
            topics.setdefault(at.topic, []).append(assignment.replicas)
        moves = {each.at: Move(each.assignment.adding, each.assignment.removing) for each in self.moves}
        placed = {topic: tuple(placement) for topic, placement in topics.items()}
        return Cluster(brokers_of(settings.broker_ids), placed, moves)


def start(settings: Settings) -> Throttled:
    """Nothing moves, and nothing is limited.

    >>> start(Settings((1, 2), {"orders": [(1, 2)]})).partitions[0].assignment.replicas
    (1, 2)
    """
    return Throttled(
        tuple(
            Placed(TopicPartition(topic, number), Assignment(replicas))
            for topic, placement in settings.topics
            for number, replicas in enumerate(placement)
        )
    )
