"""Bytes to the fields of a message, by name, as a layout says.

Where something does not fit, the error names the field and the byte: too few bytes, a length that cannot be, text
that is no UTF-8, a tagged field of another size than it says.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode

from kafkalearn.phrases import counted
from kafkalearn.wire.fields import BYTES, INT8, INT16, INT32, STRING, UUID, Array, Field, Kind, Layout, Structure
from kafkalearn.wire.reader import NUMBERS, Reader, Undecodable

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
            unknown[tag] = _decode_unknown(reader, where)
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


def _decode_unknown(reader: Reader, where: str) -> bytes:
    size, start = reader.varint(where, "size"), reader.position
    value = reader.raw(size, where)
    reader.passed(start, where, "value", BYTES, value)
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
            what = f"byte {at} is no UTF-8 ({error.reason}); text from byte {start} on"
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
