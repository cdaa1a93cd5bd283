"""What the cleaner may take of a log, how dirty it is, and whether that is enough.

The *dirty* part begins at the checkpoint of the last cleaning. It ends where the first of three things is: an offset
that is not decided yet, the active segment, or a segment that ``min.compaction.lag.ms`` still protects. Cleaning
goes by whole segments. Only the *dirty ratio*, or ``max.compaction.lag.ms``, makes the cleaner begin.
"""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.log.effects import Cleanable
from kafkalearn.log.settings import Settings
from kafkalearn.log.state import Log, Segment


def cleanable(settings: Settings, log: Log, now_ms: int) -> Cleanable:
    """What the cleaner may take of the log at a time, and whether it will.

    References
    ----------
    Apache Kafka, ``LogCleanerManager.cleanableOffsets`` and ``grabFilthiestCompactedLog``. Up to 3.0 records above
    the high watermark could be cleaned (KAFKA-13194).
    """
    first_dirty = first_dirty_offset(log)
    dirty = _closed_from(log, first_dirty)
    bound = max(first_dirty, _bound(settings, log, dirty, now_ms))
    first_uncleanable = next(iter(_closed_from(log, bound)), log.active).base_offset
    clean_bytes = sum(segment.size_bytes for segment in log.segments if segment.base_offset < first_dirty)
    cleanable_bytes = sum(segment.size_bytes for segment in dirty if segment.base_offset < first_uncleanable)
    must_clean = _must(settings, dirty, now_ms) and cleanable_bytes > 0
    found = Cleanable(first_dirty, first_uncleanable, clean_bytes, cleanable_bytes, must_clean, False)
    is_dirty_enough = found.ratio > settings.min_cleanable_dirty_ratio  # strictly: half of half is not enough
    return replace(found, is_eligible=settings.is_compacted and (is_dirty_enough or must_clean))


def first_dirty_offset(log: Log) -> int:
    """Where the last cleaning stopped; the log start offset if that was deleted, or if there was no cleaning."""
    if log.checkpoint is None or not log.log_start_offset <= log.checkpoint <= log.log_end_offset:
        return log.log_start_offset
    return log.checkpoint


def with_valid_checkpoint(settings: Settings, log: Log) -> Log:
    """The log after a look of the cleaner: since 2.4.1 it moves a checkpoint that the log no longer reaches.

    References
    ----------
    Apache Kafka, ``LogCleanerManager.cleanableOffsets``: ``forceUpdateCheckpoint``; KAFKA-8764 (2.4.1).
    """
    first_dirty = first_dirty_offset(log)
    if log.checkpoint in (None, first_dirty) or not (settings.is_compacted and settings.has("2.4.1")):
        return log
    return replace(log, checkpoint=first_dirty)


def _closed_from(log: Log, offset: int) -> tuple[Segment, ...]:
    """The closed segments from the one that holds an offset on."""
    bases = [segment.base_offset for segment in log.segments if segment.base_offset <= offset]
    from_base = bases[-1] if bases else 0
    return tuple(segment for segment in log.segments[:-1] if segment.base_offset >= from_base)


def _bound(settings: Settings, log: Log, dirty: tuple[Segment, ...], now_ms: int) -> int:
    """The first offset that must not be cleaned."""
    bounds = [log.active.base_offset]
    if settings.has("3.1"):
        bounds.append(log.last_stable_offset)
    elif log.first_unstable_offset is not None:
        bounds.append(log.first_unstable_offset)
    if settings.min_compaction_lag_ms > 0 and settings.has("0.10.1"):
        youngest_ms = now_ms - settings.min_compaction_lag_ms
        bounds += [segment.base_offset for segment in dirty if segment.largest_timestamp_ms > youngest_ms][:1]
    return min(bounds)


def _must(settings: Settings, dirty: tuple[Segment, ...], now_ms: int) -> bool:
    """Whether the oldest dirty segment has waited longer than max.compaction.lag.ms."""
    if not settings.has("2.3"):
        return False
    since = [segment.first_timestamp_ms for segment in dirty if segment.first_timestamp_ms > 0]
    return bool(since) and min(since) < now_ms - settings.max_compaction_lag_ms
