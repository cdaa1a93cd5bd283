"""Segment files as copied from a broker's disk: batches, records, and what of them cannot be read.

`read_segment` reads one file, `kafkalearn.segments.disk.read_disk` all below a directory. A file that ends in the
middle of a batch is what a crash leaves; such a *tail* is the segment's `Rest`, and a broker that starts again cuts the
log there. A damaged batch with readable ones behind it is something else: reading stops there, too, and the `Rest` says
what lies *behind*. `skip_damaged=True` reads on, and the segment lists what it has `skipped`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from kafkalearn.arguments import whole_number
from kafkalearn.errors import KafkaLearnError
from kafkalearn.phrases import counted
from kafkalearn.segments.batches import Batch, Bytes, Header, read_batch
from kafkalearn.segments.compression import BATCH_LIMIT_BYTES
from kafkalearn.segments.log_dirs import HERE, SegmentFile, base_offset_of, partition_of
from kafkalearn.segments.walk import LARGEST_OFFSET, Span, Unread, walk


@dataclass(frozen=True, slots=True)
class Behind:
    """The batches that can be read behind a damaged one."""

    position: int  # of the first byte of the first one
    base_offset: int
    last_offset: int
    batch_count: int
    is_damaged_again: bool  # more is unread between or behind them

    def __str__(self) -> str:
        """As the reason of a `Rest` says it."""
        many = counted(self.batch_count, "batch", "batches")
        again = ", and more is damaged there" if self.is_damaged_again else ""
        return (
            f"behind it {many} can be read, from byte {self.position}, offsets {self.base_offset} to {self.last_offset}"
            f"{again}: skip_damaged=True reads on"
        )


@dataclass(frozen=True, slots=True)
class Rest:
    """Bytes of a file that were not read as batches."""

    position: int  # of the first of them in the file
    size_bytes: int
    reason: str
    behind: Behind | None = None  # what could be read there; None: nothing, these bytes are the file's tail


@dataclass(frozen=True, slots=True)
class Segment:
    """What one segment file holds."""

    topic: str
    partition: int
    base_offset: int  # from the name of the file
    size_bytes: int
    batches: tuple[Batch, ...]
    rest: Rest | None  # None: the file was read to its last byte
    skipped: tuple[Rest, ...] = ()  # damaged parts that were passed over, as asked
    log_dir: str = HERE  # of the broker, below the directory that was read: copies of a partition differ in it
    modified_ms: int = field(default=0, compare=False)  # when the file was written last

    @property
    def file_name(self) -> str:
        """The name that a broker gives the file.

        >>> parse_segment(b"", "orders", 3, 42).file_name
        'orders-3/00000000000000000042.log'
        """
        return f"{self.topic}-{self.partition}/{self.base_offset:020}.log"


def parse_segment(
    data: Bytes,
    topic: str = "",
    partition: int = 0,
    base_offset: int = 0,
    has_checksum: bool = True,
    *,
    skip_damaged: bool = False,
    batch_limit_bytes: int = BATCH_LIMIT_BYTES,
    end_offset: int = LARGEST_OFFSET + 1,
) -> Segment:
    """The content of a segment file, as far as it can be read.

    Parameters
    ----------
    data : bytes
        The whole file.
    topic, partition : str, int
        What the directory's name says; they are only kept.
    base_offset : int
        What the file's name says; a batch with a lower offset is damaged.
    has_checksum : bool
        False: checksums are not looked at, which is several times as fast.
    skip_damaged : bool
        True: what cannot be read is passed over if batches follow, and listed in ``skipped``.
    batch_limit_bytes : int
        A batch that decodes to more is not read.
    end_offset : int
        Where the next file begins; a batch that reaches so far is damaged.

    Returns
    -------
    Segment
        ``rest`` says where and why the reading stopped, if it did before the last byte, and what lies behind.

    Examples
    --------
    >>> parse_segment(bytes(12)).rest.reason
    'record batch: batchLength at byte 8 is 0: the file may have been preallocated'
    """
    whole_number("base_offset", base_offset, at_least=0)
    whole_number("end_offset", end_offset, at_least=0)
    whole_number("batch_limit_bytes", batch_limit_bytes, at_least=1)
    read = partial(read_batch, has_checksum=has_checksum, batch_limit_bytes=batch_limit_bytes)
    found = walk(data, Span(0, len(data), base_offset, end_offset), read, read)
    batches: list[Batch] = []
    skipped: list[Rest] = []
    rest = None
    for each in found:
        if isinstance(each, Batch):
            batches.append(each)
        elif skip_damaged:
            skipped.append(Rest(each.position, each.size_bytes, each.reason))
        else:
            rest = rest_from(each, len(data), found)
    if skipped and skipped[-1].position + skipped[-1].size_bytes == len(data):
        rest = skipped.pop()
    return Segment(topic, partition, base_offset, len(data), tuple(batches), rest, tuple(skipped))


def rest_from(unread: Unread, size_bytes: int, found: Iterator[Batch | Header | Unread]) -> Rest:
    """The rest of a file from a damaged batch on; `found` is what the walk finds behind it."""
    first = last = None
    count, is_damaged_again = 0, False
    for each in found:
        if isinstance(each, Unread):
            is_damaged_again = True
        else:
            first, last, count = first or each, each, count + 1
    if first is None or last is None:
        return Rest(unread.position, size_bytes - unread.position, unread.reason)
    behind = Behind(first.position, first.base_offset, last.last_offset, count, is_damaged_again)
    return Rest(unread.position, size_bytes - unread.position, f"{unread.reason}; {behind}", behind)


def read_segment(
    path: str | Path,
    topic: str | None = None,
    partition: int | None = None,
    has_checksum: bool = True,
    *,
    skip_damaged: bool = False,
    batch_limit_bytes: int = BATCH_LIMIT_BYTES,
) -> Segment:
    """The content of one segment file.

    Parameters
    ----------
    path : str or Path
        A file named as a broker names it, ``00000000000000000000.log``.
    topic : str, optional
        Without one, topic and partition are read from the directory's name, ``TOPIC-PARTITION``.
    partition : int, optional
        With a topic.
    has_checksum, skip_damaged, batch_limit_bytes : bool, bool, int
        As in `parse_segment`.

    Raises
    ------
    KafkaLearnError
        If there is no such file, it may not be read, or its names do not say what it is.
    """
    path = Path(path)
    if not path.is_file():
        raise KafkaLearnError(f"there is no segment file {str(path)!r}")
    base_offset = base_offset_of(path)
    if topic is None:
        topic, partition = partition_of(path.absolute().parent.name)
    file = SegmentFile(path, HERE, topic, partition or 0, base_offset)
    return read_file(file, has_checksum, skip_damaged, batch_limit_bytes)


def read_file(file: SegmentFile, has_checksum: bool, skip_damaged: bool, batch_limit_bytes: int) -> Segment:
    """The content of a file that was found by its place, as `kafkalearn.segments.log_dirs.segment_files` finds it."""
    try:
        data, modified_ns = file.path.read_bytes(), file.path.stat().st_mtime_ns
    except OSError as error:
        raise KafkaLearnError(f"segment file {str(file.path)!r} cannot be read: {error.strerror or error}") from None
    segment = parse_segment(
        data,
        file.topic,
        file.partition,
        file.base_offset,
        has_checksum,
        skip_damaged=skip_damaged,
        batch_limit_bytes=batch_limit_bytes,
        end_offset=file.end_offset,
    )
    return replace(segment, log_dir=file.log_dir, modified_ms=modified_ns // 1_000_000)


def damaged_end(reason: str, end_offset: int) -> str:
    """The reason for the unread end of a file that is not the last one of its log."""
    return f"{reason}; the log goes on in {end_offset:020}.log: skip_damaged=True leaves out what is damaged here"
