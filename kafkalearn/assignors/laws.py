"""What an assignment must be, what a rebalance costs, and what it would cost at least.

The laws that an assignor is judged by (`broken_laws`), whoever computed the assignment:

- *complete*: every partition of a subscribed topic has an owner;
- *exclusive*: none has two;
- *real*: nobody owns a partition that does not exist;
- *subscribed*: nobody owns what it does not subscribe to;
- *balanced*: the loads are as close as the assignor promises, see `BALANCES`.

`load` says how even an assignment leaves the group, `change` what moves between two, `fewest_moves` how much has to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf
from types import MappingProxyType

from kafkalearn.assignors.members import Assignment, GroupSpec, Member, OldConsumer, refuse_impossible_counts
from kafkalearn.base.checks import one_of
from kafkalearn.base.topic_partition import TopicPartition

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
    topics_of: dict[str, frozenset[str]] = {}
    for member in members:
        if isinstance(member, Member):
            topics_of[member.member_id] = frozenset(member.topics)
            continue
        for topic, _ in member.stream_counts:
            for thread in member.threads(topic):
                topics_of[thread] = topics_of.get(thread, frozenset()) | {topic}
    return topics_of


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


# What a rebalance costs, and how even it leaves the group.

PROTOCOLS = ("eager", "cooperative")
"""How a change is carried out: everybody gives everything up first, or only what moves is given up."""


@dataclass(frozen=True, slots=True)
class Load:
    """How the partitions are spread over the members."""

    member_count: int
    partition_count: int
    fewest: int  # partitions of the member with the fewest
    most: int
    idle_count: int  # members without a partition

    @property
    def spread(self) -> int:
        """How many more the busiest member has than the idlest."""
        return self.most - self.fewest

    def rows(self) -> list[dict[str, str | int]]:
        """A row for each number."""
        return [*_rows(self), {"measure": "spread", "value": self.spread}]


def load(assignment: Assignment) -> Load:
    """How even an assignment is.

    Examples
    --------
    >>> from kafkalearn.assignors import Member, assign
    >>> load(assign("range", {"a": 1, "b": 1}, [Member("C0", ["a", "b"]), Member("C1", ["a", "b"])]))
    Load(member_count=2, partition_count=2, fewest=0, most=2, idle_count=1)
    """
    counts = list(assignment.counts().values())
    return Load(
        member_count=len(counts),
        partition_count=sum(counts),
        fewest=min(counts, default=0),
        most=max(counts, default=0),
        idle_count=counts.count(0),
    )


@dataclass(frozen=True, slots=True)
class Change:
    """How many partitions kept their owner from one assignment to the next, and how many did not."""

    kept_count: int  # have the same owner
    moved_count: int  # have another one
    new_count: int  # had none before
    lost_count: int  # have none any more

    def revoked_count(self, protocol: str) -> int:
        """How many partitions stop being read for the change, under a protocol in `PROTOCOLS`.

        >>> change = Change(kept_count=45, moved_count=5, new_count=0, lost_count=0)
        >>> change.revoked_count("eager"), change.revoked_count("cooperative")
        (50, 5)
        """
        one_of("protocol", protocol, PROTOCOLS)
        gone = self.moved_count + self.lost_count
        return gone + self.kept_count if protocol == "eager" else gone

    def rows(self) -> list[dict[str, str | int]]:
        """A row for each number."""
        revoked = [{"measure": f"revoked, {each}", "value": self.revoked_count(each)} for each in PROTOCOLS]
        return [*_rows(self), *revoked]


def change(before: Assignment, after: Assignment) -> Change:
    """What moves between two assignments of a group; members may have come and gone.

    Examples
    --------
    >>> from kafkalearn.assignors import Member, assign
    >>> before = assign("range", {"t": 4}, [Member(name, ["t"]) for name in ("C0", "C1", "C2")])
    >>> after = assign("range", {"t": 4}, [Member(name, ["t"]) for name in ("C1", "C2")])
    >>> change(before, after)
    Change(kept_count=1, moved_count=3, new_count=0, lost_count=0)
    """
    owner_before, owner_after = before.owners(), after.owners()
    in_both = owner_before.keys() & owner_after.keys()
    kept_count = sum(owner_before[partition] == owner_after[partition] for partition in in_both)
    return Change(
        kept_count=kept_count,
        moved_count=len(in_both) - kept_count,
        new_count=len(owner_after) - len(in_both),
        lost_count=len(owner_before) - len(in_both),
    )


def _rows(measures: Load | Change) -> list[dict[str, str | int]]:
    numbers: Mapping[str, int] = asdict(measures)
    return [{"measure": name.removesuffix("_count"), "value": number} for name, number in numbers.items()]


# The fewest partitions that have to move.
#
# Of all assignments that are complete and subscribed, take those whose loads are as even as can be (the sum of their
# squares is the smallest), and of these the one that moves the fewest partitions. With equal subscriptions that is
# a matter of counting. With different ones it is a flow problem: partitions are placed one by one, each on the
# cheapest way, which may push others on from member to member.

Push = tuple[TopicPartition, str | None]  # what comes to a member, and from whom; None: from nobody


def fewest_moves(before: Assignment, partition_counts: Mapping[str, int], members: Sequence[Member]) -> int:
    """How many partitions must change their owner before the group is as evenly loaded as it can be.

    Parameters
    ----------
    before : Assignment
        Who had what, members that have left included: what they had must move.
    partition_counts, members
        The group now, as given to the assignor.

    Returns
    -------
    int
        Partitions that nobody had before do not count; nor do those that nobody can own now.

    Notes
    -----
    Any size where all members subscribe alike. Else the work grows with the square of the partitions: a second
    for some 400 of them on 15 members.

    Examples
    --------
    >>> from kafkalearn.assignors import assign
    >>> before = assign("sticky", {"t": 50}, [Member(f"m{number}", ["t"]) for number in range(10)])
    >>> fewest_moves(before, {"t": 50}, [Member(f"m{number}", ["t"]) for number in range(10) if number != 3])
    5
    """
    spec = GroupSpec(partition_counts, members)
    topics_of = {member.member_id: frozenset(member.topics) for member in spec.members}
    owner_before = before.owners()
    partitions = [partition for topic in spec.topics for partition in spec.partitions(topic)]
    had = sum(partition in owner_before for partition in partitions)
    if spec.subscribe_alike:
        return had - _most_kept_if_alike([owner_before.get(partition) for partition in partitions], list(topics_of))
    placement = _Placement(topics_of, owner_before)
    for partition in partitions:
        placement.place(partition)
    return sum(owner_before.get(partition, owner) != owner for partition, owner in placement.owner.items())


def _most_kept_if_alike(owners: Sequence[str | None], members: Sequence[str]) -> int:
    low, extra_count = divmod(len(owners), max(len(members), 1))
    counts = Counter(owners)
    over_count = sum(counts[member_id] > low for member_id in members)
    return sum(min(counts[member_id], low) for member_id in members) + min(extra_count, over_count)


class _Placement:
    """Partitions placed so that loads are even, and among even placements as few as possible have moved."""

    def __init__(self, topics_of: Mapping[str, frozenset[str]], owner_before: Mapping[TopicPartition, str]) -> None:
        self.owner: dict[TopicPartition, str] = {}
        self._topics_of = topics_of
        all_topics = {topic for topics in topics_of.values() for topic in topics}
        self._subscribers = {
            topic: [each for each, topics in topics_of.items() if topic in topics] for topic in all_topics
        }
        self._owner_before = owner_before
        self._loads: Counter[str] = Counter()

    def place(self, partition: TopicPartition) -> None:
        """Place one more partition on the cheapest way."""
        cost, came_by = self._ways(partition)
        last = min(self._topics_of, key=lambda member_id: self._weight(member_id) + cost[member_id])
        self._loads[last] += 1
        while last is not None:
            pushed, giver = came_by[last]
            self.owner[pushed] = last
            last = giver

    def _ways(self, partition: TopicPartition) -> tuple[dict[str, float], dict[str, Push]]:
        """What it costs in moves to give each member one partition more, and by which push it comes about."""
        cost: dict[str, float] = {
            member_id: self._owner_before.get(partition, member_id) != member_id if partition.topic in topics else inf
            for member_id, topics in self._topics_of.items()
        }
        came_by: dict[str, Push] = dict.fromkeys(self._topics_of, (partition, None))
        has_improved = True
        while has_improved:
            has_improved = False
            for pushed, giver in self.owner.items():
                had = self._owner_before.get(pushed)
                without = cost[giver] - (had is not None and had != giver)
                for taker in self._subscribers[pushed.topic]:
                    way = without + (had is not None and had != taker)
                    if way < cost[taker]:
                        cost[taker], came_by[taker] = way, (pushed, giver)
                        has_improved = True
        return cost, came_by

    def _weight(self, member_id: str) -> int:
        """What one partition more on a member adds to the squares, made heavier than all moves together."""
        return (2 * self._loads[member_id] + 1) * (len(self.owner) + 2)
