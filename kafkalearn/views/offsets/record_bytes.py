"""A record of ``__consumer_offsets`` byte by byte: a picture, a sentence, plain text.

`record_bytes` takes a record apart into a trace, one field a step:
``play(record_bytes(key, value), draw_record_bytes, describe_record_bytes)``.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafkalearn.errors import KafkaLearnError
from kafkalearn.offsets.records.codec import decode, dissect
from kafkalearn.phrases import capitalised, counted
from kafkalearn.trace import Frame, Trace, run
from kafkalearn.views.drawing.picture import Picture, picture
from kafkalearn.views.drawing.style import BODY, EMPTY, INK, MARK, MUTED, READ, SMALL, TITLE, WIDTH, Fill
from kafkalearn.views.drawing.svg import filled, line, outlined, rect, text, words_at
from kafkalearn.wire.reader import Piece

LEFT, COLUMNS, CELL_WIDTH, CELL_HEIGHT, ROW_GAP = 25, 22, 43, 36, 8
MOST_BYTES = 220  # of key or value; a longer one does not fit a page


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
    of_key, of_value = dissect(key, value)
    sizes = len(key), len(value or b"")
    if max(sizes) > MOST_BYTES:
        raise KafkaLearnError(f"key and value may have {MOST_BYTES} bytes in a picture, got {sizes[0]} and {sizes[1]}")
    fields = [Field("key", piece) for piece in of_key] + [Field("value", piece) for piece in of_value]
    fields = [each for each in fields if each.piece.stop > each.piece.start]
    return run(_take, None, RecordBytes(key, value), fields)


def _take(settings: None, record: RecordBytes, field: Field) -> RecordBytes:
    return RecordBytes(record.key, record.value, (*record.read, field))


def draw_record_bytes(frame: Frame[RecordBytes, Field], before: Frame[RecordBytes, Field] | None = None) -> Picture:
    """One moment of reading a record, drawn: bytes in hex, what has been read filled, the last field marked.

    >>> draw_record_bytes(record_bytes(bytes.fromhex("0002000a746573742d67726f7570"), None)[1]).label
    'Key, bytes 0 to 1: 00 02 is the record type, 2: group metadata.'
    """
    record, top, parts = frame.state, 86.0, []
    for part in ("key", "value"):
        data = getattr(record, part)
        shapes, top = _part(record, part, data, top, frame.event)
        parts += [shapes]
    words = describe_record_bytes(frame, before)
    return picture(
        top + 96,
        text(LEFT, 38, "One record of __consumer_offsets", TITLE, bold=True),
        *parts,
        line(LEFT, top + 4, WIDTH - LEFT, top + 4, MUTED, 1),
        *_caption(frame.event, top + 38),
        label=words,
    )


def _part(record: RecordBytes, part: str, data: bytes | None, top: float, now: Field | None) -> tuple[str, float]:
    if data is None:
        shapes = [text(LEFT, top, "value: null, a tombstone", BODY, bold=True)]
        return "\n".join(shapes), top + 40
    read = [each.piece for each in record.read if each.part == part]
    done = max((piece.stop for piece in read), default=0)
    places = [_place(top + 12, index) for index in range(len(data))]
    boxes = [(x, y, CELL_WIDTH, CELL_HEIGHT) for x, y in places]
    marks = []
    if now is not None and now.part == part:
        marks = [
            rect(x + 1, y + 1, CELL_WIDTH - 2, CELL_HEIGHT - 2, stroke=MARK, stroke_width=4)
            for x, y in places[now.piece.start : now.piece.stop]
        ]
    rows = -(-len(data) // COLUMNS)
    return "\n".join(
        [
            text(LEFT, top, f"{part}: {counted(len(data), 'byte')}", BODY, bold=True),
            filled(Fill(READ, ""), *boxes[:done]),
            filled(Fill(EMPTY, ""), *boxes[done:]),
            outlined(*boxes),
            words_at(
                [(x + CELL_WIDTH / 2, y + 24, f"{byte:02x}") for (x, y), byte in zip(places, data, strict=True)], BODY
            ),
            *marks,
        ]
    ), top + 12 + rows * (CELL_HEIGHT + ROW_GAP) + 32


def _place(top: float, index: int) -> tuple[float, float]:
    row, column = divmod(index, COLUMNS)
    return LEFT + column * CELL_WIDTH, top + row * (CELL_HEIGHT + ROW_GAP)


def _caption(now: Field | None, top: float) -> list[str]:
    if now is None:
        return [text(LEFT, top, "Nothing is read yet.", BODY)]
    piece = now.piece
    kind = f"{piece.kind}, {counted(piece.stop - piece.start, 'byte')} of the {now.part}"
    return [
        text(LEFT, top, f"{_name(piece)} = {_value(piece)}", TITLE, colour=MARK, bold=True),
        text(LEFT, top + 32, kind, SMALL + 2, colour=INK),
    ]


def _name(piece: Piece) -> str:
    if not piece.field:
        return piece.role
    return piece.field if piece.role == "value" else f"{piece.field}, {piece.role}"


def _value(piece: Piece) -> str:
    if isinstance(piece.value, bytes):
        return piece.value.hex(" ")
    words = str(piece.value)
    return words if len(words) <= 48 else f"{words[:45]}..."


def describe_record_bytes(frame: Frame[RecordBytes, Field], before: Frame[RecordBytes, Field] | None = None) -> str:
    """What has just been read, in a sentence."""
    record, now = frame.state, frame.event
    if now is None:
        of_value = "a null value" if record.value is None else f"a value of {len(record.value)}"
        return f"A record with a key of {counted(len(record.key), 'byte')} and {of_value}. Nothing is read yet."
    piece = now.piece
    data = (record.key if now.part == "key" else record.value)[piece.start : piece.stop]
    where = f"byte {piece.start}" if len(data) == 1 else f"bytes {piece.start} to {piece.stop - 1}"
    shown = data.hex(" ") if len(data) <= 12 else f"{data[:12].hex(' ')} ..."
    words = f"{capitalised(now.part)}, {where}: {shown} is the {_name(piece)}, {_value(piece)}"
    if piece.role == "record type":
        return f"{words}: {decode(record.key, None).type.words}."
    return f"{words}."


def record_bytes_text(trace: Trace[RecordBytes, Field]) -> str:
    """A whole record in plain text, one field a line."""
    lines = []
    for frame in trace[1:]:
        now, piece = frame.event, frame.event.piece
        data = (frame.state.key if now.part == "key" else frame.state.value)[piece.start : piece.stop]
        lines.append(f"{now.part:5} {piece.start:3}  {data.hex(' '):48}  {_name(piece)} = {_value(piece)}")
    if trace[0].state.value is None:
        lines.append("value null: a tombstone")
    return "\n".join(lines)
