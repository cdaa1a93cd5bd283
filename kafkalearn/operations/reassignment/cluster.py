"""The little that the reassignment tool asks a cluster: who lives, what lies where, what is moving."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from kafkalearn.arguments import mapping, text
from kafkalearn.errors import KafkaLearnError
from kafkalearn.operations.placement.brokers import Broker, Placement, Replicas, brokers_of, placement_of
from kafkalearn.phrases import shown
from kafkalearn.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True)
class Move:
    """A reassignment that is running: which replicas come, which go.

    While it runs a partition has all of them; `Cluster.replicas` lists those that come first, as Kafka does.
    """

    adding: Replicas = ()
    removing: Replicas = ()


@dataclass(frozen=True, slots=True)
class Cluster:
    """Live brokers, the replicas of each topic, and the reassignments that run.

    Attributes
    ----------
    brokers : tuple of Broker or int
        Those that answer; who is down is not among them.
    topics : mapping of str to placement
        ``topics[name][p]`` are the replicas of partition ``p``, with those that are coming and going.
    moves : mapping of TopicPartition to Move
        What is being moved.
    log_dirs : mapping of int to str
        The log directory of each broker; tools since 4.2 print it.

    Examples
    --------
    >>> cluster = Cluster([1, 2, 3], {"orders": [(1, 2), (2, 3)]})
    >>> cluster.replicas(TopicPartition("orders", 1)), cluster.replicas(TopicPartition("orders", 2))
    ((2, 3), None)
    """

    brokers: tuple[Broker, ...]
    topics: Mapping[str, Placement] = field(default_factory=lambda: MappingProxyType[str, Placement]({}))
    moves: Mapping[TopicPartition, Move] = field(default_factory=lambda: MappingProxyType[TopicPartition, Move]({}))
    log_dirs: Mapping[int, str] = field(default_factory=lambda: MappingProxyType[int, str]({}))

    def __post_init__(self) -> None:
        """Refuse brokers or topics that are none."""
        object.__setattr__(self, "brokers", brokers_of(self.brokers))
        topics = mapping("topics", self.topics, of="name to replicas of each partition")
        kept = {
            text("a name of topics", name): placement_of(f"topics[{shown(name)}]", placement)
            for name, placement in topics.items()
        }
        if empty := [name for name, placement in kept.items() if not placement]:
            raise KafkaLearnError(f"topics[{shown(empty[0])}] has no partition; a topic has at least one")
        object.__setattr__(self, "topics", MappingProxyType(kept))
        for at in mapping("moves", self.moves, of="TopicPartition to Move"):
            if self.replicas(at) is None:
                raise KafkaLearnError(f"moves names {at}, which is no partition of topics")
        mapping("log_dirs", self.log_dirs, of="broker to its log directory")

    @property
    def broker_ids(self) -> tuple[int, ...]:
        """The ids of the live brokers."""
        return tuple(each.id for each in self.brokers)

    def replicas(self, at: TopicPartition) -> Replicas | None:
        """The replicas of a partition; None: there is no such partition."""
        placement = self.topics.get(at.topic, ())
        return placement[at.partition] if at.partition < len(placement) else None
