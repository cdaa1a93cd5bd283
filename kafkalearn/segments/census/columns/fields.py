"""The fields of a record in each of many batches, and where the next record begins."""

from __future__ import annotations

import numpy as np

from kafkalearn.segments.census.columns.block import Array, Columns, Odd

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
