"""The records of ``__consumer_offsets``: their types, to and from bytes, and as text.

A key begins with two bytes for the record type, a value with two bytes for its version. What follows is laid out in
`kafkalearn.offsets.layouts`. A null value is a *tombstone*: the record says that what its key names is gone.

Decoded fields are plain dictionaries with the names of Kafka's own JSON form, in its order: text as str, blobs as
bytes, topic ids as the 22 characters that Kafka prints. A tagged field is there only if it was written.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias, TypeVar, overload

from kafkalearn.base.checks import key_bytes, one_of
from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.base.java import utf16_key
from kafkalearn.formats import wire
from kafkalearn.formats.wire import Layout
from kafkalearn.offsets import layouts

# The number in front of a key was called the key's version once, and the tools printed it so up to 3.9. It never was
# one: it is the kind of the record. Values have a version of their own.


@dataclass(frozen=True, slots=True)
class RecordType:
    """One kind of record of the offsets topic."""

    number: int  # what its keys begin with
    name: str  # as in Kafka's CoordinatorRecordType
    since: str  # the first release line that writes it
    until: str | None  # the last one; None: still written
    key: Layout = field(repr=False, compare=False)
    value: Layout = field(repr=False, compare=False)

    @property
    def words(self) -> str:
        """The name in plain words: "consumer group metadata"."""
        return self.name.lower().replace("_", " ")


def _record_type(number: int, name: str, since: str, until: str | None = None) -> RecordType:
    key, value = (getattr(layouts, f"{name.removeprefix('LEGACY_')}_{part}") for part in ("KEY", "VALUE"))
    return RecordType(number, name, since, until, key, value)


_ALL = (
    _record_type(0, "LEGACY_OFFSET_COMMIT", "0.8.2", "0.8.2"),
    _record_type(1, "OFFSET_COMMIT", "0.9.0"),
    _record_type(2, "GROUP_METADATA", "0.9.0"),
    _record_type(3, "CONSUMER_GROUP_METADATA", "3.7"),
    _record_type(4, "CONSUMER_GROUP_PARTITION_METADATA", "3.7", "4.0"),
    _record_type(5, "CONSUMER_GROUP_MEMBER_METADATA", "3.7"),
    _record_type(6, "CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA", "3.7"),
    _record_type(7, "CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER", "3.7"),
    _record_type(8, "CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT", "3.7"),
    _record_type(9, "SHARE_GROUP_PARTITION_METADATA", "4.0", "4.0"),
    _record_type(10, "SHARE_GROUP_MEMBER_METADATA", "4.0"),
    _record_type(11, "SHARE_GROUP_METADATA", "4.0"),
    _record_type(12, "SHARE_GROUP_TARGET_ASSIGNMENT_METADATA", "4.0"),
    _record_type(13, "SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER", "4.0"),
    _record_type(14, "SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT", "4.0"),
    _record_type(15, "SHARE_GROUP_STATE_PARTITION_METADATA", "4.0"),
    _record_type(16, "CONSUMER_GROUP_REGULAR_EXPRESSION", "4.0"),
    _record_type(17, "STREAMS_GROUP_METADATA", "4.1"),
    _record_type(19, "STREAMS_GROUP_MEMBER_METADATA", "4.1"),
    _record_type(20, "STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA", "4.1"),
    _record_type(21, "STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER", "4.1"),
    _record_type(22, "STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT", "4.1"),
    _record_type(23, "STREAMS_GROUP_TOPOLOGY", "4.1"),
)
RECORD_TYPES: MappingProxyType[int, RecordType] = MappingProxyType({each.number: each for each in _ALL})
"""All record types by number. 18 was never used; from 24 on nothing is known, and brokers skip such records."""

OFFSET_TYPES = (0, 1)  # committed offsets: the number differs, the rest of the key does not
GROUP_TYPE = 2  # a group of the classic protocol

_LEGACY, _COMMIT = (number.to_bytes(2, "big") for number in OFFSET_TYPES)


def state_key(key: bytes) -> bytes:
    """The key under which a coordinator keeps what a record says.

    The record types 0 and 1 are one offset: a commit of type 1 replaces one of type 0, and so does its tombstone. A
    key of type 0 becomes that of type 1, every other stays as it is.

    >>> state_key(bytes.fromhex("0000000167000174ffffffff")).hex()
    '0001000167000174ffffffff'

    References
    ----------
    Apache Kafka 4.3, ``GroupCoordinatorShard.replay``; to 3.9 ``GroupMetadataManager.readMessageKey``.
    """
    return _COMMIT + key[2:] if key[:2] == _LEGACY else key


_BY_NAME = {each.name: each for each in RECORD_TYPES.values()}


def record_type(which: int | str | RecordType) -> RecordType:
    """The record type of a number or a name.

    Raises
    ------
    KafkaLearnError
        If there is none; the message names the nearest, or the range.

    Examples
    --------
    >>> record_type(8).words, record_type("OFFSET_COMMIT").number
    ('consumer group current member assignment', 1)
    """
    if isinstance(which, RecordType):
        return which
    if isinstance(which, str):
        one_of("record type", which, _BY_NAME)
        return _BY_NAME[which]
    if not isinstance(which, int) or which not in RECORD_TYPES:
        raise KafkaLearnError(f"unknown record type {shown(which)}; known are 0 to 23 without 18")
    return RECORD_TYPES[which]


def fields_by_version(kind: RecordType | int | str) -> list[dict[str, str]]:
    """Each field of a record type's value and, for every version, how it is written there.

    Parameters
    ----------
    kind : RecordType, int or str
        A record type, its number or its name.

    Returns
    -------
    list of dict
        For `kafkalearn.base.tables.table`: ``field``, and for each version, ``"0"`` and so on, the kind of the field,
        with "or null" where it may be null, or an empty text where the version does not have it. Fields of a structure
        in an array are written ``members[].memberId``. Flexible versions have tagged fields at their end.

    Raises
    ------
    KafkaLearnError
        If there is no such record type.

    Examples
    --------
    >>> for row in fields_by_version("OFFSET_COMMIT")[:2]:
    ...     print(row)
    {'field': 'offset', '0': 'int64', '1': 'int64', '2': 'int64', '3': 'int64', '4': 'int64'}
    {'field': 'leaderEpoch', '0': '', '1': '', '2': '', '3': 'int32', '4': 'int32'}
    """
    layout = record_type(kind).value
    versions = range(layout.newest + 1)
    rows = [
        {"field": path} | {str(version): _words(field, version) for version in versions}
        for path, field in _fields(layout.body, "")
    ]
    if layout.is_flexible(layout.newest):
        rows.append(
            {"field": wire.TAGGED} | {str(each): "yes" if layout.is_flexible(each) else "" for each in versions}
        )
    return rows


def _fields(structure: wire.Structure, path: str) -> Iterator[tuple[str, wire.Field]]:
    for each in structure.fields:
        yield path + each.name, each
        inner, mark = (each.kind.of, "[]") if isinstance(each.kind, wire.Array) else (each.kind, "")
        if isinstance(inner, wire.Structure):
            yield from _fields(inner, f"{path}{each.name}{mark}.")


def _words(field: wire.Field, version: int) -> str:
    if not field.is_in(version):
        return ""
    tag = "" if field.tag is None else f", tag {field.tag}"
    return _kind_words(field.kind) + (" or null" if field.is_nullable else "") + tag


def _kind_words(kind: wire.Kind) -> str:
    match kind:
        case wire.Array(of):
            return f"array of {_kind_words(of)}"
        case wire.Structure():
            return "structure"
    return kind


# Records from bytes and to bytes, every record type and every version.

VERSION = wire.NUMBERS[wire.INT16]
Fields: TypeAlias = Mapping[str, object]  # decoded: what each holds, the layout of its record type says
Opened = TypeVar("Opened", bound=wire.Reader)


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
    reader, kind = _open_key(wire.Reader, key)
    fields = wire.decode_message(reader, kind.key, 0)
    if is_strict:
        wire.refuse_rest(reader)
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
    kafkalearn.formats.wire.Undecodable: OffsetCommitValue version 2: metadata: value at byte 12 needs 9 bytes, \
1 of 13 is left
    """
    if value is None:
        return None, None
    reader, version = _open_value(wire.Reader, record_type(kind).value, value)
    fields = wire.decode_message(reader, record_type(kind).value, version)
    if is_strict:
        wire.refuse_rest(reader)
    return version, fields


