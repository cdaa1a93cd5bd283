"""Batches of a file gathered until they are enough to be read side by side, and read so by NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from kafkalearn.extras import is_installed
from kafkalearn.segments.batches import Batch, Bytes, Header, read_batch, read_checked_header
from kafkalearn.segments.compression import BATCH_LIMIT_BYTES, CODECS, Damaged, decompress
from kafkalearn.segments.sizes import BATCH_HEADER_BYTES
from kafkalearn.segments.walk import Span, Unread, walk

if TYPE_CHECKING:
    from kafkalearn.segments.census.columns.block import ColumnBlock

BLOCK_BYTES, BLOCK_RECORDS, BLOCK_BATCHES = 16 << 20, 250_000, 20_000
MOST_BYTES, MOST_RECORDS, FEW_BATCHES = 64 << 20, 1_000_000, 64
"""A block ends with the batch that brings it to one of the first three; while it has few batches it may grow up to the
next two, because few batches give little to do side by side. Bytes count as they are once decompressed."""


def has_columns() -> bool:
    """Whether NumPy is there, which reads many records side by side."""
    return is_installed("numpy")


def is_full(batch_count: int, record_count: int, size_bytes: int) -> bool:
    """Whether a block has grown to a limit.

    >>> is_full(10, 300_000, 20 << 20), is_full(100, 300_000, 20 << 20), is_full(10, 300_000, 64 << 20)
    (False, True, True)
    """
    if batch_count < FEW_BATCHES:
        return record_count >= MOST_RECORDS or size_bytes >= MOST_BYTES
    return batch_count >= BLOCK_BATCHES or record_count >= BLOCK_RECORDS or size_bytes >= BLOCK_BYTES


def side_by_side(
    data: Bytes, span: Span, has_checksum: bool = True, batch_limit_bytes: int = BATCH_LIMIT_BYTES
) -> Iterator[ColumnBlock | Span | Unread]:
    """The batches of a part of a file in blocks, and between them what cannot be read.

    Parameters
    ----------
    data : bytes or mmap
        The whole file.
    span : Span
        All of it, or a part, and the offsets that it may have.
    has_checksum, batch_limit_bytes : bool, int
        As in `kafkalearn.segments.batches.read_batch`.

    Yields
    ------
    ColumnBlock, Span or Unread
        A span is a part in which something is odd: `kafkalearn.segments.walk.walk` reads it and says what.
    """
    check = partial(read_batch, has_checksum=has_checksum, batch_limit_bytes=batch_limit_bytes)
    read = partial(read_checked_header, has_checksum=has_checksum)
    gathered = _Gathered()
    for each in walk(data, span, read, check):
        if isinstance(each, Unread):
            yield from gathered.block(data, span, check)
            yield each
            gathered = _Gathered()
            continue
        gathered.add(each, data, batch_limit_bytes)
        if is_full(len(gathered.headers), gathered.record_count, gathered.size_bytes):
            yield from gathered.block(data, span, check)
            gathered = _Gathered()
    yield from gathered.block(data, span, check)


@dataclass(slots=True)
class _Gathered:
    """Headers of batches that are to be read side by side, with the bodies of those that were compressed."""

    headers: list[Header] = field(default_factory=list)
    bodies: dict[int, bytes] = field(default_factory=dict)
    size_bytes: int = 0
    record_count: int = 0
    is_odd: bool = False

    def add(self, header: Header, data: Bytes, limit_bytes: int) -> None:
        """Take in the next batch."""
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

    def block(self, data: Bytes, span: Span, check: partial[Batch]) -> Iterator[ColumnBlock | Span]:
        """All of them as one block, or where they lie if anything is odd; nothing if there are none."""
        if not self.headers:
            return
        columns = import_module("kafkalearn.segments.census.columns")
        if not self.is_odd:
            try:
                yield columns.column_block(data, self.headers, self.bodies, check)
                return
            except columns.Odd:
                pass
        first, last = self.headers[0], self.headers[-1]
        end = last.position + last.size_bytes
        yield replace(span, start=first.position, end=end, first_offset=first.base_offset)
