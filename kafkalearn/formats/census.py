"""What segment files hold, counted in one pass: by Python alone, or by NumPy with the same answers.

`count_log` goes through the files of one log and returns a `LogCensus`: files, batches, records, transactions, leader
epochs. `blocks` reads a file some batches at a time; `Counting` has the rules of counting, the same whichever way a
file is read.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from heapq import nsmallest
from struct import Struct
from typing import NamedTuple, TypeVar

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats.batches import (
    FRAME_BYTES,
    MAGIC_POSITION,
    Batch,
    Header,
    read_batch,
    read_header,
)
from kafkalearn.formats.compression import BATCH_LIMIT_BYTES, CODECS, Damaged, decompress
from kafkalearn.formats.file_bytes import Bytes, FileBytes, opened
from kafkalearn.formats.pieces import BLOCK_BATCHES, BLOCK_BYTES, has_columns, side_by_side
from kafkalearn.formats.records import Record
from kafkalearn.formats.segments import Block, Row, SegmentFile, Sized, Span, Unread, walk
from kafkalearn.formats.wire import Undecodable

# What one log holds, in numbers.


class Largest(NamedTuple):
    """A key or a value that is among the largest."""

    size_bytes: int
    offset: int


class Stamp(NamedTuple):
    """A timestamp, and the first offset of a batch that has it as its largest."""

    timestamp_ms: int
    offset: int


class EpochRun(NamedTuple):
    """Batches of one leader epoch that lie behind each other."""

    epoch: int
    first_offset: int  # of the first batch
    last_offset: int  # at which the last one begins


@dataclass(frozen=True, slots=True)
class OpenTransaction:
    """A transaction with data in the log and no marker behind it."""

    producer_id: int
    producer_epoch: int
    first_offset: int
    begun_ms: int  # the largest timestamp of its first batch
    batch_count: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class FileCensus:
    """What one file holds, without its records."""

    file: SegmentFile
    size_bytes: int
    modified_ms: int
    batch_count: int
    batch_bytes: int
    first_batch_ms: int  # the largest timestamp of the first batch; -1: none
    largest_ms: int
    last_offset: int  # the base offset less one if there is no batch
    unread: tuple[Unread, ...]  # what is damaged, or torn off
    older_bytes: int = 0  # in formats 0 and 1

    @property
    def readable_bytes(self) -> int:
        """Up to which byte it can be read without passing anything over."""
        return self.unread[0].position if self.unread else self.size_bytes


@dataclass(frozen=True, slots=True)
class LogCensus:
    """What one log holds: the files of a partition in one log dir."""

    files: tuple[FileCensus, ...]
    has_records: bool  # False: headers alone were read
    batch_count: int
    batches_by_codec: dict[str, int]
    bytes_by_codec: dict[str, int]
    transactional_batch_count: int
    controls: dict[str, int]  # by type
    record_count: int  # of applications; by headers alone what the headers say
    null_key_count: int | None  # None: not counted
    tombstone_count: int | None
    key_bytes: int | None
    value_bytes: int | None
    largest_keys: tuple[Largest, ...]
    largest_values: tuple[Largest, ...]
    first_offset: int | None  # None: there is no batch
    last_offset: int | None
    oldest: Stamp | None  # of the batches that have a timestamp
    newest: Stamp | None
    future_batch_count: int  # with a timestamp later than the moment given
    first_future: Stamp | None
    horizon_batch_count: int  # with a delete horizon
    earliest_horizon_ms: int | None
    latest_horizon_ms: int | None
    producer_count: int
    open_transactions: tuple[OpenTransaction, ...]  # by first offset
    gap_count: int  # places where offsets are missing, between batches or in one: a cleaner was there
    magic_counts: dict[int, int]  # by format: batches, of formats 0 and 1 the messages that lie in the file
    epochs: tuple[EpochRun, ...]  # leader epochs as the batches have them
    markers: dict[int, tuple[tuple[int, str], ...]]  # by producer id: offset and outcome; empty if not asked for
    older_compressed_count: int = 0  # messages of formats 0 and 1 that hold others, which are not read

    @property
    def size_bytes(self) -> int:
        """Of all files."""
        return sum(each.size_bytes for each in self.files)

    @property
    def base_offset(self) -> int:
        """Where the first file begins."""
        return self.files[0].file.base_offset

    @property
    def end_offset(self) -> int:
        """The log end offset, as far as the files can be read."""
        return max(self.files[-1].last_offset, -1 if self.last_offset is None else self.last_offset) + 1

    @property
    def last_stable_offset(self) -> int:
        """Where the first open transaction begins, else the log end offset."""
        return self.open_transactions[0].first_offset if self.open_transactions else self.end_offset


# The counts of one log, taken block by block.

LARGEST_SHOWN = 5  # keys, and values
MARKERS = ("COMMIT", "ABORT")
EMPTIED = "EMPTIED"  # a control batch without a record: the cleaner left its header


@dataclass(slots=True, kw_only=True)
class RecordCounts:
    """What is counted of records, wherever they lie."""

    record_count: int = 0
    null_key_count: int = 0
    tombstone_count: int = 0
    key_bytes: int = 0
    value_bytes: int = 0

    def add_sizes(self, key_bytes: int, value_bytes: int) -> None:
        """Count a record by the lengths of its key and its value; a negative one: there is none."""
        self.record_count += 1
        self.null_key_count += key_bytes < 0
        self.tombstone_count += value_bytes < 0
        self.key_bytes += max(0, key_bytes)
        self.value_bytes += max(0, value_bytes)

    def add_counts(self, other: RecordCounts | Block) -> None:
        """Count all records that were counted there."""
        self.record_count += other.record_count
        self.null_key_count += other.null_key_count
        self.tombstone_count += other.tombstone_count
        self.key_bytes += other.key_bytes
        self.value_bytes += other.value_bytes


@dataclass(slots=True)
class _OfFile:
    """The counts of the file that is being read."""

    batch_count: int = 0
    batch_bytes: int = 0
    first_batch_ms: int = -1
    largest_ms: int = -1
    last_offset: int = -1
    unread: list[Unread] = field(default_factory=list)
    older_bytes: int = 0


class Counting(RecordCounts):
    """Counts blocks, file by file; `census` says what was found."""

    def __init__(self, has_records: bool, future_ms: int, keeps_markers: bool = False) -> None:
        """Nothing counted yet.

        Parameters
        ----------
        has_records : bool
            Whether blocks have records.
        future_ms : int
            A timestamp beyond it is from the future.
        keeps_markers : bool
            Whether the markers of transactions are kept, each with its offset.
        """
        super().__init__()
        self.has_records, self.future_ms, self.keeps_markers = has_records, future_ms, keeps_markers
        self.files: list[FileCensus] = []
        self.here = _OfFile()
        self.batches_by_attributes: Counter[int] = Counter()
        self.bytes_by_attributes: Counter[int] = Counter()
        self.controls: Counter[str] = Counter()
        self.largest_keys: list[Sized] = []
        self.largest_values: list[Sized] = []
        self.first_offset: int | None = None
        self.end_offset = 0  # behind the last batch
        self.last_offset: int | None = None
        self.oldest: Stamp | None = None
        self.newest: Stamp | None = None
        self.first_future: Stamp | None = None
        self.future_batch_count = 0
        self.horizons: Counter[int] = Counter()
        self.gap_count = 0
        self.older: Counter[int] = Counter()
        self.older_compressed_count = 0
        self.producers: set[int] = set()
        self.begun: dict[int, list[int]] = {}  # producer id -> epoch, first offset, time, batches, bytes
        self.epochs: list[list[int]] = []  # epoch, offsets of the first and of the last batch
        self.markers: dict[int, list[tuple[int, str]]] = {}

    def add(self, block: Block) -> None:
        """Count a block of the file that is being read."""
        for index, header in enumerate(block.headers):
            self._add_header(header)
            if header.attributes & 0x10 and not header.attributes & 0x20:
                self._add_transactional(header)
            elif index in block.controls:
                self._add_control(header, block.controls[index])
            elif not self.has_records:
                self.record_count += max(0, header.record_count)
        if self.has_records:
            self._add_records(block)

    def _add_header(self, header: Header) -> None:
        here, largest_ms = self.here, header.max_timestamp_ms
        is_whole = header.record_count == header.last_offset - header.base_offset + 1
        if not is_whole or (self.batches_by_attributes and header.base_offset != self.end_offset):
            self.gap_count += 1
        self.end_offset = header.last_offset + 1
        here.batch_count += 1
        here.batch_bytes += header.size_bytes
        here.last_offset = header.last_offset
        if here.batch_count == 1:
            here.first_batch_ms = largest_ms
            if self.first_offset is None:
                self.first_offset = header.base_offset
        self.batches_by_attributes[header.attributes] += 1
        self.bytes_by_attributes[header.attributes] += header.size_bytes
        if largest_ms >= 0:
            self._add_timestamp(here, largest_ms, header.base_offset)
        if header.attributes & 0x40:
            self.horizons[header.base_ms] += 1
        if header.producer_id >= 0:
            self.producers.add(header.producer_id)
        if not self.epochs or self.epochs[-1][0] != header.leader_epoch:
            self.epochs.append([header.leader_epoch, header.base_offset, header.base_offset])
        self.epochs[-1][2] = header.base_offset

    def _add_timestamp(self, here: _OfFile, largest_ms: int, offset: int) -> None:
        if largest_ms > here.largest_ms:
            here.largest_ms = largest_ms
        if self.newest is None or largest_ms > self.newest.timestamp_ms:
            self.newest = Stamp(largest_ms, offset)
        if self.oldest is None or largest_ms < self.oldest.timestamp_ms:
            self.oldest = Stamp(largest_ms, offset)
        if largest_ms > self.future_ms:
            self.future_batch_count += 1
            self.first_future = self.first_future or Stamp(largest_ms, offset)

    def _add_transactional(self, header: Header) -> None:
        if not self.has_records:
            self.record_count += max(0, header.record_count)
        begun = self.begun.setdefault(
            header.producer_id, [header.producer_epoch, header.base_offset, header.max_timestamp_ms, 0, 0]
        )
        begun[3] += 1
        begun[4] += header.size_bytes

    def _add_control(self, header: Header, control: str | None) -> None:
        self.controls[control or EMPTIED] += 1
        if control in MARKERS:
            self.begun.pop(header.producer_id, None)
            if self.keeps_markers:
                self.markers.setdefault(header.producer_id, []).append((header.base_offset, control))

    def _add_records(self, block: Block) -> None:
        self.add_counts(block)
        keys, values = block.largest(LARGEST_SHOWN)
        self.largest_keys = nsmallest(LARGEST_SHOWN, [*self.largest_keys, *keys])
        self.largest_values = nsmallest(LARGEST_SHOWN, [*self.largest_values, *values])

    def add_unread(self, unread: Unread) -> None:
        """Note bytes of the file that is being read which are no batch."""
        self.here.unread.append(unread)

    def add_older(self, found: Older, size_bytes: int) -> None:
        """Count messages of format 0 or 1 in the file that is being read."""
        self.older[found.magic] += found.count
        self.older_compressed_count += found.compressed_count
        self.add_counts(found)
        here = self.here
        here.older_bytes += size_bytes
        here.last_offset = max(here.last_offset, found.last_offset)
        if self.first_offset is None:
            self.first_offset = found.first_offset
        if found.first_ms >= 0 and here.first_batch_ms < 0:
            here.first_batch_ms = found.first_ms
        if found.largest_ms >= 0:
            self._add_timestamp(here, found.largest_ms, found.first_offset)

    def end_file(self, file: SegmentFile, size_bytes: int, modified_ms: int) -> None:
        """The file was read to its end."""
        here, self.here = self.here, _OfFile()
        is_any = here.batch_count or here.older_bytes
        if is_any:
            self.last_offset = here.last_offset
        last_offset = here.last_offset if is_any else file.base_offset - 1
        self.files.append(
            FileCensus(
                file, size_bytes, modified_ms, here.batch_count, here.batch_bytes, here.first_batch_ms,
                here.largest_ms, last_offset, tuple(here.unread), here.older_bytes,
            )
        )  # fmt: skip

    def census(self) -> LogCensus:
        """What was counted."""
        has_records = self.has_records
        transactions = (OpenTransaction(producer_id, *facts) for producer_id, facts in self.begun.items())
        return LogCensus(
            files=tuple(self.files),
            has_records=has_records,
            batch_count=sum(self.batches_by_attributes.values()),
            batches_by_codec=_by_codec(self.batches_by_attributes),
            bytes_by_codec=_by_codec(self.bytes_by_attributes),
            transactional_batch_count=sum(
                count for attributes, count in self.batches_by_attributes.items() if attributes & 0x30 == 0x10
            ),
            controls=dict(sorted(self.controls.items())),
            record_count=self.record_count,
            null_key_count=self.null_key_count if has_records else None,
            tombstone_count=self.tombstone_count if has_records else None,
            key_bytes=self.key_bytes if has_records else None,
            value_bytes=self.value_bytes if has_records else None,
            largest_keys=_largest(self.largest_keys),
            largest_values=_largest(self.largest_values),
            first_offset=self.first_offset,
            last_offset=self.last_offset,
            oldest=self.oldest,
            newest=self.newest,
            future_batch_count=self.future_batch_count,
            first_future=self.first_future,
            horizon_batch_count=sum(self.horizons.values()),
            earliest_horizon_ms=min(self.horizons, default=None),
            latest_horizon_ms=max(self.horizons, default=None),
            producer_count=len(self.producers),
            open_transactions=tuple(sorted(transactions, key=lambda each: each.first_offset)),
            gap_count=self.gap_count,
            magic_counts=dict(sorted((self.older + Counter({2: self.batches_by_attributes.total()})).items())),
            epochs=tuple(EpochRun(*each) for each in self.epochs),
            markers={producer_id: tuple(found) for producer_id, found in self.markers.items()},
            older_compressed_count=self.older_compressed_count,
        )


def _by_codec(by_attributes: Counter[int]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for attributes, count in by_attributes.items():
        number = attributes & 0x07
        found[CODECS[number] if number < len(CODECS) else f"unknown {number}"] += count
    return dict(sorted(found.items()))


def _size(data: bytes | None) -> int:
    return -1 if data is None else len(data)


def _largest(found: Iterable[Sized]) -> tuple[Largest, ...]:
    return tuple(Largest(-size, offset) for size, offset in found)


# Messages of formats 0 and 1, which brokers wrote up to 0.10.
#
# Each has an offset, a length and a checksum of its own, the CRC-32 of zlib. One that is not compressed is a record. A
# compressed one holds others, which are read where they are gzip or snappy, of format 1 lz4 too.
#
# References
# ----------
# Apache Kafka, ``AbstractLegacyRecordBatch``, ``LegacyRecord``.

_FRONT = Struct(">qiI")  # offset, then how many bytes follow, then their checksum
_LENGTH, _MILLIS = Struct(">i"), Struct(">q")
SMALLEST_BYTES = 14  # behind offset and length: checksum, format, attributes, the lengths of key and value


@dataclass(slots=True)
class Older(RecordCounts):
    """A run of messages of format 0 or 1."""

    magic: int
    first_offset: int
    last_offset: int = -1
    count: int = 0
    compressed_count: int = 0  # those that hold others which could not be read
    first_ms: int = -1  # of the first message; -1: format 0 has no time
    largest_ms: int = -1

    def add(self, data: Bytes, position: int, length: int) -> bool:
        """Count the message at a position; False: its lengths do not fit."""
        self.last_offset = _FRONT.unpack(data[position : position + _FRONT.size])[0]
        self.count += 1
        at = position + MAGIC_POSITION + 2
        if self.magic:
            (timestamp_ms,) = _MILLIS.unpack(data[at : at + _MILLIS.size])
            at += _MILLIS.size
            self.largest_ms = max(self.largest_ms, timestamp_ms)
            if self.count == 1:
                self.first_ms = timestamp_ms
        (key_size,) = _LENGTH.unpack(data[at : at + _LENGTH.size])
        at += _LENGTH.size + max(0, key_size)
        if not -1 <= key_size <= length or at + _LENGTH.size > position + FRAME_BYTES + length:
            return False
        (value_size,) = _LENGTH.unpack(data[at : at + _LENGTH.size])
        if at + _LENGTH.size + max(0, value_size) != position + FRAME_BYTES + length:
            return False
        if codec := data[position + MAGIC_POSITION + 1] & 0x07:
            at += _LENGTH.size
            self._add_inner(codec, data[at : at + max(0, value_size)])
            return True
        self.add_sizes(key_size, value_size)
        return True

    def _add_inner(self, codec: int, value: bytes) -> None:
        """Count the messages in a compressed one."""
        name = CODECS[codec] if codec < len(CODECS) else ""
        is_read = name in ("gzip", "snappy") or (name == "lz4" and self.magic)  # format 0 has another checksum
        inner: list[tuple[Older, int]] = []
        if is_read:
            with suppress(KafkaLearnError, Damaged):
                inner = older_runs(decompress(name, value), 0)
        if not inner:
            self.compressed_count += 1
        for each, _ in inner:
            self.compressed_count += each.compressed_count
            self.add_counts(each)


def older_runs(data: Bytes, position: int, end: int | None = None) -> list[tuple[Older, int]]:
    """The messages of format 0 or 1 from a byte on, as far as they can be read, each run of one format with its bytes.

    >>> older_runs(bytes(40), 0)
    []
    """
    found: list[tuple[Older, int]] = []
    end = len(data) if end is None else end
    while (run := older_messages(data, position, end - position)) is not None:
        found.append(run)
        position += run[1]
    return found


def older_messages(data: Bytes, position: int, size_bytes: int) -> tuple[Older, int] | None:
    """The messages of one format, 0 or 1, at a byte of a file, and how many bytes they have; None: there is none.

    >>> older_messages(bytes(40), 0, 40) is None
    True
    """
    start = position
    end = position + size_bytes
    magic = data[position + MAGIC_POSITION] if size_bytes > MAGIC_POSITION else None
    if magic not in (0, 1):
        return None
    found: Older | None = None
    while end - position >= FRAME_BYTES + SMALLEST_BYTES and data[position + MAGIC_POSITION] == magic:
        offset, length, crc = _FRONT.unpack(data[position : position + _FRONT.size])
        behind = position + FRAME_BYTES + length
        smallest = SMALLEST_BYTES + magic * _MILLIS.size
        if length < smallest or behind > end or zlib.crc32(data[position + MAGIC_POSITION : behind]) != crc:
            break
        found = found or Older(magic, offset)
        if not found.add(data, position, length):
            return None
        position = behind
    return None if found is None else (found, position - start)


# Some batches of a file at a time, each with its header, and the records in them if they are asked for.
#
# There are three ways through a file. By headers alone 61 bytes of each batch are read and believed. By Python alone
# each batch is read whole, its checksum computed. With NumPy the records of many batches are read side by side
# (`kafkalearn.formats.pieces`); what looks odd there is read by Python again, so that the answers are the same.

HEADERS, RECORDS = "headers", "records"
DEPTHS = (HEADERS, RECORDS)
"""How deep a file is read."""

PLAIN_RECORDS = 10_000  # of a block in plain Python, where each is an object

Found = TypeVar("Found", Batch, Header)


@dataclass(slots=True)
class PlainBlock(RecordCounts):
    """A block read by Python alone, or by headers alone: then it has no records."""

    headers: list[Header] = field(default_factory=list)
    controls: dict[int, str | None] = field(default_factory=dict)
    records: list[tuple[Header, tuple[Record, ...]]] = field(default_factory=list)

    def add(self, header: Header, batch: Batch | None) -> None:
        """Take in a batch; without its records for headers alone."""
        if header.is_control:
            self.controls[len(self.headers)] = batch.records[0].control if batch and batch.records else None
        elif batch is not None:
            self._add_records(header, batch.records)
        self.headers.append(header)

    def _add_records(self, header: Header, records: tuple[Record, ...]) -> None:
        self.records.append((header, records))
        for record in records:
            self.add_sizes(_size(record.key), _size(record.value))

    @property
    def is_full(self) -> bool:
        """Whether it has grown to a limit."""
        return (
            self.record_count >= PLAIN_RECORDS
            or len(self.headers) >= BLOCK_BATCHES
            or self.key_bytes + self.value_bytes >= BLOCK_BYTES
        )

    def largest(self, count: int) -> tuple[list[Sized], list[Sized]]:
        """As `Block` says."""
        records = [record for _, batch in self.records for record in batch]
        keys = ((-len(each.key), each.offset) for each in records if each.key is not None)
        values = ((-len(each.value), each.offset) for each in records if each.value is not None)
        return nsmallest(count, keys), nsmallest(count, values)

    def rows(self) -> Iterator[Row]:
        """As `Block` says."""
        for header, records in self.records:
            for record in records:
                yield header, record.offset, record.timestamp_ms, record.key, record.value


def blocks(
    data: Bytes,
    span: Span,
    depth: str = RECORDS,
    is_fast: bool | None = None,
    batch_limit_bytes: int = BATCH_LIMIT_BYTES,
) -> Iterator[Block | Unread]:
    """The batches of a file in blocks, and between them what cannot be read.

    Parameters
    ----------
    data, span
        As for `kafkalearn.formats.pieces.side_by_side`.
    depth : str
        A name in `DEPTHS`.
    is_fast : bool, optional
        Whether NumPy reads the records; None: if it is installed.
    batch_limit_bytes : int
        A batch that decodes to more is not read.
    """
    check = partial(read_batch, batch_limit_bytes=batch_limit_bytes)
    if depth == HEADERS:
        return _plain_blocks(
            walk(data, span, read_header, check), lambda header: (header, _control(header, data, check))
        )
    if has_columns() if is_fast is None else is_fast:
        return _by_columns(data, span, check, batch_limit_bytes)
    return _by_records(data, span, check)


def _control(header: Header, data: Bytes, check: partial[Batch]) -> Batch | None:
    """A control batch, whose header does not say what it is; None: it is none, or a damaged one."""
    if not header.is_control:
        return None
    try:
        return check(data, header.position)
    except Undecodable:
        return None


def _by_records(data: Bytes, span: Span, check: partial[Batch]) -> Iterator[Block | Unread]:
    batches = walk(data, span, check, check)
    return _plain_blocks(batches, lambda batch: (read_header(data, batch.position), batch))


def _plain_blocks(
    found: Iterator[Found | Unread], taken: Callable[[Found], tuple[Header, Batch | None]]
) -> Iterator[Block | Unread]:
    block = PlainBlock()
    for each in found:
        if isinstance(each, Unread):
            yield block
            yield each
            block = PlainBlock()
            continue
        block.add(*taken(each))
        if block.is_full:
            yield block
            block = PlainBlock()
    yield block


def _by_columns(data: Bytes, span: Span, check: partial[Batch], batch_limit_bytes: int) -> Iterator[Block | Unread]:
    for each in side_by_side(data, span, batch_limit_bytes=batch_limit_bytes):
        if isinstance(each, Span):
            yield from _by_records(data, each, check)
        else:
            yield each
        del each  # a block is large, and the next one is read now


# The files of one log, one after the other.


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
        A name in `DEPTHS`.
    is_fast : bool, optional
        As in `blocks`.
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
        If a file cannot be read; `kafkalearn.formats.file_bytes.Changed` if one was cut, or went, meanwhile.
    """
    counting = Counting(depth == RECORDS, future_ms, keeps_markers)
    for file in files:
        with opened(file.path) as data:
            done = 0
            for each in blocks(data, span_of(file, data), depth, is_fast, batch_limit_bytes):
                if isinstance(each, Unread):
                    _add_unread(counting, data, each)
                    continue
                counting.add(each)
                end = each.headers[-1].position + each.headers[-1].size_bytes if each.headers else done
                progress(end - done)
                done = end
                del each  # a block is large, and the next one is read now
            progress(len(data) - done)
            counting.end_file(file, _end_of(file, data, counting.here), data.modified_ns // 1_000_000)
    return counting.census()


def _add_unread(counting: Counting, data: Bytes, unread: Unread) -> None:
    """Count the messages of older formats in what is no batch, and note the rest of it."""
    end = unread.position + unread.size_bytes
    runs = older_runs(data, unread.position, end)
    for older, size_bytes in runs:
        counting.add_older(older, size_bytes)
    at = unread.position + sum(size_bytes for _, size_bytes in runs)
    if at < end:
        reason = "a message of format 0 or 1 is cut off here, or its checksum is wrong"
        counting.add_unread(Unread(at, end - at, reason) if runs else unread)


def _end_of(file: SegmentFile, data: FileBytes, here: _OfFile) -> int:
    """How long a file is: without a batch at its end that was being appended when the file was opened."""
    tail = here.unread[-1] if here.unread else None
    if tail is None or not file.is_last or tail.position + tail.size_bytes < len(data) or not data.has_grown:
        return len(data)
    here.unread.pop()
    return tail.position


def span_of(file: SegmentFile, data: Bytes) -> Span:
    """All of a file, with the offsets that it may have."""
    return Span(0, len(data), file.base_offset, file.end_offset)
