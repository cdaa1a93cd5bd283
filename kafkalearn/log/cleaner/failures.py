"""A cleaner that stopped: what happens then, and what shows it.

Up to 2.0 an unexpected exception ended the cleaner thread, after one line in ``log-cleaner.log``, and with it all
compaction of the broker until a restart. Since 2.1 (KIP-346) the thread goes on without the partition. On topics
with ``compact,delete`` the cleaner also deletes old segments, so that retention stops with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kafkalearn.arguments import whole_number
from kafkalearn.errors import IllegalEvent
from kafkalearn.log.cleaner.eligibility import cleanable
from kafkalearn.log.effects import CleanerStopped
from kafkalearn.log.events import CleanerFailed, ReplaceCleanerThreads
from kafkalearn.log.settings import Settings
from kafkalearn.log.state import DEAD, RUNNING, UNCLEANABLE, Log


def stop(settings: Settings, log: Log, reason: str, is_java_error: bool = False) -> Log:
    """The log after an exception in its cleaner; a Java Error, such as out of memory, always ends the thread."""
    state = UNCLEANABLE if settings.has("2.1") and not is_java_error else DEAD
    return replace(log, cleaner=state, effects=(*log.effects, CleanerStopped(reason)))


def cleaner_failed(settings: Settings, log: Log, event: CleanerFailed) -> Log:
    """The log after an exception that came from outside the model."""
    if log.cleaner == DEAD:
        raise IllegalEvent(f"{event!r}: the cleaner thread is dead already; Restart or ReplaceCleanerThreads come next")
    return stop(settings, log, event.reason, event.is_java_error)


def restart(log: Log) -> Log:
    """The log after the broker was restarted: there is a thread again, and no partition is left out."""
    return replace(log, cleaner=RUNNING)


def replace_threads(settings: Settings, log: Log, event: ReplaceCleanerThreads) -> Log:
    """The log with new cleaner threads; a partition that was left out stays so."""
    if not settings.has("1.1"):
        raise IllegalEvent(f"{event!r}: log.cleaner.threads can be changed without a restart since 1.1 only")
    return replace(log, cleaner=RUNNING if log.cleaner == DEAD else log.cleaner)


def cleaner_metrics(settings: Settings, log: Log, now_ms: int) -> Mapping[str, int | None]:
    """What an operator of this release can see of a partition's cleaner, by name.

    The first two are always there: the line of ``cleaner-offset-checkpoint`` and the log end offset. If the first
    stands still while the second grows, this partition is not cleaned. The others are metrics under ``kafka.log``.

    Parameters
    ----------
    settings : Settings
        For the release.
    log : Log
        The partition.
    now_ms : int
        The clock.

    Examples
    --------
    >>> cleaner_metrics(Settings(release="2.0"), Log(cleaner="dead", last_round_ms=1000), now_ms=61000)
    {'cleaner-offset-checkpoint': None, 'log end offset': 0, 'time-since-last-run-ms': 60000}
    >>> cleaner_metrics(Settings(), Log(cleaner="uncleanable", last_round_ms=61000), now_ms=61000)
    {'cleaner-offset-checkpoint': None, 'log end offset': 0, 'time-since-last-run-ms': 0, \
'uncleanable-partitions-count': 1, 'uncleanable-bytes': 0, 'DeadThreadCount': 0}
    """
    whole_number("now_ms", now_ms, at_least=0)
    is_uncleanable = log.cleaner == UNCLEANABLE
    found: dict[str, int | None] = {"cleaner-offset-checkpoint": log.checkpoint, "log end offset": log.log_end_offset}
    if settings.has("0.10.2"):
        found["time-since-last-run-ms"] = None if log.last_round_ms is None else now_ms - log.last_round_ms
    if settings.has("2.1"):
        found["uncleanable-partitions-count"] = int(is_uncleanable)
        left_bytes = cleanable(settings, log, now_ms).cleanable_bytes
        found["uncleanable-bytes"] = left_bytes if is_uncleanable else 0
    if settings.has("2.4"):
        found["DeadThreadCount"] = int(log.cleaner == DEAD)
    return found
