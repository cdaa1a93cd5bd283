"""Kafka's binary forms: how a layout is written down, and how bytes are decoded and encoded by it.

A `Layout` says how a message is written down. A `Reader` takes numbers and texts from bytes, one after the other;
`decode_message` makes the fields of a message of them, by name, and `encode_message` bytes of the fields. In front of
them stand the numbers of variable length, and JSON that somebody gives (`read_json`).

>>> message = layout("Message", Field("topic", STRING), Field("partitions", Array(INT32)))
>>> encode_message(message, 0, {"topic": "orders", "partitions": [7]}).hex(" ")
'00 06 6f 72 64 65 72 73 00 00 00 01 00 00 00 07'
>>> decode_message(Reader(bytes.fromhex("0001 61 00000001 00000007"), "Message"), message, 0)
{'topic': 'a', 'partitions': [7]}
"""

from __future__ import annotations

import dataclasses
import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from struct import Struct
from types import MappingProxyType
from typing import Any, TypeAlias

from kafkalearn.base.checks import text
from kafkalearn.base.errors import KafkaLearnError, counted, shown, unknown_name

__all__ = [
    "Undecodable",
]


# Numbers of variable length: 7 bits a byte, the low ones first; a high bit means that more bytes follow.
#
# Signed numbers go through *zigzag* first, so that small ones of either sign stay short.


def unsigned_varint(value: int) -> bytes:
    """A number from 0 on, encoded.

    >>> unsigned_varint(131).hex(" ")
    '83 01'
    """
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def read_varint(data: bytes, position: int = 0, most_bytes: int = 5) -> tuple[int, int]:
    """The unsigned number at a position, and the position behind it.

    Raises
    ------
    ValueError
        If it does not end within the bytes, or takes more than `most_bytes`.

    Examples
    --------
    >>> read_varint(bytes.fromhex("ff8301"), position=1)
    (131, 3)
    """
    value, shift, end = 0, 0, position
    while shift < 7 * most_bytes and end < len(data):
        byte = data[end]
        value |= (byte & 0x7F) << shift
        end += 1
        if byte < 0x80:
            return value, end
        shift += 7
    raise ValueError(f"the number at byte {position} does not end")


def zigzag(value: int) -> int:
    """A signed number as an unsigned one, of any width.

    >>> [zigzag(value) for value in (0, -1, 1, -2)]
    [0, 1, 2, 3]
    """
    return value << 1 if value >= 0 else (-value << 1) - 1


def from_zigzag(value: int) -> int:
    """The signed number that an unsigned one stands for.

    >>> [from_zigzag(value) for value in range(4)]
    [0, -1, 1, -2]
    """
    return value >> 1 ^ -(value & 1)


