"""The records of a block in columns of Arrow, named as `kafkalearn.spark.offsets.segments` has them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from kafkalearn.formats.columns import Array, ColumnBlock
from kafkalearn.formats.pieces import InLog, ReadBlock


def columns_of(read: ReadBlock) -> dict[str, pa.Array]:
    """What each record of applications says, and its batch; control records are not among them."""
    block = read.block
    key, value = _keys_and_values(block)
    return {
        "key": key,
        "value": value,
        "offset": pa.array(block.columns.offset),
        "timestamp_ms": pa.array(block.columns.timestamp_ms),
        **_of_batches(block, read.in_log),
    }


def in_order(rows: pa.Table, batch: Sequence[int]) -> pa.Table:
    """Rows by the index of their batch; those of one batch stay as they are."""
    return rows.take(pa.array(np.argsort(np.asarray(batch), kind="stable")))


def _of_batches(block: ColumnBlock, in_log: Sequence[InLog]) -> dict[str, pa.Array]:
    headers, batch = block.headers, pa.array(block.batch)
    of_batch = {
        "timestampType": [int(each.is_log_append_time) for each in headers],
        "batch_base_offset": [each.base_offset for each in headers],
        "batch_last_offset": [each.last_offset for each in headers],
        "producer_id": [each.producer_id for each in headers],
        "producer_epoch": [each.producer_epoch for each in headers],
        "base_sequence": [each.base_sequence for each in headers],
        "is_transactional": [each.is_transactional for each in headers],
        "delete_horizon_ms": [each.delete_horizon_ms for each in headers],
        "transaction": [each.transaction for each in in_log],
        "has_data": [each.has_data for each in in_log],
    }
    return {name: pa.array(values).take(batch) for name, values in of_batch.items()}


def _keys_and_values(block: ColumnBlock) -> tuple[pa.Array, pa.Array]:
    """Null where a record has none.

    They lie in the buffer in order, so four bounds of each record cut it: where the key begins and ends, and the value.
    """
    columns = block.columns
    if not block.record_count:
        return pa.nulls(0, pa.binary()), pa.nulls(0, pa.binary())
    key_end = columns.key_start + np.maximum(columns.key_length, 0)
    value_end = columns.value_start + np.maximum(columns.value_length, 0)
    bounds = np.stack((columns.key_start, key_end, columns.value_start, value_end), axis=1).ravel()
    first, end = int(bounds[0]), int(bounds[-1])
    inside = pa.py_buffer(memoryview(block.buffer)[first:end])
    parts = pa.Array.from_buffers(pa.large_binary(), len(bounds) - 1, [None, pa.py_buffer(bounds - first), inside])
    places = np.arange(0, len(bounds), 4)
    return _taken(parts, places, columns.key_length < 0), _taken(parts, places + 2, columns.value_length < 0)


def _taken(parts: pa.Array, places: Array, is_null: Array) -> pa.Array:
    """A copy, so that the buffer is not held."""
    return parts.take(pa.array(places, mask=is_null)).cast(pa.binary())
