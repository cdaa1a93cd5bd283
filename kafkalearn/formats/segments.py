"""Segment files: from batch to batch past what cannot be read, where they lie, and what one of them holds.

`walk` is the way through a file. `segment_files` finds the files below a folder, `read_segment` and `parse_segment`
make a `Segment` of one; `kafkalearn.formats.disk.read_disk` reads all below a directory. `Block` is what can be counted
of some batches, whichever way they were read.

A file has no table of its batches: each says how long it is, and behind it the next one begins. So a damaged length
hides all that follows, while damage inside a batch does not. Behind a batch that cannot be read the walk goes on where
its own length leads to, if a batch is there; else it looks byte by byte for the next one whose checksum is right.

No checksum covers the first offset of a batch. If two neighbours contradict each other, the one that contradicts the
batch behind them, too, is taken for the damaged one. Where that decides nothing, it is the later one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar

from kafkalearn.base.checks import LARGEST_INT, text, whole_number
from kafkalearn.base.errors import KafkaLearnError, counted, listed, shown, unknown_name
from kafkalearn.formats.batches import (
    FRAME_BYTES,
    LARGEST_OFFSET,
    MAGIC_POSITION,
    Batch,
    Header,
    is_checksum_right,
    read_batch,
    read_header,
)
from kafkalearn.formats.compression import BATCH_LIMIT_BYTES, CODECS
from kafkalearn.formats.file_bytes import Bytes
from kafkalearn.formats.records import wrong
from kafkalearn.formats.wire import Undecodable

# From batch to batch.

UNUSED_ATTRIBUTES = 0xFF80  # bits that no release has set
FARTHEST = 2**31 - 1  # the offsets of a segment are at most so far from its first
SEARCHED_TIMES = 8  # a search computes checksums of at most this many times the bytes of the file
TRY_BYTES = 32  # as which each place counts that is looked at; nearly all have no header that can be
GIVEN_UP = "; the search for a batch behind it was given up"

Read = TypeVar("Read", Batch, Header)
Check: TypeAlias = Callable[[Bytes, int], Batch]


@dataclass(frozen=True, slots=True)
class Unread:
    """Some bytes of a file that are no batch, or a damaged one."""

    position: int
    size_bytes: int
    reason: str


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a file that begins and ends with a batch, and the offsets that its batches may have."""

    start: int
    end: int
    first_offset: int = 0
    end_offset: int = LARGEST_OFFSET + 1  # where the next segment begins


def walk(
    data: Bytes, span: Span, read: Callable[[Bytes, int], Read], check: Check = read_batch
) -> Iterator[Read | Unread]:
    """Every batch of a part of a file, in order, and between them what cannot be read.

    Parameters
    ----------
    data : bytes
        The whole file.
    span : Span
        The part to walk through.
    read : callable
        `read_batch` or `read_header`: from data and position to what is yielded; raises `Undecodable`.
    check : callable
        `read_batch`, with the checksum; asked where something does not fit what `read` believed.
    """
    held: Read | None = None  # the last batch, until the next one fits behind it
    before = span.first_offset - 1  # the last offset in front of it
    position, search = span.start, _Search(data, span)
    while position < span.end:
        found, error = _read(data, position, read, span, before if held is None else held.last_offset)
        if found is not None and error is None:
            if held is not None:
                yield held
                before = held.last_offset
            held, position = found, _end(found)
            continue
        error_in_held = None
        if held is not None:
            error_in_held = _checked(data, held, check) or _contradiction(data, span, before, held, found)
            if error_in_held is None:
                yield held
                before = held.last_offset
            else:
                position, error = held.position, error_in_held
        if error_in_held is None and found is not None:
            error = _checked(data, found, check) or error
        held = None
        end, is_given_up = search.next_batch(position)
        yield Unread(position, end - position, f"{error}{GIVEN_UP if is_given_up else ''}")
        position = end
    if held is not None:
        yield held


def _end(batch: Batch | Header) -> int:
    """The byte behind it."""
    return batch.position + batch.size_bytes


