"""To whom the clients of a topic hold connections, what goes over each, and how they have found it.

Records go to and come from the leader of their partition, so a client is connected to as many brokers as lead something
it writes or reads. Everything about the group goes to one broker, the group's coordinator. Clients ask any broker for
both: Metadata names the leaders, FindCoordinator the coordinator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kafkalearn.arguments import LARGEST_INT, mapping, sequence, text, whole_number
from kafkalearn.coordinator.leaders import leaders_of
from kafkalearn.coordinator.rule import find_coordinator
from kafkalearn.errors import KafkaLearnError

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
    Apache Kafka 0.9 to 4.3, ``AbstractCoordinator``: the coordinator gets the node id 2147483647 minus
    its own, and with it a connection of its own. KIP-848 has ConsumerGroupHeartbeat in place of JoinGroup, SyncGroup
    and Heartbeat. Fetches may go to a follower in the same rack (KIP-392).
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
