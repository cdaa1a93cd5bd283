"""Some batches of a file at a time, each with its header, and the records in them if they are asked for.

There are three ways over a file. By headers alone 61 bytes of each batch are read and believed. By Python alone each
batch is read whole, its checksum computed. With NumPy the records of many batches are read side by side
(`kafkalearn.segments.census.columns`); what looks odd there is read by Python again, so that the answers are the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from heapq import nsmallest
from importlib import import_module
from typing import Protocol

from kafkalearn.extras import is_installed
from kafkalearn.segments.batches import Batch, Bytes, Header, read_batch, read_checked_header, read_header
from kafkalearn.segments.compression import BATCH_LIMIT_BYTES, CODECS, Damaged, decompress
from kafkalearn.segments.records import Record
from kafkalearn.segments.sizes import BATCH_HEADER_BYTES
from kafkalearn.segments.walk import Span, Unread, walk

HEADERS, RECORDS = "headers", "records"
DEPTHS = (HEADERS, RECORDS)
"""How deep a file is read."""

BLOCK_BYTES, BLOCK_RECORDS, BLOCK_BATCHES = 16 << 20, 250_000, 20_000
PLAIN_RECORDS = 10_000  # or batches, of a block in plain Python, where each is an object
MOST_BYTES, MOST_RECORDS, FEW_BATCHES = 64 << 20, 1_000_000, 64
"""A block ends with the batch that brings it to one of the first three; while it has few batches it may grow up to the
next two, because few batches give little to do side by side. Bytes count as they are once decompressed."""


def is_full(batch_count: int, record_count: int, size_bytes: int) -> bool:
    """Whether a block has grown to a limit.

    >>> is_full(10, 300_000, 20 << 20), is_full(100, 300_000, 20 << 20), is_full(10, 300_000, 64 << 20)
    (False, True, True)
    """
    if batch_count < FEW_BATCHES:
        return record_count >= MOST_RECORDS or size_bytes >= MOST_BYTES
    return batch_count >= BLOCK_BATCHES or record_count >= BLOCK_RECORDS or size_bytes >= BLOCK_BYTES


Row = tuple[Header, int, int, bytes | None, bytes | None]
Sized = tuple[int, int]  # negative size and offset, so that the largest comes first


class Block(Protocol):
    """Batches that lie behind each other; the records are those of applications, control records are none."""

    headers: list[Header]
    controls: dict[int, str | None]  # by index of a control batch what its record is; None: it was emptied
    record_count: int
    null_key_count: int
    tombstone_count: int
    key_bytes: int
    value_bytes: int

    def largest(self, count: int) -> tuple[list[Sized], list[Sized]]:
        """The largest keys and the largest values, as `Sized`."""

    def rows(self) -> Iterator[Row]:
        """Of each record the header of its batch, offset, timestamp, key and value."""


@dataclass(slots=True)
class PlainBlock:
    """A block read by Python alone, or by headers alone: then it has no records."""

    headers: list[Header] = field(default_factory=list)
    controls: dict[int, str | None] = field(default_factory=dict)
    record_count: int = 0
    null_key_count: int = 0
    tombstone_count: int = 0
    key_bytes: int = 0
    value_bytes: int = 0
    size_bytes: int = 0  # as Block's limit counts it
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
        self.record_count += len(records)
        key_bytes, value_bytes = self.key_bytes, self.value_bytes
        for record in records:
            if record.key is None:
                self.null_key_count += 1
            else:
                self.key_bytes += len(record.key)
            if record.value is None:
                self.tombstone_count += 1
            else:
                self.value_bytes += len(record.value)
        self.size_bytes += self.key_bytes - key_bytes + self.value_bytes - value_bytes

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


def has_columns() -> bool:
    """Whether NumPy is there, which reads many records side by side."""
    return is_installed("numpy")


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
    data : bytes or mmap
        The whole file.
    span : Span
        All of it, or a part, and the offsets that it may have.
    depth : str
        A name in `DEPTHS`.
    is_fast : bool, optional
        Whether NumPy reads the records; None: if it is installed.
    batch_limit_bytes : int
        A batch that decodes to more is not read.
    """
    check = partial(read_batch, batch_limit_bytes=batch_limit_bytes)
    if depth == HEADERS:
        yield from _by_headers(data, span, check)
    elif has_columns() if is_fast is None else is_fast:
        yield from _by_columns(data, span, check, batch_limit_bytes)
    else:
        yield from _by_records(data, span, check)


