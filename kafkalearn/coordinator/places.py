"""Where committed offsets could live, and what each place costs: why Kafka keeps those of a group on one node.

`place_cost` compares four rules, each as simple as Kafka's own: the node is found by the name of the partition, of the
topic, of the consumer or of the group. A rebalance gives partitions to other consumers; then it shows what a rule is
worth.

`connections` says to whom the clients of a topic hold connections, what goes over each, and how they have found it.
Records go to and come from the leader of their partition, so a client is connected to as many brokers as lead
something it writes or reads. Everything about the group goes to one broker, the group's coordinator. Clients ask any
broker for both: Metadata names the leaders, FindCoordinator the coordinator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from kafkalearn.base.checks import LARGEST_INT, mapping, one_of, sequence, text, whole_number
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.coordinator.leaders import leaders_of
from kafkalearn.coordinator.rule import find_coordinator, offsets_partition

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


# To whom the clients of a topic hold connections.

PRODUCER = "producer"
METADATA, FIND_COORDINATOR = "Metadata", "FindCoordinator"
GROUP_REQUESTS = ("JoinGroup", "SyncGroup", "Heartbeat", "OffsetFetch", "OffsetCommit")


@dataclass(frozen=True, slots=True)
class Connection:
    """One connection of a client to a broker.

    Attributes
    ----------
    client : str
        The producer or a member.
    broker_id : int
        At the other end.
    requests : tuple of str
        What goes over it.
    partitions : tuple of int
        Of the topic, which these requests are about; none for those about the group.
    found_by : str
        The request whose answer named this broker: ``"Metadata"`` or ``"FindCoordinator"``.
    """

    client: str
    broker_id: int
    requests: tuple[str, ...]
    partitions: tuple[int, ...]
    found_by: str


def connections(
    group_id: str,
    topic_leaders: Sequence[int],
    members: Mapping[str, Sequence[int]],
    *,
    brokers: Sequence[int] | int,
) -> tuple[Connection, ...]:
    """The connections that a producer and the members of a group hold while they work.

    Parameters
    ----------
    group_id : str
        The members' group, of the classic protocol.
    topic_leaders : sequence of int
        ``topic_leaders[p]`` leads partition `p` of the topic that is written and read.
    members : mapping of str to sequence of int
        The partitions of each member.
    brokers : sequence of int, or int
        Those of an undisturbed cluster, as in `kafkalearn.coordinator.find_coordinator`.

    Returns
    -------
    tuple of Connection
        The producer's by broker, then those of each member: by broker, to the coordinator last. A member that reads
        from its coordinator has two to it: the Java client keeps the group's requests apart from the fetches.

    Raises
    ------
    KafkaLearnError
        If a leader is no broker, or a partition has no owner or two of them.

    Examples
    --------
    >>> for each in connections("billing", [1, 2, 3], {"c1": [0, 1], "c2": [2]}, brokers=3)[3:]:
    ...     print(each.client, each.broker_id, each.requests[-1], each.partitions, each.found_by)
    c1 1 Fetch (0,) Metadata
    c1 2 Fetch (1,) Metadata
    c1 1 OffsetCommit () FindCoordinator
    c2 3 Fetch (2,) Metadata
    c2 1 OffsetCommit () FindCoordinator

    References
    ----------
    Apache Kafka 0.9 to 4.4, ``AbstractCoordinator``: the coordinator gets a node of its own, and with it a connection
    of its own. In 4.4 broker 1 as a coordinator is node ``+1``; in older clients its id is 2147483647 minus 1. KIP-848
    has ConsumerGroupHeartbeat in place of JoinGroup, SyncGroup and Heartbeat. Fetches may go to a follower in the same
    rack (KIP-392).
    """
    known = {each for each in leaders_of(brokers=brokers) if each is not None}
    coordinator = find_coordinator(group_id, brokers=brokers).broker_id
    assert coordinator is not None, "every partition of an undisturbed cluster has a leader"
    leaders = sequence("topic_leaders", topic_leaders, of="broker ids, one for each partition")
    for partition, leader in enumerate(leaders):
        if whole_number(f"topic_leaders[{partition}]", leader, 0, LARGEST_INT) not in known:
            raise KafkaLearnError(f"topic_leaders[{partition}] is {leader}; the brokers are {sorted(known)}")
    _refuse_unowned(len(leaders), mapping("members", members, of="member to partitions"))
    found = [
        Connection(PRODUCER, broker_id, ("Produce",), led, METADATA)
        for broker_id, led in _by_leader(leaders, range(len(leaders)))
    ]
    for member_id, owned in members.items():
        found += [
            Connection(text("member", member_id), broker_id, ("Fetch",), led, METADATA)
            for broker_id, led in _by_leader(leaders, owned)
        ]
        found.append(Connection(member_id, coordinator, GROUP_REQUESTS, (), FIND_COORDINATOR))
    return tuple(found)


def _by_leader(leaders: Sequence[int], partitions: Sequence[int]) -> list[tuple[int, tuple[int, ...]]]:
    led = {leaders[partition] for partition in partitions}
    return [(each, tuple(sorted(number for number in partitions if leaders[number] == each))) for each in sorted(led)]


def _refuse_unowned(partition_count: int, members: Mapping[str, Sequence[int]]) -> None:
    owned = [number for given in members.values() for number in sequence("partitions of a member", given)]
    if sorted(owned) != list(range(partition_count)):
        raise KafkaLearnError(
            f"members must own each of the partitions 0 to {partition_count - 1} once; "
            f"together they own {sorted(owned)}"
        )
