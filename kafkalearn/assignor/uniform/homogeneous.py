"""Uniform, when all members subscribe alike: the default inside the broker (KIP-848), filled member by member.

Every member has a quota: ``low = total // N``, and one more for ``total % N`` of them. It keeps what it has up to
the quota, and then the members with room take from the front of the free partitions, one member after the other.
So a fresh group is cut into runs (A: 0 1 2; B: 3 4), not dealt in a circle as by the sticky assignor of the clients.

Who gets the one more:

- up to 4.0.0 the first members in the order of the broker's map, whatever they had;
- since 4.0.1 and 4.1 a member that already has it, and otherwise the *last* ones. Less moves that way.

Racks are not looked at; the broker does not, either.
"""

from __future__ import annotations

from collections.abc import Set
from itertools import islice

from kafkalearn.assignor.assignment import Assignment
from kafkalearn.assignor.group_spec import GroupSpec
from kafkalearn.assignor.uniform.heterogeneous import uniform_general
from kafkalearn.assignor.uniform.target import Target, target_of
from kafkalearn.errors import KafkaLearnError
from kafkalearn.java_collections import JavaHashSet, copy_capacity
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.versions.releases import at_least


def assign_uniform(spec: GroupSpec) -> Assignment:
    """The assignment of the ``uniform`` assignor inside the broker; each list as the broker walks it.

    Examples
    --------
    >>> from kafkalearn.assignor import Member, assign
    >>> print(assign("uniform", {"t": 5}, [Member("A", ["t"]), Member("B", ["t"])]))
    A: t-0 t-1
    B: t-2 t-3 t-4
    >>> print(assign("uniform", {"t": 5}, [Member("A", ["t"]), Member("B", ["t"])], release="4.0.0"))
    A: t-0 t-1 t-2
    B: t-3 t-4

    References
    ----------
    Apache Kafka 4.0 to 4.3, ``UniformHomogeneousAssignmentBuilder`` and ``UniformHeterogeneousAssignmentBuilder``;
    Java 17 (since 19, sets are made a little smaller, which shows where ids or numbers share a bucket).
    """
    if spec.in_targets is None:
        _refuse_shared_targets(spec)
    targets = _uniform_alike(spec) if spec.subscribe_alike else uniform_general(spec)
    return Assignment({member.member_id: targets[member.member_id].listing() for member in spec.members})


def _refuse_shared_targets(spec: GroupSpec) -> None:
    owners: dict[TopicPartition, str] = {}
    for member in spec.members:
        for partition in member.owned:
            if owners.setdefault(partition, member.member_id) != member.member_id:
                raise KafkaLearnError(
                    f"{partition} is in the target of {owners[partition]!r} and of {member.member_id!r}; the broker "
                    "never has one partition in two targets"
                )


def _uniform_alike(spec: GroupSpec) -> dict[str, Target]:
    targets = {member.member_id: target_of(spec, member) for member in spec.in_map_order}
    topics = _topics_in_id_order(spec)
    rooms, revoked = _revoke(spec, targets, frozenset(topics))
    free = iter([*_unassigned(spec, topics), *revoked])
    for member_id, room in rooms.items():
        for topic, partition in islice(free, room):
            targets[member_id].add(topic, partition)
    return targets


def _topics_in_id_order(spec: GroupSpec) -> list[str]:
    """The topics in the order of the broker's set of their ids, which is filled in the order of a set of names."""
    first = spec.in_map_order[0]
    return list(JavaHashSet(spec.topics_by_name_order(first), copy_capacity(len(first.topics)), spec.topic_hash))


def _unassigned(spec: GroupSpec, topics: list[str]) -> list[TopicPartition]:
    owned = (partition for member in spec.members for partition in member.owned)
    assigned = set(owned if spec.in_targets is None else spec.in_targets)
    return [each for topic in topics for each in spec.partitions(topic) if each not in assigned]


def _revoke(
    spec: GroupSpec, targets: dict[str, Target], topics: Set[str]
) -> tuple[dict[str, int], list[TopicPartition]]:
    """How many more each member may have, and what had to go because it was too much."""
    may_pass_on = at_least("4.0.1", spec.release)
    low, extra_count = divmod(sum(spec.partition_counts[topic] for topic in topics), len(targets))
    rooms: dict[str, int] = {}
    revoked: list[TopicPartition] = []
    for place, (member_id, target) in enumerate(targets.items()):
        has_extra = extra_count > 0
        room, beyond = _trim(target, low + has_extra, topics)
        if may_pass_on and has_extra and room > 0 and len(targets) - place > extra_count:
            has_extra = False  # enough members come after this one to take up all that is extra
            room -= 1
        extra_count -= has_extra
        rooms[member_id] = room
        revoked += beyond
    return rooms, revoked


def _trim(target: Target, quota: int, topics: Set[str]) -> tuple[int, list[TopicPartition]]:
    """What is left of the quota, and what had to go beyond it; topics no longer subscribed to just go."""
    beyond: list[TopicPartition] = []
    for topic in target.topics():
        if topic not in topics:
            target.drop(topic)
            continue
        partitions = target.partitions(topic)
        for partition in partitions[quota:]:
            target.remove(topic, partition)
            beyond.append(TopicPartition(topic, partition))
        quota -= len(partitions[:quota])
    return quota, beyond
