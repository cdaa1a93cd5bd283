"""Writing to a log: what is refused, batches, markers, when a new segment is opened; and what is known of producers.

In this order, as in Kafka: the size of a batch, its keys and timestamps, whether it fits into a segment, whether the
active segment is full, whether the producer's sequence number follows on, whether its transaction is open.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.formats.batches import Batch as DiskBatch
from kafkalearn.formats.records import BATCH_HEADER_BYTES, MARKER_BYTES, length_of, record_bytes
from kafkalearn.log import model
from kafkalearn.log.index import FARTHEST, is_index_full
from kafkalearn.log.model import Batch, Log, NewBatch, Producer, Settings
from kafkalearn.log.sequences import (
    EXPIRATION_MS,
    NO_PRODUCER,
    NO_SEQUENCE,
    NONE,
    ProducerStateEntry,
    Stamp,
    after,
    is_forgotten,
    judge,
    old_epoch,
    remember,
)
from kafkalearn.releases.lines import at_least


def append(settings: Settings, log: Log, event: model.Append) -> Log:
    """The log after an append; a batch that the broker refuses is not written, nor are those behind it.

    Raises
    ------
    IllegalEvent
        If no producer can have sent a batch to a broker of this release: it has no such codec, or no producer ids.

    References
    ----------
    Apache Kafka 4.3, ``UnifiedLog.append``, ``LogValidator`` and ``ProducerStateManager``; KIP-98, KIP-1030 (4.0).
    """
    for new in event.batches:
        _refuse_unknown(settings, new)
    for new in event.batches:
        batch = new_batch(log.log_end_offset, _stamped(log, new))
        now_ms = batch.max_timestamp_ms if event.now_ms is None else event.now_ms
        error = _refusal(settings, batch, now_ms)
        if error is None:
            log, error = _judged_and_written(settings, log, batch, now_ms)
        if error is not None:
            return replace(log, effects=(*log.effects, model.AppendRefused(error)))
    return log


def _refuse_unknown(settings: Settings, new: NewBatch) -> None:
    if new.codec == "zstd" and not settings.has("2.1"):
        raise IllegalEvent(f"zstd came with Kafka 2.1, the release is {settings.release}")
    if new.producer_id >= 0 and not settings.has("0.11.0"):
        raise IllegalEvent(f"producers have ids since Kafka 0.11.0, the release is {settings.release}")


def _stamped(log: Log, new: NewBatch) -> NewBatch:
    """The batch with its epoch and its sequence: those that follow on where it has none."""
    if new.producer_id < 0:
        return new
    known = log.producer(new.producer_id)
    epoch, sequence = new.producer_epoch, new.base_sequence
    if epoch is None:
        epoch = 0 if known is None else known.epoch
    if sequence is None:
        sequence = 0 if known is None or epoch != known.epoch else after(known.entry.last_sequence)
    return replace(new, producer_epoch=epoch, base_sequence=sequence)


def _refusal(settings: Settings, batch: Batch, now_ms: int) -> str | None:
    """The error for a batch that the broker refuses whatever the log holds."""
    if batch.size_bytes > settings.max_message_bytes:
        return "MESSAGE_TOO_LARGE"
    error = _record_error(settings, batch, now_ms)
    if error is not None:
        return error
    return "RECORD_LIST_TOO_LARGE" if batch.size_bytes > settings.segment_bytes else None


def _record_error(settings: Settings, batch: Batch, now_ms: int) -> str | None:
    """The error for a batch with records that a log refuses: without a key in a compacted log, too old, too new.

    Each record has its first error, the key's. Since 2.5 all are looked at, and one bad timestamp decides for the
    batch; before, the first bad record does.
    """
    before_ms, after_ms = settings.timestamp_limits_ms
    needs_keys = settings.is_compacted and settings.has("0.9.0")
    errors = []
    for record in batch.records:
        if needs_keys and record.key is None:
            errors.append("INVALID_RECORD" if settings.has("2.4") else "CORRUPT_MESSAGE")
        elif record.timestamp_ms != model.NO_TIMESTAMP and not -after_ms <= now_ms - record.timestamp_ms <= before_ms:
            errors.append("INVALID_TIMESTAMP")
    if settings.has("2.5") and "INVALID_TIMESTAMP" in errors:
        return "INVALID_TIMESTAMP"
    return errors[0] if errors else None


def _judged_and_written(settings: Settings, log: Log, batch: Batch, now_ms: int) -> tuple[Log, str | None]:
    """The log after a batch that is well formed, and the error if its producer may not write it."""
    if must_roll(settings, log.active, batch, now_ms):
        log = roll(log, now_ms)
    if batch.producer_id < 0:
        return _write(log, batch, now_ms), None
    known = log.producer(batch.producer_id)
    entry = None if known is None else known.entry
    stamp = Stamp(batch.producer_id, batch.producer_epoch, batch.base_sequence, len(batch.records))
    verdict = judge(entry, stamp, settings.release)
    if verdict.error != NONE:
        return log, verdict.error
    if verdict.duplicate_of is not None:
        first = verdict.duplicate_of.base_offset
        return replace(
            log, effects=(*log.effects, model.DuplicateRecognised(first, first + stamp.record_count - 1))
        ), None
    if not batch.is_transactional and _is_in_transaction(log, batch.producer_id):
        return log, "INVALID_TXN_STATE"
    remembered = remember(entry, stamp, batch.base_offset, release=settings.release)
    producer = Producer(batch.producer_id, batch.producer_epoch, batch.last_offset, remembered.batches)
    return _remember(_write(log, batch, now_ms), batch, producer), None


def new_batch(base_offset: int, new: NewBatch) -> Batch:
    """The batch with the offsets it gets."""
    records = tuple(model.Record(base_offset + index, *each) for index, each in enumerate(new.records))
    needed = new.uncompressed_bytes
    size_bytes = needed if new.size_bytes is None else new.size_bytes
    return Batch(
        base_offset,
        records[-1].offset,
        records,
        size_bytes,
        max(record.timestamp_ms for record in records),
        producer_id=new.producer_id,
        producer_epoch=NO_PRODUCER if new.producer_epoch is None else new.producer_epoch,
        base_sequence=NO_SEQUENCE if new.base_sequence is None else new.base_sequence,
        is_transactional=new.is_transactional,
        padding_bytes=size_bytes - needed if new.codec == "none" else 0,
        codec=new.codec,
    )


def size_of(base_offset: int, base_ms: int, records: Iterable[model.Record]) -> int:
    """The bytes of a batch of these records whose timestamps count from `base_ms`."""
    return BATCH_HEADER_BYTES + sum(
        record_bytes(
            length_of(each.key),
            length_of(each.value),
            each.offset - base_offset,
            each.timestamp_ms - base_ms,
            each.header_bytes,
        )
        for each in records
    )


def end_transaction(settings: Settings, log: Log, event: model.EndTransaction) -> Log:
    """The log with a marker at its end; the producer's open transaction, if it has one, is over.

    A marker of an older epoch than the log knows is refused.
    """
    offset = log.log_end_offset
    batch = Batch(
        offset,
        offset,
        (model.Record(offset, None, None, event.timestamp_ms),),
        MARKER_BYTES,
        event.timestamp_ms,
        producer_id=event.producer_id,
        producer_epoch=event.producer_epoch,
        is_transactional=True,
        marker="COMMIT" if event.is_commit else "ABORT",
    )
    if must_roll(settings, log.active, batch, event.timestamp_ms):
        log = roll(log, event.timestamp_ms)
    known = log.producer(event.producer_id)
    if known is not None and event.producer_epoch < known.epoch:
        return replace(log, effects=(*log.effects, model.AppendRefused(old_epoch(settings.release))))
    log = _write(log, batch, event.timestamp_ms)
    keeps_epoch = known is not None and known.epoch == event.producer_epoch
    producer = known if known is not None and keeps_epoch else Producer(event.producer_id, event.producer_epoch, None)
    transactions = tuple(
        replace(each, last_offset=offset, is_aborted=not event.is_commit)
        if each.producer_id == event.producer_id and each.last_offset is None
        else each
        for each in log.transactions
    )
    return replace(log, transactions=transactions, producers=_put(log.producers, producer))


def _write(log: Log, batch: Batch, now_ms: int) -> Log:
    active = log.active
    active = replace(active, batches=(*active.batches, batch), modified_ms=now_ms)
    return replace(
        log,
        segments=(*log.segments[:-1], active),
        log_end_offset=batch.last_offset + 1,
        effects=(*log.effects, model.Appended(batch.base_offset, batch.last_offset)),
    )


def must_roll(settings: Settings, segment: model.Segment, batch: Batch, now_ms: int) -> bool:
    """Whether the active segment is closed before a batch is written.

    By size: a batch that fits exactly still goes in. By time: the records' timestamps count, not the clock, and only
    an append can notice. Up to 0.10.0 it was the clock, since the segment was made.

    References
    ----------
    Apache Kafka, ``LogSegment.shouldRoll``; up to 0.10.0 ``Log.maybeRoll``.
    """
    is_full = segment.size_bytes > settings.segment_bytes - batch.size_bytes
    by_records = segment.first_timestamp_ms >= 0 and settings.has("0.10.1")
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
    opened = model.Segment(base_offset, (), now_ms, now_ms)
    return replace(log, segments=(*log.segments, opened), effects=(*log.effects, model.SegmentRolled(base_offset)))


def _remember(log: Log, batch: Batch, producer: Producer) -> Log:
    """The log with what the broker keeps of the batch's producer and its transaction."""
    log = replace(log, producers=_put(log.producers, producer))
    if not batch.is_transactional or _is_in_transaction(log, batch.producer_id):
        return log
    return replace(log, transactions=(*log.transactions, model.Transaction(batch.producer_id, batch.base_offset)))


