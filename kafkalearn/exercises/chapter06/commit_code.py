"""Code of chapter 06: what to commit, with two faults that clients have shipped, and what counts as a duplicate."""

from __future__ import annotations

from kafkalearn.exercises.kit.faulty_code import FaultyCode


def offsets_to_commit(processed):
    """The offset to commit for each partition."""
    offsets = {}
    for partition, offset in processed:
        if offset > offsets.get(partition, 0):
            offsets[partition] = offset
    return offsets


OFFSETS_TO_COMMIT = FaultyCode(
    offsets_to_commit,
    (
        ("offsets[partition] = offset\n", "offsets[partition] = offset + 1\n"),
        ("if offset > offsets.get(partition, 0):", "if offset >= offsets.get(partition, 0):"),
    ),
)

PROCESSED_CASES = tuple(
    (processed,)
    for processed in (
        (),
        ((0, 0),),
        ((0, 5),),
        ((0, 0), (0, 1)),
        ((3, 0), (1, 7)),
        ((0, 5), (0, 6), (0, 7)),
        ((0, 41), (1, 0), (0, 42), (2, 8)),
    )
)
"""What was processed, each as (partition, offset), in the order of each partition."""


def bill(deliveries):
    """Each record once: its place in Kafka is its name."""
    cents_by_order, seen = {}, set()
    for topic, partition, offset, order, cents in deliveries:
        if (topic, partition, offset) not in seen:
            seen.add((topic, partition, offset))
            cents_by_order[order] = cents_by_order.get(order, 0) + cents
    return cents_by_order


def bill_everything(deliveries):
    """No memory at all."""
    cents_by_order = {}
    for *_, order, cents in deliveries:
        cents_by_order[order] = cents_by_order.get(order, 0) + cents
    return cents_by_order


def bill_by_offset(deliveries):
    """Two partitions have the same offsets."""
    return bill([("orders", 0, *rest) for _, _, *rest in deliveries])


def bill_by_partition_and_offset(deliveries):
    """Two topics have the same partitions."""
    return bill([("orders", *rest) for _, *rest in deliveries])


def bill_by_order(deliveries):
    """An order may have more than one record."""
    cents_by_order = {}
    for *_, order, cents in deliveries:
        cents_by_order.setdefault(order, cents)
    return cents_by_order


def bill_if_different_from_last(deliveries):
    """A batch that comes again comes as a whole."""
    kept = [each for at, each in enumerate(deliveries) if at == 0 or each != deliveries[at - 1]]
    return bill_everything(kept)


_A, _B = ("orders", 0, 7, "A", 500), ("orders", 0, 8, "B", 900)
DELIVERY_CASES = tuple(
    (deliveries,)
    for deliveries in (
        (),
        (_A,),
        (_A, _A),
        (_A, _B, _A, _B),
        (_A, ("orders", 1, 7, "C", 300)),
        (_A, ("returns", 0, 7, "A", -500)),
        (_A, ("orders", 0, 9, "A", 200), ("orders", 0, 9, "A", 200)),
        (_A, ("orders", 0, 12, "A", 500)),
    )
)
"""Deliveries, each as (topic, partition, offset, order, cents)."""


def safe_to_commit(polled, done):
    """The first record that is not done; when all are, one past the last."""
    for offset in polled:
        if offset not in done:
            return offset
    return polled[-1] + 1


def highest_done(polled, done):
    """What the client in the report did."""
    return max(done) + 1 if done else polled[0]


def as_many_as_done(polled, done):
    """Counts where it should look."""
    return polled[0] + len(done)


def last_safe(polled, done):
    """The last record before the gap, and not the next."""
    return max(polled[0], safe_to_commit(polled, done) - 1)


def next_number(polled, done):
    """Takes for granted that offsets have no gaps."""
    offset = polled[0]
    while offset in done:
        offset += 1
    return offset


SAFE_CASES = (
    ((0,), frozenset()),
    ((0,), frozenset({0})),
    ((4, 5, 6), frozenset({4})),
    ((4, 5, 6), frozenset({5, 6})),
    ((4, 5, 6), frozenset({4, 5, 6})),
    ((1, 2, 3, 4, 5, 6, 7, 8, 9, 10), frozenset({1, 2, 3, 4, 6, 7, 8, 9, 10})),
    ((10, 12, 15), frozenset({10, 12})),
    ((10, 12, 15), frozenset({10, 12, 15})),
    ((10, 12, 15), frozenset({12})),
)
"""Offsets that poll returned, ascending, and those that the threads are done with; a compacted topic has gaps."""
