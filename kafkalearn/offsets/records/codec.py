"""Records of ``__consumer_offsets`` from bytes and to bytes, every record type and every version.

A key begins with two bytes for the record type, a value with two bytes for its version. What follows
is laid out in `kafkalearn.offsets.records.layouts`. A null value is a *tombstone*: the record says that what its key
names is gone.

Decoded fields are plain dictionaries with the names of Kafka's own JSON form, in its order: text as str, blobs as
bytes, topic ids as the 22 characters that Kafka prints. A tagged field is there only if it was written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar, overload

from kafkalearn.arguments import key_bytes
from kafkalearn.errors import KafkaLearnError
from kafkalearn.offsets.records.record_types import RECORD_TYPES, RecordType, record_type
from kafkalearn.phrases import shown
from kafkalearn.wire.decoder import decode_message, refuse_rest
from kafkalearn.wire.encoder import encode_message
from kafkalearn.wire.fields import INT16, Layout
from kafkalearn.wire.reader import NUMBERS, Dissector, Piece, Reader, Undecodable

VERSION = NUMBERS[INT16]
Fields: TypeAlias = Mapping[str, object]  # decoded: what each holds, the layout of its record type says
Opened = TypeVar("Opened", bound=Reader)


@dataclass(frozen=True, slots=True)
class OffsetsRecord:
    """A decoded record: what its key names, and what its value says of it."""

    type: RecordType
    key: Fields
    version: int | None  # of the value; None with a tombstone
    value: Fields | None

    @property
    def fields(self) -> Fields:
        """The fields of the value; a tombstone has none."""
        return {} if self.value is None else self.value

    @property
    def group(self) -> str:
        """The group id; every key has one."""
        return str(self.key["group"] if "group" in self.key else self.key["groupId"])

    @property
    def is_tombstone(self) -> bool:
        """Whether the record says that what its key names is gone."""
        return self.value is None


def decode(key: bytes, value: bytes | None) -> OffsetsRecord:
    """A record of the offsets topic, decoded.

    Parameters
    ----------
    key : bytes
        As the topic has it.
    value : bytes or None
        None: a tombstone.

    Returns
    -------
    OffsetsRecord

    Raises
    ------
    Undecodable
        If the bytes are too few, too many, of an unknown type or version, or not what the layout says; the
        message, ``field`` and ``position`` say where.

    Examples
    --------
    >>> record = decode(bytes.fromhex("0001000a746573742d67726f757000047465737400000000"), None)
    >>> record.type.name, record.key, record.is_tombstone
    ('OFFSET_COMMIT', {'group': 'test-group', 'topic': 'test', 'partition': 0}, True)

    References
    ----------
    Apache Kafka 4.3, ``GroupCoordinatorRecordSerde``.
    """
    kind, fields = decode_key(key)
    version, values = decode_value(kind, value)
    return OffsetsRecord(kind, fields, version, values)


def decode_key(key: bytes, is_strict: bool = True) -> tuple[RecordType, dict[str, object]]:
    """The record type that a key begins with, and the key's fields; errors as in `decode`.

    Parameters
    ----------
    key : bytes
        As the topic has it.
    is_strict : bool
        False: bytes after the last field are passed over, as Kafka does.

    Examples
    --------
    >>> kind, fields = decode_key(bytes.fromhex("0002000a746573742d67726f7570"))
    >>> kind.words, fields
    ('group metadata', {'group': 'test-group'})
    """
    reader, kind = _open_key(Reader, key)
    fields = decode_message(reader, kind.key, 0)
    if is_strict:
        refuse_rest(reader)
    return kind, fields


@overload
def decode_value(
    kind: RecordType | int | str, value: bytes, is_strict: bool = True
) -> tuple[int, dict[str, object]]: ...
@overload
def decode_value(
    kind: RecordType | int | str, value: bytes | None, is_strict: bool = True
) -> tuple[int, dict[str, object]] | tuple[None, None]: ...
def decode_value(
    kind: RecordType | int | str, value: bytes | None, is_strict: bool = True
) -> tuple[int, dict[str, object]] | tuple[None, None]:
    """The version of a value and its fields, or two Nones for a tombstone; errors as in `decode`.

    Parameters
    ----------
    kind : RecordType, int or str
        As in the key: a record type, its number or its name.
    value : bytes or None
        As the topic has it.
    is_strict : bool
        As in `decode_key`.

    Examples
    --------
    >>> decode_value(1, bytes.fromhex("000200000000000000640000000001610db7ba00"))
    (2, {'offset': 100, 'metadata': '', 'commitTimestamp': 1516353600000})
    >>> decode_value(1, bytes.fromhex("00020000000000000064000901"))
    Traceback (most recent call last):
    ...
    kafkalearn.wire.reader.Undecodable: OffsetCommitValue version 2: metadata: value at byte 12 needs 9 bytes, \