def _is_in_transaction(log: Log, producer_id: int) -> bool:
    return any(each.producer_id == producer_id and each.last_offset is None for each in log.transactions)


def _put(producers: tuple[Producer, ...], producer: Producer) -> tuple[Producer, ...]:
    others = (each for each in producers if each.producer_id != producer.producer_id)
    return tuple(sorted((*others, producer), key=lambda each: each.producer_id))


NO_EPOCH = -1
COMMIT, ABORT = "COMMIT", "ABORT"
EARLIER_EXPIRATION_MS = 7 * EXPIRATION_MS  # up to 3.3


class ProducerState:
    """What a broker remembers of producers and transactions once it has read batches in order, as after a crash.

    References
    ----------
    Apache Kafka 4.3, ``ProducerStateManager``, ``ProducerAppendInfo.append``, ``ProducerStateEntry``; KIP-98.
    """

    def __init__(self, release: str) -> None:
        """Before the first batch; `release` is the broker's."""
        self.release = release
        self.entries: dict[int, ProducerStateEntry] = {}
        self.last_offsets: dict[int, int] = {}
        self.begun: dict[int, int] = {}  # producer id -> first offset of its open transaction
        self.ended: list[model.Transaction] = []

    def read(self, batch: DiskBatch) -> None:
        """Read the next batch."""
        if batch.producer_id < 0:
            return
        entry = self.entries.get(batch.producer_id)
        if batch.is_control:
            self.entries[batch.producer_id] = self._after_marker(entry, batch)
            return
        count = batch.last_offset - batch.base_offset + 1
        stamp = Stamp(batch.producer_id, batch.producer_epoch, batch.base_sequence, count)
        self.entries[batch.producer_id] = remember(
            entry, stamp, batch.base_offset, batch.max_timestamp_ms, self.release
        )
        self.last_offsets[batch.producer_id] = batch.last_offset
        if batch.is_transactional:
            self.begun.setdefault(batch.producer_id, batch.base_offset)

    def _after_marker(self, entry: ProducerStateEntry | None, batch: DiskBatch) -> ProducerStateEntry:
        """A marker ends the transaction and may raise the epoch; one that was emptied says nothing any more."""
        if not batch.records:
            return entry or ProducerStateEntry(NO_EPOCH, ())
        (marker, *_) = batch.records
        first = self.begun.pop(batch.producer_id, None)
        if first is not None:
            self.ended.append(model.Transaction(batch.producer_id, first, batch.base_offset, marker.control == ABORT))
        batches = entry.batches if entry is not None and entry.producer_epoch == batch.producer_epoch else ()
        return ProducerStateEntry(batch.producer_epoch, batches, marker.timestamp_ms)

    @property
    def transactions(self) -> tuple[model.Transaction, ...]:
        """Those that have ended and those that are open, as they began."""
        still_open = (model.Transaction(producer_id, first) for producer_id, first in self.begun.items())
        return tuple(sorted((*self.ended, *still_open), key=lambda each: each.first_offset))

    def producers(self, now_ms: int | None) -> tuple[Producer, ...]:
        """All producers, without those that were silent for too long and have no open transaction."""
        expiration_ms = EXPIRATION_MS if at_least("3.4", self.release) else EARLIER_EXPIRATION_MS
        return tuple(
            Producer(
                producer_id,
                entry.producer_epoch,
                self.last_offsets[producer_id] if entry.batches else None,
                entry.batches,
            )
            for producer_id, entry in sorted(self.entries.items())
            if now_ms is None or producer_id in self.begun or not is_forgotten(entry, now_ms, expiration_ms)
        )
