"""The records of many batches read side by side: the first record of all of them, then the second, and so on.

Where a record begins is known only when the one before it was read. So one batch gives nothing to do in parallel, but
a thousand batches do: NumPy reads a field of a thousand records at once. A block in which anything is odd (a length
that does not fit, offsets that do not rise, a number of more than nine bytes) is left to the reader in plain Python,
which says what is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kafkalearn.formats.batches import Batch, Header
from kafkalearn.formats.file_bytes import Bytes
from kafkalearn.formats.records import BATCH_HEADER_BYTES, SMALLEST_RECORD_BYTES, BatchFacts, read_records_from
from kafkalearn.formats.segments import Row, Sized
from kafkalearn.formats.wire import Undecodable

__all__ = [
    "Odd",
    "column_block",
]


# The block: a column for each field of the records of many batches.

ROWS_AT_A_TIME = 10_000  # made into Python's objects

Array = np.ndarray


class Odd(ValueError):  # noqa: N818  (named for what the block is)
    """Something in the block is not as nearly always; plain Python has to look at it."""


class Columns(NamedTuple):
    """Of each record the fields; a length of -1 is null."""

    offset: Array
    timestamp_ms: Array
    key_start: Array
    key_length: Array
    value_start: Array
    value_length: Array


@dataclass(slots=True)
class ColumnBlock:
    """A block as `kafkalearn.formats.segments.Block` describes it, in columns."""

    headers: list[Header]
    controls: dict[int, str | None]
    buffer: bytes  # in which keys and values lie
    batch: Array  # of each record, the index of its batch
    columns: Columns

    @property
    def record_count(self) -> int:
        """How many records there are."""
        return len(self.columns.offset)

    @property
    def null_key_count(self) -> int:
        """How many have no key."""
        return int((self.columns.key_length < 0).sum())

    @property
    def tombstone_count(self) -> int:
        """How many have no value."""
        return int((self.columns.value_length < 0).sum())

    @property
    def key_bytes(self) -> int:
        """The bytes of all keys."""
        return int(np.maximum(self.columns.key_length, 0).sum())

    @property
    def value_bytes(self) -> int:
        """The bytes of all values."""
        return int(np.maximum(self.columns.value_length, 0).sum())

    def largest(self, count: int) -> tuple[list[Sized], list[Sized]]:
        """As `Block` says."""
        columns = self.columns
        keys = _largest(columns.key_length, columns.offset, count)
        return keys, _largest(columns.value_length, columns.offset, count)

    def rows(self) -> Iterator[Row]:
        """As `Block` says."""
        headers, buffer = self.headers, self.buffer
        for first in range(0, self.record_count, ROWS_AT_A_TIME):
            part = (each[first : first + ROWS_AT_A_TIME].tolist() for each in (self.batch, *self.columns))
            for batch, offset, timestamp_ms, key_start, key_length, value_start, value_length in zip(
                *part, strict=True
            ):
                key = None if key_length < 0 else buffer[key_start : key_start + key_length]
                value = None if value_length < 0 else buffer[value_start : value_start + value_length]
                yield headers[batch], offset, timestamp_ms, key, value


def _largest(lengths: Array, offsets: Array, count: int) -> list[Sized]:
    there = lengths >= 0
    if there.sum() > count:
        least = np.partition(lengths, len(lengths) - count)[len(lengths) - count]
        there &= lengths >= least
    picked = np.nonzero(there)[0]
    best = picked[np.lexsort((offsets[picked], -lengths[picked]))][:count]
    return [(-int(lengths[each]), int(offsets[each])) for each in best]


# The fields of a record in each of many batches, and where the next record begins.

LARGEST_NUMBER = 2**61  # sums of two stay within 64 bits
MOST_BYTES = 9  # of a number that is read here


def records_at(view: Array, position: Array, end: Array, last: Array, fact: Array) -> tuple[Columns, Array]:
    """One record of each batch, and where the next ones begin."""
    length, start = _varint(view, position)
    delta_ms, at = _varint(view, start + 1)
    delta, at = _varint(view, at)
    key_length, key_start = _varint(view, at)
    value_length, value_start = _varint(view, key_start + np.maximum(key_length, 0))
    header_count, at = _varint(view, value_start + np.maximum(value_length, 0))
    room = end - start
    if header_count.any():
        at = _behind_headers(view, at, end, header_count)
    offset = fact[:, 0] + delta
    is_odd = (at - start != length) | (length > room) | (key_length < -1) | (value_length < -1) | (header_count < 0)
    is_odd |= (key_length > room) | (value_length > room) | (offset <= last) | (offset > fact[:, 1])
    if is_odd.any() or (np.abs(delta_ms) > LARGEST_NUMBER).any():
        raise Odd
    timestamp_ms = np.where(fact[:, 4] != 0, fact[:, 3], fact[:, 2] + delta_ms)
    return Columns(offset, timestamp_ms, key_start, key_length, value_start, value_length), at


def _varint(view: Array, position: Array) -> tuple[Array, Array]:
    """The signed numbers at some positions, and the positions behind them; beyond the end anything is read."""
    byte = view.take(position, mode="clip").astype(np.int64)
    behind = position + 1
    if not (byte & 0x80).any():
        return byte >> 1 ^ -(byte & 1), behind
    value = byte & 0x7F
    more = np.nonzero(byte & 0x80)[0]
    for shift in range(7, 7 * MOST_BYTES, 7):
        byte = view.take(behind[more], mode="clip").astype(np.int64)
        value[more] |= (byte & 0x7F) << shift
        behind[more] += 1
        more = more[byte >= 0x80]
        if not len(more):
            return value >> 1 ^ -(value & 1), behind
    raise Odd


def _behind_headers(view: Array, at: Array, end: Array, header_count: Array) -> Array:
    """Where records end that have headers."""
    at = at.copy()
    here = np.nonzero(header_count > 0)[0]
    number = 0
    while len(here):
        name_length, place = _varint(view, at[here])
        if (name_length < 0).any():
            raise Odd
        value_length, place = _varint(view, place + np.minimum(name_length, LARGEST_NUMBER))
        place = place + np.maximum(value_length, 0)
        if (value_length < -1).any() or (place > end[here]).any() or (name_length > end[here]).any():
            raise Odd
        at[here] = place
        number += 1
        here = here[header_count[here] > number]
    return at


# Columns filled.

LEAST_BATCHES = 10  # fewer are read faster one after the other


def append_ms(header: Header) -> int | None:
    """The timestamp that all records of a batch have; None: each has its own."""
    return header.max_timestamp_ms if header.is_log_append_time else None


def fill(
    columns: Columns, buffer: bytes, starts: Array, ends: Array, counts: Array, facts: Array, headers: Sequence[Header]
) -> None:
    """Read a record of every batch at a time, then what the few longest batches have left.

    Those with most records come first, so that those left are first.
    """
    order = np.argsort(-counts, kind="stable")
    slots = (np.cumsum(counts) - counts)[order]
    position, end, count, fact = starts[order], ends[order], counts[order], facts[order]
    last = fact[:, 0] - 1  # the offset of the record before
    view = np.frombuffer(buffer, np.uint8)
    steps = int(count[LEAST_BATCHES - 1]) if len(count) >= LEAST_BATCHES else 0
    left = len(count)
    for step in range(steps):
        while count[left - 1] <= step:
            left -= 1
        step_columns, position[:left] = records_at(view, position[:left], end[:left], last[:left], fact[:left])
        last[:left] = step_columns.offset
        places = slots[:left] + step
        for column, values in zip(columns, step_columns, strict=True):
            column[places] = values
    is_whole = count <= steps
    if (position[is_whole] != end[is_whole]).any():
        raise Odd
    for index in np.nonzero(~is_whole)[0].tolist():
        start, slot = int(position[index]), int(slots[index]) + steps
        body, header = buffer[start : int(end[index])], headers[int(order[index])]
        _finish(columns, slot, header, body, start, int(count[index]) - steps, int(last[index]))


def _finish(
    columns: Columns, slot: int, header: Header, body: bytes, start: int, count: int, offset_before: int
) -> None:
    """The records that a long batch has left, one after the other; `body` has them, from byte `start` of the buffer."""
    facts = BatchFacts(header.base_offset, header.last_offset, header.base_ms, append_ms(header), False, False)
    try:
        for place, row in enumerate(read_records_from(body, facts, count, offset_before), start=slot):
            for column, value in zip(columns, row, strict=True):
                column[place] = value
            columns.key_start[place] += start
            columns.value_start[place] += start
    except (Undecodable, OverflowError):
        raise Odd from None


# Some batches as one block.


def column_block(
    data: Bytes, headers: Sequence[Header], bodies: dict[int, bytes], check: Callable[[Bytes, int], Batch]
) -> ColumnBlock:
    """The block of some batches whose checksums are right.

    Parameters
    ----------
    data : bytes or FileBytes
        The whole file.
    headers : sequence of Header
        Of the batches, in order.
    bodies : dict of int to bytes
        By index what the compressed ones were made of; they are taken out.
    check : callable
        `read_batch`; control batches are read with it.

    Raises
    ------
    Odd
        If anything in a batch is; the block must be read by plain Python.
    """
    controls = {index: _control(data, each, check) for index, each in enumerate(headers) if each.is_control}
    indexes = [index for index in range(len(headers)) if index not in controls]
    buffer, starts, ends = _places(data, headers, bodies, indexes)
    picked = [headers[index] for index in indexes]
    columns, counts = _read(buffer, starts, ends, picked)
    batch = np.repeat(np.array(indexes, dtype=np.int64), counts)
    return ColumnBlock(list(headers), controls, buffer, batch, columns)


def _control(data: Bytes, header: Header, check: Callable[[Bytes, int], Batch]) -> str | None:
    try:
        records = check(data, header.position).records
    except Undecodable:
        raise Odd from None
    return records[0].control if records else None


def _places(
    data: Bytes, headers: Sequence[Header], bodies: dict[int, bytes], indexes: Sequence[int]
) -> tuple[bytes, Array, Array]:
    """A copy of the bodies, and where each lies in it; those that were compressed are taken out of `bodies`."""
    starts = np.array([headers[index].position + BATCH_HEADER_BYTES for index in indexes], dtype=np.int64)
    ends = np.array([headers[index].position + headers[index].size_bytes for index in indexes], dtype=np.int64)
    if not indexes:
        return b"", starts, ends
    if not bodies:
        first, end = int(starts[0]), int(ends[-1])
        return data[first:end], starts - first, ends - first
    spans = zip(indexes, starts.tolist(), ends.tolist(), strict=True)
    parts = [bodies.pop(index) if index in bodies else data[start:end] for index, start, end in spans]
    ends = np.cumsum(np.array([len(each) for each in parts], dtype=np.int64))
    buffer = parts[0] if len(parts) == 1 else b"".join(parts)
    return buffer, np.concatenate((np.zeros(1, np.int64), ends[:-1])), ends


def _read(buffer: bytes, starts: Array, ends: Array, headers: Sequence[Header]) -> tuple[Columns, Array]:
    """The columns of all records, batch by batch, and how many each batch has."""
    counts = np.array([each.record_count for each in headers], dtype=np.int64)
    if (counts < 0).any() or (counts * SMALLEST_RECORD_BYTES > ends - starts).any():
        raise Odd
    facts = np.array(
        [
            (each.base_offset, each.last_offset, each.base_ms, append_ms(each) or 0, each.is_log_append_time)
            for each in headers
        ],
        dtype=np.int64,
    ).reshape(-1, 5)
    if (np.abs(facts[:, :4]) > LARGEST_NUMBER).any():
        raise Odd
    total = int(counts.sum())
    columns = Columns(*(np.empty(total, np.int64) for _ in Columns._fields))
    if total:
        fill(columns, buffer, starts, ends, counts, facts, headers)
    elif (starts != ends).any():
        raise Odd
    return columns, counts
