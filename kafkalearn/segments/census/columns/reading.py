"""Some batches -> their columns: where their bodies lie, and what their headers say beforehand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from kafkalearn.segments.batches import Batch, Bytes, Header
from kafkalearn.segments.census.columns.block import Array, ColumnBlock, Columns, Odd
from kafkalearn.segments.census.columns.fields import LARGEST_NUMBER
from kafkalearn.segments.census.columns.filling import append_ms, fill
from kafkalearn.segments.records import SMALLEST_RECORD_BYTES
from kafkalearn.segments.sizes import BATCH_HEADER_BYTES
from kafkalearn.wire.reader import Undecodable


def column_block(
    data: Bytes, headers: Sequence[Header], bodies: Mapping[int, bytes], check: Callable[[Bytes, int], Batch]
) -> ColumnBlock:
    """The block of some batches whose checksums are right.

    Parameters
    ----------
    data : bytes or mmap
        The whole file.
    headers : sequence of Header
        Of the batches, in order.
    bodies : mapping of int to bytes
        By index what the compressed ones were made of.
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
    data: Bytes, headers: Sequence[Header], bodies: Mapping[int, bytes], indexes: Sequence[int]
) -> tuple[Bytes, Array, Array]:
    """Where the bodies lie: in the file if none was compressed, else in a copy of them all."""
    starts = np.array([headers[index].position + BATCH_HEADER_BYTES for index in indexes], dtype=np.int64)
    ends = np.array([headers[index].position + headers[index].size_bytes for index in indexes], dtype=np.int64)
    if not bodies:
        return data, starts, ends
    spans = zip(indexes, starts.tolist(), ends.tolist(), strict=True)
    parts = [bodies[index] if index in bodies else data[start:end] for index, start, end in spans]
    ends = np.cumsum(np.array([len(each) for each in parts], dtype=np.int64))
    return b"".join(parts), np.concatenate((np.zeros(1, np.int64), ends[:-1])), ends


def _read(buffer: Bytes, starts: Array, ends: Array, headers: Sequence[Header]) -> tuple[Columns, Array]:
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
