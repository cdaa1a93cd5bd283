"""Sticky and cooperative sticky: balance first, and then as little movement as balance allows.

Both work out the same assignment, by one of two algorithms: `sticky_uniform` if all members subscribe alike,
`sticky_general` if not.

How Kafka finds out whether they subscribe alike has a defect, from 3.8 to 4.3: it does not look at the members that
come before the first one with any topic. So a member whose subscription is empty (its pattern fits no topic yet) can be
given partitions, which it will not read. ``fix_defects=True`` gives an assignor that looks at all of them.

The two differ in how the assignment is carried out:

- ``sticky`` is *eager*: everybody gives everything up before the rebalance and takes what it is assigned.
- ``cooperative-sticky`` takes two rounds. In the first a partition that is to move goes to nobody: its owner sees
  that it is gone, gives it up and asks for another round, in which it is free and goes to its new owner. All
  other partitions are read throughout. (With different subscriptions the second round may find something better
  and ask for a third.)

Racks (KIP-881, since 3.5) are not modelled: the answer is that of a group without racks.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import dropwhile

from kafkalearn.assignor.assignment import Assignment
from kafkalearn.assignor.group_spec import GroupSpec
from kafkalearn.assignor.members import Member
from kafkalearn.assignor.sticky.constrained import sticky_uniform
from kafkalearn.assignor.sticky.general import sticky_general
from kafkalearn.assignor.sticky.owned import Item, StickyResult
from kafkalearn.java_collections import JavaHashMap
from kafkalearn.topic_partition import TopicPartition


def assign_sticky(spec: GroupSpec) -> Assignment:
    """The assignment of the ``sticky`` assignor.

    Examples
    --------
    >>> from kafkalearn.assignor import Member, assign
    >>> C0 = Member("C0", ["t"], owned=[("t", 0), ("t", 1), ("t", 2)], generation=1)
    >>> C1 = Member("C1", ["t"], owned=[("t", 3)], generation=1)
    >>> print(assign("sticky", {"t": 6}, [C0, C1]))  # C2 had t-4 and t-5 and has left
    C0: t-0 t-1 t-2
    C1: t-3 t-4 t-5

    References
    ----------
    Apache Kafka 3.8 to 4.3, ``org.apache.kafka.clients.consumer.StickyAssignor``; KIP-54.
    """
    if _counts_as_alike(spec):
        return _assignment(spec, sticky_uniform(spec))
    members = tuple(replace(member, owned=as_user_data(member.owned)) for member in spec.members)
    return _assignment(spec, sticky_general(replace(spec, members=members)))


def assign_cooperative_sticky(spec: GroupSpec) -> Assignment:
    """The assignment of the ``cooperative-sticky`` assignor in one round.

    Examples
    --------
    >>> from kafkalearn.assignor import Member, assign
    >>> C0 = Member("C0", ["t"], owned=[("t", 0), ("t", 1), ("t", 2)], generation=1)
    >>> print(assign("cooperative-sticky", {"t": 3}, [C0, Member("C1", ["t"])]))  # t-2 is between two owners
    C0: t-0 t-1
    C1: none

    References
    ----------
    Apache Kafka 3.8 to 4.3, ``org.apache.kafka.clients.consumer.CooperativeStickyAssignor``; KIP-429.
    """
    if _counts_as_alike(spec):
        return _assignment(spec, _without_transfers(sticky_uniform(spec)))
    result = sticky_general(spec)
    in_transfer = _added_here_and_lost_there(spec.members, result)
    return _assignment(spec, _without_transfers(replace(result, in_transfer=in_transfer)))


def _counts_as_alike(spec: GroupSpec) -> bool:
    """Whether Kafka takes the members for subscribing alike, see above."""
    if spec.fix_defects:
        return spec.subscribe_alike
    seen = list(dropwhile(lambda member: not member.topics, spec.in_map_order))
    return all(member.topics == seen[0].topics or set(member.topics) == set(seen[0].topics) for member in seen)


def as_user_data(owned: tuple[TopicPartition, ...]) -> tuple[TopicPartition, ...]:
    """What a member owned, in the order in which a sticky client writes it down: topic by topic.

    >>> " ".join(map(str, as_user_data((TopicPartition("b", 1), TopicPartition("a", 0), TopicPartition("b", 0)))))
    'a-0 b-1 b-0'
    """
    by_topic: JavaHashMap[str, list[TopicPartition]] = JavaHashMap()
    for partition in owned:
        by_topic.compute_if_absent(partition.topic, list).append(partition)
    return tuple(partition for topic in by_topic for partition in by_topic[topic])


def _without_transfers(result: StickyResult[Item]) -> StickyResult[Item]:
    held = {
        member_id: [item for item in items if item not in result.in_transfer]
        for member_id, items in result.held.items()
    }
    return replace(result, held=held)


def _added_here_and_lost_there(
    members: Iterable[Member], result: StickyResult[TopicPartition]
) -> frozenset[TopicPartition]:
    added: set[TopicPartition] = set()
    lost: set[TopicPartition] = set()
    for member in members:
        had, has = set(member.owned), set(result.held[member.member_id])
        added |= has - had
        lost |= had - has
    return frozenset(added & lost)


def _assignment(spec: GroupSpec, result: StickyResult[Item]) -> Assignment:
    held = {member.member_id: result.held[member.member_id] for member in spec.members}
    return Assignment.compact(held, result.expand)
