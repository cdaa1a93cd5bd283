"""Which brokers hold the replicas of a partition: Kafka's two placers, and what people write by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from kafkalearn.base.checks import LARGEST_INT, Checked, Whole, sequence, whole_number
from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.base.java import JavaHashMap, JavaRandom, java_hash, utf16_key

__all__ = [
    "Broker",
    "Placement",
    "Replicas",
    "heirs",
    "place_rotated",
    "place_shifted",
    "place_striped",
    "preferred_counts",
]


# The brokers that a placer may choose from, and what every placer is asked for.

MOST_PARTITIONS = 1_000_000

Replicas: TypeAlias = tuple[int, ...]
"""The brokers of one partition, the preferred leader first."""

Placement: TypeAlias = tuple[Replicas, ...]
"""For each partition its replicas: ``placement[p]`` are those of partition ``p``."""


@dataclass(frozen=True, slots=True)
class Broker(Checked):
    """A broker as a placer sees it.

    Attributes
    ----------
    id : int
        ``node.id``, from 0.
    rack : str or None
        ``broker.rack``; None: not set.
    is_fenced : bool
        Registered, and not heard from at the moment: it may get replicas, and no leadership.
    """

    id: Annotated[int, Whole(0, LARGEST_INT)]
    rack: str | None = None
    is_fenced: bool = False


def brokers_of(brokers: Sequence[Broker | int]) -> tuple[Broker, ...]:
    """The brokers as `Broker`; a bare number is one without a rack.

    Raises
    ------
    KafkaLearnError
        If one is neither, there is none, or an id stands there twice.

    Examples
    --------
    >>> brokers_of([1, Broker(2, "a")])
    (Broker(id=1, rack=None, is_fenced=False), Broker(id=2, rack='a', is_fenced=False))
    """
    given = sequence("brokers", brokers, of="broker ids, or Broker(...)")
    kept = tuple(each if isinstance(each, Broker) else Broker(each) for each in given)
    if not kept:
        raise KafkaLearnError("brokers is empty: replicas need at least one broker")
    if len({each.id for each in kept}) < len(kept):
        raise KafkaLearnError(f"brokers names a broker twice: {shown([each.id for each in kept])}; give each once")
    return kept


def checked_counts(partition_count: object, replication_factor: object, broker_count: int) -> None:
    """Pass in silence if so many partitions and replicas can be placed on so many brokers.

    Raises
    ------
    KafkaLearnError
        Where Kafka answers INVALID_PARTITIONS or INVALID_REPLICATION_FACTOR.
    """
    whole_number("partition_count", partition_count, 1, MOST_PARTITIONS)
    if whole_number("replication_factor", replication_factor, 1, LARGEST_INT) > broker_count:
        raise KafkaLearnError(
            f"replication_factor is {replication_factor}, and there are {broker_count} brokers: a broker holds one "
            "replica of a partition (Kafka answers INVALID_REPLICATION_FACTOR); start more brokers or ask for fewer"
        )


def placement_of(name: str, placement: object) -> Placement:
    """A placement as tuples; `name` is what an error calls it.

    >>> placement_of("placement", [[1, 2], (2, 3)])
    ((1, 2), (2, 3))
    """
    given: tuple[Any, ...] = sequence(name, placement, of="replicas, one tuple for each partition")
    return tuple(sequence(f"{name}[{place}]", each, of="broker ids") for place, each in enumerate(given))


def ids_text(brokers: Iterable[int]) -> str:
    """Broker ids as Kafka's tools print them.

    >>> ids_text((1, 2))
    '1,2'
    """
    return ",".join(map(str, brokers))


# What a placement is worth: who leads how much, who inherits from a dead broker, and what a lost rack takes along.


def preferred_counts(placement: Placement) -> Mapping[int, int]:
    """How many partitions each broker leads while all are well: those of which it is the first replica.

    >>> preferred_counts(((1, 2), (2, 3), (1, 3)))
    {1: 2, 2: 1}
    """
    return dict(sorted(Counter(replicas[0] for replicas in _checked(placement)).items()))


def heirs(placement: Placement, dead: int) -> Mapping[int | None, int]:
    """How many partitions each broker takes over when one dies, all others being alive and in sync.

    The new leader is the first of the remaining replicas. None stands for partitions that have no other replica: they
    have no leader until the broker is back.

    Examples
    --------
    >>> heirs(place_rotated([1, 2, 3, 4], 48, 3), dead=1)
    {2: 12}
    >>> heirs(place_shifted([1, 2, 3, 4], 48, 3), dead=1)
    {2: 4, 3: 4, 4: 4}
    >>> heirs(((1,), (2,)), dead=1)
    {None: 1}
    """
    left = [replicas[1:] for replicas in _checked(placement) if replicas[0] == dead]
    counts = Counter(replicas[0] if replicas else None for replicas in left)
    return dict(sorted(counts.items(), key=lambda item: (item[0] is None, item[0])))


def _checked(placement: object) -> tuple[tuple[int, ...], ...]:
    kept = placement_of("placement", placement)
    for place, replicas in enumerate(kept):
        if not replicas:
            raise KafkaLearnError(f"placement[{place}] has no replica; a partition has at least one")
        for each in replicas:
            whole_number(f"a broker id of placement[{place}]", each, 0, LARGEST_INT)
    return kept


# Replicas rotated by hand, as an article shows it: simple to write down, and unfair on the day a broker dies.


def place_rotated(brokers: Sequence[Broker | int], partition_count: int, replication_factor: int) -> Placement:
    """The replicas of each partition: a broker in turn, and the brokers that follow it in the list.

    Nothing shifts, so the same broker always follows the same leader: it alone inherits what a dead broker led. It is
    what people write who raise the replication factor by hand, no placement of Kafka's.

    Examples
    --------
    >>> place_rotated([1, 2, 3], 4, 3)
    ((1, 2, 3), (2, 3, 1), (3, 1, 2), (1, 2, 3))

    Raises
    ------
    KafkaLearnError
        If there are fewer brokers than replicas.
    """
    ids = [each.id for each in brokers_of(brokers)]
    checked_counts(partition_count, replication_factor, len(ids))
    return tuple(
        tuple(ids[(partition + place) % len(ids)] for place in range(replication_factor))
        for partition in range(partition_count)
    )


# Where clusters with ZooKeeper put replicas: leaders in turn, followers a shift further, the shift growing.


def place_shifted(
    brokers: Sequence[Broker | int],
    partition_count: int,
    replication_factor: int,
    start: int = 0,
    shift: int | None = None,
    first_partition: int = 0,
) -> Placement:
    """The replicas of partitions as ``AdminUtils`` places them.

    The leader of partition p is broker ``p + start`` in the list. Its followers come `shift` further, and after each
    round of the list the shift grows by one: so what a dead broker led goes to all the others. With racks the list
    takes one broker of each rack in turn, and a rack gets a second replica only when every rack has one.

    Parameters
    ----------
    brokers : sequence of Broker or int
        In the order of the list: Kafka sorts them by id. All with a rack, or none.
    partition_count, replication_factor : int
        Of the topic.
    start, shift : int
        Where the list begins, and the first shift. Kafka draws both, from 0 to the number of brokers - 1; `shift` is
        as `start` where it is not given.
    first_partition : int
        The number of the first of these partitions: more than 0 where partitions are added.

    Returns
    -------
    tuple of tuple of int
        The replicas of each partition, the preferred leader first.

    Raises
    ------
    KafkaLearnError
        If there are fewer brokers than replicas, or only some have a rack.

    Examples
    --------
    >>> place_shifted([1, 2, 3], 6, 3)
    ((1, 2, 3), (2, 3, 1), (3, 1, 2), (1, 3, 2), (2, 1, 3), (3, 2, 1))
    >>> place_shifted([Broker(1, "a"), Broker(2, "a"), Broker(3, "b"), Broker(4, "b")], 4, 2)
    ((1, 3), (3, 2), (2, 4), (4, 1))

    References
    ----------
    Apache Kafka 0.8.1 to 4.0, ``AdminUtils.assignReplicasToBrokers``; racks since 0.10.0 (KIP-36). Topics of clusters
    with ZooKeeper, and ``kafka-reassign-partitions --generate`` up to 4.0.
    """
    known = brokers_of(brokers)
    checked_counts(partition_count, replication_factor, len(known))
    whole_number("start", start, 0, LARGEST_INT)
    if shift is not None:
        whole_number("shift", shift, 0, LARGEST_INT)
    whole_number("first_partition", first_partition, 0, LARGEST_INT)
    shift, count = start if shift is None else shift, len(known)
    rackless = [each.id for each in known if each.rack is None]
    if rackless and len(rackless) < count:
        raise KafkaLearnError(
            f"brokers without a rack beside brokers with one: {rackless}; give each a rack, or none "
            "(Kafka: Not all brokers have rack information)"
        )
    rack_of = {each.id: each.rack for each in known}
    ids = list(rack_of) if rackless else in_turn(known)
    placement = []
    for partition in range(first_partition, first_partition + partition_count):
        if partition > 0 and partition % count == 0:
            shift += 1
        first = (partition + start) % count
        choose = _followers if rackless else _followers_by_rack
        placement.append((ids[first], *choose(ids, rack_of, first, shift, replication_factor - 1)))
    return tuple(placement)


def in_turn(brokers: Sequence[Broker]) -> list[int]:
    """The ids of brokers with racks, one of each rack in turn.

    >>> in_turn([Broker(0, "a"), Broker(1, "a"), Broker(2, "b"), Broker(3, "c")])
    [0, 2, 3, 1]
    """
    by_rack: dict[str, list[int]] = {}
    for each in sorted(brokers, key=lambda each: each.id):
        by_rack.setdefault(str(each.rack), []).append(each.id)
    racks = [by_rack[rack] for rack in sorted(by_rack, key=utf16_key)]
    return [rack[place] for place in range(max(map(len, racks))) for rack in racks if place < len(rack)]


def _index(first: int, shift: int, place: int, count: int) -> int:
    """Where in the list a follower is; with a single broker there is none to ask for."""
    return (first + 1 + (shift + place) % (count - 1)) % count


def _followers(ids: list[int], _: dict[int, str | None], first: int, shift: int, wanted: int) -> list[int]:
    return [ids[_index(first, shift, place, len(ids))] for place in range(wanted)]


def _followers_by_rack(
    ids: list[int], rack_of: dict[int, str | None], first: int, shift: int, wanted: int
) -> list[int]:
    """The next brokers in the list whose rack has no replica yet; when every rack has one, the next brokers."""
    chosen, rack_count, place = [ids[first]], len({*rack_of.values()}), 0
    while len(chosen) <= wanted:
        broker = ids[_index(first, shift * rack_count, place, len(ids))]
        used = {rack_of[each] for each in chosen}
        if broker not in chosen and (rack_of[broker] not in used or len(used) == rack_count):
            chosen.append(broker)
        place += 1
    return chosen[1:]


# Where a KRaft controller puts replicas: one rack after the other, in each rack one broker after the other.


def place_striped(
    brokers: Sequence[Broker | int], partition_count: int, replication_factor: int, seed: int = 0
) -> Placement:
    """The replicas of a new topic as the controller of a KRaft cluster places them.

    Each rack has a list of its brokers and a place in it where it begins, both for brokers that are alive and for
    fenced ones. A partition takes one broker of one rack after the other, and begins with the next rack than the
    partition before it; each list begins one further, too. After as many partitions as there are live brokers all
    lists are shuffled. Fenced brokers are taken only when a rack has no others left, and never as the first replica.
    Brokers without a rack are a rack of their own.

    Parameters
    ----------
    brokers : sequence of Broker or int
        The registered brokers.
    partition_count, replication_factor : int
        Of the topic.
    seed : int
        Kafka draws; the same seed gives the same placement.

    Returns
    -------
    tuple of tuple of int
        The replicas of each partition, the preferred leader first.

    Raises
    ------
    KafkaLearnError
        If there are fewer brokers than replicas, or all are fenced.

    Examples
    --------
    >>> place_striped([1, 2, 3], 4, 2)
    ((1, 2), (2, 3), (3, 1), (1, 3))
    >>> racks = [Broker(1, "a"), Broker(2, "a"), Broker(3, "b"), Broker(4, "b")]
    >>> place_striped(racks, 4, 2)  # never both in one rack
    ((2, 4), (3, 1), (2, 4), (3, 1))

    References
    ----------
    Apache Kafka 3.0 to 4.3, ``StripedReplicaPlacer``; since 4.1 ``kafka-reassign-partitions --generate`` uses it, too.
    """
    known = brokers_of(brokers)
    checked_counts(partition_count, replication_factor, len(known))
    if all(each.is_fenced for each in known):
        raise KafkaLearnError("all brokers are fenced: no partition can have a leader; at least one must be alive")
    racks = _Racks(known, JavaRandom(seed))
    return tuple(racks.place(replication_factor) for _ in range(partition_count))


class _BrokerList:
    """Brokers in turn: each round begins one further."""

    def __init__(self) -> None:
        self.ids: list[int] = []
        self._taken, self._offset, self._round = 0, 0, 0

    def begin(self, random: JavaRandom) -> None:
        if self.ids:
            self.ids.sort()
            self._offset = random.next_int(len(self.ids))

    def next(self, round_number: int) -> int | None:
        if not self.ids:
            return None
        if self._round != round_number:
            self._round, self._taken = round_number, 0
            self._offset = (self._offset + 1) % len(self.ids)
        if self._taken >= len(self.ids):
            return None
        self._taken += 1
        return self.ids[(self._taken - 1 + self._offset) % len(self.ids)]


class _Rack:
    def __init__(self) -> None:
        self.fenced, self.alive = _BrokerList(), _BrokerList()

    def lists(self) -> tuple[_BrokerList, _BrokerList]:
        return self.fenced, self.alive

    def next(self, round_number: int) -> int | None:
        found = self.alive.next(round_number)
        return self.fenced.next(round_number) if found is None else found


class _Racks:
    """The racks in turn, as ``RackList`` goes through them."""

    def __init__(self, brokers: tuple[Broker, ...], random: JavaRandom) -> None:
        self._random, self._round = random, 0
        by_name: JavaHashMap[str | None, _Rack] = JavaHashMap(
            hash_code=lambda name: 0 if name is None else java_hash(name)
        )
        for broker in brokers:
            if broker.rack not in by_name:
                by_name[broker.rack] = _Rack()
            rack = by_name[broker.rack]
            (rack.fenced if broker.is_fenced else rack.alive).ids.append(broker.id)
        self._racks = dict(by_name.items())  # in the order of the HashMap: so they draw
        for rack in self._racks.values():
            for each in rack.lists():
                each.begin(random)
        self._names = sorted(self._racks, key=lambda name: (name is not None, utf16_key(name or "")))
        self._alive_count = sum(not broker.is_fenced for broker in brokers)
        self._offset = random.next_int(len(self._names))

    def place(self, replication_factor: int) -> Replicas:
        if self._round == self._alive_count and self._alive_count > 1:
            self._shuffle()
            self._round = 0
        self._offset %= len(self._names)
        first_rack, leader = self._leader()
        replicas = [leader, *self._followers(first_rack, replication_factor - 1)]
        self._round += 1
        self._offset += 1
        return tuple(replicas)

    def _leader(self) -> tuple[int, int]:
        """The place of the first rack from here on that has a live broker left, and that broker."""
        place = self._offset
        while (found := self._racks[self._names[place]].alive.next(self._round)) is None:
            place = (place + 1) % len(self._names)
        return place, found

    def _followers(self, leaders_rack: int, count: int) -> list[int]:
        """Brokers of the racks from here on; the leader's rack is passed over once."""
        found: list[int] = []
        place, passed = self._offset, leaders_rack
        while len(found) < count:
            if place == passed:
                passed = -1
            elif (broker := self._racks[self._names[place]].next(self._round)) is not None:
                found.append(broker)
            place = (place + 1) % len(self._names)
        return found

    def _shuffle(self) -> None:
        self._random.shuffle(self._names)
        for rack in self._racks.values():
            for each in rack.lists():
                self._random.shuffle(each.ids)
