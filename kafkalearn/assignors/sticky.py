"""Sticky and cooperative sticky: balance first, and then as little movement as balance allows.

Both work out the same assignment, by one of two algorithms: `sticky_uniform` if all members subscribe alike,
`sticky_general` if not.

How Kafka finds out whether they subscribe alike has a defect, from 3.8 to 4.3: it does not look at the members that
come before the first one with any topic. So a member whose subscription is empty (its pattern fits no topic yet) can
be given partitions, which it will not read. ``fix_defects=True`` gives an assignor that looks at all of them.

The two differ in how the assignment is carried out:

- ``sticky`` is *eager*: everybody gives everything up before the rebalance and takes what it is assigned.
- ``cooperative-sticky`` takes two rounds. In the first a partition that is to move goes to nobody: its owner sees
  that it is gone, gives it up and asks for another round, in which it is free and goes to its new owner. All
  other partitions are read throughout. (With different subscriptions the second round may find something better
  and ask for a third.)

Both look at racks (KIP-881): `kafkalearn.assignors.racks` says how.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, dropwhile, filterfalse
from typing import Generic, TypeVar

from kafkalearn.assignors.members import Assignment, GroupSpec, Member
from kafkalearn.assignors.racks import Circle, Racks, deal_by_rack, racks_in_use
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.java import JavaHashMap, JavaHashSet, utf16_key
from kafkalearn.base.topic_partition import TopicPartition


def assign_sticky(spec: GroupSpec) -> Assignment:
    """The assignment of the ``sticky`` assignor.

    Examples
    --------
    >>> from kafkalearn.assignors import Member, assign
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
    >>> from kafkalearn.assignors import Member, assign
    >>> C0 = Member("C0", ["t"], owned=[("t", 0), ("t", 1), ("t", 2)], generation=1)
    >>> print(assign("cooperative-sticky", {"t": 3}, [C0, Member("C1", ["t"])]))  # t-2 is between two owners
    C0: t-0 t-1
    C1: none

    References
    ----------
    Apache Kafka 3.8 to 4.3, ``org.apache.kafka.clients.consumer.CooperativeStickyAssignor``; KIP-429.
    """
    if _counts_as_alike(spec):
        alike = sticky_uniform(spec)
        return _assignment(spec, alike, without=alike.in_transfer)
    result = sticky_general(spec)
    return _assignment(spec, result, without=_added_here_and_lost_there(spec.members, result))


def _counts_as_alike(spec: GroupSpec) -> bool:
    """Whether Kafka takes the members for subscribing alike, see the module."""
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


def _assignment(spec: GroupSpec, result: StickyResult[Item], without: Set[Item] = frozenset()) -> Assignment:
    held = {member.member_id: result.held[member.member_id] for member in spec.members}
    if without:
        held = {member_id: [item for item in items if item not in without] for member_id, items in held.items()}
    return Assignment.compact(held, result.expand)


# Who owns a partition when a sticky assignment begins: the reports of the members, compared with each other.
#
# Each member reports what it was assigned last (`ownedPartitions`) and in which generation of the group. A member that
# was away (a long pause, a network cut) comes back and reports, from an older generation, partitions that others
# were given meanwhile. So two members can report one partition:
#
# - from different generations: the one of the newer generation owns it;
# - from the same generation: neither owns it, one of the two must be wrong.

UNKNOWN_GENERATION = -1  # what a member without one counts as

Item = TypeVar("Item", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Owned(Generic[Item]):
    """What the members really own."""

    by_member: dict[str, list[Item]]  # in the order reported
    reported_twice: frozenset[Item]  # by two members of one generation: nobody owns it


@dataclass(frozen=True, slots=True)
class StickyResult(Generic[Item]):
    """The result of a sticky algorithm."""

    held: dict[str, list[Item]]  # by each member
    in_transfer: frozenset[Item]  # the new owner must wait for these until the old one has given them up
    expand: Callable[[Sequence[Item]], Iterable[TopicPartition]]


def owned_partitions(members: Iterable[Member], reported_by: Callable[[Member], Sequence[Item]]) -> Owned[Item]:
    """What each member owns, after its report is compared with those of the others.

    Parameters
    ----------
    members : iterable of Member
        In map order: if three members report one partition, the order decides.
    reported_by : callable
        The partitions a member reports, in any form: topic-partitions, or numbers that stand for them.

    Examples
    --------
    >>> old, new = Member("A", ["t"], [("t", 0), ("t", 1)], 4), Member("B", ["t"], [("t", 1), ("t", 2)], 5)
    >>> owned = owned_partitions([old, new], lambda member: [number for _, number in member.owned])
    >>> owned.by_member, owned.reported_twice
    ({'A': [0], 'B': [1, 2]}, frozenset())

    References
    ----------
    Apache Kafka 3.5 to 4.3, ``AbstractStickyAssignor`` (KAFKA-12984, KIP-792).
    """
    by_member: dict[str, list[Item]] = {}
    generations: dict[str, int] = {}
    reporter: dict[Item, str] = {}
    reported_twice: set[Item] = set()
    for member in members:
        member_id, generation = member.member_id, generation_of(member)
        generations[member_id] = generation
        mine = by_member.setdefault(member_id, [])
        for item in reported_by(member):
            if item not in reporter:
                reporter[item] = member_id
                mine.append(item)
                continue
            other = reporter[item]
            if generation < generations[other]:
                continue
            if item in by_member[other]:
                by_member[other].remove(item)
            if generation > generations[other]:
                mine.append(item)
            else:
                reported_twice.add(item)
            reporter[item] = member_id
    return Owned(by_member, frozenset(reported_twice))


def generation_of(member: Member) -> int:
    """The generation from which a member reports, as a number that can be compared."""
    return UNKNOWN_GENERATION if member.generation is None else member.generation


# Sticky, when all members subscribe alike: keep what you have up to your quota, deal the rest in a circle.
#
# With ``N`` members and ``total`` partitions everybody ends with ``low = total // N`` partitions or one more, and
# exactly ``extra = total % N`` members have that one more. Three steps:
#
# 1. Each member keeps what it owns up to the quota. One that owns more than ``low`` may keep ``low + 1`` as long
#    as fewer than ``extra`` members do.
# 2. Those with fewer than ``low`` are filled up in a circle, ordered by member id.
# 3. What is left goes, one each, to members that have exactly ``low``.
#
# Inside, a partition is a number: ``partition * topic_count + place of its topic by name``. Sorted by number means
# sorted by partition, then by topic, which is the order in which a member gives up what is too much; and a million
# of them are quickly sorted and dealt.

_topic_partition = partial(tuple.__new__, TopicPartition)  # of a pair; without the call of a Python function


class _Numbering:
    """The partitions of the group's topics as numbers, and back."""

    def __init__(self, spec: GroupSpec) -> None:
        self.topics = sorted(spec.topics, key=utf16_key)
        self.counts = [spec.partition_counts[topic] for topic in self.topics]
        self.total = sum(self.counts)
        self._places = {topic: place for place, topic in enumerate(self.topics)}

    def of_member(self, member: Member) -> list[int]:
        """The numbers of what a member owns, as far as the topics are still there."""
        places, topic_count = self._places, len(self.topics)
        return [partition * topic_count + places[topic] for topic, partition in member.owned if topic in places]

    def place_of(self, number: int) -> tuple[str, int]:
        """The topic and the partition that a number stands for."""
        return self.topics[number % len(self.topics)], number // len(self.topics)

    def all_but(self, taken: Set[int]) -> list[int]:
        """All numbers but those taken, by topic name and then partition."""
        topic_count = len(self.topics)
        numbers = chain.from_iterable(
            range(place, place + count * topic_count, topic_count) for place, count in enumerate(self.counts)
        )
        return list(filterfalse(taken.__contains__, numbers) if taken else numbers)

    def partitions(self, numbers: Sequence[int]) -> list[TopicPartition]:
        """The topic-partitions that the numbers stand for."""
        topics, topic_count = self.topics, len(self.topics)
        pairs = [(topics[number % topic_count], number // topic_count) for number in numbers]
        return list(map(_topic_partition, pairs))


@dataclass(frozen=True, slots=True)
class _Kept:
    """The members after step 1."""

    held: dict[str, list[int]]
    under: list[str]  # hold fewer than low
    exact: list[str]  # hold exactly low, and may get one more
    given_up: dict[int, str]  # with the member that had it
    extra_count: int  # how many may still get one more


def sticky_uniform(spec: GroupSpec) -> StickyResult[int]:
    """The sticky assignment of a group whose members all subscribe to the same topics.

    Notes
    -----
    The number of partitions that change their owner is the smallest that balance allows.

    References
    ----------
    Apache Kafka 3.8 to 4.3, ``AbstractStickyAssignor.ConstrainedAssignmentBuilder``.
    """
    numbering = _Numbering(spec)
    owned = owned_partitions(spec.in_map_order, numbering.of_member)
    low, extra_count = divmod(numbering.total, len(spec.members))
    racks = racks_in_use(spec, numbering.topics, spec.members)
    kept = _keep(owned, low, extra_count, racks, numbering)
    free = numbering.all_but(set(chain.from_iterable(kept.held.values())))
    given_up = kept.given_up.keys()
    if racks.of_member:
        free = _deal_by_rack(kept, free, low, racks, numbering)
    _deal(kept, free, low)
    if racks.of_member:  # what did not match can come back to its owner
        held = {member_id: set(numbers) for member_id, numbers in kept.held.items()}
        given_up -= {number for number, had in kept.given_up.items() if number in held[had]}
    # Without racks a member that gave something up is full, so another one gets it. Who gets it must wait until it is
    # given up.
    return StickyResult(kept.held, owned.reported_twice | given_up, numbering.partitions)


def _keep(owned: Owned[int], low: int, extra_count: int, racks: Racks, numbering: _Numbering) -> _Kept:
    """Step 1: everybody keeps what the quota allows of what it owned and what matches its rack."""
    kept = _Kept({}, [], [], {}, 0)
    over_count = 0
    for member_id, reported in owned.by_member.items():
        mine = sorted(filterfalse(owned.reported_twice.__contains__, reported))
        if member_id in racks.of_member:
            matching = [number for number in mine if racks.match(member_id, *numbering.place_of(number))]
            kept.given_up.update(dict.fromkeys(set(mine).difference(matching), member_id))
            mine = matching
        is_over = len(mine) > low and over_count < extra_count
        over_count += is_over
        if not is_over:
            (kept.under if len(mine) < low else kept.exact).append(member_id)
        kept.held[member_id] = mine[: low + is_over]
        kept.given_up.update(dict.fromkeys(mine[low + is_over :], member_id))
    if over_count == extra_count:
        kept.exact.clear()
    return replace(
        kept,
        under=sorted(kept.under, key=utf16_key),
        exact=sorted(kept.exact, key=utf16_key),
        extra_count=extra_count - over_count,
    )


def _deal_by_rack(kept: _Kept, free: Sequence[int], low: int, racks: Racks, numbering: _Numbering) -> list[int]:
    """Between steps 1 and 2, with racks: what matches somebody goes there first; what is left."""
    member_counts = Counter(racks.of_member.values())
    where = {number: racks.of(*numbering.place_of(number)) for number in free}
    in_order = sorted(free, key=lambda number: sum(member_counts[rack] for rack in where[number]))
    under, exact = Circle(kept.under, racks.of_member), Circle(kept.exact, racks.of_member)
    matched = [where[number] for number in in_order]
    left = deal_by_rack(kept.held, in_order, matched, under, exact, low, kept.extra_count)
    kept.under[:], kept.exact[:] = under.member_ids, exact.member_ids
    return left


def _deal(kept: _Kept, free: Sequence[int], low: int) -> None:
    """Steps 2 and 3: append the free partitions to what the members hold."""
    needs = {member_id: low - len(kept.held[member_id]) for member_id in kept.under}
    next_members = list(kept.exact)
    start = 0
    while needs:
        # Whole rounds at once, until the first in the circle are full; it then goes on without them, and, as the
        # round is complete, from its beginning.
        round_count, circle_size = min(needs.values()), len(needs)
        end = start + round_count * circle_size
        for place, member_id in enumerate(needs):
            kept.held[member_id] += free[start + place : end : circle_size]
        next_members += [member_id for member_id, need in needs.items() if need == round_count]
        needs = {member_id: need - round_count for member_id, need in needs.items() if need > round_count}
        start = end
    for member_id, number in zip(next_members, free[start:], strict=False):
        kept.held[member_id].append(number)


# Sticky, when subscriptions differ: keep what is valid, place the rest, then move single partitions to balance.
#
# 1. Everybody keeps what it owns, except of topics that are gone or that it no longer subscribes to.
# 2. Free partitions go, topic by topic, those with the fewest subscribers first, to the subscriber with the fewest
#    partitions.
# 3. Passes over the partitions, until one moves nothing: a partition whose owner has at least two more than some
#    other subscriber goes to the one with the fewest; one that a member of an older generation reports goes back
#    to that member. A partition is not moved against one that was moved the other way for the same topic: that
#    one is moved back instead.
# 4. If the passes moved something and the loads are no closer together than before, all of step 3 is undone.
#
# Two defects of Kafka's own code, from 3.9 to 4.3, show if a member comes back and reports from an older generation
# (step 3). Kafka does not check whether it still subscribes to the topic, so it can be given a partition that it will
# not read. And if it was set aside, because nothing can be moved to or from it, the assignor fails with a
# NullPointerException, and with it the consumer that leads the group. Here the first is done as Kafka does it and
# the second is refused with a sentence; ``fix_defects=True`` gives an assignor without both.


def sticky_general(spec: GroupSpec) -> StickyResult[TopicPartition]:
    """The sticky assignment of a group whose members subscribe to different topics.

    Raises
    ------
    KafkaLearnError
        Where Kafka's own assignor would fail (see above), unless ``spec.fix_defects``.

    References
    ----------
    Apache Kafka 3.8 to 4.3, ``AbstractStickyAssignor.GeneralAssignmentBuilder``.
    """
    loads = Loads(spec)
    racks = racks_in_use(spec, spec.topics, spec.members)
    must_revoke = _keep_owned(spec, loads, racks)
    is_fresh = not loads.owner
    by_users = sorted(spec.topics, key=lambda topic: (len(loads.users[topic]), utf16_key(topic)))
    everything = [partition for topic in by_users for partition in spec.partitions(topic)]
    free = [partition for partition in everything if partition not in loads.owner]
    left = free if not racks.of_member else [each for each in free if not _give_by_rack(loads, racks, each)]
    for partition in left:
        loads.give(partition, loads.lightest(partition.topic))

    loads.set_aside_the_settled()
    before = {member_id: list(held) for member_id, held in loads.held.items()}
    balancing = _Balancing(loads, _former_owners(spec), spec.fix_defects)
    if not must_revoke:
        balancing.run(free)
    has_moved = balancing.run(everything)
    undo = has_moved and not is_fresh and loads.unevenness(loads.held) >= loads.unevenness(before)
    return StickyResult(before if undo else loads.held, frozenset(), tuple)


def _give_by_rack(loads: Loads, racks: Racks, partition: TopicPartition) -> bool:
    """Give a partition to the subscriber with the fewest that it matches; whether there is one."""
    for _, _, member_id in loads.order:
        if loads.may_take(member_id, partition.topic) and racks.match(member_id, *partition):
            loads.give(partition, member_id)
            return True
    return False


def _keep_owned(spec: GroupSpec, loads: Loads, racks: Racks) -> bool:
    """Step 1. Whether a member lost something: its subscription or its rack does not fit any more."""
    topics = frozenset(spec.topics)
    owned = owned_partitions(spec.in_map_order, lambda member: [p for p in member.owned if p.topic in topics])
    must_revoke = False
    for member_id, partitions in owned.by_member.items():
        for partition in partitions:
            if loads.may_take(member_id, partition.topic) and racks.match(member_id, *partition):
                loads.give(partition, member_id)
            else:
                must_revoke = True
    return must_revoke


def _former_owners(spec: GroupSpec) -> dict[TopicPartition, str]:
    """Who reports each partition from an older generation; if there are several, the newest of them."""
    newest = max(map(generation_of, spec.members), default=UNKNOWN_GENERATION)
    former: dict[TopicPartition, str] = {}
    generations: dict[TopicPartition, int] = {}
    for member in spec.in_map_order:
        generation = generation_of(member)
        if generation == newest:
            continue
        for partition in member.owned:
            if partition not in former or generation > generations[partition]:
                former[partition], generations[partition] = member.member_id, generation
    return former


class _Balancing:
    """Step 3: the passes, with what they have moved so far."""

    def __init__(self, loads: Loads, former_owners: dict[TopicPartition, str], fix_defects: bool) -> None:
        self._loads = loads
        self._former_owners = former_owners
        self._fix_defects = fix_defects
        self._movements = Movements()

    def run(self, partitions: Iterable[TopicPartition]) -> bool:
        """Pass over those that can move at all until a pass moves nothing; whether anything was moved."""
        movable = [partition for partition in partitions if len(self._loads.users[partition.topic]) > 1]
        has_moved = False
        while self._pass(movable):
            has_moved = True
        return has_moved

    def _pass(self, partitions: Sequence[TopicPartition]) -> bool:
        has_moved = False
        for partition in partitions:
            if self._loads.is_balanced():
                break
            taker = self._taker(partition)
            if taker is not None:
                self._move(partition, taker)
                has_moved = True
        return has_moved

    def _taker(self, partition: TopicPartition) -> str | None:
        """Who should have the partition instead of its owner, if anybody."""
        load = self._load_of(self._loads.owner[partition])
        former = self._former_owner(partition)
        if former is not None and load > self._load_of(former) + 1:
            return former
        lightest = self._loads.lightest(partition.topic)
        return lightest if load > self._load_of(lightest) + 1 else None

    def _former_owner(self, partition: TopicPartition) -> str | None:
        former = self._former_owners.get(partition)
        if former is None or (self._fix_defects and not self._loads.may_take(former, partition.topic)):
            return None
        if former in self._loads.aside:
            raise KafkaLearnError(
                f"Kafka's own assignor fails here with a NullPointerException: {former!r} reports {partition} from an "
                "older generation, does not subscribe to it, and was set aside; fix_defects=True ignores that report"
            )
        return former

    def _move(self, partition: TopicPartition, taker: str) -> None:
        moved = self._movements.instead_of(partition, self._loads.owner[partition], taker)
        owner = self._loads.owner[moved]
        self._movements.record(moved, owner, taker)
        self._loads.take(moved)
        self._loads.give(moved, taker)

    def _load_of(self, member_id: str) -> int:
        return len(self._loads.held[member_id])


# Who holds what meanwhile.


class Loads:
    """The partitions of each member, with the members kept in order of how many they have.

    Attributes
    ----------
    users : dict of str to list of str
        The subscribers of each topic.
    held : dict of str to list of TopicPartition
        The partitions of each member, in the order they came to it.
    owner : dict of TopicPartition to str
        The same, seen from the partition.
    aside : set of str
        The members that take no part in the balancing.
    order : list
        The others, those with the fewest partitions first, with what they are ordered by.
    """

    def __init__(self, spec: GroupSpec) -> None:
        """Nobody has anything yet."""
        self.users = {
            topic: [member.member_id for member in subscribers]
            for topic, subscribers in spec.subscribers(spec.members).items()
        }
        self.held: dict[str, list[TopicPartition]] = {member.member_id: [] for member in spec.members}
        self.owner: dict[TopicPartition, str] = {}
        self.aside: set[str] = set()
        self._takes = {member.member_id: frozenset(member.topics) for member in spec.members}
        self._most_possible = {
            member_id: sum(spec.partition_counts[topic] for topic in self.users if topic in topics)
            for member_id, topics in self._takes.items()
        }
        self._counts: dict[str, Counter[str]] = {topic: Counter() for topic in self.users}  # by owner
        self.order = sorted((0, utf16_key(member_id), member_id) for member_id in self.held)
        self._known_balance: bool | None = None  # None: something has moved since it was last worked out

    def may_take(self, member_id: str, topic: str) -> bool:
        """Whether a member subscribes to a topic."""
        return topic in self._takes[member_id]

    def give(self, partition: TopicPartition, member_id: str) -> None:
        """Append a partition that nobody has to a member's list."""
        self._reorder(member_id, 1)
        self.held[member_id].append(partition)
        self.owner[partition] = member_id
        self._counts[partition.topic][member_id] += 1

    def take(self, partition: TopicPartition) -> None:
        """Take a partition out of its owner's list."""
        member_id = self.owner.pop(partition)
        self._reorder(member_id, -1)
        self.held[member_id].remove(partition)
        self._counts[partition.topic][member_id] -= 1

    def lightest(self, topic: str) -> str:
        """Of the subscribers of a topic the one with the fewest partitions; among equals the first by id."""
        return next(member_id for _, _, member_id in self.order if self.may_take(member_id, topic))

    def set_aside_the_settled(self) -> None:
        """Set aside the members that have all they can get, none of which anybody else can take."""
        self.aside = {member_id for member_id in self.held if self._is_settled(member_id)}
        self.order = [place for place in self.order if place[2] not in self.aside]

    def is_balanced(self) -> bool:
        """Whether no single partition can go to a subscriber that has at least two fewer than its owner."""
        if self._known_balance is None:
            nearly_equal = not self.order or self.order[-1][0] - self.order[0][0] <= 1
            self._known_balance = nearly_equal or not any(map(self._can_improve, self.users))
        return self._known_balance

    def unevenness(self, held: Mapping[str, Sequence[TopicPartition]]) -> int:
        """The sum of the differences in load between any two members that take part."""
        loads = sorted(len(held[member_id]) for _, _, member_id in self.order)
        return sum((2 * place - len(loads) + 1) * load for place, load in enumerate(loads))

    def _can_improve(self, topic: str) -> bool:
        heaviest = max(len(self.held[owner]) for owner, count in self._counts[topic].items() if count)
        with_room = [user for user in self.users[topic] if len(self.held[user]) != self._most_possible[user]]
        return any(len(self.held[user]) + 1 < heaviest for user in with_room)

    def _is_settled(self, member_id: str) -> bool:
        held = self.held[member_id]
        return len(held) == self._most_possible[member_id] and all(len(self.users[topic]) == 1 for topic, _ in held)

    def _reorder(self, member_id: str, change: int) -> None:
        count, by_id = len(self.held[member_id]), utf16_key(member_id)
        del self.order[bisect_left(self.order, (count, by_id, member_id))]
        insort(self.order, (count + change, by_id, member_id))
        self._known_balance = None


# What a balancing has moved so far, so that no partition is moved one way and another of its topic back.

Route = tuple[str, str]  # the member a partition came from at first, and the one it went to


class Movements:
    """The partitions moved in one balancing, by topic and route.

    References
    ----------
    Apache Kafka 3.8 to 4.3, ``AbstractStickyAssignor.PartitionMovements``.
    """

    def __init__(self) -> None:
        """Nothing has moved yet."""
        self._routes: dict[TopicPartition, Route] = {}
        self._moved: defaultdict[tuple[str, Route], JavaHashSet[TopicPartition]] = defaultdict(JavaHashSet)

    def instead_of(self, partition: TopicPartition, owner: str, taker: str) -> TopicPartition:
        """The partition to move when `partition` shall go from `owner` to `taker`.

        It is one of the same topic that was moved from the taker to where this one came from, if there is one:
        moving that back comes to the same and leaves one partition more where it was.
        """
        origin, _ = self._routes.get(partition, (owner, taker))
        return next(iter(self._moved.get((partition.topic, (taker, origin)), ())), partition)

    def record(self, partition: TopicPartition, owner: str, taker: str) -> None:
        """Remember that `partition` went from `owner` to `taker`; one that is back at its origin is forgotten."""
        origin = self._forget(partition) if partition in self._routes else owner
        if origin != taker:
            self._routes[partition] = (origin, taker)
            self._moved[partition.topic, (origin, taker)].add(partition)

    def _forget(self, partition: TopicPartition) -> str:
        """Where the forgotten partition came from."""
        route = self._routes.pop(partition)
        moved = self._moved[partition.topic, route]
        moved.discard(partition)
        if not moved:
            del self._moved[partition.topic, route]
        return route[0]
