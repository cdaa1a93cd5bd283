"""Replicas rotated by hand, as an article shows it: simple to write down, and unfair on the day a broker dies."""

from __future__ import annotations

from collections.abc import Sequence

from kafkalearn.operations.placement.brokers import Broker, Placement, brokers_of, checked_counts


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
