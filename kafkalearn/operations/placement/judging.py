"""What a placement is worth: who leads how much, who inherits from a dead broker, and what a lost rack takes along."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from kafkalearn.arguments import LARGEST_INT, whole_number
from kafkalearn.errors import KafkaLearnError
from kafkalearn.operations.placement.brokers import Broker, Placement, brokers_of, placement_of
from kafkalearn.phrases import listed, shown


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
    >>> from kafkalearn.operations.placement import place_rotated, place_shifted
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


def lost_with_rack(placement: Placement, brokers: Sequence[Broker], rack: str) -> tuple[int, ...]:
    """The partitions that have no live replica when all brokers of a rack are gone.

    >>> brokers = [Broker(1, "a"), Broker(2, "a"), Broker(3, "b")]
    >>> lost_with_rack(((1, 2), (2, 3), (3, 1)), brokers, "a")
    (0,)
    """
    gone = {each.id for each in brokers_of(brokers) if each.rack == rack}
    if not gone:
        racks = sorted({str(each.rack) for each in brokers_of(brokers)})
        raise KafkaLearnError(f"no broker is in rack {shown(rack)}; there are {listed(racks)}")
    return tuple(partition for partition, replicas in enumerate(_checked(placement)) if gone.issuperset(replicas))


def _checked(placement: object) -> tuple[tuple[int, ...], ...]:
    kept = placement_of("placement", placement)
    for place, replicas in enumerate(kept):
        if not replicas:
            raise KafkaLearnError(f"placement[{place}] has no replica; a partition has at least one")
        for each in replicas:
            whole_number(f"a broker id of placement[{place}]", each, 0, LARGEST_INT)
    return kept
