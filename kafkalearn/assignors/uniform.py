"""Uniform, the default inside the broker since KIP-848: for members that subscribe alike, and for others.

`assign_uniform` asks one of two rules for the targets of the members: members that subscribe alike are filled one after
the other; for others it is filled topic by topic, and balanced (`uniform_general`). A `Target` is walked as Java walks
it. Racks are not looked at; the broker does not, either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from itertools import islice

from kafkalearn.assignors.members import Assignment, GroupSpec, Member
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.java import DEFAULT_CAPACITY, JavaHashMap, JavaHashSet, copy_capacity, table_size
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.releases.lines import at_least


def assign_uniform(spec: GroupSpec) -> Assignment:
    """The assignment of the ``uniform`` assignor inside the broker; each list as the broker walks it.

    Examples
    --------
    >>> from kafkalearn.assignors import Member, assign
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


# When all members subscribe alike: filled member by member.
#
# Every member has a quota: ``low = total // N``, and one more for ``total % N`` of them. It keeps what it has up to
# the quota, and then the members with room take from the front of the free partitions, one member after the other.
# So a fresh group is cut into runs (A: 0 1 2; B: 3 4), not dealt in a circle as by the sticky assignor of the clients.
#
# Who gets the one more:
#
# - up to 4.0.0 the first members in the order of the broker's map, whatever they had;
# - since 4.0.1 and 4.1 a member that already has it, and otherwise the *last* ones. Less moves that way.


def _uniform_alike(spec: GroupSpec) -> dict[str, Target]:
    targets = {member.member_id: target_of(spec, member) for member in spec.in_map_order}
    # The broker's set of the topics' ids, which is filled in the order of a set of names.
    first = spec.in_map_order[0]
    topics = list(JavaHashSet(spec.topics_by_name_order(first), copy_capacity(len(first.topics)), spec.topic_hash))
    rooms, revoked = _revoke(spec, targets, frozenset(topics))
    free = iter([*_unassigned(spec, topics), *revoked])
    for member_id, room in rooms.items():
        for topic, partition in islice(free, room):
            targets[member_id].add(topic, partition)
    return targets


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


# When subscriptions differ: fill topic by topic, then balance the subscribers of each topic.
#
# 1. Partitions of topics that a member no longer subscribes to leave its target.
# 2. The topics with free partitions, those with the most partitions for each subscriber first: their free
#    partitions go to the subscribers with the smallest load.
# 3. Topic by topic, in the same order, partitions go from the subscribers with the largest load to those with the
#    smallest, until the loads differ by at most one; round after round, 16 at the most, until a round moves nothing.
#
# The loads of each topic's subscribers end nearly equal; those of the whole group need not.

MOST_ROUNDS = 16


def uniform_general(spec: GroupSpec) -> dict[str, Target]:
    """The targets of a group whose members subscribe to different topics.

    References
    ----------
    Apache Kafka 4.0 to 4.3, ``UniformHeterogeneousAssignmentBuilder``.
    """
    group = _Group(spec)
    group.drop_unsubscribed()
    for topic in group.sorted_topics(topic for topic, owners in group.owners.items() if None in owners):
        group.fill(topic)
    shared = group.sorted_topics(topic for topic, members in group.subscribers.items() if len(members) > 1)
    _balance(group, shared)
    return dict(zip(group.member_ids, group.targets, strict=True))


def _balance(group: _Group, topics: list[str]) -> None:
    """Balance the topics in turn, until none has moved anything since the last one that did."""
    last_moved: str | None = None
    for topic in topics * MOST_ROUNDS:
        if topic == last_moved:
            return
        if group.balance(topic) or last_moved is None:
            last_moved = topic


