"""Which records of a partition count: those of aborted and of unfinished transactions do not.

A consumer that also produces may commit its offsets inside a transaction. Such commits lie in the offsets topic like
others, in transactional batches; a control batch of the same producer id, the *marker*, says how it ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kafkalearn.segments.batches import Batch, Record
from kafkalearn.segments.files import Segment
from kafkalearn.segments.rows import by_partition

OUTCOMES = ("COMMIT", "ABORT", "OPEN")
"""How a transaction may stand: ended one way or the other, or not ended yet."""


def transaction_outcomes(batches: Sequence[Batch]) -> tuple[str | None, ...]:
    """For each batch of a partition how its transaction ended, a name in `OUTCOMES`; None: it is in none.

    Parameters
    ----------
    batches : sequence of Batch
        Of one partition, in order.
    """
    found: list[str | None] = [None] * len(batches)
    open_batches: dict[int, list[int]] = {}  # producer id -> indexes
    for index, batch in enumerate(batches):
        if not batch.is_transactional:
            continue
        if not batch.is_control:
            found[index] = "OPEN"
            open_batches.setdefault(batch.producer_id, []).append(index)
        elif batch.records:
            ended = batch.records[0].control
            found[index] = ended
            for each in open_batches.pop(batch.producer_id, ()):
                found[each] = ended
    return tuple(found)


def committed_records(segments: Iterable[Segment]) -> Iterator[Record]:
    """The data records that count, partition by partition, in the order of their offsets.

    Parameters
    ----------
    segments : iterable of Segment
        As `kafkalearn.segments.read_disk` returns them, one copy of each partition.

    Raises
    ------
    KafkaLearnError
        If a partition is there several times, or damaged in the middle.
    """
    for log in by_partition(segments).values():
        batches = [batch for segment in log for batch in segment.batches]
        for batch, outcome in zip(batches, transaction_outcomes(batches), strict=True):
            if not batch.is_control and outcome in (None, "COMMIT"):
                yield from batch.records
