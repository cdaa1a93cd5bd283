"""The records inside a batch, each written as the difference to its batch.

A *control* record is one that no application wrote: the marker that ends a transaction, for example.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from kafkalearn.wire.reader import Undecodable

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

    def varint(self, field: str) -> int:
        """The next signed number: 7 bits a byte, low ones first, the sign in the lowest bit."""
        start = self.position
        value = shift = 0
        while True:
            if self.position >= len(self.data) or shift > 63:
                raise wrong(field, self.start + start, "is a number that does not end")
            byte = self.data[self.position]
            self.position += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value >> 1 ^ -(value & 1)

    def take(self, count: int, field: str) -> bytes:
        """The next `count` bytes."""
        left = len(self.data) - self.position
        if not 0 <= count <= left:
            raise wrong(field, self.start + self.position, f"needs {count} bytes, {left} are left in the batch")
        self.position += count
        return self.data[self.position - count : self.position]

    def sized(self, field: str) -> bytes | None:
        """A length and that many bytes; length -1 is null."""
        start = self.position
        length = self.varint(f"{field} length")
        if length < -1:
            raise wrong(f"{field} length", self.start + start, f"is {length}")
        return None if length == -1 else self.take(length, field)


def read_records(body: bytes, facts: BatchFacts, count: int, start: int) -> tuple[Record, ...]:
    """The records of a batch; `start` is the byte of the file at which they begin.

    Raises
    ------
    Undecodable
        If they are not as many and as long as they say.
    """
    cursor = _Cursor(body, start if facts.is_plain else 0)
    if not 0 <= count <= len(body):
        raise wrong("recordCount", start - 4, f"is {count}, in {len(body)} bytes")
    records = tuple(_read_record(cursor, facts, f"records[{index}]") for index in range(count))
    rest = len(body) - cursor.position
    if rest:
        raise wrong("records", cursor.start + cursor.position, f"end here, {rest} more bytes are in the batch")
    return records


def _read_record(cursor: _Cursor, facts: BatchFacts, at: str) -> Record:
    length = cursor.varint(f"{at} length")
    end = cursor.position + length
    cursor.take(1, f"{at} attributes")  # none is in use
    timestamp_delta, offset_delta = cursor.varint(f"{at} timestampDelta"), cursor.varint(f"{at} offsetDelta")
    key, value = cursor.sized(f"{at} key"), cursor.sized(f"{at} value")
    headers = tuple(_read_header(cursor, at) for _ in range(cursor.varint(f"{at} header count")))
    if cursor.position != end:
        raise wrong(
            f"{at} length",
            cursor.start + end - length,
            f"says {length} bytes, it takes {cursor.position - end + length}",
        )
    timestamp_ms = facts.base_ms + timestamp_delta if facts.append_ms is None else facts.append_ms
    control = _control_type(key, cursor, at) if facts.is_control else None
    return Record(facts.base_offset + offset_delta, timestamp_ms, key, value, headers, control)


def _read_header(cursor: _Cursor, at: str) -> tuple[str, bytes | None]:
    start = cursor.position
    name = cursor.sized(f"{at} header key")
    if name is None:
        raise wrong(f"{at} header key", cursor.start + start, "is null")
    return name.decode("utf-8", "replace"), cursor.sized(f"{at} header value")


def _control_type(key: bytes | None, cursor: _Cursor, at: str) -> str:
    if key is None or len(key) < 4:
        raise wrong(f"{at} key", cursor.start + cursor.position, "of a control record must have 4 bytes")
    number = int.from_bytes(key[2:4], "big", signed=True)
    return CONTROL_TYPES.get(number, f"UNKNOWN_{number}")


def wrong(field: str, position: int, what: str) -> Undecodable:
    """The error for a field of a batch; `what` says what is wrong with it."""
    return Undecodable(f"record batch: {field} at byte {position} {what}", field, position)