class _Group:
    """The members by number, in the order of the broker's map, and who owns what while it is worked out."""

    def __init__(self, spec: GroupSpec) -> None:
        counts, members = spec.partition_counts, spec.in_map_order
        numbers = {member.member_id: number for number, member in enumerate(members)}
        self._topic_id_halves = spec.topic_id_halves
        self._topics_of = [frozenset(member.topics) for member in members]
        self.member_ids = list(numbers)
        self.targets = [target_of(spec, member) for member in members]
        self.loads = [0] * len(members)
        self.owners: dict[str, list[int | None]] = {topic: [None] * counts[topic] for topic in spec.topics}
        self.subscribers = {
            topic: [numbers[member.member_id] for member in subscribers]
            for topic, subscribers in spec.subscribers(members).items()
        }

    def sorted_topics(self, topics: Iterable[str]) -> list[str]:
        """Those with the most partitions for a subscriber first, then those with the fewest subscribers, then by id."""
        return sorted(topics, key=self._urgency)

    def drop_unsubscribed(self) -> None:
        """Step 1; what stays is entered as owned."""
        for number, target in enumerate(self.targets):
            for topic in target.topics():
                if topic not in self._topics_of[number] or topic not in self.owners:
                    target.drop(topic)
                    continue
                for partition in target.partitions(topic):
                    self.owners[topic][partition] = number
                    self.loads[number] += 1

    def fill(self, topic: str) -> None:
        """Step 2 for one topic."""
        least = LeastLoadedRange(self._by_load(topic), self.loads)
        for partition in [number for number, owner in enumerate(self.owners[topic]) if owner is None]:
            self._give(topic, partition, least.next())

    def balance(self, topic: str) -> bool:
        """Step 3 for one topic; whether anything was moved."""
        members = self._by_load(topic)
        if self.loads[members[-1]] - self.loads[members[0]] <= 1:
            return False
        least, most = LeastLoadedRange(members, self.loads), MostLoadedRange(members, self.loads)
        owned: dict[int, list[int]] = {number: [] for number in members}
        for partition, owner in enumerate(self.owners[topic]):
            if owner is not None:  # step 2 has left none free
                owned[owner].append(partition)
        has_moved = False
        while (giver := _next_giver(most, owned)) is not None:
            partition, taker = owned[giver].pop(), least.next()
            if most.load - least.load <= 1:
                break
            self._take(topic, partition, giver)
            self._give(topic, partition, taker)
            has_moved = True
        return has_moved

    def _by_load(self, topic: str) -> list[int]:
        return sorted(self.subscribers[topic], key=lambda number: (self.loads[number], number))

    def _urgency(self, topic: str) -> tuple[float, int, tuple[int, int]]:
        partition_count, subscriber_count = len(self.owners[topic]), len(self.subscribers[topic])
        return -partition_count / subscriber_count, subscriber_count, self._topic_id_halves[topic]

    def _give(self, topic: str, partition: int, number: int) -> None:
        a_fair_share = -(-len(self.owners[topic]) // len(self.subscribers[topic]))
        self.targets[number].add(topic, partition, capacity=table_size(int(a_fair_share / 0.75) + 1))
        self.owners[topic][partition] = number
        self.loads[number] += 1

    def _take(self, topic: str, partition: int, number: int) -> None:
        self.targets[number].remove(topic, partition)
        self.loads[number] -= 1


def _next_giver(most: MostLoadedRange, owned: dict[int, list[int]]) -> int | None:
    """The next of the most loaded members that still has a partition of the topic; those without are excluded."""
    while (number := most.next()) is not None and not owned[number]:
        most.exclude_last_named()
    return number


# Which member gets the next partition, and which one gives it away: two ranges over members sorted by load.
#
# Both count as if each member they name gets, or gives, one partition. The *least loaded range* begins with the members
# of the lowest load. Once each of them got one, their load is one more, and the range grows by the members that had
# that load already. The *most loaded range* grows in the same way from the other end, downwards.
#
# References
# ----------
# Apache Kafka 4.0 to 4.3, ``UniformHeterogeneousAssignmentBuilder.MemberAssignmentBalancer``.


class LeastLoadedRange:
    """Names the member that gets the next partition.

    >>> least = LeastLoadedRange([0, 1, 2], loads=[1, 1, 2])
    >>> [least.next() for _ in range(5)]  # the two with load 1, then all three with load 2
    [0, 1, 0, 1, 2]

    Parameters
    ----------
    members : sequence of int
        The members, sorted by load; shared with the most loaded range, which may swap them.
    loads : sequence of int
        The load of each member at any time.
    """

    def __init__(self, members: Sequence[int], loads: Sequence[int]) -> None:
        """An empty range below the lowest load."""
        self._members = members
        self._loads = loads
        self.load = loads[members[0]] - 1
        self._end = 0  # the range is members[:end]
        self._cursor = 0

    def next(self) -> int:
        """The member whose turn it is."""
        if self._cursor >= self._end:
            self.load += 1
            while self._end < len(self._members) and self._loads[self._members[self._end]] == self.load:
                self._end += 1
            self._cursor = 0
        self._cursor += 1
        return self._members[self._cursor - 1]


class MostLoadedRange:
    """Names the member that gives the next partition away, as long as there is one.

    >>> most = MostLoadedRange([0, 1, 2], loads=[1, 3, 3])
    >>> most.next(), most.next(), most.next()  # the two with load 3, then again from the right
    (2, 1, 2)
    """

    def __init__(self, members: list[int], loads: Sequence[int]) -> None:
        """An empty range above the highest load."""
        self._members = members
        self._loads = loads
        self.load = loads[members[-1]] + 1
        self._start = self._end = len(members)  # the range is members[start:end]
        self._cursor = len(members) - 1

    def next(self) -> int | None:
        """The member whose turn it is; None: nobody is left that could give."""
        if self._cursor < self._start:
            self._grow_down()
        if self._cursor < 0:
            return None
        self._cursor -= 1
        return self._members[self._cursor + 1]

    def exclude_last_named(self) -> None:
        """The member named last has nothing to give: it goes to the right end, and the range ends before it."""
        place, last = self._cursor + 1, self._end - 1
        self._members[place], self._members[last] = self._members[last], self._members[place]
        self._end = last

    def _grow_down(self) -> None:
        if self._end <= self._start and self._start > 0:
            # All of the range was excluded: the load jumps to that of the next member, or nobody would be reached.
            self.load = self._loads[self._members[self._start - 1]]
        else:
            self.load -= 1
        while self._start > 0 and self._loads[self._members[self._start - 1]] == self.load:
            self._start -= 1
        self._cursor = self._end - 1


# A member's target: topics and their partitions, walked as Java walks them.
#
# In which order the broker walks a target decides what a member keeps when it has too much, so the order is part of
# the answer. It follows from what the target went through: read from its record, copied when it is first changed
# (the copy is a smaller map), changed, written to a record again. A target whose partitions are the same in the
# end is not written: the one from before stays, with its order.


class Target:
    """The partitions that a member shall have, while they are worked out.

    Parameters
    ----------
    recorded : iterable of TopicPartition
        The target so far, in the order of its record.
    topic_hash : callable
        The hash code of a topic's id.

    Examples
    --------
    >>> target = Target([TopicPartition("t", number) for number in (18, 2, 1)], topic_hash=len)
    >>> target.partitions("t")  # 18 and 2 share a bucket of 16
    [1, 18, 2]
    >>> target.remove("t", 18)
    >>> target.add("u", 0)
    >>> " ".join(map(str, target.listing()))
    'u-0 t-1 t-2'
    """

    __slots__ = ("_is_copy", "_recorded", "_sets", "_topic_hash")

    def __init__(self, recorded: Iterable[TopicPartition], topic_hash: Callable[[str], int]) -> None:
        """The target as the broker reads it from a record."""
        by_topic: dict[str, list[int]] = {}
        for topic, partition in recorded:
            by_topic.setdefault(topic, []).append(partition)
        self._topic_hash = topic_hash
        self._sets: JavaHashMap[str, JavaHashSet[int]] = JavaHashMap(hash_code=topic_hash)
        for topic, partitions in by_topic.items():
            self._sets[topic] = JavaHashSet.copy_of(partitions)
        self._is_copy = False
        self._recorded = self._walk()

    def topics(self) -> list[str]:
        """The topics in the order of the map."""
        return list(self._sets)

    def partitions(self, topic: str) -> list[int]:
        """The partitions of a topic in the order of their set."""
        return list(self._sets[topic])

    def add(self, topic: str, partition: int, capacity: int = DEFAULT_CAPACITY) -> None:
        """Give the member one more partition; `capacity` is that of the set made for a topic it had nothing of."""
        self._copy_once()
        self._sets.compute_if_absent(topic, lambda: JavaHashSet(capacity=capacity)).add(partition)

    def remove(self, topic: str, partition: int) -> None:
        """Take a partition away."""
        self._copy_once()
        self._sets[topic].discard(partition)
        if not self._sets[topic]:
            del self._sets[topic]

    def drop(self, topic: str) -> None:
        """Take all partitions of a topic away."""
        self._copy_once()
        del self._sets[topic]

    def listing(self) -> tuple[TopicPartition, ...]:
        """The partitions as the broker has them afterwards."""
        walk = self._walk()
        return self._recorded if set(walk) == set(self._recorded) else walk

    def _walk(self) -> tuple[TopicPartition, ...]:
        return tuple(TopicPartition(topic, partition) for topic in self._sets for partition in self._sets[topic])

    def _copy_once(self) -> None:
        if self._is_copy:
            return
        copy: JavaHashMap[str, JavaHashSet[int]] = JavaHashMap(table_size(len(self._sets)), self._topic_hash)
        for topic in self._sets:
            copy[topic] = JavaHashSet.copy_of(self._sets[topic])
        self._sets, self._is_copy = copy, True


def target_of(spec: GroupSpec, member: Member) -> Target:
    """The target of a member so far; partitions of topics that are gone are left out at once."""
    known = (partition for partition in member.owned if partition.topic in spec.topic_id_halves)
    return Target(known, spec.topic_hash)
