"""The records inside a batch, each written as the difference to its batch; and how many bytes they take.

A *control* record is one that no application wrote: the marker that ends a transaction, for example.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from kafkalearn.formats.wire import Undecodable, from_zigzag, read_varint, varint_bytes

CONTROL_TYPES: Mapping[int, str] = MappingProxyType(
    {
        0: "ABORT",
        1: "COMMIT",
        2: "LEADER_CHANGE",
        3: "SNAPSHOT_HEADER",
        4: "SNAPSHOT_FOOTER",
        5: "KRAFT_VERSION",
        6: "KRAFT_VOTERS",
    }
)
"""What a control record may be, by the number in its key."""

SMALLEST_RECORD_BYTES = 7  # length, attributes, two deltas, key and value that are null, no headers
LARGEST_TIMESTAMP = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a log."""

    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None  # None: a tombstone
    headers: tuple[tuple[str, bytes | None], ...] = ()
    control: str | None = None  # a name in `CONTROL_TYPES`; None: a data record


@dataclass(frozen=True, slots=True)
class BatchFacts:
    """What records take from the header of their batch."""

    base_offset: int
    last_offset: int
    base_ms: int
    append_ms: int | None
    is_control: bool
    is_plain: bool  # bytes of records are bytes of the file


class _Cursor:
    """A position in the records of a batch."""

    def __init__(self, data: bytes, start: int) -> None:
        self.data = data
        self.start = start  # what is added to a position in an error
        self.position = 0
        self.record = -1  # the index of the one being read, for errors

    def varint(self, field: str) -> int:
        """The next signed number of variable length."""
        byte = self.data[self.position] if self.position < len(self.data) else 0xFF
        if byte < 0x80:  # nearly always
            self.position += 1
            return byte >> 1 ^ -(byte & 1)
        try:
            value, self.position = read_varint(self.data, self.position, 10)
        except ValueError:
            raise self.error(field, "is a number that does not end") from None
        return from_zigzag(value)

    def take(self, count: int, field: str) -> bytes:
        """The next `count` bytes."""
        left = len(self.data) - self.position
        if not 0 <= count <= left:
            raise self.error(field, f"needs {count} bytes, {left} are left in the batch")
        self.position += count
        return self.data[self.position - count : self.position]

    def sized(self, field: str) -> bytes | None:
        """A length and that many bytes; length -1 is null."""
        start = self.position
        length = self.varint(f"{field} length")
        if length < -1:
            raise self.error(f"{field} length", f"is {length}", start)
        return None if length == -1 else self.take(length, field)

    def error(self, field: str, what: str, position: int | None = None) -> Undecodable:
        """The error for a field of the record; without a position, at the next byte."""
        at = self.position if position is None else position
        return wrong(f"records[{self.record}] {field}", self.start + at, what)


def read_records(body: bytes, facts: BatchFacts, count: int, start: int) -> tuple[Record, ...]:
    """The records of a batch; `start` is the byte of the file at which they begin.

    Raises
    ------
    Undecodable
        If they are not as many and as long as they say.
    """
    cursor = _Cursor(body, start if facts.is_plain else 0)
    if not 0 <= count * SMALLEST_RECORD_BYTES <= len(body):
        raise wrong("recordCount", start - 4, f"is {count}, in {len(body)} bytes")
    records: list[Record] = []
    offset_before = facts.base_offset - 1
    for index in range(count):
        records.append(_read_record(cursor, facts, index, offset_before))
        offset_before = records[-1].offset
    rest = len(body) - cursor.position
    if rest:
        raise wrong("records", cursor.start + cursor.position, f"end here, {rest} more bytes are in the batch")
    return tuple(records)


