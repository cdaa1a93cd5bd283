"""Retention deletes old segments: whole files, the oldest first, up to the first one that no rule allows to delete.

Three rules: what lies below the log start offset, what is more than ``retention.bytes``, what is older than
``retention.ms``. One young record keeps its segment and all behind it. Without ``delete`` in the policy only the
first rule counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from kafkalearn.log.appending import roll
from kafkalearn.log.model import Log, Segment, SegmentsDeleted, Settings, ends_of

Rule: TypeAlias = Callable[[Settings, Log, int], int]

BELOW_LOG_START = "below the log start offset"
TOO_MANY_BYTES = "more than retention.bytes"
TOO_OLD = "older than retention.ms"
REASONS = (BELOW_LOG_START, TOO_MANY_BYTES, TOO_OLD)


def retain(settings: Settings, log: Log, now_ms: int) -> Log:
    """The log without the segments that a rule allows to delete.

    If none is left, an empty one is opened at the log end offset.

    References
    ----------
    Apache Kafka, ``UnifiedLog.deleteOldSegments``; the order of the rules is this since 3.0.
    """
    reasons: tuple[str, ...] = ()
    for reason in rules_in_order(settings):
        count = _RULES[reason](settings, log, now_ms)
        log = _without_first(log, count, now_ms)
        reasons += (reason,) * count
    return replace(log, effects=(*log.effects, SegmentsDeleted(len(reasons), reasons))) if reasons else log


def rules_in_order(settings: Settings) -> tuple[str, ...]:
    """The rules that count for a topic, by their names in `REASONS`, in the order in which a broker applies them.

    >>> rules_in_order(Settings("compact")), rules_in_order(Settings("delete", release="2.8"))[0]
    (('below the log start offset',), 'older than retention.ms')
    """
    if not settings.is_deleted:
        return (BELOW_LOG_START,)
    return REASONS if settings.has("3.0") else REASONS[::-1]


def _below_log_start(settings: Settings, log: Log, now_ms: int) -> int:
    behind = [segment.base_offset for segment in log.segments[1:]]  # the last one has none behind it
    return sum(1 for base in behind if base <= min(log.log_start_offset, log.high_watermark))


def _too_many_bytes(settings: Settings, log: Log, now_ms: int) -> int:
    """The log never falls below retention.bytes."""
    size_bytes = sum(segment.size_bytes for segment in log.segments)
    if settings.retention_bytes < 0 or size_bytes < settings.retention_bytes:
        return 0
    spare_bytes = size_bytes - settings.retention_bytes

    def is_spare(segment: Segment) -> bool:
        nonlocal spare_bytes
        spare_bytes -= segment.size_bytes
        return spare_bytes >= 0

    return _count(log, is_spare)


def _too_old(settings: Settings, log: Log, now_ms: int) -> int:
    if settings.retention_ms < 0:
        return 0
    has_timestamps = settings.has("0.10.1")  # before, the file's own time was all there was

    def is_old(segment: Segment) -> bool:
        since_ms = segment.largest_timestamp_ms if has_timestamps else segment.modified_ms
        return now_ms - since_ms > settings.retention_ms

    return _count(log, is_old)


def _count(log: Log, may_go: Callable[[Segment], bool]) -> int:
    """How many segments from the oldest on may go; none that reaches above the high watermark, no empty last one."""
    count = 0
    for segment, end in zip(log.segments, ends_of(log.segments, log.log_end_offset), strict=True):
        is_empty_last = segment is log.active and not segment.batches
        if log.high_watermark < end or is_empty_last or not may_go(segment):
            break
        count += 1
    return count


def _without_first(log: Log, count: int, now_ms: int) -> Log:
    if not count:
        return log
    if count == len(log.segments):
        log = roll(log, now_ms)
    segments = log.segments[count:]
    if log.log_start_offset >= segments[0].base_offset:
        return replace(log, segments=segments)
    return replace(log, segments=segments, log_start_offset=segments[0].base_offset, unstable_floor=None)


_RULES: dict[str, Rule] = {BELOW_LOG_START: _below_log_start, TOO_MANY_BYTES: _too_many_bytes, TOO_OLD: _too_old}
