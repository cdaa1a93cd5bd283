"""Round robin: all partitions of all topics dealt out in a circle, as one deals cards.

With equal subscriptions no member has two partitions more than another. With different ones the circle skips
members that do not subscribe to the topic, nothing makes up for that later, and the load gets uneven. Nothing is
remembered: when one member leaves, almost everything moves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from kafkalearn.assignor.assignment import Assignment
from kafkalearn.assignor.group_spec import GroupSpec
from kafkalearn.java_collections import utf16_key
from kafkalearn.topic_partition import TopicPartition


def assign_round_robin(spec: GroupSpec) -> Assignment:
    """The assignment of the ``roundrobin`` assignor.

    Kafka's own fails for a group without members, which no coordinator gives it; here the assignment is empty.

    Examples
    --------
    >>> from kafkalearn.assignor import Member, assign
    >>> print(assign("roundrobin", {"t0": 3, "t1": 3}, [Member("C0", ["t0", "t1"]), Member("C1", ["t0", "t1"])]))
    C0: t0-0 t0-2 t1-1
    C1: t0-1 t1-0 t1-2

    References
    ----------
    Apache Kafka 2.4 to 4.3, ``org.apache.kafka.clients.consumer.RoundRobinAssignor``.
    """
    in_name_order = sorted(spec.topics, key=utf16_key)
    topics_of = {member.member_id: frozenset(member.topics) for member in spec.static_first}
    dealt = deal((partition for topic in in_name_order for partition in spec.partitions(topic)), topics_of)
    return Assignment({member.member_id: dealt[member.member_id] for member in spec.members})


def deal(
    partitions: Iterable[TopicPartition], topics_of: Mapping[str, Collection[str]]
) -> dict[str, list[TopicPartition]]:
    """Each partition goes to the next member of the circle that subscribes to its topic; every topic needs one.

    >>> t = [TopicPartition("t", number) for number in range(3)]
    >>> {name: len(owned) for name, owned in deal(t, {"C0": ["t"], "C1": ["u"], "C2": ["t"]}).items()}
    {'C0': 2, 'C1': 0, 'C2': 1}
    """
    names = list(topics_of)
    dealt: dict[str, list[TopicPartition]] = {name: [] for name in names}
    cursor = 0
    for partition in partitions:
        while partition.topic not in topics_of[names[cursor % len(names)]]:
            cursor += 1
        dealt[names[cursor % len(names)]].append(partition)
        cursor += 1
    return dealt
