"""A record of ``__consumer_offsets`` byte by byte: a picture, a sentence, plain text.

`record_bytes` takes a record apart into a trace, one field a step; in a group's record the subscriptions and
assignments of its members, too: ``play(record_bytes(key, value), draw_record_bytes, describe_record_bytes)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from textwrap import wrap

from kafkalearn.base.errors import KafkaLearnError, capitalised, counted
from kafkalearn.base.trace import Frame, Trace, run
from kafkalearn.drawing import svg
from kafkalearn.drawing.axes import Axis
from kafkalearn.drawing.kit import LEFT, WIDE, Block, bar, free, label, rule, sheet, space, stack
from kafkalearn.drawing.player import Picture
from kafkalearn.formats.wire import Piece
from kafkalearn.offsets.protocol import dissect_members
from kafkalearn.offsets.records import decode

# The bytes of a key or value in rows, and below them the names of their fields, which are as wide as they are.

COLUMNS, CELL_HEIGHT, NAME_HEIGHT, ROW_GAP = 32, 28, 17, 7
UNIT = WIDE / COLUMNS  # pixels of a byte
_LETTER = 0.53 * svg.SMALL
_NAME_GAP = 4
DONE = svg.Fill(svg.READ, "")


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a field below its first byte: one piece or several that belong to it."""

    words: str
    x: float  # from where the row begins
    row: int
    line: int  # 0 right below the bytes; more where the line above has no room
    first_piece: int


def short_name(piece: Piece) -> str:
    """The last part of a field's name, or what the bytes are if they belong to no field."""
    if piece.role == "record type":
        return "type"
    name = piece.field.rpartition(".")[2] or piece.role
    return "tags" if name == "tagged fields" else name


def names_of(pieces: Sequence[Piece]) -> tuple[Name, ...]:
    """The names of all pieces of a key or value, each in the first line where it lies on no other."""
    names: list[Name] = []
    ends: dict[tuple[int, int], float] = {}  # row and line to where the next name may begin
    for (_, words), group in groupby(enumerate(pieces), key=lambda pair: (pair[1].field, short_name(pair[1]))):
        number, piece = next(group)
        row, column = divmod(piece.start, COLUMNS)
        width = svg.text_width(words, _LETTER)
        x = min(column * UNIT + 2, WIDE - width)
        line = 0
        while ends.get((row, line), 0.0) > x:
            line += 1
        ends[row, line] = x + width + _NAME_GAP
        names.append(Name(words, x, row, line, number))
    return tuple(names)


