"""Racks in the client's assignors (KIP-881): balance first, and then partitions that have a replica where one runs.

A *rack* is a name: a zone of a cloud, a room, a real rack. A broker has its own in ``broker.rack``, a consumer in
``client.rack``, which its subscription carries since 3.4; ``range``, ``sticky`` and ``cooperative-sticky`` look at it
since 3.5. A partition *matches* a member if one of its replicas is in the member's rack; a member without a rack
matches everything. Racks count only where they can make a difference: at least one member is in a rack that has
replicas, and not every partition has replicas in all of the racks.

- ``range`` first gives matching partitions, within the counts that it gives anyway; then it cuts the rest into ranges
  as always. Topics with the same subscribers and equally many partitions stay together: partition k of all of them
  must match.
- ``sticky`` and ``cooperative-sticky`` do not keep a partition that does not match any more, deal the free ones to
  members that they match, up to the quota, and then the rest in a circle.

One thing in Kafka's code is not what its own words say: where the sticky algorithm for different subscriptions moves a
partition for balance, it looks for a member in a matching rack, and then moves it to the one with the fewest, in
whatever rack. All replicas count, also those that are not in the ISR.

``roundrobin`` does not know racks. Nor do the assignors of the broker (KIP-848), up to 4.4: they are shown the member's
rack and the partition's racks, and read neither. Since 4.1 such a group at least computes again when its topics' racks
change, for an assignor of one's own (KIP-1101).

References
----------
Apache Kafka 3.5 to 4.4, ``AbstractPartitionAssignor.useRackAwareAssignment``, ``RangeAssignor``,
``AbstractStickyAssignor.RackInfo``; KIP-881, KAFKA-14450.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kafkalearn.assignors.members import GroupSpec, Member
from kafkalearn.releases.lines import at_least

NOWHERE: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Racks:
    """Who is in which rack, and where partitions have replicas, as far as an assignor looks at it."""

    of_member: Mapping[str, str]  # empty: racks are not looked at
    of_topic: Mapping[str, Sequence[frozenset[str]]]

    def of(self, topic: str, partition: int) -> frozenset[str]:
        """The racks of a partition's replicas."""
        racks = self.of_topic.get(topic)
        return racks[partition] if racks else NOWHERE

    def match(self, member_id: str, topic: str, partition: int) -> bool:
        """Whether the member names no rack, or the partition has a replica there."""
        rack = self.of_member.get(member_id)
        return rack is None or rack in self.of(topic, partition)


def racks_in_use(spec: GroupSpec, topics: Iterable[str], members: Iterable[Member]) -> Racks:
    """The racks of these members and topics; none where they make no difference, or the release does not know them.

    Examples
    --------
    >>> members = [Member("C0", ["t"], rack="a"), Member("C1", ["t"])]
    >>> for each_has in (["a"], ["b"]), (["a", "b"], ["b", "a"]), (["b"], ["b"]):
    ...     spec = GroupSpec({"t": 2}, members, replica_racks={"t": each_has})
    ...     print(dict(racks_in_use(spec, ["t"], members).of_member))
    {'C0': 'a'}
    {}
    {}
    """
    of_member = {member.member_id: member.rack for member in members if member.rack}
    given = spec.replica_racks or {}
    if not of_member or not given or not at_least("3.5", spec.release):
        return Racks({}, {})
    of_topic = {topic: tuple(frozenset(racks) for racks in given.get(topic, ())) for topic in topics}
    kinds = {racks for each in of_topic.values() for racks in each}
    if not all(of_topic.values()):
        kinds.add(NOWHERE)
    everywhere = NOWHERE.union(*kinds)
    if everywhere.isdisjoint(of_member.values()) or kinds == {everywhere}:
        return Racks({}, {})
    return Racks(of_member, of_topic)


# Range.


class _Topic:
    """What is still to be given of one topic."""

    def __init__(self, spec: GroupSpec, topic: str, members: Sequence[Member]) -> None:
        self.name = topic
        self.racks = racks_in_use(spec, [topic], members)
        self.together = (tuple(member.member_id for member in members), spec.partition_counts[topic])
        self.where = (spec.replica_racks or {}).get(topic, ())
        self.free = dict.fromkeys(range(spec.partition_counts[topic]))
        self.held: dict[str, list[int]] = {member.member_id: [] for member in members}
        self.rack_of = {member.member_id: member.rack for member in members}
        self.low, self.extra_count = divmod(spec.partition_counts[topic], len(members))

    def room(self, member_id: str) -> int:
        return max(0, self.low + (self.extra_count > 0) - len(self.held[member_id]))

    def match(self, member_id: str, partition: int) -> bool:
        rack = self.rack_of[member_id]
        return not rack or (len(self.where) > 0 and rack in self.where[partition])

    def give(self, member_id: str, partitions: Sequence[int]) -> None:
        self.held[member_id] += partitions
        self.extra_count -= len(self.held[member_id]) > self.low
        for partition in partitions:
            del self.free[partition]

    def give_ranges(self, *, matching: bool) -> None:
        """To each member in order as much as it has room for, of all or of what matches it."""
        for member_id in self.held:
            room = self.room(member_id)
            if room:
                fit = [each for each in self.free if not matching or self.match(member_id, each)][:room]
                if fit:
                    self.give(member_id, fit)


