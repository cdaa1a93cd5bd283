"""The simulator of a log: `step` sends each event to its rule, `simulate` runs many."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import get_args

from kafkalearn.errors import IllegalEvent, no_event
from kafkalearn.log.appending import append, end_transaction, roll
from kafkalearn.log.cleaner import failures
from kafkalearn.log.cleaner.copying import clean
from kafkalearn.log.cleaner.eligibility import cleanable, with_valid_checkpoint
from kafkalearn.log.cleaner.offset_map import CleanerDied
from kafkalearn.log.effects import DeleteRecordsRefused, NotCleaned
from kafkalearn.log.events import (
    Append,
    Clean,
    CleanerFailed,
    CleanerRound,
    EndTransaction,
    LogEvent,
    MoveLogStart,
    ProducerExpired,
    ReplaceCleanerThreads,
    Restart,
    Retain,
    Roll,
    SetHighWatermark,
)
from kafkalearn.log.retention import retain
from kafkalearn.log.settings import Settings
from kafkalearn.log.state import RUNNING, Log, start
from kafkalearn.trace import Trace, run

TO_HIGH_WATERMARK = -1  # as a DeleteRecords request has it


def simulate(settings: Settings, events: Iterable[LogEvent], initial: Log | None = None) -> Trace[Log, LogEvent]:
    """A run from an empty log, or from `initial`.

    Examples
    --------
    >>> from kafkalearn.log.events import NewBatch
    >>> writes = Append(tuple(NewBatch(((key, "v", 1000),)) for key in "aba"))
    >>> trace = simulate(Settings(cleanup_policy="compact"), [writes, Roll(), Clean(now_ms=5000)])
    >>> [(record.offset, record.key) for record in trace[-1].state.records]
    [(1, 'b'), (2, 'a')]
    """
    return run(step, settings, start(settings) if initial is None else initial, events)


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
        case Append():
            return append(settings, log, event)
        case EndTransaction():
            return end_transaction(settings, log, event)
        case ProducerExpired(producer_id):
            producers = tuple(each for each in log.producers if each.producer_id != producer_id)
            return replace(log, producers=producers)
        case Roll(now_ms):
            return roll(log, now_ms)
        case SetHighWatermark():
            return _set_high_watermark(log, event)
        case MoveLogStart():
            return _move_log_start(settings, log, event)
    return _maintain(settings, log, event)


def _maintain(settings: Settings, log: Log, event: LogEvent) -> Log:
    """The log after an event of retention or of the cleaner."""
    match event:
        case Clean(now_ms, is_forced):
            return _clean(settings, log, now_ms, is_forced)
        case Retain(now_ms):
            return retain(settings, log, now_ms)
        case CleanerRound(now_ms):
            return _round(settings, log, now_ms)
        case CleanerFailed():
            return failures.cleaner_failed(settings, log, event)
        case Restart():
            return failures.restart(log)
        case ReplaceCleanerThreads():
            return failures.replace_threads(settings, log, event)
    raise no_event(event, get_args(LogEvent))


def _set_high_watermark(log: Log, event: SetHighWatermark) -> Log:
    if event.offset is not None and not 0 <= event.offset <= log.log_end_offset:
        raise IllegalEvent(f"{event!r}: the high watermark is between 0 and the log end offset {log.log_end_offset}")
    return replace(log, fixed_high_watermark=event.offset)


def _move_log_start(settings: Settings, log: Log, event: MoveLogStart) -> Log:
    """Only what is below the high watermark can be deleted, and nothing of a log that is compacted alone.

    Since 4.0 the last stable offset stays where the batch begins in which the log starts, if its transaction is open.

    References
    ----------
    Apache Kafka, ``Partition.deleteRecordsOnLeader``, ``UnifiedLog.maybeIncrementLogStartOffset``; KAFKA-17803 (4.0).
    """
    if settings.is_compacted and not settings.is_deleted:
        return replace(log, effects=(DeleteRecordsRefused("POLICY_VIOLATION"),))
    offset = log.high_watermark if event.offset == TO_HIGH_WATERMARK else event.offset
    if not 0 <= offset <= log.high_watermark:
        return replace(log, effects=(DeleteRecordsRefused("OFFSET_OUT_OF_RANGE"),))
    if offset <= log.log_start_offset:
        return log
    begins = [each.base_offset for each in log.batches if each.base_offset <= offset <= each.last_offset]
    floor = begins[0] if begins and settings.has("4.0") else None
    return replace(log, log_start_offset=offset, unstable_floor=floor)


def _clean(settings: Settings, log: Log, now_ms: int, is_forced: bool) -> Log:
    if log.cleaner != RUNNING:
        return log
    log = with_valid_checkpoint(settings, replace(log, last_round_ms=now_ms))
    found = cleanable(settings, log, now_ms)
    if not (found.is_eligible or (is_forced and found.cleanable_bytes > 0)):
        return replace(log, effects=(NotCleaned(found),))
    try:
        return clean(settings, log, found, now_ms)
    except CleanerDied as died:
        return failures.stop(settings, log, str(died))


def _round(settings: Settings, log: Log, now_ms: int) -> Log:
    """A round of a cleaner thread: without the thread, or with the partition left out, nothing happens at all."""
    cleaned = _clean(settings, log, now_ms, is_forced=False)
    if cleaned.cleaner != RUNNING or not settings.is_compacted:
        return cleaned
    return retain(settings, cleaned, now_ms)