def rows_of(data: bytes, read: Sequence[Piece], now: Piece | None, names: Sequence[Name]) -> Block:
    """The bytes in rows: each piece read so far in a box with its name, the one that is read `now` marked."""
    row_count = -(-len(data) // COLUMNS)
    done = max((piece.stop for piece in read), default=0)

    def row(number: int) -> Block:
        axis = Axis(LEFT, number * COLUMNS, min(COLUMNS, len(data) - number * COLUMNS), UNIT)
        own = [each for each in names if each.row == number]
        known = [each for each in own if each.first_piece < len(read)]
        filled = bar([(DONE, axis.x(done) - LEFT), (svg.NOTHING, axis.x(len(data)) - axis.x(done))], height=CELL_HEIGHT)

        def boxes(pieces: Iterable[Piece], y: float) -> list[svg.Box]:
            spans = [(axis.x(each.start), axis.x(each.stop)) for each in pieces]
            return [(begin, y, end - begin, CELL_HEIGHT) for begin, end in spans if begin < end]

        def draw(x: float, y: float) -> list[str]:
            letters = [(axis.middle(at), y + 19, f"{data[at]:02x}") for at in axis.offsets]
            base = y + CELL_HEIGHT + 14
            return [
                *filled.draw(x, y),
                svg.outlined(*boxes(read, y)),
                svg.words_at(letters, svg.SMALL + 1),
                svg.outlined(*boxes([now] if now else [], y), stroke=svg.MARK, stroke_width=svg.STRONG),
                *(
                    svg.text(x + each.x, base + NAME_HEIGHT * each.line, each.words, svg.SMALL, colour=colour)
                    for each in known
                    for colour in (svg.MUTED if each.line else svg.INK,)
                ),
            ]

        lines = 1 + max((each.line for each in own), default=-1)
        return free(WIDE, CELL_HEIGHT + lines * NAME_HEIGHT + ROW_GAP, draw)

    return stack(*map(row, range(row_count)))


# The record, and how far it is read.

MOST_BYTES = 220  # of key or value; a longer one does not fit a page
_LINE_LENGTH = 76  # bold characters of body text in a line, and some room


@dataclass(frozen=True, slots=True)
class Field:
    """One step: some bytes of the key or of the value, and what they are."""

    part: str  # "key" or "value"
    piece: Piece


@dataclass(frozen=True, slots=True)
class RecordBytes:
    """A record and how far it has been read."""

    key: bytes
    value: bytes | None
    read: tuple[Field, ...] = ()


def record_bytes(key: bytes, value: bytes | None) -> Trace[RecordBytes, Field]:
    """A record taken apart, one field a step.

    Raises
    ------
    KafkaLearnError
        If it cannot be read, or has more than 220 bytes in key or value.

    Examples
    --------
    >>> trace = record_bytes(bytes.fromhex("0002000a746573742d67726f7570"), None)
    >>> [frame.event.piece.value for frame in trace[1:]]
    [2, 10, 'test-group']
    """
    fields = _fields(key, value)
    sizes = len(key), len(value or b"")
    if max(sizes) > MOST_BYTES:
        raise KafkaLearnError(f"key and value may have {MOST_BYTES} bytes in a picture, got {sizes[0]} and {sizes[1]}")
    return run(_take, None, RecordBytes(key, value), fields)


def _fields(key: bytes, value: bytes | None) -> list[Field]:
    of_key, of_value = dissect_members(key, value)
    fields = [Field("key", piece) for piece in of_key] + [Field("value", piece) for piece in of_value]
    return [each for each in fields if each.piece.stop > each.piece.start]


def _take(settings: None, record: RecordBytes, field: Field) -> RecordBytes:
    return RecordBytes(record.key, record.value, (*record.read, field))


def draw_record_bytes(frame: Frame[RecordBytes, Field], before: Frame[RecordBytes, Field] | None = None) -> Picture:
    """One moment of reading a record, drawn: bytes in hex; each field read so far in a box, with its name below.

    >>> draw_record_bytes(record_bytes(bytes.fromhex("0002000a746573742d67726f7570"), None)[1]).label
    'Key, bytes 0 to 1: 00 02 is the record type, 2: group metadata.'
    """
    record = frame.state
    caption, high = _caption(frame.event), _caption_height(record.key, record.value)
    page = stack(
        _part(record, "key", frame.event),
        space(height=8),
        _part(record, "value", frame.event),
        rule(),
        space(height=6),
        free(WIDE, high, caption.draw),
    )
    return sheet(page, describe_record_bytes(frame, before))


def _part(record: RecordBytes, part: str, now: Field | None) -> Block:
    """The key or the value, and how far it is read."""
    data = record.key if part == "key" else record.value
    if data is None:
        return label("value: null, a tombstone", svg.BODY, bold=True)
    read = [each.piece for each in record.read if each.part == part]
    current = now.piece if now is not None and now.part == part else None
    head = label(f"{part}: {counted(len(data), 'byte')}", svg.BODY, bold=True)
    return stack(head, rows_of(data, read, current, _names(record.key, record.value, part)), gap=2)


@cache
def _names(key: bytes, value: bytes | None, part: str) -> tuple[Name, ...]:
    """Of all fields, also of those that are not read yet, so that nothing moves while a record is read."""
    return names_of([each.piece for each in _fields(key, value) if each.part == part])


@cache
def _caption_height(key: bytes, value: bytes | None) -> float:
    """Of the longest caption."""
    return max(_caption(each).height for each in _fields(key, value))


def _caption(now: Field | None) -> Block:
    """What has just been read."""
    if now is None:
        return label("Nothing is read yet.", svg.BODY)
    kind = f"{now.piece.kind}, {counted(now.piece.stop - now.piece.start, 'byte')} of the {now.part}"
    lines = (label(words, svg.BODY + 2, svg.MARK, bold=True) for words in _caption_lines(now.piece))
    return stack(*lines, label(kind, svg.SMALL + 1))


def _caption_lines(piece: Piece) -> list[str]:
    return wrap(f"{_name(piece)} = {_value(piece)}", _LINE_LENGTH, drop_whitespace=False) or [""]


def _name(piece: Piece) -> str:
    if not piece.field:
        return piece.role
    return piece.field if piece.role == "value" else f"{piece.field}, {piece.role}"


def _value(piece: Piece) -> str:
    return piece.value.hex(" ") if isinstance(piece.value, bytes) else str(piece.value)


def describe_record_bytes(frame: Frame[RecordBytes, Field], before: Frame[RecordBytes, Field] | None = None) -> str:
    """What has just been read, in a sentence."""
    record, now = frame.state, frame.event
    if now is None:
        of_value = "a null value" if record.value is None else f"a value of {len(record.value)}"
        return f"A record with a key of {counted(len(record.key), 'byte')} and {of_value}. Nothing is read yet."
    piece = now.piece
    data = _bytes_of(record, now)
    where = f"byte {piece.start}" if len(data) == 1 else f"bytes {piece.start} to {piece.stop - 1}"
    kind = f": {decode(record.key, None).type.words}" if piece.role == "record type" else ""
    return f"{capitalised(now.part)}, {where}: {data.hex(' ')} is the {_name(piece)}, {_value(piece)}{kind}."


def _bytes_of(record: RecordBytes, now: Field) -> bytes:
    data = record.key if now.part == "key" else record.value or b""
    return data[now.piece.start : now.piece.stop]
