"""What every assignment must be, whoever worked it out: the laws an assignor is judged by.

- *complete*: every partition of a subscribed topic has an owner;
- *exclusive*: none has two;
- *real*: nobody owns a partition that does not exist;
- *subscribed*: nobody owns what it does not subscribe to;
- *balanced*: the loads are as close as the assignor promises, see `PROMISES`.

To move no more than needed is a law between two assignments: see `kafkalearn.assignor.judging.measures`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from kafkalearn.assignor.members import Member, OldConsumer
from kafkalearn.errors import unknown_name
from kafkalearn.topic_partition import TopicPartition

PROMISES: MappingProxyType[str, str] = MappingProxyType(
    {
        "each topic": "of each topic no subscriber has more than one partition above another",
        "if alike": "if all subscribe alike, nobody has more than one partition above another; else nothing",
        "group": "no partition can go to a subscriber that has at least two fewer than its owner",
    }
)
"""What an assignor may promise about balance. With equal subscriptions "group" comes to "if alike"."""


@dataclass(frozen=True, slots=True)
class BrokenLaw:
    """A law that an assignment breaks, and where."""

    law: str  # "complete", "exclusive", "real", "subscribed" or "balanced"
    what: str

    def __str__(self) -> str:
        """The law and the place in one line."""
        return f"not {self.law}: {self.what}"


def broken_laws(
    partition_counts: Mapping[str, int],
    members: Sequence[Member] | Sequence[OldConsumer],
    assignment: Mapping[str, Sequence[TopicPartition]],
    promise: str = "group",
) -> tuple[BrokenLaw, ...]:
    """The laws that an assignment breaks, one entry for each place; empty if it keeps them all.

    Parameters
    ----------
    partition_counts, members
        As given to the assignor.
    assignment : mapping of str to sequence of TopicPartition
        What it answered; a member that is not in it has nothing.
    promise : str
        A name in `PROMISES`. The one of each assignor is ``ASSIGNORS[name].balance``.

    Raises
    ------
    KafkaLearnError
        If the promise is not known.

    Examples
    --------
    >>> members = [Member("C0", ["t"]), Member("C1", ["t"]), Member("C2", ["u"])]
    >>> both = {"C0": [TopicPartition("t", 0), TopicPartition("t", 1)], "C2": [TopicPartition("t", 1)]}
    >>> for law in broken_laws({"t": 3}, members, both, promise="each topic"):
    ...     print(law)
    not complete: t-2 has no owner
    not exclusive: t-1 is owned by C0 and C2
    not subscribed: C2 owns t-1
    not balanced: of t, C0 has 2 and C1 has 0
    """
    if promise not in PROMISES:
        raise unknown_name("promise", promise, PROMISES)
    takes = _takes(members)
    owners: dict[TopicPartition, list[str]] = {}
    for member_id, partitions in assignment.items():
        for partition in partitions:
            owners.setdefault(TopicPartition(*partition), []).append(member_id)
    return (
        *_incomplete(partition_counts, takes, owners),
        *_not_exclusive(owners),
        *_not_real(partition_counts, owners),
        *_not_subscribed(takes, owners),
        *_BALANCE[promise](takes, owners),
    )


Takes = Mapping[str, Collection[str]]  # the topics of each member or thread
Owners = Mapping[TopicPartition, Sequence[str]]


def _takes(members: Sequence[Member] | Sequence[OldConsumer]) -> dict[str, frozenset[str]]:
    takes: dict[str, set[str]] = {}
    for member in members:
        if isinstance(member, Member):
            takes[member.member_id] = set(member.topics)
            continue
        for topic, _ in member.stream_counts:
            for thread in member.threads(topic):
                takes.setdefault(thread, set()).add(topic)
    return {member_id: frozenset(topics) for member_id, topics in takes.items()}


def _incomplete(partition_counts: Mapping[str, int], takes: Takes, owners: Owners) -> Iterator[BrokenLaw]:
    subscribed = {topic for topics in takes.values() for topic in topics}
    for topic, count in partition_counts.items():
        for partition in map(TopicPartition, [topic] * count, range(count)):
            if topic in subscribed and partition not in owners:
                yield BrokenLaw("complete", f"{partition} has no owner")


def _not_exclusive(owners: Owners) -> Iterator[BrokenLaw]:
    for partition, members in owners.items():
        if len(members) > 1:
            yield BrokenLaw("exclusive", f"{partition} is owned by {' and '.join(members)}")


def _not_real(partition_counts: Mapping[str, int], owners: Owners) -> Iterator[BrokenLaw]:
    for partition, members in owners.items():
        if not 0 <= partition.partition < partition_counts.get(partition.topic, 0):
            yield BrokenLaw("real", f"{members[0]} owns {partition}, which does not exist")


def _not_subscribed(takes: Takes, owners: Owners) -> Iterator[BrokenLaw]:
    for partition, members in owners.items():
        for member_id in members:
            if partition.topic not in takes.get(member_id, ()):
                yield BrokenLaw("subscribed", f"{member_id} owns {partition}")


def _unequal_topics(takes: Takes, owners: Owners) -> Iterator[BrokenLaw]:
    counts = Counter((partition.topic, member_id) for partition, members in owners.items() for member_id in members)
    for topic in sorted({topic for topics in takes.values() for topic in topics}):
        loads = {member_id: counts[topic, member_id] for member_id, topics in takes.items() if topic in topics}
        yield from _too_far_apart(loads, f"of {topic}, ")


def _unequal_group_if_alike(takes: Takes, owners: Owners) -> Iterator[BrokenLaw]:
    if len(set(takes.values())) <= 1:
        yield from _too_far_apart(_loads(takes, owners), "")


def _movable(takes: Takes, owners: Owners) -> Iterator[BrokenLaw]:
    loads = _loads(takes, owners)
    for partition, members in owners.items():
        owner = members[0]
        for other, topics in takes.items():
            if partition.topic in topics and loads[owner] > loads[other] + 1:
                loaded = f"{owner} has {loads[owner]} and {other} has {loads[other]}"
                yield BrokenLaw("balanced", f"{loaded}; {partition} can move")
                break


def _loads(takes: Takes, owners: Owners) -> Counter[str]:
    loads = Counter(dict.fromkeys(takes, 0))
    loads.update(member_id for members in owners.values() for member_id in members)
    return loads


def _too_far_apart(loads: Mapping[str, int], where: str) -> Iterator[BrokenLaw]:
    most, fewest = max(loads, key=loads.__getitem__, default=None), min(loads, key=loads.__getitem__, default=None)
    if most is not None and loads[most] - loads[fewest] > 1:
        yield BrokenLaw("balanced", f"{where}{most} has {loads[most]} and {fewest} has {loads[fewest]}")


_BALANCE = {"each topic": _unequal_topics, "if alike": _unequal_group_if_alike, "group": _movable}
