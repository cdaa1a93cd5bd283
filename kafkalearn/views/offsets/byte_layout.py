"""Where the bytes of a record stand in its picture, and where the names of its fields: rows of cells, names below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from kafkalearn.views.drawing.style import SMALL, WIDTH
from kafkalearn.views.drawing.svg import Box
from kafkalearn.wire.reader import Piece

LEFT, COLUMNS, CELL_WIDTH, CELL_HEIGHT = 20, 32, 30, 28
NAME_HEIGHT, ROW_GAP = 17, 7
_LETTER_WIDTH = 0.53 * SMALL
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

    def cell(self, index: int) -> Box:
        """Where a byte stands."""
        row, column = divmod(index, COLUMNS)
        return LEFT + column * CELL_WIDTH, self.tops[row], CELL_WIDTH, CELL_HEIGHT

    def boxes(self, piece: Piece) -> list[Box]:
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
        width = len(words) * _LETTER_WIDTH
        x = min(LEFT + column * CELL_WIDTH + 2, WIDTH - LEFT - width)
        line = 0
        while free.get((row, line), 0.0) > x:
            line += 1
        free[row, line] = x + width + _NAME_GAP
        names.append(Name(words, x, row, line, number))
    return names
