"""How many bytes records and batches take, format 2, not compressed.

A record has its offset and its timestamp as the difference to the batch's, in numbers of variable length, so its size
depends on the batch it is in. A batch with a *delete horizon* counts timestamps from the horizon, which makes
tombstones a few bytes longer when the cleaner has met them.

References
----------
Apache Kafka 0.11 to 4.3, ``DefaultRecordBatch``, ``DefaultRecord.sizeInBytes``, ``EndTransactionMarker``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from kafkalearn.wire.varint import varint_bytes

Text: TypeAlias = str | bytes

BATCH_HEADER_BYTES = 61


def bytes_of(data: Text) -> bytes:
    """A key or value as it lies in a log: a text and its UTF-8 are the same.

    >>> bytes_of("é") == bytes_of(b"\\xc3\\xa9")
    True
    """
    return data.encode() if isinstance(data, str) else data


def length_of(data: Text | None) -> int:
    """The length of a key or value, -1 for null; text counts as UTF-8.

    >>> length_of("grüße"), length_of(b""), length_of(None)
    (7, 0, -1)
    """
    return -1 if data is None else len(bytes_of(data))


NO_HEADERS_BYTES = 1  # a record says how many headers it has, even none


def record_bytes(
    key_length: int,
    value_length: int,
    offset_delta: int = 0,
    timestamp_delta: int = 0,
    header_bytes: int = NO_HEADERS_BYTES,
) -> int:
    """The bytes of a record, from the lengths of its key and value; -1 is null.

    >>> record_bytes(-1, 100), record_bytes(len("user-42"), 100), record_bytes(-1, 100, offset_delta=64)
    (109, 116, 110)
    """
    attributes_bytes = 1
    body = attributes_bytes + varint_bytes(timestamp_delta) + varint_bytes(offset_delta) + header_bytes
    for length in (key_length, value_length):
        body += varint_bytes(length) + max(0, length)
    return varint_bytes(body) + body


def headers_bytes(headers: Sequence[tuple[str, bytes | None]]) -> int:
    """What the headers of a record take, their count included.

    >>> headers_bytes([]), headers_bytes([("trace", b"7"), ("empty", None)])
    (1, 16)
    """
    texts = (length_of(text) for header in headers for text in header)
    return varint_bytes(len(headers)) + sum(varint_bytes(length) + max(0, length) for length in texts)


MARKER_BYTES = BATCH_HEADER_BYTES + record_bytes(key_length=4, value_length=6)
"""A control batch with the one record that ends a transaction."""


def batch_bytes(base_offset: int, base_ms: int, records: Iterable[tuple[int, int, Text | None, Text | None]]) -> int:
    """The bytes of a batch, its records given as offset, timestamp, key and value.

    >>> batch_bytes(0, 1000, [(0, 1000, "a", "1.0.0")])
    74
    """
    return BATCH_HEADER_BYTES + sum(
        record_bytes(length_of(key), length_of(value), offset - base_offset, timestamp_ms - base_ms)
        for offset, timestamp_ms, key, value in records
    )
