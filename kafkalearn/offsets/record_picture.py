"""A record of ``__consumer_offsets`` byte by byte: a picture, a sentence, plain text.

`record_bytes` takes a record apart into a trace, one field a step; in a group's record the subscriptions and
assignments of its members, too: ``play(record_bytes(key, value), draw_record_bytes, describe_record_bytes)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from textwrap import wrap

from kafkalearn.base.errors import KafkaLearnError, capitalised, counted
from kafkalearn.base.trace import Frame, Trace, run
from kafkalearn.drawing import svg
from kafkalearn.drawing.player import Picture, picture
from kafkalearn.formats.wire import Piece
from kafkalearn.offsets.protocol import dissect_members
from kafkalearn.offsets.records import decode

# Where the bytes stand, and where the names of their fields: rows of cells, names below.

LEFT, COLUMNS, CELL_WIDTH, CELL_HEIGHT = 20, 32, 30, 28
NAME_HEIGHT, ROW_GAP = 17, 7
_LETTER = 0.53 * svg.SMALL
_NAME_GAP = 4


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a field below its first byte: one piece or several that belong to it."""

    words: str
    x: float
    row: int
    line: int  # 0 right below the bytes; more where the line above has no room
    first_piece: int


@dataclass(frozen=True, slots=True)
class Layout:
    """Places for the key or the value."""

    tops: tuple[float, ...]  # of each row of bytes
    names: tuple[Name, ...]
    bottom: float

    def cell(self, index: int) -> svg.Box:
        """Where a byte stands."""
        row, column = divmod(index, COLUMNS)
        return LEFT + column * CELL_WIDTH, self.tops[row], CELL_WIDTH, CELL_HEIGHT

    def boxes(self, piece: Piece) -> list[svg.Box]:
        """The outlines of some bytes: one, or one for each row that they reach into."""
        rows = groupby(range(piece.start, piece.stop), key=lambda index: index // COLUMNS)
        parts = [list(indices) for _, indices in rows]
        return [(*self.cell(each[0])[:2], len(each) * CELL_WIDTH, CELL_HEIGHT) for each in parts]

    def name_height(self, name: Name) -> float:
        """The base line of a name."""
        return self.tops[name.row] + CELL_HEIGHT + 14 + name.line * NAME_HEIGHT


def lay_out(pieces: Sequence[Piece], top: float) -> Layout:
    """The places of all pieces of a key or value, the first row at `top`."""
    names = _names(pieces)
    row_count = -(-max((piece.stop for piece in pieces), default=0) // COLUMNS)
    tops = []
    for row in range(row_count):
        tops.append(top)
        lines = 1 + max((name.line for name in names if name.row == row), default=-1)
        top += CELL_HEIGHT + lines * NAME_HEIGHT + ROW_GAP
    return Layout(tuple(tops), tuple(names), top)


def short_name(piece: Piece) -> str:
    """The last part of a field's name, or what the bytes are if they belong to no field."""
    if piece.role == "record type":
        return "type"
    name = piece.field.rpartition(".")[2] or piece.role
    return "tags" if name == "tagged fields" else name


def _names(pieces: Sequence[Piece]) -> list[Name]:
    names: list[Name] = []
    free: dict[tuple[int, int], float] = {}  # row and line to where the next name may begin
    for (_, words), group in groupby(enumerate(pieces), key=lambda pair: (pair[1].field, short_name(pair[1]))):
        number, piece = next(group)
        row, column = divmod(piece.start, COLUMNS)
        width = svg.text_width(words, _LETTER)
        x = min(LEFT + column * CELL_WIDTH + 2, svg.WIDTH - LEFT - width)
        line = 0
        while free.get((row, line), 0.0) > x:
            line += 1
        free[row, line] = x + width + _NAME_GAP
        names.append(Name(words, x, row, line, number))
    return names


# The record, and how far it is read.

MOST_BYTES = 220  # of key or value; a longer one does not fit a page
_FIRST_TOP, _PART_HEAD, _LINE_HEIGHT = 26, 10, 26
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
    place = _places(record.key, record.value)
    top = place.of_value.bottom if record.value is not None else place.of_key.bottom + 30
    return picture(
        top + 14 + _LINE_HEIGHT * place.caption_lines + 28,
        *_part(record, "key", place.of_key, frame.event),
        *_part(record, "value", place.of_value, frame.event),
        svg.line(LEFT, top + 4, svg.WIDTH - LEFT, top + 4, svg.FAINT, svg.HAIR),
        *_caption(frame.event, top + 32),
        label=describe_record_bytes(frame, before),
    )


@dataclass(frozen=True, slots=True)
class _Places:
    of_key: Layout
    of_value: Layout
    caption_lines: int  # of the longest


@cache
def _places(key: bytes, value: bytes | None) -> _Places:
    """The same for every moment of a record, so that nothing moves while it is read."""
    fields = _fields(key, value)
    of_key = lay_out([each.piece for each in fields if each.part == "key"], _FIRST_TOP + _PART_HEAD)
    of_value = lay_out([each.piece for each in fields if each.part == "value"], of_key.bottom + 20 + _PART_HEAD)
    return _Places(of_key, of_value, max(len(_caption_lines(each.piece)) for each in fields))


def _part(record: RecordBytes, part: str, places: Layout, now: Field | None) -> list[str]:
    data = record.key if part == "key" else record.value
    if data is None:
        top = _places(record.key, None).of_key.bottom
        return [svg.text(LEFT, top + 20, "value: null, a tombstone", svg.BODY, bold=True)]
    read = [each.piece for each in record.read if each.part == part]
    done = max((piece.stop for piece in read), default=0)
    cells = [places.cell(index) for index in range(len(data))]
    marked = places.boxes(now.piece) if now is not None and now.part == part else []
    letters = [(x + width / 2, y + 19, f"{byte:02x}") for (x, y, width, _), byte in zip(cells, data, strict=True)]
    return [
        svg.text(LEFT, places.tops[0] - _PART_HEAD, f"{part}: {counted(len(data), 'byte')}", svg.BODY, bold=True),
        svg.filled(svg.Fill(svg.READ, ""), *cells[:done]),
        svg.filled(svg.NOTHING, *cells[done:]),
        svg.outlined(*(box for piece in read for box in places.boxes(piece))),
        svg.words_at(letters, svg.SMALL + 1),
        svg.outlined(*marked, stroke=svg.MARK, stroke_width=svg.STRONG),
        *(
            svg.text(
                name.x, places.name_height(name), name.words, svg.SMALL, colour=svg.INK if name.line == 0 else svg.MUTED
            )
            for name in places.names
            if name.first_piece < len(read)
        ),
    ]


def _caption(now: Field | None, top: float) -> list[str]:
    if now is None:
        return [svg.text(LEFT, top, "Nothing is read yet.", svg.BODY)]
    piece, lines = now.piece, _caption_lines(now.piece)
    kind = f"{piece.kind}, {counted(piece.stop - piece.start, 'byte')} of the {now.part}"
    return [
        *(
            svg.text(LEFT, top + number * _LINE_HEIGHT, words, svg.BODY + 2, colour=svg.MARK, bold=True)
            for number, words in enumerate(lines)
        ),
        svg.text(LEFT, top + len(lines) * _LINE_HEIGHT, kind, svg.SMALL + 1, colour=svg.INK),
    ]


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
