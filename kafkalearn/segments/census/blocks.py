"""Some batches of a file at a time, each with its header, and the records in them if they are asked for.

There are three ways over a file. By headers alone 61 bytes of each batch are read and believed. By Python alone each
batch is read whole, its checksum computed. With NumPy the records of many batches are read side by side
(`kafkalearn.segments.census.side_by_side`); what looks odd there is read by Python again, so that the answers are the
same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from heapq import nsmallest

from kafkalearn.segments.batches import Batch, Bytes, Header, read_batch, read_header
from kafkalearn.segments.census.counted import Block, Row, Sized
from kafkalearn.segments.census.side_by_side import BLOCK_BATCHES, BLOCK_BYTES, has_columns, side_by_side
from kafkalearn.segments.compression import BATCH_LIMIT_BYTES
from kafkalearn.segments.records import Record
from kafkalearn.segments.walk import Span, Unread, walk

HEADERS, RECORDS = "headers", "records"
DEPTHS = (HEADERS, RECORDS)
"""How deep a file is read."""

PLAIN_RECORDS = 10_000  # or batches, of a block in plain Python, where each is an object


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
        As for `kafkalearn.segments.census.side_by_side.side_by_side`.
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


def _by_columns(data: Bytes, span: Span, check: partial[Batch], batch_limit_bytes: int) -> Iterator[Block | Unread]:
    for each in side_by_side(data, span, batch_limit_bytes=batch_limit_bytes):
        if isinstance(each, Span):
            yield from _by_records(data, each, check)
        else:
            yield each