def _read(
    data: Bytes, position: int, read: Callable[[Bytes, int], Read], span: Span, last: int
) -> tuple[Read | None, str | None]:
    """The batch at a position if there is one, and what is wrong with it.

    In words: an error that is kept keeps alive what its frames have read and decoded.
    """
    try:
        found = read(data, position)
    except Undecodable as error:
        return None, str(error)
    if found.base_offset < span.first_offset:
        file = f"the file's name says that it begins at offset {span.first_offset}"
        return found, _wrong("baseOffset", position, f"is {found.base_offset}, {file}")
    if found.base_offset <= last:
        return found, _wrong("baseOffset", position, f"is {found.base_offset}, the batch before ends at offset {last}")
    if found.last_offset >= span.end_offset:
        ends = f"ends the batch at offset {found.last_offset}, the next file begins at {span.end_offset}"
        return found, _wrong("lastOffsetDelta", position + 23, ends)
    return found, None


def _wrong(field: str, position: int, what: str) -> str:
    return str(wrong(field, position, what))


def _checked(data: Bytes, batch: Batch | Header, check: Check) -> str | None:
    """What is wrong inside a batch, its checksum included."""
    try:
        check(data, batch.position)
    except Undecodable as error:
        return str(error)
    return None


def _contradiction(
    data: Bytes, span: Span, before: int, held: Batch | Header, found: Batch | Header | None
) -> str | None:
    """What is wrong with the first offset of the held batch, if the one found behind it is right and it is not.

    If no batch is behind both, the held one is blamed if offsets are missing in front of it.
    """
    if found is None or found.base_offset <= before:
        return None
    behind = _header_at(data, _end(found)) if _end(found) < span.end else None
    if behind is None:
        is_held_wrong = held.base_offset > before + 1
    else:
        is_held_wrong = found.last_offset < behind.base_offset <= held.last_offset
    if not is_held_wrong:
        return None
    follows = f"the batch behind it begins at offset {found.base_offset}"
    return _wrong("baseOffset", held.position, f"is {held.base_offset}, {follows}")


def _header_at(data: Bytes, position: int) -> Header | None:
    try:
        return read_header(data, position)
    except Undecodable:
        return None


class _Search:
    """The search for the next batch in a part of a file."""

    def __init__(self, data: Bytes, span: Span) -> None:
        self.data = data
        self.span = span
        self.bytes_left = SEARCHED_TIMES * max(span.end - span.start, 1 << 16)

    def next_batch(self, damaged_at: int) -> tuple[int, bool]:
        """Where the next batch behind a damaged one begins, the end of the part if none does; whether it gave up."""
        damaged = _header_at(self.data, damaged_at)
        behind = self.span.end + 1 if damaged is None else _end(damaged)
        if behind == self.span.end or (behind < self.span.end and self._is_batch(behind)):
            return behind, False
        position = damaged_at + 1
        while self.bytes_left > 0:
            magic = self.data.find(2, position + MAGIC_POSITION, self.span.end)
            if magic < 0:
                return self.span.end, False
            position = magic - MAGIC_POSITION
            if self._is_batch(position):
                return position, False
            position += 1
        return self.span.end, True

    def _is_batch(self, position: int) -> bool:
        """Whether a batch begins at a byte, by all that its header says and by its checksum."""
        self.bytes_left -= TRY_BYTES
        length = int.from_bytes(self.data[position + 8 : position + FRAME_BYTES], "big")  # a negative one is too large
        header = _header_at(self.data, position) if length <= self.span.end - position - FRAME_BYTES else None
        if header is None:
            return False
        delta = header.last_offset - header.base_offset
        is_possible = (
            self.span.first_offset <= header.base_offset <= header.last_offset < self.span.end_offset
            and _end(header) <= self.span.end
            and 0 <= header.record_count <= delta + 1 <= FARTHEST + 1
            and not header.attributes & UNUSED_ATTRIBUTES
            and header.attributes & 0x07 < len(CODECS)
            and min(header.producer_id, header.producer_epoch, header.base_sequence) >= -1
        )
        if is_possible:
            self.bytes_left -= header.size_bytes
        return is_possible and is_checksum_right(self.data, header)


# Which segment files lie below a folder: of which partition, and in which log dir of which broker.
#
# A broker keeps each partition in a folder ``TOPIC-PARTITION`` of one of its log dirs, in segment files named by the
# first offset they may hold, in 20 digits: ``__consumer_offsets-12/00000000000000000000.log``. A folder may be such a
# partition, a log dir, or hold the log dirs of several brokers; then one partition lies in it several times. These are
# copies of one log and must not be added up, so every file is named with its *log dir*, as a path below the folder.

