"""A position in some bytes: numbers and pieces are taken one after the other, and what does not fit is told.

`Reader` knows which field it is at and at which byte, so that `Undecodable` can name both. `Dissector` is a reader
that also keeps every piece it passed: a record, byte by byte.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from struct import Struct
from types import MappingProxyType

from kafkalearn.errors import KafkaLearnError
from kafkalearn.wire.fields import INT8, INT16, INT32, INT64, UINT16

NUMBERS: Mapping[str, Struct] = MappingProxyType(
    {INT8: Struct(">b"), INT16: Struct(">h"), UINT16: Struct(">H"), INT32: Struct(">i"), INT64: Struct(">q")}
)


class Undecodable(KafkaLearnError):  # noqa: N818  (named for what the bytes are)
    """Bytes that are not what the layout says; `field` and `position` tell where, counted from the first byte."""

    def __init__(self, message: str, field: str, position: int) -> None:
        """The message is whole; `field` and `position` repeat what it names."""
        super().__init__(message)
        self.field = field
        self.position = position


@dataclass(frozen=True, slots=True)
class Piece:
    """Some bytes of a message and what they are."""

    start: int  # the first byte
    stop: int  # one past the last
    field: str  # where in the message, as in ``members[0].clientId``
    role: str  # "value", or what else it is: "version", "length", "count", "tag", ...
    kind: str  # int32, varint, string, ...
    value: object


class Reader:
    """A position in some bytes, and the path of fields that led to it."""

    def __init__(self, data: bytes, name: str) -> None:
        """At the first byte of `data`, outside all fields."""
        self.data = data
        self.name = name  # of the message, for errors
        self.position = 0
        self.path: list[str] = []
        self.is_flexible = False

    def number(self, kind: str, role: str = "value") -> int:
        """The next number of a fixed width."""
        packed = NUMBERS[kind]
        start = self.position
        self._need(packed.size, role)
        self.position = start + packed.size
        value = packed.unpack_from(self.data, start)[0]
        self.passed(start, role, kind, value)
        return value

    def varint(self, role: str) -> int:
        """The next unsigned number of variable length: 7 bits a byte, low ones first, a high bit means more."""
        start = self.position
        value = shift = 0
        while True:
            if shift > 28:
                raise self.error(f"{role} at byte {start} is a number of more than 5 bytes; none is so long", start)
            self._need(1, role)
            byte = self.data[self.position]
            self.position += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        if value > 0x7FFFFFFF:
            raise self.error(f"{role} at byte {start} is {value}, too large for a length", start)
        self.passed(start, role, "varint", value)
        return value

    def raw(self, count: int) -> bytes:
        """The next `count` bytes."""
        start = self.position
        self._need(count, "value")
        self.position = start + count
        return self.data[start : self.position]

    def _need(self, count: int, role: str) -> None:
        left = len(self.data) - self.position
        if count > left:
            needs = f"{count} byte{'s' if count > 1 else ''}"
            rest = f"{left} of {len(self.data)} {'is' if left == 1 else 'are'} left"
            raise self.error(f"{role} at byte {self.position} needs {needs}, {rest}")

    def error(self, what: str, position: int | None = None) -> Undecodable:
        """The error to raise at the field being read; `what` goes after the field's name."""
        at = "".join(self.path).removeprefix(".")
        where = f"{self.name}: {at}: " if at else f"{self.name}: "
        return Undecodable(where + what, at, self.position if position is None else position)

    def passed(self, start: int, role: str, kind: str, value: object) -> None:
        """Called for each piece that was read; a reader does not care."""


class Dissector(Reader):
    """A reader that keeps what it passed."""

    def __init__(self, data: bytes, name: str) -> None:
        """At the first byte of `data`, with nothing passed yet."""
        super().__init__(data, name)
        self.pieces: list[Piece] = []

    def passed(self, start: int, role: str, kind: str, value: object) -> None:
        """Keep the piece that ends at the position."""
        field = "".join(self.path).removeprefix(".")
        self.pieces.append(Piece(start, self.position, field, role, kind, value))
