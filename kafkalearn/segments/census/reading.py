"""The files of one log, mapped into memory one after the other and counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from kafkalearn.errors import KafkaLearnError
from kafkalearn.segments.batches import Bytes, map_file
from kafkalearn.segments.census.blocks import RECORDS, blocks
from kafkalearn.segments.census.counted import Block
from kafkalearn.segments.census.counting import Counting
from kafkalearn.segments.census.log_census import LogCensus
from kafkalearn.segments.census.older import older_messages
from kafkalearn.segments.compression import BATCH_LIMIT_BYTES
from kafkalearn.segments.log_dirs import SegmentFile
from kafkalearn.segments.walk import Span, Unread


@contextmanager
def mapped(path: Path) -> Iterator[Bytes]:
    """The bytes of a file as long as it is when it is opened, read only where they are used.

    Raises
    ------
    KafkaLearnError
        If the file cannot be opened or mapped.
    """
    try:
        data = map_file(path)
    except (OSError, ValueError) as error:
        raise KafkaLearnError(f"segment file {str(path)!r} cannot be read: {error}") from None
    yield data  # it is closed when nothing looks at it any more: a block may


def count_log(
    files: Sequence[SegmentFile],
    depth: str = RECORDS,
    *,
    is_fast: bool | None = None,
    future_ms: int,
    keeps_markers: bool = False,
    batch_limit_bytes: int = BATCH_LIMIT_BYTES,
    progress: Callable[[int], None] = lambda read_bytes: None,
) -> LogCensus:
    """What the files of one log hold.

    Parameters
    ----------
    files : sequence of SegmentFile
        Of one partition in one log dir, in order.
    depth : str
        A name in `kafkalearn.segments.census.blocks.DEPTHS`.
    is_fast : bool, optional
        As in `kafkalearn.segments.census.blocks.blocks`.
    future_ms : int
        A timestamp beyond it is from the future.
    keeps_markers : bool
        Whether the markers of transactions are kept.
    batch_limit_bytes : int
        A batch that decodes to more is not read.
    progress : callable
        Called after each block with how many bytes were read since the call before.

    Raises
    ------
    KafkaLearnError
        If a file cannot be read.
    """
    counting = Counting(depth == RECORDS, future_ms, keeps_markers)
    for file in files:
        modified_ms = file.path.stat().st_mtime_ns // 1_000_000
        with mapped(file.path) as data:
            done = 0
            for each in blocks(data, span_of(file, data), depth, is_fast, batch_limit_bytes):
                if isinstance(each, Unread):
                    _add_unread(counting, data, each)
                    continue
                counting.add(each)
                read_to = _end(each, done)
                progress(read_to - done)
                done = read_to
            progress(len(data) - done)
            counting.end_file(file, len(data), modified_ms)
    return counting.census()


def _add_unread(counting: Counting, data: Bytes, unread: Unread) -> None:
    found = older_messages(data, unread.position, unread.size_bytes)
    if found is None:
        counting.add_unread(unread)
    else:
        counting.add_older(*found, unread.size_bytes)


def span_of(file: SegmentFile, data: Bytes) -> Span:
    """All of a file, with the offsets that it may have."""
    return Span(0, len(data), file.base_offset, file.end_offset)


def _end(block: Block, before: int) -> int:
    return block.headers[-1].position + block.headers[-1].size_bytes if block.headers else before
