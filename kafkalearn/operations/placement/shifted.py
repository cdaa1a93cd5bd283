"""Where clusters with ZooKeeper put replicas: leaders in turn, followers a shift further, the shift growing."""

from __future__ import annotations

from collections.abc import Sequence

from kafkalearn.arguments import LARGEST_INT, whole_number
from kafkalearn.errors import KafkaLearnError
from kafkalearn.java_collections import utf16_key
from kafkalearn.operations.placement.brokers import Broker, Placement, brokers_of, checked_counts


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