def dissect(key: bytes, value: bytes | None) -> tuple[tuple[wire.Piece, ...], tuple[wire.Piece, ...]]:
    """A record byte by byte: the pieces of its key and those of its value, without gaps; errors as in `decode`.

    >>> pieces, _ = dissect(bytes.fromhex("0002000a746573742d67726f7570"), None)
    >>> for piece in pieces:
    ...     print(piece.start, piece.stop, piece.field, piece.role, piece.value)
    0 2  record type 2
    2 4 group length 10
    4 14 group value test-group
    """
    reader, kind = _open_key(wire.Dissector, key)
    wire.decode_message(reader, kind.key, 0)
    wire.refuse_rest(reader)
    if value is None:
        return tuple(reader.pieces), ()
    of_value, version = _open_value(wire.Dissector, kind.value, value)
    wire.decode_message(of_value, kind.value, version)
    wire.refuse_rest(of_value)
    return tuple(reader.pieces), tuple(of_value.pieces)


def _open_key(opener: type[Opened], key: bytes) -> tuple[Opened, RecordType]:
    reader = opener(key_bytes("key", key), "key")
    number = reader.number(wire.INT16, role="record type")
    if number not in RECORD_TYPES:
        raise wire.Undecodable(
            f"key: record type {number} at byte 0 is unknown; known are 0 to 23 without 18, and brokers skip others",
            "record type",
            0,
        )
    reader.name = RECORD_TYPES[number].key.name
    return reader, RECORD_TYPES[number]


