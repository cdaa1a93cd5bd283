"""The simulator of a log: `step` tells the events apart; `check` names what always holds."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from kafkalearn.errors import IllegalEvent
from kafkalearn.log.appending import append, end_transaction, roll
from kafkalearn.log.cleaner import failures
from kafkalearn.log.cleaner.copying import clean
from kafkalearn.log.cleaner.eligibility import cleanable
from kafkalearn.log.cleaner.offset_map import CleanerDied
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
from kafkalearn.log.model import CLEANER_STATES, Cleaning, Log
from kafkalearn.log.retention import retain
from kafkalearn.log.settings import Settings


def step(settings: Settings, log: Log, event: LogEvent) -> Log:
    """The log after `event`; what it did is in ``log.last``.

    Raises
    ------
    IllegalEvent
        If the event makes no sense in this state.

    Examples
    --------
    >>> from kafkalearn.log.events import NewBatch
    >>> settings, log = Settings(cleanup_policy="compact"), Log()
    >>> for event in (Append(tuple(NewBatch(((key, "v", 1000),)) for key in "aba")), Roll(), Clean(now_ms=5000)):
    ...     log = step(settings, log, event)
    >>> [(record.offset, record.key) for record in log.records]
    [(1, 'b'), (2, 'a')]

    References
    ----------
    Apache Kafka: ``UnifiedLog``, ``LogSegment``, ``LogCleaner`` with ``LogCleanerManager`` and ``Cleaner``.
    """
    match event:
        case Append():
            return append(settings, log, event)
        case EndTransaction():
            return end_transaction(settings, log, event)
        case ProducerExpired(producer_id):
            producers = tuple(each for each in log.producers if each.producer_id != producer_id)
            return replace(log, producers=producers, last=None)
        case Roll(now_ms):
            return replace(roll(log, now_ms), last=None)
        case SetHighWatermark():
            return _set_high_watermark(log, event)
        case MoveLogStart():
            return _move_log_start(log, event)
    return _look_after(settings, log, event)


def _look_after(settings: Settings, log: Log, event: LogEvent) -> Log:
    """The log after its housekeeping."""
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
    raise IllegalEvent(f"{event!r} is no event of this simulator")


def _set_high_watermark(log: Log, event: SetHighWatermark) -> Log:
    if event.offset is not None and not 0 <= event.offset <= log.log_end_offset:
        raise IllegalEvent(f"{event!r}: the high watermark is between 0 and the log end offset {log.log_end_offset}")
    return replace(log, fixed_high_watermark=event.offset, last=None)


def _move_log_start(log: Log, event: MoveLogStart) -> Log:
    if not 0 <= event.offset <= log.high_watermark:
        raise IllegalEvent(f"{event!r}: only what is below the high watermark {log.high_watermark} can be given up")
    return replace(log, log_start_offset=max(log.log_start_offset, event.offset), last=None)


def _clean(settings: Settings, log: Log, now_ms: int, is_forced: bool) -> Log:
    found = cleanable(settings, log, now_ms)
    if log.cleaner != failures.RUNNING:
        return replace(log, last=Cleaning(False, found, problem=f"the cleaner is {log.cleaner}"))
    log = replace(log, last_round_ms=now_ms)
    if not (found.is_eligible or (is_forced and found.cleanable_bytes > 0)):
        return replace(log, last=Cleaning(False, found))
    try:
        return clean(settings, log, found, now_ms)
    except CleanerDied as died:
        return failures.fail(settings, log, str(died), now_ms)


def _round(settings: Settings, log: Log, now_ms: int) -> Log:
    """A round of a cleaner thread: without the thread, or with the partition given up, nothing happens at all."""
    cleaned = _clean(settings, log, now_ms, is_forced=False)
    if cleaned.cleaner != failures.RUNNING or not settings.is_compacted:
        return cleaned
    retained = retain(settings, cleaned, now_ms)
    return replace(retained, last=cleaned.last)


def check(log: Log) -> None:
    """Pass in silence if the state keeps its promises; else AssertionError names the broken one."""
    bases = [segment.base_offset for segment in log.segments]
    assert bases == sorted(set(bases)), "segments follow each other"
    for before, after in pairwise(log.segments):
        assert all(batch.last_offset < after.base_offset for batch in before.batches), "no batch reaches into the next"
    spans = [(batch.base_offset, batch.last_offset) for batch in log.batches]
    assert all(left[1] < right[0] for left, right in pairwise(spans)), "batches follow each other"
    assert all(segment.base_offset <= batch.base_offset for segment in log.segments for batch in segment.batches), (
        "a segment holds nothing below its base"
    )
    for batch in log.batches:
        offsets = [record.offset for record in batch.records]
        assert offsets == sorted(set(offsets)), "records follow each other"
        assert all(batch.base_offset <= offset <= batch.last_offset for offset in offsets), "records lie in their batch"
    assert 0 <= log.log_start_offset <= log.log_end_offset, "the log start is in the log"
    assert log.last_stable_offset <= log.high_watermark <= log.log_end_offset, "stable, replicated, written"
    assert log.cleaner in CLEANER_STATES, "the cleaner is in a known state"