HERE = "."
"""The log dir that is the folder itself, or the one around it if the folder is a partition's."""

_PARTITION_FOLDER = re.compile(r"(?P<topic>.+)-(?P<partition>\d{1,9})", re.ASCII)
_SEGMENT_NAME = re.compile(r"\d{1,20}\.log", re.ASCII)


@dataclass(frozen=True, slots=True)
class SegmentFile:
    """A segment file and what its place says."""

    path: Path
    log_dir: str  # below the folder that was searched
    topic: str
    partition: int
    base_offset: int
    end_offset: int = LARGEST_OFFSET + 1  # where the next file of the same log begins
    is_last: bool = True  # of its log: the active segment


def partition_of(folder_name: str) -> tuple[str, int]:
    """Topic and partition, from the name of a partition's folder.

    >>> partition_of("__consumer_offsets-12")
    ('__consumer_offsets', 12)
    """
    found = _PARTITION_FOLDER.fullmatch(folder_name)
    if not found:
        raise KafkaLearnError(f"directory {folder_name!r} is not named TOPIC-PARTITION; give topic and partition")
    return found["topic"], int(found["partition"])


def base_offset_of(path: Path) -> int:
    """The first offset that a segment may hold, from the name of its file."""
    if not _SEGMENT_NAME.fullmatch(path.name) or int(path.stem) > LARGEST_OFFSET:
        raise KafkaLearnError(f"{path.name!r} is not a segment file; those are named by an offset: {0:020}.log")
    return int(path.stem)


def segment_files(
    directory: str | Path, topic: str | None = None, log_dir: str | None = None, partition: int | None = None
) -> tuple[SegmentFile, ...]:
    """Every segment file below a folder.

    Files that the broker had given up (``.deleted``) or not finished (``.cleaned``, ``.swap``) are none, nor are those
    of partitions that it was deleting or moving (``TOPIC-PARTITION.ID-delete``, ``-future``, ``-stray``).

    Parameters
    ----------
    directory : str or Path
        A partition's folder, a log dir, or a folder above several of them.
    topic : str, optional
        Only this topic.
    log_dir : str, optional
        Only this log dir, as a path below the folder.
    partition : int, optional
        Only this partition.

    Returns
    -------
    tuple of SegmentFile
        By topic, partition, log dir and base offset.

    Raises
    ------
    KafkaLearnError
        If there is no such folder, log dir, topic or partition, or no segment file.
    """
    directory = Path(directory)
    if not directory.is_dir():
        raise KafkaLearnError(f"there is no directory {str(directory)!r}")
    if topic is not None:
        text("topic", topic)
    if partition is not None:
        whole_number("partition", partition, at_least=0, at_most=LARGEST_INT)
    found = [_file(directory, path) for path in _below(directory, ".log") if _is_of_a_partition(path)]
    there = sorted({each.log_dir for each in found})
    if log_dir is not None and there and log_dir not in there:
        raise unknown_name("log dir", log_dir, there)
    wanted = [
        each
        for each in found
        if topic in (None, each.topic) and log_dir in (None, each.log_dir) and partition in (None, each.partition)
    ]
    if not wanted:
        of_topic = "" if topic is None else f" of topic {shown(topic)}"
        of_topic += "" if partition is None else f" of partition {partition!r}"
        of_log_dir = "" if log_dir is None else f" in log dir {log_dir!r}"
        raise KafkaLearnError(
            f"no segment{of_topic}{of_log_dir} below {str(directory)!r}; they lie in directories TOPIC-PARTITION, "
            f"named OFFSET.log{_without_segments(directory)}"
        )
    return _with_ends(wanted)


_OF_REDPANDA = re.compile(r"\d+-\d+-v\d+\.log")


def _without_segments(directory: Path) -> str:
    """What lies below a folder of the files that stand beside segments, in words."""
    of_redpanda = [path for path in _below(directory, ".log") if _OF_REDPANDA.fullmatch(path.name)]
    if of_redpanda:
        first = min(of_redpanda).relative_to(directory).as_posix()
        return (
            f". There are {len(of_redpanda)} of Redpanda's ({shown(first)}: namespace, topic, partition_revision, "
            "offset-term): it has batches of its own on disk, which are not read here; its Kafka API gives the records"
        )
    kinds = (".index", ".timeindex", ".txnindex", ".snapshot", ".checkpoint")
    found = {kind: len([*_below(directory, kind)]) for kind in kinds}
    words = listed(f"{count} {kind}" for kind, count in found.items() if count)
    return (
        "" if not any(found.values()) else f". There are {words} files without a .log: the logs were left out of a copy"
    )