def _open_value(opener: type[Opened], layout: Layout, value: bytes) -> tuple[Opened, int]:
    reader = opener(_value_bytes(value), layout.name)
    version = reader.number(wire.INT16, role="version")
    if not 0 <= version <= layout.newest:
        known = "0" if layout.newest == 0 else f"0 to {layout.newest}"
        raise wire.Undecodable(f"{layout.name}: version {version} at byte 0 is unknown; known is {known}", "version", 0)
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
    return VERSION.pack(kind.number) + wire.encode_message(kind.key, 0, fields)


def encode_value(kind: RecordType | int | str, version: int, fields: Mapping[str, object]) -> bytes:
    """The bytes of a value in a version; arguments and errors as in `encode_key`.

    A field that is not given takes Kafka's default, if it has one: the leader epoch -1, for example.

    >>> encode_value(1, 2, {"offset": 100, "metadata": "", "commitTimestamp": 1516353600000}).hex()
    '000200000000000000640000000001610db7ba00'
    """
    layout = record_type(kind).value
    if isinstance(version, bool) or not isinstance(version, int) or not 0 <= version <= layout.newest:
        raise KafkaLearnError(f"{layout.name} has the versions 0 to {layout.newest}, got {shown(version)}")
    return VERSION.pack(version) + wire.encode_message(layout, version, fields)


# Decoded fields as the JSON text that Kafka's tools print, character for character. Blobs are base64. Jackson, which
# Kafka uses, leaves characters outside ASCII as they are and writes control characters with capital hex digits.

_LOWER_CASE_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)\\u00([01][0-9a-f])")


def to_json(value: object) -> object:
    """Decoded fields as plain JSON values: no bytes, no unknown tags.

    >>> to_json({"assignment": b"\\x00\\x01", "members": [{"memberId": "m"}]})
    {'assignment': 'AAE=', 'members': [{'memberId': 'm'}]}
    """
    if isinstance(value, Mapping):
        return {name: to_json(each) for name, each in value.items() if name != wire.UNKNOWN_TAGS}
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [to_json(each) for each in value]
    return value


def json_text(value: object) -> str:
    r"""JSON values as Jackson writes them, without blanks.

    >>> print(json_text({"metadata": "größe\u001f\n"}))
    {"metadata":"größe\u001F\n"}
    """
    written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _LOWER_CASE_ESCAPE.sub(lambda found: f"{found[1]}\\u00{found[2].upper()}", written)


# The text that a commit may carry beside its offset.

MOST_METADATA = 4096  # offset.metadata.max.bytes, the default of every release


def metadata_fits(metadata: str, most: int = MOST_METADATA) -> bool:
    """Whether a coordinator takes a commit with this text; else it answers OFFSET_METADATA_TOO_LARGE.

    Parameters
    ----------
    metadata : str
        Of the application's own.
    most : int
        ``offset.metadata.max.bytes``, which in spite of its name counts Java's characters, UTF-16 units.

    Examples
    --------
    >>> metadata_fits("é" * 4096), metadata_fits("x" * 4097)
    (True, False)

    References
    ----------
    Apache Kafka: ``GroupMetadataManager.validateOffsetMetadataLength`` (0.9 to 3.9), since 4.0
    ``OffsetMetadataManager.isMetadataInvalid``.
    """
    return len(utf16_key(metadata)) <= 2 * most
