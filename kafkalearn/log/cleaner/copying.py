"""The second pass of a cleaning: segments are copied without what the offset map makes obsolete.

Offsets never change, and a batch keeps its range of them. A batch without records left goes too, unless the log would
forget something with it: the last offset of a live idempotent producer, or since 4.0 the end of what was cleaned.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kafkalearn.log.appending import size_of
from kafkalearn.log.cleaner.grouping import groups_of
from kafkalearn.log.cleaner.keep_rule import Cleaning, decide, discards_batch
from kafkalearn.log.cleaner.markers import CleanedTransactions
from kafkalearn.log.cleaner.offset_map import offset_map
from kafkalearn.log.effects import Cleanable, Cleaned, Decision
from kafkalearn.log.settings import Settings
from kafkalearn.log.state import Batch, Log, Record, Segment, Transaction
from kafkalearn.segments.sizes import BATCH_HEADER_BYTES, MARKER_BYTES
from kafkalearn.wire.varint import varint_bytes


def clean(settings: Settings, log: Log, cleanable: Cleanable, now_ms: int) -> Log:
    """The log after one cleaning of what `cleanable` names; the effect `Cleaned` has the reasons.

    Raises
    ------
    CleanerDied
        As `kafkalearn.log.cleaner.offset_map.offset_map`.

    References
    ----------
    Apache Kafka, ``Cleaner.doClean``, ``cleanSegments``, ``MemoryRecords.filterTo``; KIP-534 (3.1), KAFKA-17076 (4.0).
    """
    found = offset_map(settings, log, cleanable)
    end = found.latest_offset + 1
    cleaning = Cleaning(settings, log, found, cleanable, now_ms, _legacy_horizon_ms(settings, log, cleanable))
    copied = tuple(segment for segment in log.segments[:-1] if segment.base_offset < end)
    left = log.segments[len(copied) :]
    transactions = CleanedTransactions(log, log.segments[0].base_offset, left[0].base_offset)
    decisions: list[Decision] = []
    groups = groups_of(settings, copied, cleanable.first_uncleanable_offset)
    segments = tuple(_merged(cleaning, group, transactions, decisions) for group in groups)
    done = Cleaned(cleanable, found.latest_offset, found.is_full, cleaning.legacy_horizon_ms, tuple(decisions))
    return replace(
        log,
        segments=segments + left,
        checkpoint=end,
        transactions=_still_known(log, left[0].base_offset, transactions),
        effects=(*log.effects, done),
    )


def _legacy_horizon_ms(settings: Settings, log: Log, cleanable: Cleanable) -> int | None:
    """Up to 3.0: when the newest clean segment was written, less delete.retention.ms; 0 if nothing is clean."""
    if settings.has("3.1"):
        return None
    clean_ms = [each.modified_ms for each in log.segments if each.base_offset < cleanable.first_dirty_offset]
    return clean_ms[-1] - settings.delete_retention_ms if clean_ms else 0


def _still_known(log: Log, end: int, transactions: CleanedTransactions) -> tuple[Transaction, ...]:
    """The transactions the log still has to know: of those that ended below `end`, aborted ones with a batch left."""
    ended = {each for each in log.transactions if each.last_offset is not None and each.last_offset < end}
    return tuple(each for each in log.transactions if each not in ended or each in transactions.with_data)


def _merged(
    cleaning: Cleaning, group: tuple[Segment, ...], transactions: CleanedTransactions, decisions: list[Decision]
) -> Segment:
    """The one segment that a group becomes: at the base of its first, with the file time of its last."""
    batches = tuple(_copied(cleaning, group, transactions, decisions))
    return Segment(group[0].base_offset, batches, group[-1].modified_ms, group[0].created_ms)


def _copied(
    cleaning: Cleaning, group: tuple[Segment, ...], transactions: CleanedTransactions, decisions: list[Decision]
) -> Iterator[Batch]:
    """The batches of a group that stay; the decisions on all its records are added to `decisions`."""
    for segment in group:
        is_young = cleaning.legacy_horizon_ms is not None and segment.modified_ms > cleaning.legacy_horizon_ms
        for batch in segment.batches:
            may_go = transactions.read(batch)
            is_discarded = discards_batch(cleaning, batch, may_go, is_young)
            here = [decide(cleaning, batch, record, is_discarded, is_young) for record in batch.records]
            decisions += here
            kept = tuple(record for record, decision in zip(batch.records, here, strict=True) if decision.is_kept)
            if kept:
                yield _rewritten(cleaning, batch, kept, may_go)
            elif _must_not_be_forgotten(cleaning, batch):
                yield _emptied(batch)


def _emptied(batch: Batch) -> Batch:
    """The header alone: who wrote the batch, and its offsets; of nothing no codec is named."""
    size_bytes = BATCH_HEADER_BYTES
    return replace(batch, records=(), size_bytes=size_bytes, delete_horizon_ms=None, padding_bytes=0, codec="none")


def _must_not_be_forgotten(cleaning: Cleaning, batch: Batch) -> bool:
    """Whether an emptied batch stays: the last of a live producer, or since 4.0 the last that was cleaned."""
    producer = cleaning.log.producer(batch.producer_id)
    if producer is not None and producer.last_data_offset is not None:
        is_last = batch.last_offset == producer.last_data_offset
    else:  # a marker raised the producer's epoch, and only the marker holds the epoch
        is_last = producer is not None and batch.marker is not None and batch.producer_epoch == producer.epoch
    is_end = batch.last_offset + 1 == cleaning.cleanable.first_uncleanable_offset
    return is_last or (is_end and cleaning.settings.has("4.0"))


def _rewritten(cleaning: Cleaning, batch: Batch, kept: tuple[Record, ...], may_go: bool) -> Batch:
    """The batch with the records that stay; the same one if nothing about it changes."""
    has_tombstone = batch.marker is None and any(record.value is None for record in kept)
    needs_horizon = has_tombstone or (batch.marker is not None and may_go)
    sets_horizon = needs_horizon and cleaning.legacy_horizon_ms is None and batch.delete_horizon_ms is None
    if kept == batch.records and not sets_horizon:
        return batch
    horizon_ms = cleaning.now_ms + cleaning.settings.delete_retention_ms if sets_horizon else batch.delete_horizon_ms
    base_ms = kept[0].timestamp_ms if horizon_ms is None else horizon_ms
    return replace(
        batch,
        records=kept,
        size_bytes=_size_bytes(batch, kept, base_ms),
        max_timestamp_ms=max(record.timestamp_ms for record in kept),
        delete_horizon_ms=horizon_ms,
    )


def _size_bytes(batch: Batch, kept: tuple[Record, ...], base_ms: int) -> int:
    if batch.marker is not None:
        return MARKER_BYTES - varint_bytes(0) + varint_bytes(kept[0].timestamp_ms - base_ms)
    needed = size_of(batch.base_offset, base_ms, kept)
    if batch.codec == "none":
        return needed + batch.padding_bytes
    return BATCH_HEADER_BYTES + _in_proportion(batch, needed - BATCH_HEADER_BYTES)


def _in_proportion(batch: Batch, kept_bytes: int) -> int:
    """Bytes of records compressed as well as the whole batch was, rounded up.

    An estimate: only the codec knows what less data takes.
    """
    base_ms = batch.records[0].timestamp_ms if batch.delete_horizon_ms is None else batch.delete_horizon_ms
    all_bytes = size_of(batch.base_offset, base_ms, batch.records) - BATCH_HEADER_BYTES
    return -(-kept_bytes * (batch.size_bytes - BATCH_HEADER_BYTES) // all_bytes)