def _below(directory: Path, suffix: str) -> Iterator[Path]:
    """Files below a folder; folders that go while it is walked through are passed over, as if they had gone before."""
    for folder, _, names in os.walk(directory, onerror=_refuse_unless_gone):
        yield from (Path(folder, name) for name in names if name.endswith(suffix))


def _refuse_unless_gone(error: OSError) -> None:
    """Raise if a folder may not be read; ``lost+found`` and hidden ones, which never may, hold no log."""
    name = Path(error.filename).name
    if not isinstance(error, FileNotFoundError | NotADirectoryError) and name != "lost+found" and name[:1] != ".":
        raise KafkaLearnError(f"folder {error.filename!r} cannot be read: {error.strerror}")


def _is_of_a_partition(path: Path) -> bool:
    return bool(_PARTITION_FOLDER.fullmatch(path.absolute().parent.name)) and path.is_file()


def _file(directory: Path, path: Path) -> SegmentFile:
    is_inside = path.parent != directory
    log_dir = path.parent.parent.relative_to(directory).as_posix() if is_inside else HERE
    return SegmentFile(path, log_dir, *partition_of(path.absolute().parent.name), base_offset_of(path))


def _with_ends(files: Iterable[SegmentFile]) -> tuple[SegmentFile, ...]:
    """The files in order, each with where the next one of its log begins."""
    ordered = sorted(files, key=lambda each: (*_log_of(each), each.base_offset))
    found: list[SegmentFile] = []
    for each, behind in zip(ordered, (*ordered[1:], None), strict=True):
        if behind is not None and _log_of(behind) == _log_of(each):
            each = replace(each, end_offset=behind.base_offset, is_last=False)
        found.append(each)
    return tuple(found)


def _log_of(file: SegmentFile) -> tuple[str, int, str]:
    return file.topic, file.partition, file.log_dir


def refuse_copies(log_dirs_by_partition: Mapping[tuple[str, int], Collection[str]]) -> None:
    """Raise if a partition lies in several log dirs; the message says in which and how to choose one."""
    for (topic, partition), log_dirs in log_dirs_by_partition.items():
        if len(log_dirs) > 1:
            there = sorted(log_dirs)
            raise KafkaLearnError(
                f"partition {topic}-{partition} lies in {len(there)} log dirs, {listed(map(repr, there))}: these are "
                f"copies of one log; choose one when you read them: log_dir={there[0]!r}"
            )


# What one file holds, as copied from a broker's disk.
#
# A file that ends in the middle of a batch is what a crash leaves; such a *tail* is the segment's `Rest`, and a broker
# that starts again cuts the log there. A damaged batch with readable ones behind it is something else: reading stops
# there, too, and the `Rest` says what lies *behind*. `skip_damaged=True` reads on, and the segment lists what it has
# `skipped`.


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
    """The content of a file that was found by its place, as `kafkalearn.formats.segments.segment_files` finds it."""
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


# What is counted of some batches, whichever way they were read.

Row = tuple[Header, int, int, bytes | None, bytes | None]
Sized = tuple[int, int]  # negative size and offset, so that the largest comes first


class Block(Protocol):
    """Batches that lie behind each other; the records are those of applications, control records are none."""

    headers: list[Header]
    controls: dict[int, str | None]  # by index of a control batch what its record is; None: it was emptied

    @property
    def record_count(self) -> int:
        """How many records there are."""
        ...

    @property
    def null_key_count(self) -> int:
        """How many have no key."""
        ...

    @property
    def tombstone_count(self) -> int:
        """How many have no value."""
        ...

    @property
    def key_bytes(self) -> int:
        """All keys together."""
        ...

    @property
    def value_bytes(self) -> int:
        """All values together."""
        ...

    def largest(self, count: int) -> tuple[list[Sized], list[Sized]]:
        """The largest keys and the largest values, as `Sized`."""

    def rows(self) -> Iterator[Row]:
        """Of each record the header of its batch, offset, timestamp, key and value."""
