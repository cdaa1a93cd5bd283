"""A layout walked with a reader: bytes to the fields of a message, by name.

The reader names the field and the byte where something does not fit: too few bytes, a length that cannot be, text
that is no UTF-8, a tagged field of another size than it says.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode

from kafkalearn.wire.fields import BYTES, INT8, INT16, INT32, STRING, UUID, Array, Field, Kind, Layout, Structure
from kafkalearn.wire.reader import NUMBERS, Reader, Undecodable

LONGEST_STRING = 0x7FFF  # bytes
UNKNOWN_TAGS = "_unknownTags"  # in a decoded structure: the tagged fields that no layout knows, tag -> bytes


def read_fields(reader: Reader, structure: Structure, version: int) -> dict[str, object]:
    """The fields of a structure by name; a tagged one is there only if it was written."""
    values: dict[str, object] = {}
    for field in structure.plain(version):
        reader.path.append(f".{field.name}")
        values[field.name] = _read(reader, field.kind, version, field.is_nullable)
        reader.path.pop()
    if reader.is_flexible:
        values |= _read_tagged(reader, structure, version)
    return values


def _read_tagged(reader: Reader, structure: Structure, version: int) -> dict[str, object]:
    known = {field.tag: field for field in structure.tagged(version)}
    found: dict[int, object] = {}
    unknown: dict[int, bytes] = {}
    reader.path.append(".tagged fields")
    for _ in range(reader.varint("count")):
        tag, start = reader.varint("tag"), reader.position
        if tag in found or tag in unknown:
            raise reader.error(f"tag {tag} at byte {start} is there twice", start)
        if tag in known:
            found[tag] = _read_tagged_field(reader, known[tag], version)
        else:
            unknown[tag] = _read_unknown(reader)
    reader.path.pop()
    values = {known[tag].name: found[tag] for tag in sorted(found)}
    return values | ({UNKNOWN_TAGS: unknown} if unknown else {})


def _read_tagged_field(reader: Reader, field: Field, version: int) -> object:
    outside, reader.path = reader.path, [*reader.path[:-1], f".{field.name}"]
    size = reader.varint("size")
    start = reader.position
    if isinstance(field.kind, Structure) and field.is_nullable:  # among tagged fields, null is 0 and not -1
        value = read_fields(reader, field.kind, version) if reader.varint("presence") else None
    else:
        value = _read(reader, field.kind, version, field.is_nullable)
    if reader.position != start + size:
        raise reader.error(f"size says {size} bytes from byte {start} on, it took {reader.position - start}", start)
    reader.path = outside
    return value


def _read_unknown(reader: Reader) -> bytes:
    size, start = reader.varint("size"), reader.position
    value = reader.raw(size)
    reader.passed(start, "value", BYTES, value)
    return value


def _read(reader: Reader, kind: Kind, version: int, is_nullable: bool) -> object:
    match kind:
        case Array(of):
            return _read_array(reader, of, version, is_nullable)
        case Structure():
            return _read_structure(reader, kind, version, is_nullable)
        case _ if kind in NUMBERS:
            return reader.number(kind)
        case _ if kind == UUID:
            return _read_uuid(reader)
    return _read_text_or_bytes(reader, kind, is_nullable)


def _read_array(reader: Reader, of: Kind, version: int, is_nullable: bool) -> list | None:
    count = _read_length(reader, "count", INT32, is_nullable)
    if count is None:
        return None
    left = len(reader.data) - reader.position
    if count > left:  # every element takes a byte at least: do not start on a billion of them
        raise reader.error(f"count says {count} elements, {left} bytes are left at byte {reader.position}")
    values = []
    for index in range(count):
        reader.path.append(f"[{index}]")
        values.append(_read(reader, of, version, is_nullable=False))
        reader.path.pop()
    return values


def _read_structure(reader: Reader, structure: Structure, version: int, is_nullable: bool) -> dict | None:
    if is_nullable:
        start = reader.position
        mark = reader.number(INT8, "presence")
        if mark == -1:
            return None
        if mark != 1:
            raise reader.error(f"presence at byte {start} is {mark}; it must be 1, or -1 for null", start)
    return read_fields(reader, structure, version)


def _read_uuid(reader: Reader) -> str:
    start = reader.position
    value = urlsafe_b64encode(reader.raw(16)).decode().rstrip("=")
    reader.passed(start, "value", UUID, value)
    return value


def _read_text_or_bytes(reader: Reader, kind: str, is_nullable: bool) -> str | bytes | None:
    length = _read_length(reader, "length", INT16 if kind == STRING else INT32, is_nullable)
    if length is None:
        return None
    start = reader.position
    if kind == STRING and length > LONGEST_STRING:
        raise reader.error(f"length before byte {start} is {length}; a string has at most {LONGEST_STRING} bytes")
    value = reader.raw(length)
    if kind == STRING:
        try:
            value = value.decode("utf-8")
        except UnicodeDecodeError as error:
            at = start + error.start
            raise reader.error(f"byte {at} is no UTF-8 ({error.reason}); text from byte {start} on", at) from None
    reader.passed(start, "value", kind, value)
    return value


def _read_length(reader: Reader, role: str, fixed: str, is_nullable: bool) -> int | None:
    """A length or count; None for null. Flexible versions write one more, so that 0 can stand for null."""
    start = reader.position
    length = reader.varint(role) - 1 if reader.is_flexible else reader.number(fixed, role)
    if length >= 0:
        return length
    if length == -1 and is_nullable:
        return None
    what = "null, which this field cannot be" if length == -1 else f"{length}"
    raise reader.error(f"{role} at byte {start} is {what}", start)


def read_message(reader: Reader, layout: Layout, version: int) -> dict[str, object]:
    """The fields of a message from the reader's position on, in a version that the layout knows."""
    reader.is_flexible = layout.is_flexible(version)
    return read_fields(reader, layout.body, version)


def refuse_rest(reader: Reader) -> None:
    """Pass in silence if every byte was read; else there are more bytes than fields, and `Undecodable` says where."""
    rest = len(reader.data) - reader.position
    if rest:
        follow = "1 more byte follows" if rest == 1 else f"{rest} more bytes follow"
        raise Undecodable(
            f"{reader.name}: the message ends before byte {reader.position}, {follow}", "", reader.position
        )
