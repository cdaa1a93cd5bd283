"""The two sparse indexes of a segment, offset index and time index; how offsets and times are found (ListOffsets)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from kafkalearn.base.checks import one_of, whole_number
from kafkalearn.log.model import NO_TIMESTAMP, Log, Record, Segment, Settings

OFFSET_ENTRY_BYTES, TIME_ENTRY_BYTES = 8, 12
FARTHEST = 2**31 - 1  # an entry keeps its offset as the distance from the segment's base, in four bytes


@dataclass(frozen=True, slots=True)
class Index:
    """The entries of both indexes."""

    offsets: tuple[tuple[int, int], ...]  # last offset of a batch, position at which the batch starts
    times: tuple[tuple[int, int], ...]  # largest timestamp so far, last offset of the batch that has it


def index_of(settings: Settings, segment: Segment, is_closed: bool) -> Index:
    """The indexes of a segment.

    An entry is due before a batch once more than ``index.interval.bytes`` were written since the last one, so the
    first batch never has one. On closing, the time index gets the largest timestamp as its last entry.

    Parameters
    ----------
    settings : Settings
        For ``index.interval.bytes``.
    segment : Segment
        Any segment of the log.
    is_closed : bool
        Whether it is no longer the active one.

    Examples
    --------
    >>> from kafkalearn.log.appending import new_batch
    >>> from kafkalearn.log.model import NewBatch
    >>> batches = tuple(new_batch(at, NewBatch((("k", "v", 10 * at),), size_bytes=100)) for at in range(5))
    >>> index_of(Settings(index_interval_bytes=250), Segment(0, batches), is_closed=False)
    Index(offsets=((3, 300),), times=((30, 3),))

    References
    ----------
    Apache Kafka, ``LogSegment.append`` and ``onBecomeInactiveSegment``.
    """
    offsets: list[tuple[int, int]] = []
    times: list[tuple[int, int]] = []
    largest = (-1, segment.base_offset)
    position = bytes_since = 0
    for batch in segment.batches:
        if batch.max_timestamp_ms > largest[0]:
            largest = (batch.max_timestamp_ms, batch.last_offset)
        if bytes_since > settings.index_interval_bytes:
            offsets.append((batch.last_offset, position))
            _add_time(times, largest)
            bytes_since = 0
        position += batch.size_bytes
        bytes_since += batch.size_bytes
    if is_closed:
        _add_time(times, largest)
    return Index(tuple(offsets), tuple(times))


def _add_time(times: list[tuple[int, int]], largest: tuple[int, int]) -> None:
    if largest[0] > (times[-1][0] if times else -1):
        times.append(largest)


def is_index_full(settings: Settings, segment: Segment) -> bool:
    """Whether an index of the active segment has no room left; the time index keeps a place for its last entry."""
    most_offsets = settings.segment_index_bytes // OFFSET_ENTRY_BYTES
    most_times = settings.segment_index_bytes // TIME_ENTRY_BYTES
    if len(segment.batches) < min(most_offsets, most_times - 1):
        return False  # a batch has one entry at most
    index = index_of(settings, segment, is_closed=False)
    return len(index.offsets) >= most_offsets or len(index.times) >= most_times - 1


def look_up(settings: Settings, log: Log, offset: int) -> tuple[int, int, int | None]:
    """How a fetch finds an offset: the segment's base, the position to scan from, and the offset it is answered.

    The answer is the next record's offset where the asked one is gone; None: there is nothing at or above it.

    Examples
    --------
    >>> from kafkalearn.log.appending import new_batch
    >>> from kafkalearn.log.model import NewBatch
    >>> batches = tuple(new_batch(at, NewBatch((("k", "v", 10 * at),), size_bytes=100)) for at in range(5))
    >>> look_up(Settings(index_interval_bytes=250), Log((Segment(0, batches),), log_end_offset=5), 4)
    (0, 300, 4)
    """
    whole_number("offset", offset, at_least=0)
    segment = next((each for each in reversed(log.segments) if each.base_offset <= offset), log.segments[0])
    offsets = index_of(settings, segment, is_closed=segment is not log.active).offsets
    position = nearest_position(offsets, offset)
    found = min(
        (record.offset for batch in log.batches for record in batch.records if record.offset >= offset), default=None
    )
    return segment.base_offset, position, found


def nearest_position(entries: Iterable[tuple[int, int]], offset: int) -> int:
    """Where to scan from: the position of the last entry (offset, position) at or below the offset, else 0.

    References
    ----------
    Apache Kafka, ``OffsetIndex.lookup``.
    """
    return max((at for last, at in entries if last <= offset), default=0)


# The offset for a time: what a leader answers to ListOffsets, by which consumers seek and tools count.

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