def varint_bytes(value: int) -> int:
    """The bytes that a signed number takes.

    >>> [varint_bytes(value) for value in (0, -1, 63, 64, -65, 8192)]
    [1, 1, 1, 2, 2, 3]
    """
    return max(1, (zigzag(value).bit_length() + 6) // 7)


# JSON that somebody gives, read in any Python: brackets in brackets without end are refused before they are followed.
#
# CPython ends such a text with RecursionError. In a page's Python the stack is the browser's, and Python itself ends.

MOST_NESTED = 200
_MARKS = re.compile(r'"(?:[^"\\]|\\.)*"|[][{}]')


def read_json(text: str) -> object:
    """What a text of JSON holds.

    Raises
    ------
    ValueError
        If it is not valid JSON, or has brackets more than `MOST_NESTED` deep.

    Examples
    --------
    >>> read_json('{"version": 1}')
    {'version': 1}
    >>> read_json("[" * 100_000)
    Traceback (most recent call last):
    ...
    ValueError: its brackets are more than 200 deep
    """
    if text.count("[") + text.count("{") > MOST_NESTED and _is_deep(text):
        raise ValueError(f"its brackets are more than {MOST_NESTED} deep")
    return json.loads(text)


def _is_deep(text: str) -> bool:
    depth = 0
    for mark in _MARKS.finditer(text):  # a bracket in a string is none
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(mark[0], 0)
        if depth > MOST_NESTED:
            return True
    return False


# How a byte layout is written down: fields of a kind, in order, each from one version to another.
#
# Kafka keeps the layout of its messages in JSON files, one for each message, and generates Java from them. These
# classes say the same in Python: a `Layout` has fields, a field has a kind, and a kind is a number, true or false, a
# text, bytes, a topic id, an `Array` of one kind or a `Structure` of further fields.
#
# From the version where a layout becomes *flexible* on (KIP-482), lengths are variable-length numbers and every
# structure ends with its *tagged* fields: each with a number, left out while it has its default, and skipped by
# readers that do not know it.

INT8, INT16, INT32, INT64, UINT16 = "int8", "int16", "int32", "int64", "uint16"
FLOAT64, BOOLEAN, STRING, BYTES, UUID = "float64", "boolean", "string", "bytes", "uuid"

ZERO_UUID = "AAAAAAAAAAAAAAAAAAAAAA"  # 16 zero bytes, as Kafka writes a topic id; stands for "unknown"
ALWAYS = 0x7FFF  # versions are signed 16-bit numbers


class _Required:
    """The one value of `REQUIRED`."""

    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED = _Required()
"""Stands where a field has no default: it must be given."""


@dataclass(frozen=True, slots=True)
class Array:
    """A count, then that many elements of one kind."""

    of: Kind


@dataclass(frozen=True, slots=True)
class Structure:
    """Fields one after the other."""

    fields: tuple[Field, ...]
    _plain: dict[int, tuple[Field, ...]] = dataclasses.field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    _tagged: dict[int, tuple[Field, ...]] = dataclasses.field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def plain(self, version: int) -> tuple[Field, ...]:
        """The fields that a version has in fixed places, in order."""
        if version not in self._plain:
            self._plain[version] = tuple(each for each in self.fields if each.tag is None and each.is_in(version))
        return self._plain[version]

    def tagged(self, version: int) -> tuple[Field, ...]:
        """The tagged fields of a version, by tag."""
        if version not in self._tagged:
            present = {each.tag: each for each in self.fields if each.tag is not None and each.is_in(version)}
            self._tagged[version] = tuple(present[tag] for tag in sorted(present))
        return self._tagged[version]


Kind: TypeAlias = str | Array | Structure


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a layout, in the versions `since` to `until`.

    `default` is what an absent field stands for when it is written. A field with a `tag` belongs to the tagged
    ones and is not written at all while it has its default.
    """

    name: str  # as in Kafka's JSON form
    kind: Kind
    since: int = 0
    until: int = ALWAYS
    default: object = dataclasses.field(default=REQUIRED, hash=False)  # may be a list
    is_nullable: bool = False
    tag: int | None = None

    def is_in(self, version: int) -> bool:
        """Whether this version of the layout has the field."""
        return self.since <= version <= self.until

    @property
    def versions(self) -> str:
        """The versions that have it, as text."""
        if self.until == ALWAYS:
            return f"{self.since} and up"
        return str(self.since) if self.since == self.until else f"{self.since} to {self.until}"


@dataclass(frozen=True, slots=True)
class Layout:
    """A whole message: what follows the two bytes that hold its version, or in a key its record type."""

    name: str  # of Kafka's class
    body: Structure = dataclasses.field(repr=False)
    newest: int = 0  # versions 0 to this one are known
    flexible_since: int = ALWAYS

    def is_flexible(self, version: int) -> bool:
        """Whether lengths are varints and structures end with tagged fields."""
        return version >= self.flexible_since


def layout(name: str, *fields: Field, newest: int = 0, flexible_since: int = ALWAYS) -> Layout:
    """A layout of these fields.

    >>> layout("GroupMetadataKey", Field("group", STRING)).body.plain(version=0)[0].name
    'group'
    """
    return Layout(name, Structure(fields), newest, flexible_since)


def structure(*fields: Field) -> Structure:
    """A structure of these fields."""
    return Structure(fields)


def recorded_layout(name: str, message: Mapping[str, object]) -> Layout:
    """The layout of a message as a file of layouts has it: one that is read from a jar of Kafka's.

    >>> recorded_layout("Message", {"newest": 0, "fields": [{"name": "ids", "kind": "[]int32"}]}).body.fields[0].kind
    Array(of='int32')
    """
    written: Mapping[str, Any] = message  # of the kinds that the file has
    body = _recorded_structure(written["fields"])
    return Layout(name, body, written["newest"], written.get("flexible_since", ALWAYS))


def _recorded_structure(fields: Sequence[Mapping[str, Any]]) -> Structure:
    return Structure(tuple(map(_recorded_field, fields)))


def _recorded_field(written: Mapping[str, Any]) -> Field:
    """A field: but for its kind, and the fields inside it, the file has what `Field` takes."""
    words = dict(written)
    kind, inner = words.pop("kind"), words.pop("fields", None)
    element = _recorded_structure(inner) if inner is not None else kind.removeprefix("[]")
    return Field(kind=Array(element) if kind.startswith("[]") else element, **words)


# A position in some bytes.
#
# `Reader` is given the name of each field it reads and knows at which byte it is, so that `Undecodable` can name both.
# `Dissector` is a reader that also keeps every piece it passed: a record, byte by byte.

NUMBERS: Mapping[str, Struct] = MappingProxyType(
    {
        BOOLEAN: Struct(">?"),
        INT8: Struct(">b"),
        INT16: Struct(">h"),
        UINT16: Struct(">H"),
        INT32: Struct(">i"),
        INT64: Struct(">q"),
        FLOAT64: Struct(">d"),
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


# Bytes to the fields of a message, by name, as a layout says.
#
# Where something does not fit, the error names the field and the byte: too few bytes, a length that cannot be, text
# that is not UTF-8, a tagged field of another size than it says.

LONGEST_STRING = 0x7FFF  # bytes
UNKNOWN_TAGS = "_unknownTags"  # in a decoded structure: the tagged fields that no layout knows, tag -> bytes
TAGGED = "tagged fields"


def decode_message(reader: Reader, layout: Layout, version: int) -> dict[str, object]:
    """The fields of a message from the reader's position on, in a version that the layout knows."""
    reader.is_flexible = layout.is_flexible(version)
    return _decode_fields(reader, layout.body, version, "")


def refuse_rest(reader: Reader) -> None:
    """Pass in silence if every byte was read; else there are more bytes than fields, and `Undecodable` says where."""
    rest = len(reader.data) - reader.position
    if rest:
        follow = f"{counted(rest, 'more byte')} {'follows' if rest == 1 else 'follow'}"
        what = f"{reader.name}: the message ends before byte {reader.position}, {follow}"
        raise Undecodable(what, "", reader.position)


def _decode_fields(reader: Reader, structure: Structure, version: int, path: str) -> dict[str, object]:
    """The fields of a structure by name; a tagged one is there only if it was written."""
    values: dict[str, object] = {}
    for field in structure.plain(version):
        values[field.name] = _decode(reader, field.kind, version, field.is_nullable, path + field.name)
    if reader.is_flexible:
        values |= _decode_tagged(reader, structure, version, path)
    return values


def _decode_tagged(reader: Reader, structure: Structure, version: int, path: str) -> dict[str, object]:
    known = {field.tag: field for field in structure.tagged(version)}
    found: dict[int, object] = {}
    unknown: dict[int, bytes] = {}
    where = path + TAGGED
    for _ in range(reader.varint(where, "count")):
        tag, start = reader.varint(where, "tag"), reader.position
        if tag in found or tag in unknown:
            raise reader.error(where, f"tag {tag} at byte {start} is there twice", start)
        if tag in known:
            found[tag] = _decode_tagged_field(reader, known[tag], version, path + known[tag].name)
        else:
            size, start = reader.varint(where, "size"), reader.position
            unknown[tag] = reader.raw(size, where)
            reader.passed(start, where, "value", BYTES, unknown[tag])
    values = {known[tag].name: found[tag] for tag in sorted(found)}
    return values | ({UNKNOWN_TAGS: unknown} if unknown else {})


def _decode_tagged_field(reader: Reader, field: Field, version: int, where: str) -> object:
    size = reader.varint(where, "size")
    start = reader.position
    if isinstance(field.kind, Structure) and field.is_nullable:  # among tagged fields, null is 0 and not -1
        is_there = reader.varint(where, "presence")
        value = _decode_fields(reader, field.kind, version, f"{where}.") if is_there else None
    else:
        value = _decode(reader, field.kind, version, field.is_nullable, where)
    took = reader.position - start
    if took != size:
        raise reader.error(where, f"size says {size} bytes from byte {start} on, it took {took}", start)
    return value


def _decode(reader: Reader, kind: Kind, version: int, is_nullable: bool, where: str) -> object:
    match kind:
        case Array(of):
            return _decode_array(reader, of, version, is_nullable, where)
        case Structure():
            return _decode_structure(reader, kind, version, is_nullable, where)
        case _ if kind in NUMBERS:
            return reader.number(kind, where)
        case _ if kind == UUID:
            return _decode_uuid(reader, where)
    return _decode_text_or_bytes(reader, kind, is_nullable, where)


def _decode_array(reader: Reader, of: Kind, version: int, is_nullable: bool, where: str) -> list[object] | None:
    count = _decode_length(reader, "count", INT32, is_nullable, where)
    if count is None:
        return None
    left = len(reader.data) - reader.position
    if count > left:  # every element takes a byte at least: do not start on a billion of them
        raise reader.error(where, f"count says {count} elements, {left} bytes are left at byte {reader.position}")
    return [_decode(reader, of, version, False, f"{where}[{index}]") for index in range(count)]


def _decode_structure(
    reader: Reader, structure: Structure, version: int, is_nullable: bool, where: str
) -> dict[str, object] | None:
    if is_nullable:
        start = reader.position
        mark = reader.number(INT8, where, "presence")
        if mark == -1:
            return None
        if mark != 1:
            raise reader.error(where, f"presence at byte {start} is {mark}; it must be 1, or -1 for null", start)
    return _decode_fields(reader, structure, version, f"{where}.")


def _decode_uuid(reader: Reader, where: str) -> str:
    start = reader.position
    value = urlsafe_b64encode(reader.raw(16, where)).decode().rstrip("=")
    reader.passed(start, where, "value", UUID, value)
    return value


def _decode_text_or_bytes(reader: Reader, kind: str, is_nullable: bool, where: str) -> str | bytes | None:
    length = _decode_length(reader, "length", INT16 if kind == STRING else INT32, is_nullable, where)
    if length is None:
        return None
    start = reader.position
    if kind == STRING and length > LONGEST_STRING:
        what = f"length before byte {start} is {length}; a string has at most {LONGEST_STRING} bytes"
        raise reader.error(where, what)
    value = reader.raw(length, where)
    if kind == STRING:
        try:
            value = value.decode("utf-8")
        except UnicodeDecodeError as error:
            at = start + error.start
            what = f"byte {at} is not UTF-8 ({error.reason}); text from byte {start} on"
            raise reader.error(where, what, at) from None
    reader.passed(start, where, "value", kind, value)
    return value


def _decode_length(reader: Reader, role: str, fixed: str, is_nullable: bool, where: str) -> int | None:
    """A length or count; None for null. Flexible versions write one more, so that 0 can stand for null."""
    start = reader.position
    length = reader.varint(where, role) - 1 if reader.is_flexible else reader.number(fixed, where, role)
    if length >= 0:
        return length
    if length == -1 and is_nullable:
        return None
    what = "null, which this field cannot be" if length == -1 else f"{length}"
    raise reader.error(where, f"{role} at byte {start} is {what}", start)


# Fields of a message to bytes, by the same layouts.


def encode_message(layout: Layout, version: int, values: Mapping[str, object]) -> bytes:
    """The bytes of a message without anything in front; what is not given takes its default."""
    path = f"{layout.name} version {version}: "
    return _encode_fields(layout.body, version, values, layout.is_flexible(version), path)


def _encode_fields(structure: Structure, version: int, values: object, is_flexible: bool, path: str) -> bytes:
    if not isinstance(values, Mapping):
        raise KafkaLearnError(f"{path}a mapping of field names to values is needed, got {shown(values)}")
    _refuse_other_names(structure, version, values, path)
    parts = []
    for field in structure.plain(version):
        value = values.get(field.name, field.default)
        if value is REQUIRED:
            raise KafkaLearnError(f"{path}{field.name} is missing; it has no default")
        parts.append(_encode(field.kind, version, value, field.is_nullable, is_flexible, path + field.name))
    if is_flexible:
        parts.append(_encode_tagged(structure, version, values, path))
    return b"".join(parts)


def _refuse_other_names(structure: Structure, version: int, values: Mapping[str, object], path: str) -> None:
    by_name = {field.name: field for field in structure.fields}
    for name in values:
        if name == UNKNOWN_TAGS:
            continue
        if name not in by_name:
            raise KafkaLearnError(f"{path}{unknown_name('field', name, by_name)}")
        if not by_name[name].is_in(version):
            raise KafkaLearnError(f"{path}{name} is not in this version; versions {by_name[name].versions} have it")


def _encode_tagged(structure: Structure, version: int, values: Mapping[str, object], path: str) -> bytes:
    unknown: Any = values.get(UNKNOWN_TAGS, {})
    by_tag: dict[int, bytes] = dict(unknown)
    for field in structure.tagged(version):
        value = values.get(field.name, field.default)
        if field.tag is not None and value != field.default:
            by_tag[field.tag] = _encode_tagged_field(field, version, value, path + field.name)
    written = (unsigned_varint(tag) + unsigned_varint(len(each)) + each for tag, each in sorted(by_tag.items()))
    return unsigned_varint(len(by_tag)) + b"".join(written)


def _encode_tagged_field(field: Field, version: int, value: object, where: str) -> bytes:
    if not (isinstance(field.kind, Structure) and field.is_nullable):
        return _encode(field.kind, version, value, field.is_nullable, True, where)
    if value is None:  # among tagged fields, null is 0 and not -1
        return unsigned_varint(0)
    return unsigned_varint(1) + _encode_fields(field.kind, version, value, True, f"{where}.")


def _encode(kind: Kind, version: int, value: object, is_nullable: bool, is_flexible: bool, where: str) -> bytes:
    if value is None and not is_nullable:
        raise KafkaLearnError(f"{where} cannot be null")
    match kind:
        case Structure():
            if value is None:
                return NUMBERS[INT8].pack(-1)
            presence = NUMBERS[INT8].pack(1) if is_nullable else b""
            return presence + _encode_fields(kind, version, value, is_flexible, f"{where}.")
        case Array(of):
            return _encode_array(of, version, value, is_flexible, where)
        case _ if kind in NUMBERS:
            return _encode_number(kind, value, where)
        case _ if kind == UUID:
            return _encode_uuid(value, where)
    return _encode_text_or_bytes(kind, value, is_flexible, where)


def _encode_array(of: Kind, version: int, value: object, is_flexible: bool, where: str) -> bytes:
    if value is None:
        return _length(None, INT32, is_flexible)
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        raise KafkaLearnError(f"{where} must be a sequence, got {type(value).__name__} {shown(value)}")
    elements = (_encode(of, version, each, False, is_flexible, f"{where}[{index}]") for index, each in enumerate(value))
    return _length(len(value), INT32, is_flexible) + b"".join(elements)


def _encode_number(kind: str, value: object, where: str) -> bytes:
    packed = NUMBERS[kind]
    if kind == BOOLEAN:
        if not isinstance(value, bool):
            raise KafkaLearnError(f"{where} must be True or False, got {shown(value)}")
        return packed.pack(value)
    if kind == FLOAT64:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise KafkaLearnError(f"{where} must be a number, got {shown(value)}")
        return packed.pack(value)
    bits = 8 * packed.size
    low, high = (0, 2**bits - 1) if kind.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise KafkaLearnError(f"{where} must be an {kind}, {low} to {high}, got {shown(value)}")
    return packed.pack(value)


def _encode_uuid(value: object, where: str) -> bytes:
    try:
        raw = urlsafe_b64decode(f"{value}==".encode())
    except (Base64Error, UnicodeEncodeError):
        raw = b""
    if len(raw) != 16:
        raise KafkaLearnError(f"{where} must be a topic id of 22 characters as Kafka prints it, got {shown(value)}")
    return raw


def _encode_text_or_bytes(kind: str, value: object, is_flexible: bool, where: str) -> bytes:
    fixed = INT16 if kind == STRING else INT32
    if value is None:
        return _length(None, fixed, is_flexible)
    if kind == STRING:
        encoded = text(where, value).encode()
        if len(encoded) > LONGEST_STRING:
            raise KafkaLearnError(f"{where} has {len(encoded)} bytes; a string has at most {LONGEST_STRING}")
    elif isinstance(value, bytes | bytearray | memoryview):
        encoded = bytes(value)
    else:
        raise KafkaLearnError(f"{where} must be bytes, got {type(value).__name__} {shown(value)}")
    return _length(len(encoded), fixed, is_flexible) + encoded


def _length(length: int | None, fixed: str, is_flexible: bool) -> bytes:
    if is_flexible:
        return unsigned_varint(0 if length is None else length + 1)
    return NUMBERS[fixed].pack(-1 if length is None else length)
