"""Columns filled: a record of every batch at a time, then what the few longest batches have left."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kafkalearn.segments.batches import Bytes, Header
from kafkalearn.segments.census.columns.block import Array, Columns, Odd
from kafkalearn.segments.census.columns.fields import records_at
from kafkalearn.segments.records import BatchFacts, read_records_from
from kafkalearn.wire.reader import Undecodable

LEAST_BATCHES = 10  # fewer are read faster one after the other


def append_ms(header: Header) -> int | None:
    """The timestamp that all records of a batch have; None: each has its own."""
    return header.max_timestamp_ms if header.is_log_append_time else None


def fill(
    columns: Columns,
    buffer: Bytes,
    starts: Array,
    ends: Array,
    counts: Array,
    facts: Array,
    headers: Sequence[Header],
) -> None:
    """Read a record of every batch at a time; those with most records come first, so that those left are first."""
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
    _finish(columns, buffer, steps, order, slots, position, count, last, headers, ends)
    whole = count <= steps
    if (position[whole] != end[whole]).any():
        raise Odd


def _finish(
    columns: Columns,
    buffer: Bytes,
    steps: int,
    order: Array,
    slots: Array,
    position: Array,
    count: Array,
    last: Array,
    headers: Sequence[Header],
    ends: Array,
) -> None:
    """The records that the few longest batches have left, one after the other."""
    for index in np.nonzero(count > steps)[0].tolist():
        batch = int(order[index])
        header, start = headers[batch], int(position[index])
        facts = BatchFacts(header.base_offset, header.last_offset, header.base_ms, append_ms(header), False, False)
        body = buffer[start : int(ends[batch])]
        slot = int(slots[index]) + steps
        try:
            for row in read_records_from(body, facts, int(count[index]) - steps, int(last[index])):
                for column, value in zip(columns, row, strict=True):
                    column[slot] = value
                columns.key_start[slot] += start
                columns.value_start[slot] += start
                slot += 1
        except (Undecodable, OverflowError):
            raise Odd from None