def ranges_by_rack(
    spec: GroupSpec, subscribers: Mapping[str, Sequence[Member]]
) -> dict[str, dict[str, list[int]]] | None:
    """The partitions of each topic and member, ascending; None where no topic makes racks count.

    Once one topic makes them count, topics that are assigned together are matched, whether they need it or not.

    References
    ----------
    Apache Kafka 3.5 to 4.4, ``RangeAssignor.assignWithRackMatching``.
    """
    if not spec.replica_racks:
        return None
    topics = [_Topic(spec, topic, members) for topic, members in subscribers.items() if members]
    if not any(topic.racks.of_member for topic in topics):
        return None
    groups: defaultdict[object, list[_Topic]] = defaultdict(list)
    for topic in topics:
        groups[topic.together].append(topic)
    for together in groups.values():
        if len(together) > 1:
            _give_together(together)
        elif together[0].racks.of_member:
            together[0].give_ranges(matching=True)
    for topic in topics:
        topic.give_ranges(matching=False)
    return {topic.name: {member_id: sorted(held) for member_id, held in topic.held.items()} for topic in topics}


def _give_together(topics: Sequence[_Topic]) -> None:
    """Partition k of all these topics to the first member with room that all of them match."""
    if not any(topics[0].rack_of.values()):
        return
    with_room = list(topics[0].held)
    for partition in list(topics[0].free):
        for member_id in with_room:
            if all(each.match(member_id, partition) and each.room(member_id) for each in topics):
                for each in topics:
                    each.give(member_id, [partition])
                if not any(each.room(member_id) for each in topics):
                    with_room.remove(member_id)
                break


# Sticky.


class Circle:
    """Members in a fixed order, of whom the next one in some rack is asked for."""

    def __init__(self, member_ids: Iterable[str], rack_of: Mapping[str, str]) -> None:
        """Those who can be given something."""
        self._rack_of = rack_of
        self.member_ids = list(member_ids)
        self._counts = Counter(map(rack_of.get, self.member_ids))

    def find(self, racks: frozenset[str], start: int = 0) -> int | None:
        """The place of the next member in one of the racks, from `start` on."""
        if not any(self._counts[rack] for rack in racks):
            return None
        count = len(self.member_ids)
        for step in range(count):
            place = (start + step) % count
            if self._rack_of.get(self.member_ids[place]) in racks:
                return place
        return None

    def append(self, member_id: str) -> None:
        """Let a member in, as the last."""
        self.member_ids.append(member_id)
        self._counts[self._rack_of.get(member_id)] += 1

    def pop(self, place: int) -> str:
        """Take a member out."""
        member_id = self.member_ids.pop(place)
        self._counts[self._rack_of.get(member_id)] -= 1
        return member_id

    def clear(self) -> None:
        """Take all out."""
        self.member_ids.clear()
        self._counts.clear()


def deal_by_rack(
    held: Mapping[str, list[int]],
    free: Sequence[int],
    where: Sequence[frozenset[str]],
    under: Circle,
    exact: Circle,
    low: int,
    extra_count: int,
) -> list[int]:
    """Give each free partition to the next member that it matches, within the quota; those that are left over.

    Parameters
    ----------
    held : mapping of str to list of int
        What each member has; grows.
    free : sequence of int
        The partitions, those with the fewest members in their racks first.
    where : sequence of frozenset
        The racks of each of `free`.
    under, exact : Circle
        The members with fewer than `low` partitions, and those with exactly `low` that may get one more; change.
    low : int
        What everybody gets at least.
    extra_count : int
        How many members may still get one more.

    References
    ----------
    Apache Kafka 3.5 to 4.4, ``ConstrainedAssignmentBuilder.assignRackAwareRoundRobin``.
    """
    left: list[int] = []
    start = 0
    for number, racks in zip(free, where, strict=True):
        place = under.find(racks, start)
        if place is not None:
            member_id = under.member_ids[place]
            if len(held[member_id]) + 1 >= low:
                under.pop(place)
                if extra_count:
                    exact.append(member_id)
            else:
                place += 1
            start = place % len(under.member_ids) if under.member_ids else 0
        else:
            place = exact.find(racks)
            if place is None:
                left.append(number)
                continue
            member_id = exact.pop(place)
            extra_count -= 1
            if not extra_count:
                exact.clear()
        held[member_id].append(number)
    return left
