"""Range: each topic on its own, cut into consecutive ranges for its subscribers in order.

The first members get the remainder of *every* topic, so with many topics of one partition the first member gets
them all. In return, topics with equal partition counts and the same subscribers are *co-partitioned*: whoever
has partition k of one has partition k of the other, as a join needs it.

The client-side and the server-side assignor (KIP-848) give the same ranges; so did the consumer before 0.9.
Racks (KIP-881, since 3.5) are not modelled: the answer is that of a group without racks.
"""

from __future__ import annotations

from collections import Counter
from typing import TypeVar

from kafkalearn.assignor.assignment import Assignment
from kafkalearn.assignor.group_spec import GroupSpec
from kafkalearn.java_collections import JavaHashMap, table_size
from kafkalearn.topic_partition import TopicPartition

Item = TypeVar("Item")


def assign_range(spec: GroupSpec) -> Assignment:
    """The assignment of the ``range`` assignor, the first by default in every client.

    Topics come in the order in which Kafka walks its map of them, which shows in the lists only.

    Examples
    --------
    >>> from kafkalearn.assignor import Member, assign
    >>> print(assign("range", {"t0": 3, "t1": 3}, [Member("C0", ["t0", "t1"]), Member("C1", ["t0", "t1"])]))
    C0: t0-0 t0-1 t1-0 t1-1
    C1: t0-2 t1-2

    References
    ----------
    Apache Kafka 3.5 to 4.3, ``org.apache.kafka.clients.consumer.RangeAssignor``.
    """
    owned: dict[str, list[TopicPartition]] = {member.member_id: [] for member in spec.members}
    for topic, subscribers in spec.subscribers(spec.static_first).items():
        for member, partitions in zip(subscribers, even_cuts(spec.partitions(topic), len(subscribers)), strict=True):
            owned[member.member_id] += partitions
    return Assignment(owned)


def assign_server_range(spec: GroupSpec) -> Assignment:
    """The assignment of the ``range`` assignor inside the broker (KIP-848); each list as the broker walks it.

    It looks at no previous ownership: it is not sticky. Where the coordinator takes the members to subscribe alike, it
    looks at the subscription of the first one only.

    Examples
    --------
    >>> from kafkalearn.assignor import Member, assign
    >>> members = [Member("a", ["t"]), Member("b", ["t"]), Member("c", ["t"], instance_id="x")]
    >>> print(assign("range", {"t": 5}, members, side="broker"))  # the static member comes first
    a: t-2 t-3
    b: t-4
    c: t-0 t-1

    References
    ----------
    Apache Kafka 4.0 to 4.3, ``org.apache.kafka.coordinator.group.assignor.RangeAssignor``.
    """
    in_order = spec.static_first
    subscription = {member.member_id: in_order[0] if spec.subscribe_alike else member for member in in_order}
    topics_of = {member_id: spec.topics_by_name_order(whose) for member_id, whose in subscription.items()}
    subscriber_counts = Counter(topic for topics in topics_of.values() for topic in topics)
    cuts = {topic: iter(even_cuts(spec.partitions(topic), count)) for topic, count in subscriber_counts.items()}
    owned: dict[str, list[TopicPartition]] = {}
    for member_id, topics in topics_of.items():
        expected = len(topics) if spec.subscribe_alike else len(subscription[member_id].topics)
        walk = JavaHashMap(table_size(int(expected / 0.75) + 1), spec.topic_hash)
        walk.update({topic: next(cuts[topic]) for topic in topics})
        owned[member_id] = [each for topic in walk for each in walk[topic]]
    return Assignment({member.member_id: owned[member.member_id] for member in spec.members})


def even_cuts(items: list[Item], count: int) -> list[list[Item]]:
    """`items` cut into `count` consecutive pieces; the first ones are longer by one if a remainder is left.

    >>> even_cuts([0, 1, 2, 3, 4], 3)
    [[0, 1], [2, 3], [4]]
    """
    size, remainder = divmod(len(items), count)
    starts = [size * place + min(place, remainder) for place in range(count + 1)]
    return [items[starts[place] : starts[place + 1]] for place in range(count)]
