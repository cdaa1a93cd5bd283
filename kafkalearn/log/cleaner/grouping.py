"""Neighbours that become one segment: the cleaner copies small segments into a common new one."""

from __future__ import annotations

from kafkalearn.log.index import FARTHEST, OFFSET_ENTRY_BYTES, TIME_ENTRY_BYTES, index_of
from kafkalearn.log.settings import Settings
from kafkalearn.log.state import Segment, ends_of


def groups_of(settings: Settings, segments: tuple[Segment, ...], end: int) -> tuple[tuple[Segment, ...], ...]:
    """The segments in groups, each of which becomes one segment.

    A group takes the next segment as long as the sizes *before* cleaning, of the files and of their indexes, stay
    within ``segment.bytes`` and ``segment.index.bytes``, and offsets stay within four bytes of the base.

    Parameters
    ----------
    settings : Settings
        For the two sizes.
    segments : tuple of Segment
        What is cleaned, in order.
    end : int
        The first offset behind them.

    References
    ----------
    Apache Kafka, ``Cleaner.groupSegmentsBySize``.
    """
    groups: list[list[Segment]] = []
    room: list[int] = []
    for segment, next_base in zip(segments, ends_of(segments, end), strict=True):
        sizes = _sizes(settings, segment)
        is_near = groups and (not segment.batches or next_base - 1 - groups[-1][0].base_offset <= FARTHEST)
        if is_near and all(size <= left for size, left in zip(sizes, room, strict=True)):
            groups[-1].append(segment)
        else:
            groups.append([segment])
            room = [settings.segment_bytes, settings.segment_index_bytes, settings.segment_index_bytes]
        room = [left - size for left, size in zip(room, sizes, strict=True)]
    return tuple(map(tuple, groups))


def _sizes(settings: Settings, segment: Segment) -> tuple[int, int, int]:
    index = index_of(settings, segment, is_closed=True)
    return segment.size_bytes, OFFSET_ENTRY_BYTES * len(index.offsets), TIME_ENTRY_BYTES * len(index.times)
