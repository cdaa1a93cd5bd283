"""Writing to a log: batches, markers, and when a new segment is opened."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kafkalearn.log.effects import Appended, AppendRefused, SegmentRolled
from kafkalearn.log.events import Append, EndTransaction, NewBatch
from kafkalearn.log.index import FARTHEST, is_index_full
from kafkalearn.log.settings import Settings
from kafkalearn.log.state import Batch, Log, Producer, Record, Segment, Transaction
from kafkalearn.segments.sizes import MARKER_BYTES, batch_bytes


def append(settings: Settings, log: Log, event: Append) -> Log:
    """The log after an append; a batch that the broker refuses is not written, nor are those behind it."""
    for new in event.batches:
        error = _refusal(settings, new)
        if error is not None:
            return replace(log, effects=(*log.effects, AppendRefused(error)))
        batch = new_batch(log.log_end_offset, new)
        now_ms = batch.max_timestamp_ms if event.now_ms is None else event.now_ms
        log = _remember(_write(settings, log, batch, now_ms), batch)
    return log


def _refusal(settings: Settings, new: NewBatch) -> str | None:
    batch = new_batch(0, new)
    if batch.size_bytes > settings.max_message_bytes:
        return "MESSAGE_TOO_LARGE"
    has_null_key = any(key is None for key, _, _ in new.records)
    if settings.is_compacted and has_null_key and settings.has("0.9.0"):
        return "INVALID_RECORD"
    return "RECORD_LIST_TOO_LARGE" if batch.size_bytes > settings.segment_bytes else None


def new_batch(base_offset: int, new: NewBatch) -> Batch:
    """The batch with the offsets it gets."""
    records = tuple(Record(base_offset + index, *each) for index, each in enumerate(new.records))
    needed = size_of(base_offset, records[0].timestamp_ms, records)
    size_bytes = needed if new.size_bytes is None else new.size_bytes
    return Batch(
        base_offset,
        records[-1].offset,
        records,
        size_bytes,
        max(record.timestamp_ms for record in records),
        producer_id=new.producer_id,
        producer_epoch=new.producer_epoch,
        base_sequence=new.base_sequence,
        is_transactional=new.is_transactional,
        padding_bytes=size_bytes - needed,
    )


def size_of(base_offset: int, base_ms: int, records: Iterable[Record]) -> int:
    """The bytes of a batch of these records whose timestamps count from `base_ms`."""
    return batch_bytes(
        base_offset, base_ms, ((each.offset, each.timestamp_ms, each.key, each.value) for each in records)
    )


def end_transaction(settings: Settings, log: Log, event: EndTransaction) -> Log:
    """The log with a marker at its end; the producer's open transaction, if it has one, is over."""
    offset = log.log_end_offset
    batch = Batch(
        offset,
        offset,
        (Record(offset, None, None, event.timestamp_ms),),
        MARKER_BYTES,
        event.timestamp_ms,
        producer_id=event.producer_id,
        producer_epoch=event.producer_epoch,
        is_transactional=True,
        marker="COMMIT" if event.is_commit else "ABORT",
    )
    log = _write(settings, log, batch, event.timestamp_ms)
    known = next((each for each in log.producers if each.producer_id == event.producer_id), None)
    keeps_epoch = known is not None and known.epoch == event.producer_epoch
    last_data_offset = known.last_data_offset if keeps_epoch else None
    producer = Producer(event.producer_id, event.producer_epoch, last_data_offset)
    transactions = tuple(
        replace(each, last_offset=offset, is_aborted=not event.is_commit)
        if each.producer_id == event.producer_id and each.last_offset is None
        else each
        for each in log.transactions
    )
    return replace(log, transactions=transactions, producers=_put(log.producers, producer))


def _write(settings: Settings, log: Log, batch: Batch, now_ms: int) -> Log:
    if must_roll(settings, log.active, batch, now_ms):
        log = roll(log, now_ms)
    active = log.active
    active = replace(active, batches=(*active.batches, batch), modified_ms=now_ms)
    return replace(
        log,
        segments=(*log.segments[:-1], active),
        log_end_offset=batch.last_offset + 1,
        effects=(*log.effects, Appended(batch.base_offset, batch.last_offset)),
    )


def must_roll(settings: Settings, segment: Segment, batch: Batch, now_ms: int) -> bool:
    """Whether the active segment is closed before a batch is written.

    By size: a batch that fits exactly still goes in. By time: the records' timestamps count, not the clock, and only
    an append can notice.

    References
    ----------
    Apache Kafka, ``LogSegment.shouldRoll``.
    """
    is_full = segment.size_bytes > settings.segment_bytes - batch.size_bytes
    by_records = segment.first_timestamp_ms >= 0
    since_ms = segment.first_timestamp_ms if by_records else segment.created_ms
    waited_ms = (batch.max_timestamp_ms if by_records else now_ms) - since_ms
    is_old = bool(segment.batches) and waited_ms > settings.roll_ms - settings.segment_jitter_ms
    is_far = batch.last_offset - segment.base_offset > FARTHEST
    return is_full or is_old or is_far or is_index_full(settings, segment)


def roll(log: Log, now_ms: int | None) -> Log:
    """The log with a new active segment at its end; an empty one there stays."""
    base_offset = log.log_end_offset
    if not log.active.batches and log.active.base_offset == base_offset:
        return log
    now_ms = log.active.modified_ms if now_ms is None else now_ms
    opened = Segment(base_offset, (), now_ms, now_ms)
    return replace(log, segments=(*log.segments, opened), effects=(*log.effects, SegmentRolled(base_offset)))


def _remember(log: Log, batch: Batch) -> Log:
    """The log with what the broker keeps of the batch's producer."""
    if batch.producer_id < 0:
        return log
    producer = Producer(batch.producer_id, batch.producer_epoch, batch.last_offset)
    log = replace(log, producers=_put(log.producers, producer))
    is_open = any(each.producer_id == batch.producer_id and each.last_offset is None for each in log.transactions)
    if not batch.is_transactional or is_open:
        return log
    return replace(log, transactions=(*log.transactions, Transaction(batch.producer_id, batch.base_offset)))


def _put(producers: tuple[Producer, ...], producer: Producer) -> tuple[Producer, ...]:
    others = (each for each in producers if each.producer_id != producer.producer_id)
    return tuple(sorted((*others, producer), key=lambda each: each.producer_id))
