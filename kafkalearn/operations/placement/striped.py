"""Where a KRaft controller puts replicas: one rack after the other, in each rack one broker after the other."""

from __future__ import annotations

from collections.abc import Sequence

from kafkalearn.errors import KafkaLearnError
from kafkalearn.java_collections import JavaHashMap, java_hash, utf16_key
from kafkalearn.operations.placement.brokers import Broker, Placement, Replicas, brokers_of, checked_counts
from kafkalearn.operations.placement.java_random import JavaRandom


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
        by_name: JavaHashMap[str | None, _Rack] = JavaHashMap(hash_code=_hash_of_optional)
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


def _hash_of_optional(name: str | None) -> int:
    return 0 if name is None else java_hash(name)
