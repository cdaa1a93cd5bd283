"""The simulator of a log: which rule answers which event, what always holds, and what a user hopes for.

>>> from kafkalearn.log import Append, Clean, Roll
>>> from kafkalearn.log.model import NewBatch
>>> writes = Append(tuple(NewBatch(((key, "v", 1000),)) for key in "aba"))
>>> trace = simulate(Settings(cleanup_policy="compact"), [writes, Roll(), Clean(now_ms=5000)])
>>> [(record.offset, record.key) for record in trace[-1].state.records]
[(1, 'b'), (2, 'a')]
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import get_args

from kafkalearn.base.errors import IllegalEvent, no_event
from kafkalearn.base.promises import Promises, Since
from kafkalearn.base.simulator import simulator
from kafkalearn.formats.records import bytes_of
from kafkalearn.log import cleaner, model
from kafkalearn.log.appending import append, end_transaction, roll
from kafkalearn.log.model import Log, LogEvent, Settings
from kafkalearn.log.retention import retain

TO_HIGH_WATERMARK = -1  # as a DeleteRecords request has it


def step(settings: Settings, log: Log, event: LogEvent) -> Log:
    """The log after `event`; what the event led to is in its `effects`.

    Raises
    ------
    IllegalEvent
        If the event makes no sense in this state.

    References
    ----------
    Apache Kafka: ``UnifiedLog``, ``LogSegment``, ``LogCleaner`` with ``LogCleanerManager`` and ``Cleaner``.
    """
    log = replace(log, effects=())
    match event:
        case model.Append():
            return append(settings, log, event)
        case model.EndTransaction():
            return end_transaction(settings, log, event)
        case model.ProducerExpired(producer_id):
            producers = tuple(each for each in log.producers if each.producer_id != producer_id)
            return replace(log, producers=producers)
        case model.Roll(now_ms):
            return roll(log, now_ms)
        case model.SetHighWatermark():
            return _set_high_watermark(log, event)
        case model.MoveLogStart():
            return _move_log_start(settings, log, event)
        case model.Clean(now_ms, is_forced):
            return _clean(settings, log, now_ms, is_forced)
        case model.Retain(now_ms):
            return retain(settings, log, now_ms)
        case model.CleanerRound(now_ms):
            return _round(settings, log, now_ms)
        case model.CleanerFailed():
            return cleaner.cleaner_failed(settings, log, event)
        case model.BrokerRestarted():
            return cleaner.restart(log)
        case model.ReplaceCleanerThreads():
            return cleaner.replace_threads(settings, log, event)
    raise no_event(event, get_args(LogEvent))


def _set_high_watermark(log: Log, event: model.SetHighWatermark) -> Log:
    if event.offset is not None and not 0 <= event.offset <= log.log_end_offset:
        raise IllegalEvent(f"{event!r}: the high watermark is between 0 and the log end offset {log.log_end_offset}")
    return replace(log, fixed_high_watermark=event.offset)


def _move_log_start(settings: Settings, log: Log, event: model.MoveLogStart) -> Log:
    """Only what is below the high watermark can be deleted, and nothing of a log that is compacted alone.

    Since 4.0 the last stable offset stays where the batch begins in which the log starts, if its transaction is open.

    References
    ----------
    Apache Kafka, ``Partition.deleteRecordsOnLeader``, ``UnifiedLog.maybeIncrementLogStartOffset``; KAFKA-17803 (4.0).
    """
    if settings.is_compacted and not settings.is_deleted:
        return replace(log, effects=(model.DeleteRecordsRefused("POLICY_VIOLATION"),))
    offset = log.high_watermark if event.offset == TO_HIGH_WATERMARK else event.offset
    if not 0 <= offset <= log.high_watermark:
        return replace(log, effects=(model.DeleteRecordsRefused("OFFSET_OUT_OF_RANGE"),))
    if offset <= log.log_start_offset:
        return log
    begins = [each.base_offset for each in log.batches if each.base_offset <= offset <= each.last_offset]
    floor = begins[0] if begins and settings.has("4.0") else None
    return replace(log, log_start_offset=offset, unstable_floor=floor)


def _clean(settings: Settings, log: Log, now_ms: int, is_forced: bool) -> Log:
    if log.cleaner != model.RUNNING:
        return log
    log = cleaner.with_valid_checkpoint(settings, replace(log, last_round_ms=now_ms))
    found = cleaner.cleanable(settings, log, now_ms)
    if not (found.is_eligible or (is_forced and found.cleanable_bytes > 0)):
        return replace(log, effects=(model.NotCleaned(found),))
    try:
        return cleaner.clean(settings, log, found, now_ms)
    except cleaner.CleanerDied as died:
        return cleaner.stop(settings, log, str(died))


def _round(settings: Settings, log: Log, now_ms: int) -> Log:
    """A round of a cleaner thread: without the thread, or with the partition left out, nothing happens at all."""
    cleaned = _clean(settings, log, now_ms, is_forced=False)
    if cleaned.cleaner != model.RUNNING or not settings.is_compacted:
        return cleaned
    return retain(settings, cleaned, now_ms)


def _segments_follow(settings: Settings, log: Log) -> bool:
    return all(before.base_offset < after.base_offset for before, after in pairwise(log.segments))


def _batches_follow(settings: Settings, log: Log) -> bool:
    return all(before.last_offset < after.base_offset for before, after in pairwise(log.batches))


def _batches_in_their_segment(settings: Settings, log: Log) -> bool:
    ends = model.ends_of(log.segments, log.log_end_offset)
    return all(
        segment.base_offset <= batch.base_offset <= batch.last_offset < end
        for segment, end in zip(log.segments, ends, strict=True)
        for batch in segment.batches
    )


def _records_in_their_batch(settings: Settings, log: Log) -> bool:
    for batch in log.batches:
        offsets = (batch.base_offset - 1, *(record.offset for record in batch.records), batch.last_offset + 1)
        if any(before >= after for before, after in pairwise(offsets)):
            return False
    return True


def _offsets_in_order(settings: Settings, log: Log) -> bool:
    marks = (0, log.last_stable_offset, log.high_watermark, log.log_end_offset)
    return 0 <= log.log_start_offset <= log.log_end_offset and list(marks) == sorted(marks)


def _nothing_rewritten(settings: Settings, before: Log, log: Log) -> bool:
    """Of what was written before, records are left as they were, or they are gone."""
    old = (record for record in log.records if record.offset < before.log_end_offset)
    return before.log_end_offset <= log.log_end_offset and set(old) <= set(before.records)


def _one_record_a_key(settings: Settings, log: Log) -> bool:
    """A cleaning that starts at the log start offset leaves alone what lies below it."""
    clean = [
        bytes_of(record.key)
        for record in log.records
        if record.key is not None and log.log_start_offset <= record.offset < (log.checkpoint or 0)
    ]
    return len(clean) == len(set(clean))


def _decisions_carried_out(settings: Settings, log: Log) -> bool:
    """In the same round, retention may delete what the cleaner has kept."""
    there = {record.offset for batch in log.batches for record in batch.records}
    has_deleted = any(isinstance(effect, model.SegmentsDeleted) for effect in log.effects)
    return all(
        decision.is_kept == (decision.offset in there) or (decision.is_kept and has_deleted)
        for effect in log.effects
        if isinstance(effect, model.Cleaned)
        for decision in effect.decisions
    )


def _horizons_kept(settings: Settings, before: Log, log: Log) -> bool:
    set_before = {batch.base_offset: batch.delete_horizon_ms for batch in before.batches}
    return all(
        set_before.get(batch.base_offset) in (None, batch.delete_horizon_ms) or not batch.records
        for batch in log.batches
    )


def _last_tombstones_wait(settings: Settings, before: Log, log: Log) -> bool:
    """Only if a cleaning removed it: retention may delete a segment with its tombstones at any time."""
    if not settings.has("3.1") or not any(isinstance(effect, model.Cleaned) for effect in log.effects):
        return True
    there = {record.offset for record in log.records}
    first = log.segments[0].base_offset
    horizons = {record.offset: batch.delete_horizon_ms for batch in before.batches for record in batch.records}
    gone = [each for each in _last_of_keys(before).values() if first <= each.offset and each.offset not in there]
    tombstones = [horizons[each.offset] for each in gone if each.value is None]
    round_ms = log.last_round_ms
    return all(horizon is not None and round_ms is not None and horizon <= round_ms for horizon in tombstones)


def _is_decided(log: Log, batch: model.Batch) -> bool:
    """Whether a batch holds data, and not that of an open or aborted transaction."""
    if batch.marker is not None or not batch.is_transactional:
        return batch.marker is None
    return not any(
        each.producer_id == batch.producer_id
        and each.first_offset <= batch.base_offset
        and (each.last_offset is None or (each.is_aborted and batch.last_offset < each.last_offset))
        for each in log.transactions
    )


def _last_of_keys(log: Log) -> dict[bytes, model.Record]:
    """The last record of each key, of all that a reader of committed records gets from the log start on."""
    return {
        bytes_of(record.key): record
        for batch in log.batches
        if _is_decided(log, batch)
        for record in batch.records
        if record.key is not None and record.offset >= log.log_start_offset
    }


def _values_survive(settings: Settings, before: Log, log: Log) -> bool:
    after = _last_of_keys(log)
    values = ((key, record) for key, record in _last_of_keys(before).items() if record.value is not None)
    return all(key in after and after[key].offset >= record.offset for key, record in values)


def _nothing_comes_back(settings: Settings, before: Log, log: Log) -> bool:
    was = _last_of_keys(before)
    return all(
        record.value is None or record.offset >= was[key].offset
        for key, record in _last_of_keys(log).items()
        if key in was
    )


def _due_tombstones_gone(settings: Settings, log: Log) -> bool:
    return not any(
        record.key is not None and record.value is None
        for batch in log.batches
        if batch.delete_horizon_ms is not None and batch.delete_horizon_ms <= (log.last_round_ms or 0)
        for record in batch.records
    )


INVARIANTS: Promises = {
    "segments follow each other": _segments_follow,
    "batches follow each other": _batches_follow,
    "batches lie in their segment": _batches_in_their_segment,
    "records lie in their batch, in the order of their offsets": _records_in_their_batch,
    "log start, last stable offset, high watermark and log end are in order": _offsets_in_order,
    "the cleaner is in a known state": lambda settings, log: log.cleaner in model.CLEANER_STATES,
    "what was written keeps its offset and its content": Since(_nothing_rewritten),
    "below the checkpoint a key has one record": _one_record_a_key,
    "the cleaner does what it decided": _decisions_carried_out,
    "a delete horizon, once set, stays the same": Since(_horizons_kept),
    "the last tombstone of a key waits for its delete horizon": Since(_last_tombstones_wait),
    "no deleted or overtaken value comes back": Since(_nothing_comes_back),
}
"""What holds in every state that an empty log can reach."""

PROMISES: Promises = {
    "the last value of every key survives": Since(_values_survive),
    "a tombstone is gone once its delete horizon has passed": _due_tombstones_gone,
    "the cleaner is running": lambda settings, log: log.cleaner == model.RUNNING,
}
"""What a user of a compacted topic hopes for.

Retention and DeleteRecords take last values away; the cleaner comes only when there is enough to clean; an exception
stops it.
"""

simulate, check, broken = simulator(model.start, step, INVARIANTS, PROMISES)
