"""The two sparse indexes of a segment: offset to position, timestamp to offset."""

from __future__ import annotations

from dataclasses import dataclass

from kafkalearn.arguments import whole_number
from kafkalearn.log.settings import Settings
from kafkalearn.log.state import Log, Segment

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
    >>> from kafkalearn.log.events import NewBatch
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
    >>> from kafkalearn.log.events import NewBatch
    >>> batches = tuple(new_batch(at, NewBatch((("k", "v", 10 * at),), size_bytes=100)) for at in range(5))
    >>> look_up(Settings(index_interval_bytes=250), Log((Segment(0, batches),), log_end_offset=5), 4)
    (0, 300, 4)
    """
    whole_number("offset", offset, at_least=0)
    segment = next((each for each in reversed(log.segments) if each.base_offset <= offset), log.segments[0])
    offsets = index_of(settings, segment, is_closed=segment is not log.active).offsets
    position = max((at for last, at in offsets if last <= offset), default=0)
    found = min(
        (record.offset for batch in log.batches for record in batch.records if record.offset >= offset), default=None
    )
    return segment.base_offset, position, found
