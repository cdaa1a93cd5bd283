"""A position in some bytes: numbers and texts are taken one after the other; where they do not fit is an error.

`Reader` is given the name of each field it reads and knows at which byte it is, so that `Undecodable` can name both.
`Dissector` is a reader that also keeps every piece it passed: a record, byte by byte.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from struct import Struct
from types import MappingProxyType

from kafkalearn.errors import KafkaLearnError
from kafkalearn.phrases import counted
from kafkalearn.wire.fields import BOOLEAN, INT8, INT16, INT32, INT64, UINT16
from kafkalearn.wire.varint import read_varint

NUMBERS: Mapping[str, Struct] = MappingProxyType(
    {
        BOOLEAN: Struct(">?"),
        INT8: Struct(">b"),
        INT16: Struct(">h"),
        UINT16: Struct(">H"),
        INT32: Struct(">i"),
        INT64: Struct(">q"),
    }
)
"""Every kind of a fixed width, and how it is written; true is any byte but 0."""


class Undecodable(KafkaLearnError):  # noqa: N818  (named for what the bytes are)
    """Bytes that are not what the layout says; `field` and `position` say where, counted from the first byte."""

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
    """A position in some bytes. Each method takes the field it is called for, by its place in the message."""

    def __init__(self, data: bytes, name: str) -> None:
        """At the first byte of `data`."""
        self.data = data
        self.name = name  # of the message, for errors
        self.position = 0
        self.is_flexible = False

    def number(self, kind: str, field: str = "", role: str = "value") -> int:
        """The next number of a fixed width."""
        packed = NUMBERS[kind]
        start = self.position
        self._need(packed.size, field, role)
        self.position = start + packed.size
        value = packed.unpack_from(self.data, start)[0]
        self.passed(start, field, role, kind, value)
        return value

    def varint(self, field: str, role: str) -> int:
        """The next unsigned number of variable length."""
        start = self.position
        try:
            value, self.position = read_varint(self.data, start)
        except ValueError:
            if len(self.data) - start >= 5:
                what = f"{role} at byte {start} is a number of more than 5 bytes; none is so long"
                raise self.error(field, what, start) from None
            self.position = len(self.data)
            self._need(1, field, role)
            raise  # never: there is no byte left
        if value > 0x7FFFFFFF:
            raise self.error(field, f"{role} at byte {start} is {value}, too large for a length", start)
        self.passed(start, field, role, "varint", value)
        return value

    def raw(self, count: int, field: str) -> bytes:
        """The next `count` bytes."""
        start = self.position
        self._need(count, field, "value")
        self.position = start + count
        return self.data[start : self.position]

    def _need(self, count: int, field: str, role: str) -> None:
        left = len(self.data) - self.position
        if count > left:
            rest = f"{left:,} of {len(self.data):,} {'is' if left == 1 else 'are'} left"
            raise self.error(field, f"{role} at byte {self.position} needs {counted(count, 'byte')}, {rest}")

    def error(self, field: str, what: str, position: int | None = None) -> Undecodable:
        """The error to raise at a field; `what` goes after the field's name."""
        where = f"{self.name}: {field}: " if field else f"{self.name}: "
        return Undecodable(where + what, field, self.position if position is None else position)

    def passed(self, start: int, field: str, role: str, kind: str, value: object) -> None:
        """Called for each piece that was read; a reader does not keep it."""


class Dissector(Reader):
    """A reader that keeps the pieces it has passed."""

    def __init__(self, data: bytes, name: str) -> None:
        """At the first byte of `data`, with nothing passed yet."""
        super().__init__(data, name)
        self.pieces: list[Piece] = []

    def passed(self, start: int, field: str, role: str, kind: str, value: object) -> None:
        """Keep the piece that ends at the position."""
        self.pieces.append(Piece(start, self.position, field, role, kind, value))
