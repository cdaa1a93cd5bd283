"""Where committed offsets could live, and what each place costs: why Kafka keeps those of a group on one node.

Four rules, each as simple as Kafka's own: the node is found by the name of the partition, of the topic, of the consumer
or of the group. A rebalance gives partitions to other consumers; then it shows what a rule is worth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from kafkalearn.arguments import mapping, one_of, text
from kafkalearn.coordinator.leaders import leaders_of
from kafkalearn.coordinator.rule import offsets_partition
from kafkalearn.errors import KafkaLearnError
from kafkalearn.topic_partition import TopicPartition

PLACES = MappingProxyType(
    {
        "partition": lambda group_id, member_id, topic, partition: f"{topic}-{partition}",
        "topic": lambda group_id, member_id, topic, partition: topic,
        "consumer": lambda group_id, member_id, topic, partition: member_id,
        "group": lambda group_id, member_id, topic, partition: group_id,
    }
)
"""The text by which each rule finds the node; ``"group"`` is what Kafka does."""


@dataclass(frozen=True, slots=True)
class PlaceCost:
    """What a place of the offsets costs one group.

    Attributes
    ----------
    connections : int
        Pairs of member and node: whom each member has to reach to commit all that it owns.
    reads : int
        Pairs of member and node: whom each member has to ask for the offsets of its partitions after the rebalance.
    left_behind : int
        Partitions whose offset lies at another node than the one where their new owner commits. The owner cannot name
        that node, since it does not know whose the partition was.
    """

    connections: int
    reads: int
    left_behind: int

    def __add__(self, other: PlaceCost) -> PlaceCost:
        """The cost of two groups together."""
        return PlaceCost(
            self.connections + other.connections, self.reads + other.reads, self.left_behind + other.left_behind
        )


def place_cost(
    place: str,
    group_id: str,
    before: Mapping[TopicPartition, str],
    after: Mapping[TopicPartition, str],
    *,
    brokers: Sequence[int] | int,
) -> PlaceCost:
    """What keeping the offsets at a place costs a group that has rebalanced once.

    Parameters
    ----------
    place : str
        A name in `PLACES`.
    group_id : str
        The group.
    before, after : mapping of TopicPartition to str
        The member that owned, and that owns, each partition: the same partitions in both. The former owner has
        committed an offset.
    brokers : sequence of int, or int
        The nodes, as in `kafkalearn.coordinator.leaders.leaders_of`: the name is hashed as Kafka hashes a group id,
        over 50 partitions that they lead in turn.

    Raises
    ------
    KafkaLearnError
        If the place is unknown or the two assignments are of different partitions.

    Examples
    --------
    >>> partitions = [TopicPartition("orders", number) for number in range(4)]
    >>> before = dict(zip(partitions, ["c1", "c1", "c2", "c2"]))
    >>> after = dict.fromkeys(partitions, "c2")  # c1 has left
    >>> for place in PLACES:
    ...     print(f"{place:9}", place_cost(place, "billing", before, after, brokers=3))
    partition PlaceCost(connections=2, reads=2, left_behind=0)
    topic     PlaceCost(connections=1, reads=1, left_behind=0)
    consumer  PlaceCost(connections=1, reads=2, left_behind=2)
    group     PlaceCost(connections=1, reads=1, left_behind=0)
    """
    name_of = PLACES[one_of("place", place, PLACES)]
    text("group_id", group_id)
    before, after = mapping("before", before, of="partition to owner"), mapping("after", after, of="partition to owner")
    if set(before) != set(after):
        raise KafkaLearnError("before and after must have the same partitions: each with its owner")
    leaders = leaders_of(brokers=brokers)

    def node(owners: Mapping[TopicPartition, str], at: TopicPartition) -> int | None:
        return leaders[offsets_partition(name_of(group_id, owners[at], at.topic, at.partition), len(leaders))]

    return PlaceCost(
        connections=len({(member_id, node(after, at)) for at, member_id in after.items()}),
        reads=len({(member_id, node(before, at)) for at, member_id in after.items()}),
        left_behind=sum(node(before, at) != node(after, at) for at in after),
    )