def _by_headers(data: Bytes, span: Span, check: partial[Batch]) -> Iterator[Block | Unread]:
    block = PlainBlock()
    for each in walk(data, span, read_header, check):
        if isinstance(each, Unread):
            yield block
            yield each
            block = PlainBlock()
            continue
        block.add(each, _control(each, data, check))
        if len(block.headers) >= BLOCK_BATCHES:
            yield block
            block = PlainBlock()
    yield block


def _control(header: Header, data: Bytes, check: partial[Batch]) -> Batch | None:
    """A control batch, whose header does not say what it is; None: it is none, or a damaged one."""
    if not header.is_control:
        return None
    try:
        return check(data, header.position)
    except ValueError:
        return None


def _by_records(data: Bytes, span: Span, check: partial[Batch]) -> Iterator[Block | Unread]:
    block = PlainBlock()
    for each in walk(data, span, check, check):
        if isinstance(each, Unread):
            yield block
            yield each
            block = PlainBlock()
            continue
        block.add(read_header(data, each.position), each)
        if (
            block.record_count >= PLAIN_RECORDS
            or len(block.headers) >= BLOCK_BATCHES
            or block.size_bytes >= BLOCK_BYTES
        ):
            yield block
            block = PlainBlock()
    yield block


@dataclass(slots=True)
class _Gathered:
    """Headers of batches that are to be read side by side, with the bodies of those that were compressed."""

    headers: list[Header] = field(default_factory=list)
    bodies: dict[int, bytes] = field(default_factory=dict)
    size_bytes: int = 0
    record_count: int = 0
    is_odd: bool = False

    def add(self, header: Header, data: Bytes, limit_bytes: int) -> None:
        size_bytes = header.size_bytes - BATCH_HEADER_BYTES
        codec = header.codec_number
        if codec and not header.is_control and not self.is_odd:
            start = header.position + BATCH_HEADER_BYTES
            try:
                body = decompress(CODECS[codec], data[start : start + size_bytes], limit_bytes)
            except Damaged:
                self.is_odd, body = True, b""
            self.bodies[len(self.headers)] = body
            size_bytes = len(body)
        elif size_bytes > limit_bytes:
            self.is_odd = True
        self.headers.append(header)
        self.size_bytes += size_bytes
        self.record_count += max(0, header.record_count)


def _by_columns(data: Bytes, span: Span, check: partial[Batch], batch_limit_bytes: int) -> Iterator[Block | Unread]:
    gathered, first_offset = _Gathered(), span.first_offset
    for each in walk(data, span, read_checked_header, check):
        if isinstance(each, Unread):
            yield from _columns(data, span, gathered, first_offset, check)
            yield each
            gathered = _Gathered()
            continue
        if not gathered.headers:
            first_offset = each.base_offset
        gathered.add(each, data, batch_limit_bytes)
        if is_full(len(gathered.headers), gathered.record_count, gathered.size_bytes):
            yield from _columns(data, span, gathered, first_offset, check)
            gathered = _Gathered()
    yield from _columns(data, span, gathered, first_offset, check)


def _columns(
    data: Bytes, span: Span, gathered: _Gathered, first_offset: int, check: partial[Batch]
) -> Iterator[Block | Unread]:
    """The gathered batches as one block; if one is odd, all of them once more by Python alone."""
    if not gathered.headers:
        return
    columns = import_module("kafkalearn.segments.census.columns")
    if not gathered.is_odd:
        try:
            yield columns.column_block(data, gathered.headers, gathered.bodies, check)
            return
        except columns.Odd:
            pass
    last = gathered.headers[-1]
    part = replace(
        span, start=gathered.headers[0].position, end=last.position + last.size_bytes, first_offset=first_offset
    )
    yield from _by_records(data, part, check)