1 of 13 is left
    """
    if value is None:
        return None, None
    reader, version = _open_value(Reader, record_type(kind).value, value)
    fields = decode_message(reader, record_type(kind).value, version)
    if is_strict:
        refuse_rest(reader)
    return version, fields


def dissect(key: bytes, value: bytes | None) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """A record byte by byte: the pieces of its key and those of its value, without gaps; errors as in `decode`.

    >>> pieces, _ = dissect(bytes.fromhex("0002000a746573742d67726f7570"), None)
    >>> for piece in pieces:
    ...     print(piece.start, piece.stop, piece.field, piece.role, piece.value)
    0 2  record type 2
    2 4 group length 10
    4 14 group value test-group
    """
    reader, kind = _open_key(Dissector, key)
    decode_message(reader, kind.key, 0)
    refuse_rest(reader)
    if value is None:
        return tuple(reader.pieces), ()
    of_value, version = _open_value(Dissector, kind.value, value)
    decode_message(of_value, kind.value, version)
    refuse_rest(of_value)
    return tuple(reader.pieces), tuple(of_value.pieces)


def _open_key(opener: type[Opened], key: bytes) -> tuple[Opened, RecordType]:
    reader = opener(key_bytes("key", key), "key")
    number = reader.number(INT16, role="record type")
    if number not in RECORD_TYPES:
        raise Undecodable(
            f"key: record type {number} at byte 0 is unknown; known are 0 to 23 without 18, and brokers skip others",
            "record type",
            0,
        )
    reader.name = RECORD_TYPES[number].key.name
    return reader, RECORD_TYPES[number]


def _open_value(opener: type[Opened], layout: Layout, value: bytes) -> tuple[Opened, int]:
    reader = opener(_value_bytes(value), layout.name)
    version = reader.number(INT16, role="version")
    if not 0 <= version <= layout.newest:
        known = "0" if layout.newest == 0 else f"0 to {layout.newest}"
        raise Undecodable(f"{layout.name}: version {version} at byte 0 is unknown; known is {known}", "version", 0)
    reader.name = f"{layout.name} version {version}"
    return reader, version


def _value_bytes(value: object) -> bytes:
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    raise KafkaLearnError(f"value must be bytes, or None for a tombstone, got {type(value).__name__} {shown(value)}")


def encode_key(kind: RecordType | int | str, fields: Mapping[str, object]) -> bytes:
    """The bytes of a key.

    Parameters
    ----------
    kind : RecordType, int or str
        A record type, its number or its name.
    fields : mapping
        As `decode_key` returns them.

    Raises
    ------
    KafkaLearnError
        If the type is unknown, or a field is missing, unknown, or has a value it cannot have.

    Examples
    --------
    >>> encode_key("GROUP_METADATA", {"group": "test-group"}).hex()
    '0002000a746573742d67726f7570'
    """
    kind = record_type(kind)
    return VERSION.pack(kind.number) + encode_message(kind.key, 0, fields)


def encode_value(kind: RecordType | int | str, version: int, fields: Mapping[str, object]) -> bytes:
    """The bytes of a value in a version; arguments and errors as in `encode_key`.

    A field that is not given takes Kafka's default, if it has one: the leader epoch -1, for example.

    >>> encode_value(1, 2, {"offset": 100, "metadata": "", "commitTimestamp": 1516353600000}).hex()
    '000200000000000000640000000001610db7ba00'
    """
    layout = record_type(kind).value
    if isinstance(version, bool) or not isinstance(version, int) or not 0 <= version <= layout.newest:
        raise KafkaLearnError(f"{layout.name} has the versions 0 to {layout.newest}, got {shown(version)}")
    return VERSION.pack(version) + encode_message(layout, version, fields)