def read_records_from(
    body: bytes, facts: BatchFacts, count: int, offset_before: int
) -> Iterator[tuple[int, int, int, int, int, int]]:
    """The last `count` records of a batch: offset, timestamp, then start and length of key and value; -1 is null.

    Parameters
    ----------
    body : bytes
        From the first of these records to the end of the batch.
    facts : BatchFacts
        Of the batch.
    count : int
        How many records are left.
    offset_before : int
        The offset of the record before.

    Raises
    ------
    Undecodable
        As `read_records`.
    """
    cursor = _Cursor(body, 0)
    for index in range(count):
        start = cursor.position
        record = _read_record(cursor, facts, index, offset_before)
        offset_before = record.offset
        yield record.offset, record.timestamp_ms, *_places(_Cursor(body, 0), start, record)
    if cursor.position != len(body):
        raise wrong("records", cursor.position, f"end here, {len(body) - cursor.position} more bytes are in the batch")


def _places(cursor: _Cursor, start: int, record: Record) -> tuple[int, int, int, int]:
    """Where key and value of a record lie, and how long they are."""
    cursor.position = start
    cursor.varint("length")
    cursor.position += 1
    for field in ("timestampDelta", "offsetDelta", "key length"):
        cursor.varint(field)
    key_start, key_length = cursor.position, -1 if record.key is None else len(record.key)
    cursor.position += max(0, key_length)
    cursor.varint("value length")
    return key_start, key_length, cursor.position, -1 if record.value is None else len(record.value)


def _read_record(cursor: _Cursor, facts: BatchFacts, index: int, offset_before: int) -> Record:
    cursor.record = index
    length = cursor.varint("length")
    start = cursor.position
    cursor.take(1, "attributes")  # none is in use
    timestamp_delta, offset = cursor.varint("timestampDelta"), facts.base_offset + cursor.varint("offsetDelta")
    if not offset_before < offset <= facts.last_offset:
        span = f"behind {offset_before}, in a batch that ends at {facts.last_offset}"
        raise cursor.error("offsetDelta", f"gives offset {offset}, {span}", start)
    key, value = cursor.sized("key"), cursor.sized("value")
    headers = _read_headers(cursor)
    took = cursor.position - start
    if took != length:
        raise cursor.error("length", f"says {length} bytes, it takes {took}", start)
    timestamp_ms = facts.base_ms + timestamp_delta if facts.append_ms is None else facts.append_ms
    if not -LARGEST_TIMESTAMP - 1 <= timestamp_ms <= LARGEST_TIMESTAMP:
        raise cursor.error("timestampDelta", f"gives {timestamp_ms}, more than 64 bits", start)
    control = _control_type(cursor, key) if facts.is_control else None
    return Record(offset, timestamp_ms, key, value, headers, control)


def _read_headers(cursor: _Cursor) -> tuple[tuple[str, bytes | None], ...]:
    start = cursor.position
    count = cursor.varint("header count")
    if count < 0:
        raise cursor.error("header count", f"is {count}", start)
    return tuple([_read_header(cursor) for _ in range(count)]) if count else ()


def _read_header(cursor: _Cursor) -> tuple[str, bytes | None]:
    start = cursor.position
    name = cursor.sized("header key")
    if name is None:
        raise cursor.error("header key", "is null", start)
    return name.decode("utf-8", "replace"), cursor.sized("header value")


def _control_type(cursor: _Cursor, key: bytes | None) -> str:
    if key is None or len(key) < 4:
        raise cursor.error("key", "of a control record must have 4 bytes")
    number = int.from_bytes(key[2:4], "big", signed=True)
    return CONTROL_TYPES.get(number, f"UNKNOWN_{number}")


def wrong(field: str, position: int, what: str) -> Undecodable:
    """The error for a field of a batch; `what` says what is wrong with it."""
    return Undecodable(f"record batch: {field} at byte {position} {what}", field, position)


# How many bytes records and batches take, format 2, not compressed.
#
# A record has its offset and its timestamp as the difference to the batch's, in numbers of variable length, so its size
# depends on the batch it is in. A batch with a *delete horizon* counts timestamps from the horizon, which makes
# tombstones a few bytes longer when the cleaner has met them.
#
# References
# ----------
# Apache Kafka 0.11 to 4.3, ``DefaultRecordBatch``, ``DefaultRecord.sizeInBytes``, ``EndTransactionMarker``.

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
