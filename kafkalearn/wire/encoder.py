"""Fields to bytes: the reverse of `kafkalearn.wire.decoder`, with the same layouts."""

from __future__ import annotations

from base64 import urlsafe_b64decode
from binascii import Error as Base64Error
from collections.abc import Mapping, Sequence
from typing import Any

from kafkalearn.arguments import text
from kafkalearn.errors import KafkaLearnError, unknown_name
from kafkalearn.phrases import shown
from kafkalearn.wire.decoder import LONGEST_STRING, UNKNOWN_TAGS
from kafkalearn.wire.fields import (
    BOOLEAN,
    INT8,
    INT16,
    INT32,
    REQUIRED,
    STRING,
    UUID,
    Array,
    Field,
    Kind,
    Layout,
    Structure,
)
from kafkalearn.wire.reader import NUMBERS
from kafkalearn.wire.varint import unsigned_varint


def encode_message(layout: Layout, version: int, values: Mapping[str, object]) -> bytes:
    """The bytes of a message without anything in front; what is not given takes its default."""
    return _encode_fields(
        layout.body, version, values, layout.is_flexible(version), f"{layout.name} version {version}: "
    )


def _encode_fields(structure: Structure, version: int, values: object, is_flexible: bool, path: str) -> bytes:
    if not isinstance(values, Mapping):
        raise KafkaLearnError(f"{path}a mapping of field names to values is needed, got {shown(values)}")
    _refuse_other_names(structure, version, values, path)
    parts = []
    for field in structure.plain(version):
        value = _value_of(field, values, path)
        parts.append(_encode(field.kind, version, value, field.is_nullable, is_flexible, path + field.name))
    if is_flexible:
        parts.append(_encode_tagged(structure, version, values, path))
    return b"".join(parts)


def _value_of(field: Field, values: Mapping[str, object], path: str) -> object:
    value = values.get(field.name, field.default)
    if value is REQUIRED:
        raise KafkaLearnError(f"{path}{field.name} is missing; it has no default")
    return value


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
