"""What every assignment must be, whoever computed it: the laws an assignor is judged by.

- *complete*: every partition of a subscribed topic has an owner;
- *exclusive*: none has two;
- *real*: nobody owns a partition that does not exist;
- *subscribed*: nobody owns what it does not subscribe to;
- *balanced*: the loads are as close as the assignor promises, see `BALANCES`.

That no more moves than must is a law about two assignments: see `kafkalearn.assignor.judging.measures`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from kafkalearn.arguments import one_of
from kafkalearn.assignor.group_spec import refuse_impossible_counts
from kafkalearn.assignor.members import Member, OldConsumer
from kafkalearn.topic_partition import TopicPartition

BALANCES: MappingProxyType[str, str] = MappingProxyType(
    {
        "each topic": "of each topic no subscriber has two partitions more than another",
        "if alike": "if all subscribe alike, nobody has two partitions more than another; else nothing",
        "group": "no partition can go to a subscriber that has at least two fewer than its owner",
    }
)
"""What an assignor may promise about balance, by name. With equal subscriptions "group" is the same as "if alike"."""


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
        A name in `BALANCES`. That of an assignor is ``find_assignor(name).balance``.

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
    one_of("promise", promise, BALANCES)
    refuse_impossible_counts(partition_counts)
    topics_of = _topics_of(members)
    owners: dict[TopicPartition, list[str]] = {}
    for member_id, partitions in assignment.items():
        for partition in partitions:
            owners.setdefault(TopicPartition(*partition), []).append(member_id)
    return (
        *_incomplete(partition_counts, topics_of, owners),
        *_not_exclusive(owners),
        *_not_real(partition_counts, owners),
        *_not_subscribed(topics_of, owners),
        *_BALANCE[promise](topics_of, owners),
    )


Subscriptions = Mapping[str, Collection[str]]  # the topics of each member or thread
Owners = Mapping[TopicPartition, Sequence[str]]


def _topics_of(members: Sequence[Member] | Sequence[OldConsumer]) -> dict[str, frozenset[str]]:
    topics_of: dict[str, set[str]] = {}
    for member in members:
        if isinstance(member, Member):
            topics_of[member.member_id] = set(member.topics)
            continue
        for topic, _ in member.stream_counts:
            for thread in member.threads(topic):
                topics_of.setdefault(thread, set()).add(topic)
    return {member_id: frozenset(topics) for member_id, topics in topics_of.items()}


def _incomplete(partition_counts: Mapping[str, int], topics_of: Subscriptions, owners: Owners) -> Iterator[BrokenLaw]:
    subscribed = {topic for topics in topics_of.values() for topic in topics}
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


def _not_subscribed(topics_of: Subscriptions, owners: Owners) -> Iterator[BrokenLaw]:
    for partition, members in owners.items():
        for member_id in members:
            if partition.topic not in topics_of.get(member_id, ()):
                yield BrokenLaw("subscribed", f"{member_id} owns {partition}")


def _unequal_topics(topics_of: Subscriptions, owners: Owners) -> Iterator[BrokenLaw]:
    counts = Counter((partition.topic, member_id) for partition, members in owners.items() for member_id in members)
    for topic in sorted({topic for topics in topics_of.values() for topic in topics}):
        loads = {member_id: counts[topic, member_id] for member_id, topics in topics_of.items() if topic in topics}
        yield from _too_far_apart(loads, f"of {topic}, ")


def _unequal_group_if_alike(topics_of: Subscriptions, owners: Owners) -> Iterator[BrokenLaw]:
    if len(set(topics_of.values())) <= 1:
        yield from _too_far_apart(_loads(topics_of, owners), "")


def _movable(topics_of: Subscriptions, owners: Owners) -> Iterator[BrokenLaw]:
    loads = _loads(topics_of, owners)
    for partition, members in owners.items():
        owner = members[0]
        for other, topics in topics_of.items():
            if partition.topic in topics and loads[owner] > loads[other] + 1:
                loaded = f"{owner} has {loads[owner]} and {other} has {loads[other]}"
                yield BrokenLaw("balanced", f"{loaded}; {partition} can move")
                break


def _loads(topics_of: Subscriptions, owners: Owners) -> Counter[str]:
    loads = Counter(dict.fromkeys(topics_of, 0))
    loads.update(member_id for members in owners.values() for member_id in members)
    return loads


def _too_far_apart(loads: Mapping[str, int], where: str) -> Iterator[BrokenLaw]:
    if not loads:
        return
    most, fewest = max(loads, key=loads.__getitem__), min(loads, key=loads.__getitem__)
    if loads[most] - loads[fewest] > 1:
        yield BrokenLaw("balanced", f"{where}{most} has {loads[most]} and {fewest} has {loads[fewest]}")


_BALANCE = {"each topic": _unequal_topics, "if alike": _unequal_group_if_alike, "group": _movable}
