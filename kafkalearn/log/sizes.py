"""How many bytes a record batch takes on disk, format 2, not compressed.

A batch has a header of 61 bytes. A record tells its offset and its timestamp as the difference to the batch's, in
numbers of variable length, so that its size depends on the batch it is in; a batch with a *delete horizon* counts
timestamps from the horizon, which makes tombstones a few bytes longer when the cleaner has met them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

BATCH_HEADER_BYTES = 61
MARKER_BYTES = 78  # a control batch with its one record

Text: TypeAlias = str | bytes


def varint_bytes(value: int) -> int:
    """The length of a signed number of variable length: 7 bits a byte, the sign in the lowest bit.

    >>> [varint_bytes(value) for value in (0, 63, 64, -65)]
    [1, 1, 2, 2]
    """
    zigzag = value << 1 if value >= 0 else (-value << 1) - 1
    return max(1, -(-zigzag.bit_length() // 7))


def text_bytes(value: Text | None) -> int:
    """The length of a key or value, -1 for null; text counts as UTF-8."""
    if value is None:
        return -1
    return len(value.encode() if isinstance(value, str) else value)


def record_bytes(key: Text | None, value: Text | None, timestamp_delta: int, offset_delta: int) -> int:
    """The length of a record without headers.

    >>> record_bytes("a", "1.0.0", timestamp_delta=0, offset_delta=0)
    13
    """
    key_length, value_length = text_bytes(key), text_bytes(value)
    body = 1 + varint_bytes(timestamp_delta) + varint_bytes(offset_delta) + 1
    body += varint_bytes(key_length) + max(0, key_length) + varint_bytes(value_length) + max(0, value_length)
    return varint_bytes(body) + body


def batch_bytes(base_offset: int, base_ms: int, records: Iterable[tuple[int, int, Text | None, Text | None]]) -> int:
    """The length of a batch, its records given as offset, timestamp, key and value.

    >>> batch_bytes(0, 1000, [(0, 1000, "a", "1.0.0")])
    74
    """
    return BATCH_HEADER_BYTES + sum(
        record_bytes(key, value, timestamp_ms - base_ms, offset - base_offset)
        for offset, timestamp_ms, key, value in records
    )
