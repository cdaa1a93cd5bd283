"""When the cleaner comes next: at what time if nothing is written, or after how many more bytes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from kafkalearn.arguments import whole_number
from kafkalearn.log.cleaner.eligibility import cleanable, first_dirty_offset
from kafkalearn.log.settings import LONG_MAX, Settings
from kafkalearn.log.state import Log, ends_of


@dataclass(frozen=True, slots=True)
class NextClean:
    """What the next pass over a log waits for."""

    at_ms: int | None  # the first moment at which the log is eligible if nothing is written; None: never
    missing_bytes: int | None  # more of them in closed segments would do now; None: no number would


def next_clean(settings: Settings, log: Log, now_ms: int) -> NextClean:
    """When the log becomes eligible, by the passing of time or by more bytes.

    A cleaner thread looks every ``log.cleaner.backoff.ms`` (15 s), so that the pass itself comes a little later.
    A tombstone whose delete horizon has passed waits for such a pass like everything else.

    Parameters
    ----------
    settings : Settings
        Of the topic.
    log : Log
        The partition.
    now_ms : int
        The clock; what is eligible already is so now.

    Examples
    --------
    >>> from kafkalearn.log.events import Append, NewBatch, Roll
    >>> from kafkalearn.log.simulator import step
    >>> settings = Settings("compact", max_compaction_lag_ms=60_000)
    >>> log = step(settings, Log(checkpoint=0), Append((NewBatch((("a", "1", 1000),)),)))
    >>> next_clean(settings, log, 2000)  # all of it is in the active segment
    NextClean(at_ms=None, missing_bytes=1)
    >>> next_clean(settings, step(settings, log, Roll()), 2000)
    NextClean(at_ms=2000, missing_bytes=0)

    References
    ----------
    Apache Kafka, ``LogCleanerManager.grabFilthiestCompactedLog``.
    """
    whole_number("now_ms", now_ms, at_least=0)
    if not settings.is_compacted:
        return NextClean(None, None)
    found = cleanable(settings, log, now_ms)
    if found.is_eligible:
        return NextClean(now_ms, 0)
    moments = (each for each in _moments(settings, log) if each > now_ms)
    at_ms = next((each for each in sorted(moments) if cleanable(settings, log, each).is_eligible), None)
    return NextClean(at_ms, _missing_bytes(settings, found.clean_bytes, found.cleanable_bytes))


def _moments(settings: Settings, log: Log) -> set[int]:
    """When a dirty segment leaves the protection of the one lag, and when it exceeds the other."""
    first_dirty = first_dirty_offset(log)
    closed = log.segments[:-1]
    ends = ends_of(closed, log.active.base_offset)
    dirty = [each for each, end in zip(closed, ends, strict=True) if end > first_dirty]
    ripe = {segment.largest_timestamp_ms + settings.min_compaction_lag_ms for segment in dirty}
    if settings.max_compaction_lag_ms == LONG_MAX:
        return ripe
    return ripe | {segment.first_timestamp_ms + settings.max_compaction_lag_ms + 1 for segment in dirty}


def _missing_bytes(settings: Settings, clean_bytes: int, cleanable_bytes: int) -> int | None:
    """The least number that lifts the dirty ratio above ``min.cleanable.dirty.ratio``."""
    least = settings.min_cleanable_dirty_ratio

    def is_enough(more_bytes: int) -> bool:
        dirty_bytes = cleanable_bytes + more_bytes
        return dirty_bytes > 0 and dirty_bytes / (clean_bytes + dirty_bytes) > least

    if least >= 1:
        return None
    too_few = max(0, int(Fraction(least) * clean_bytes / (1 - Fraction(least))) - cleanable_bytes - 1) - 1
    step = 1
    while not is_enough(too_few + step):  # a ratio near 1 is a float that many counts share
        step *= 2
        if step > LONG_MAX:
            return None
    enough = too_few + step
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        too_few, enough = (too_few, middle) if is_enough(middle) else (middle, enough)
    return enough
