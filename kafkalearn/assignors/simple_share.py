"""Simple, the assignor of share groups: which members may read which share-partition (KIP-932).

In a share group a partition may be with several members, so that a group can have more working members than there are
partitions. `assign_shared` gives each partition to at least one member and to as few as possible more; who has
something keeps it if that is fair. It runs in the broker; a client does not choose it.

>>> members = [Member(name, ["orders"]) for name in ("a", "b", "c")]
>>> print(assign_shared({"orders": [0, 1]}, members))
a: orders-0 orders-1
b: orders-1
c: orders-0

References
----------
Apache Kafka 4.2 to 4.4, ``SimpleAssignor``, ``SimpleHomogeneousAssignmentBuilder``,
``SimpleHeterogeneousAssignmentBuilder``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import ceil

from kafkalearn.assignors.members import Assignment, GroupSpec, Member
from kafkalearn.base.checks import iterable, mapping, text, whole_number
from kafkalearn.base.hashing import int32
from kafkalearn.base.java import JavaHashMap, JavaHashSet, hash_order, table_size
from kafkalearn.base.topic_partition import TopicPartition

HashCode = Callable[[TopicPartition], int]
MOST_PARTITION = 0x7FFFFFFE


def assign_shared(
    partitions: Mapping[str, Iterable[int]],
    members: Sequence[Member],
    *,
    topic_ids: Mapping[str, str] | None = None,
) -> Assignment:
    """The target of each member of a share group.

    Parameters
    ----------
    partitions : mapping of str to iterable of int
        Of each topic those whose state is initialised: a share group assigns no others.
    members : sequence of Member
        In the order in which the coordinator lists them; ``owned`` is the target that each has now.
    topic_ids : mapping of str to str, optional
        The topics' ids as Kafka prints them. Which partition goes to whom depends on them; without ids it is as if
        they had ids that are walked in the order of `partitions`. How many partitions a member gets does not depend.

    Returns
    -------
    Assignment
        Each member's topic-partitions, sorted. A partition may be in several.

    Raises
    ------
    KafkaLearnError
        If a topic has no id in `topic_ids`, a partition number makes no sense, or two members have the same id.

    Examples
    --------
    >>> first = assign_shared({"t": range(4)}, [Member("a", ["t"]), Member("b", ["t"])])
    >>> print(first)
    a: t-1 t-3
    b: t-0 t-2
    >>> print(assign_shared({"t": range(4)}, [Member("a", ["t"], first["a"]), Member("c", ["t"])]))  # b left, c came
    a: t-1 t-3
    c: t-0 t-2
    """
    numbers = {
        text("topic", topic): _numbers(topic, given)
        for topic, given in mapping("partitions", partitions, of="topic to numbers of partitions").items()
    }
    counts = {topic: max(each, default=-1) + 1 for topic, each in numbers.items()}
    spec = GroupSpec(counts, members, topic_ids=topic_ids)
    targets = (_alike if spec.subscribe_alike else _not_alike)(spec, numbers) if spec.members else {}
    return Assignment({each.member_id: sorted(targets[each.member_id]) for each in spec.members})


def _numbers(topic: str, given: Iterable[int]) -> tuple[int, ...]:
    numbers = tuple(iterable(f"partitions of {topic!r}", given, of="numbers"))
    return tuple(whole_number(f"a partition of {topic!r}", each, 0, MOST_PARTITION) for each in dict.fromkeys(numbers))


def _alike(spec: GroupSpec, numbers: Mapping[str, tuple[int, ...]]) -> dict[str, set[TopicPartition]]:
    """All members with the same topics: one round over all their partitions."""
    topics = spec.topics_by_name_order(spec.in_map_order[0])
    wanted = [TopicPartition(topic, number) for topic in topics for number in numbers[topic]]
    hash_codes = {topic: spec.topic_hash(topic) for topic in topics}

    def hash_code(each: TopicPartition) -> int:
        return int32(31 * hash_codes[each.topic] + each.partition)

    return _round(spec.in_map_order, wanted, hash_order(topics, spec.topic_hash), hash_code)


def _not_alike(spec: GroupSpec, numbers: Mapping[str, tuple[int, ...]]) -> dict[str, set[TopicPartition]]:
    """Members with topics of their own: a round for each topic, among those who subscribe to it.

    A topic to which nobody subscribes any more has no round, so that whoever has partitions of it keeps them.
    """
    subscribed = {topic for each in spec.members for topic in each.topics}
    targets = {each.member_id: {one for one in each.owned if one.topic not in subscribed} for each in spec.members}
    for topic in numbers:
        subscribers = [each for each in spec.in_map_order if topic in each.topics]
        if not subscribers:
            continue
        wanted = [TopicPartition(topic, number) for number in numbers[topic]]
        for member_id, got in _round(subscribers, wanted, [topic], lambda each: each.partition).items():
            targets[member_id] |= got
    return targets


def _round(
    members: Sequence[Member], wanted: Sequence[TopicPartition], topics: Sequence[str], hash_code: HashCode
) -> dict[str, set[TopicPartition]]:
    """Partitions among members: kept where that is fair, then given where too few have one."""
    group = _Sharing(members, wanted, topics, hash_code)
    group.take_from_overfilled()
    group.take_from_overshared()
    group.give()
    return {member.member_id: set(owned) for member, owned in zip(members, group.owned, strict=True)}


class _Sharing:
    """Who has what while it is worked out; members by number."""

    def __init__(
        self, members: Sequence[Member], wanted: Sequence[TopicPartition], topics: Sequence[str], hash_code: HashCode
    ) -> None:
        """What each may keep of what it has: of the topics that are still subscribed."""
        count, self.wanted = len(members), wanted
        self.sharing = -(-count // len(wanted)) if wanted else 0  # so many members a partition at most
        precise = self.sharing * len(wanted) / count  # what each should have; a double, as there
        self.quotas = [ceil(precise * (each + 1)) - ceil(precise * each) for each in range(count)]
        self.members_of: JavaHashMap[TopicPartition, JavaHashSet[int]] = JavaHashMap(
            table_size(int((len(wanted) + 1) / 0.75 + 1)), hash_code
        )
        self.owned = [JavaHashSet[TopicPartition](hash_code=hash_code) for _ in members]
        places = {topic: place for place, topic in enumerate(topics)}  # in a member's old target
        for number, member in enumerate(members):
            for each in sorted(set(member.owned), key=lambda one: (places.get(one.topic, -1), one.partition)):
                if each.topic not in places:
                    continue
                self.owned[number].add(each)
                self._members(each).add(number)
        self.unfilled = JavaHashSet(
            number for number, owned in enumerate(self.owned) if len(owned) < self.quotas[number]
        )

    def take_from_overfilled(self) -> None:
        """From members that have more than they should."""
        for number, owned in enumerate(self.owned):
            for each in list(owned)[: max(0, len(owned) - self.quotas[number])]:
                self._take(each, number)

    def take_from_overshared(self) -> None:
        """From partitions that more members have than should; those with the lowest numbers lose them."""
        for each, sharers in list(self.members_of.items()):
            for number in list(sharers)[: max(0, len(sharers) - self.sharing)]:
                self._take(each, number)
                self.unfilled.add(number)

    def give(self) -> None:
        """To members that have less than they should, going round among them."""
        for each in self.wanted:
            self._members(each)
        turns = self._turns()
        for each, sharers in list(self.members_of.items()):
            while len(sharers) < self.sharing:
                number = next((number for number in turns if number not in sharers), None)
                if number is None:
                    return
                self.owned[number].add(each)
                sharers.add(number)
                if len(self.owned[number]) >= self.quotas[number]:
                    self.unfilled.discard(number)

    def _turns(self) -> Iterator[int]:
        """The unfilled members, round after round, until a round has given nothing."""
        before = None
        while before != (now := sum(map(len, self.owned))):
            before = now
            yield from list(self.unfilled)

    def _members(self, each: TopicPartition) -> JavaHashSet[int]:
        return self.members_of.compute_if_absent(each, JavaHashSet)

    def _take(self, each: TopicPartition, number: int) -> None:
        self.owned[number].discard(each)
        self.members_of[each].discard(number)
