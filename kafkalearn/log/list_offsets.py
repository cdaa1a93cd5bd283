"""The offset for a time: what a leader answers to ListOffsets, by which consumers seek and tools count."""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple

from kafkalearn.arguments import one_of, whole_number
from kafkalearn.log.state import NO_TIMESTAMP, Log, Record

NOT_FOUND = -1

LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED = -1, -2, -3, -4, -5

SPECIAL_TIMES: MappingProxyType[str, int] = MappingProxyType(
    {
        "latest": LATEST,
        "earliest": EARLIEST,
        "max timestamp": MAX_TIMESTAMP,  # since 3.0, KIP-734
        "earliest local": EARLIEST_LOCAL,  # since 3.4, KIP-405
        "latest tiered": LATEST_TIERED,  # since 3.9, KIP-1005
    }
)
"""What can be asked in place of a time, by name, with the number that stands for it in the request."""

ISOLATION_LEVELS = ("read_uncommitted", "read_committed")


class FoundOffset(NamedTuple):
    """An offset, and the timestamp of the record that lies there."""

    offset: int  # -1: there is none
    timestamp_ms: int = NO_TIMESTAMP  # -1: not given, as for the ends of a log


def list_offset(log: Log, time: int | str, isolation_level: str = "read_uncommitted") -> FoundOffset:
    """The first record that is as late as a time, or an end of the log, as a leader answers it.

    Records need not lie in the order of their timestamps. The leader takes the first segment whose largest timestamp
    reaches the time, and in it the first record that does. It looks into no other segment: where this one lies below
    the log start offset, and is not deleted yet, there is no answer, though later records are as late. After
    DeleteRecords that lasts until the broker looks for old segments, five minutes at most by default.

    Parameters
    ----------
    log : Log
        Of the leader, without remote storage.
    time : int or str
        Milliseconds, or a name in `SPECIAL_TIMES`.
    isolation_level : str
        A name in `ISOLATION_LEVELS`: what is not below the high watermark, or the last stable offset, is not found.

    Raises
    ------
    KafkaLearnError
        If the time is no such name and below 0, or there is no such isolation level.

    Examples
    --------
    >>> from kafkalearn.log import Append, NewBatch, Settings, simulate
    >>> batch = NewBatch(((None, "a", 1000), (None, "b", 5000), (None, "c", 3000)))
    >>> log = simulate(Settings(), [Append((batch,))])[-1].state
    >>> list_offset(log, 2000), list_offset(log, 6000)
    (FoundOffset(offset=1, timestamp_ms=5000), FoundOffset(offset=-1, timestamp_ms=-1))
    >>> list_offset(log, "latest"), list_offset(log, "max timestamp")
    (FoundOffset(offset=3, timestamp_ms=-1), FoundOffset(offset=1, timestamp_ms=5000))

    References
    ----------
    Apache Kafka 4.3, ``Partition.fetchOffsetForTimestamp``, ``UnifiedLog.fetchOffsetByTimestamp`` and
    ``FileRecords.searchForTimestamp``; KIP-79 (0.10.1).
    """
    one_of("isolation level", isolation_level, ISOLATION_LEVELS)
    end = log.high_watermark if isolation_level == "read_uncommitted" else log.last_stable_offset
    if not isinstance(time, str):
        whole_number("time", time, at_least=0)
        return _below(end, _first_since(log, time))
    special = SPECIAL_TIMES[one_of("time", time, SPECIAL_TIMES)]
    if special == LATEST:
        return FoundOffset(end)
    if special in (EARLIEST, EARLIEST_LOCAL):
        return FoundOffset(log.log_start_offset)
    if special == LATEST_TIERED:
        return FoundOffset(NOT_FOUND)
    return _below(end, _newest(log))


def _first_since(log: Log, time_ms: int) -> Record | None:
    segment = next((each for each in log.segments if each.largest_timestamp_ms >= time_ms), None)
    batches = () if segment is None else segment.batches
    late = (record for batch in batches for record in batch.records if record.timestamp_ms >= time_ms)
    return next((record for record in late if record.offset >= log.log_start_offset), None)


def _newest(log: Log) -> Record | None:
    """The first record that has the largest timestamp; none if the cleaner has emptied the first batch that has it."""
    segment = max(log.segments, key=lambda each: each.max_timestamp_ms)
    batch = next((each for each in segment.batches if each.max_timestamp_ms == segment.max_timestamp_ms), None)
    records = () if batch is None else batch.records
    return next((record for record in records if record.timestamp_ms == segment.max_timestamp_ms), None)


def _below(end: int, record: Record | None) -> FoundOffset:
    is_seen = record is not None and record.offset < end
    return FoundOffset(record.offset, record.timestamp_ms) if is_seen else FoundOffset(NOT_FOUND)
