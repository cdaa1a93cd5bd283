"""A small table as a picture: what a cell says is its colour, so that a row or a column is seen at one glance."""

from __future__ import annotations

import re
from collections.abc import Mapping

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.drawing import svg
from kafkalearn.drawing.kit import WIDE, Block, beside, chip, free, label, sheet, space, stack
from kafkalearn.drawing.player import Picture

NAMES, LINE, ROW, HIGHEST = 300, 19, 44, 500  # pixels: names of rows, a line of a head, a row, and all rows, at most
MEANS = {"lost": svg.LOST, "ghost": svg.LOST, "twice": svg.TWICE, "none": svg.COMMITTED, "right": svg.COMMITTED}


def draw_grid(rows: Mapping[str, Mapping[str, object]], *, corner: str = "") -> Picture:
    """A row for each name, a cell for each column, in a colour for what it says.

    A cell that says "lost", "ghost", "twice", "none" or "right" has the colour that this has in every picture. Where no
    cell does, what is the same has the same colour.

    Parameters
    ----------
    rows : mapping of str to mapping
        By the name of a row what stands in its columns, as `kafkalearn.base.tables.table` takes it.
    corner : str
        What the names of the rows are.

    Raises
    ------
    KafkaLearnError
        If there is no cell, rows have other columns than the first, or more different things are said than there are
        colours.

    Examples
    --------
    >>> draw_grid({"12 h": {"sleeps 11 h": "right", "sleeps 13 h": "ghost"}}).label
    '12 h: sleeps 11 h right, sleeps 13 h ghost'
    """
    columns = list(next(iter(rows.values()), ()))
    if not columns or any(list(each) != columns for each in rows.values()):
        raise KafkaLearnError(f"rows must have the same columns, at least one, got {dict(rows)!r}")
    looks = _looks(sorted({str(each) for cells in rows.values() for each in cells.values()}))
    names = min(NAMES, svg.name_width([*rows, corner]) + 12)
    unit, high = (WIDE - names) / len(columns), min(ROW, HIGHEST / len(rows))
    heads = [_lines(each, int(unit / svg.LETTER) - 2) for each in columns]  # bold letters are wider
    foot = LINE * max(map(len, heads))

    def head(lines: list[str]) -> Block:
        def draw(x: float, y: float) -> list[str]:
            tops = [y + foot - LINE * (len(lines) - 1 - at) for at in range(len(lines))]
            placed = [(x + unit / 2, top, words) for top, words in zip(tops, lines, strict=True)]
            return [svg.words_at(placed, svg.SMALL, font_weight="bold")]

        return free(unit, foot + 10, draw)

    def cell(words: str) -> Block:
        return free(unit, high, chip([words], looks[words], width=unit - 4, height=high - 4).at(2, 2))

    called = label(corner, colour=svg.MUTED, width=names)
    page = stack(
        beside(free(names, foot + 10, called.at(0, foot - called.height * 7 / 9)), *map(head, heads)),
        *(
            beside(label(name, width=names - 12), space(12), *(cell(str(each)) for each in words.values()))
            for name, words in rows.items()
        ),
    )
    return sheet(page, "; ".join(_said(name, cells) for name, cells in rows.items()))


def _looks(words: list[str]) -> dict[str, svg.Fill]:
    meant = {each: [MEANS[word] for word in re.findall(r"\w+", each) if word in MEANS] for each in words}
    if any(meant.values()):
        return {each: fills[0] if fills else svg.NOTHING for each, fills in meant.items()}
    if len(words) > len(svg.FILLS):
        raise KafkaLearnError(f"a grid has colours for {len(svg.FILLS)} different things, got {', '.join(words)}")
    return dict(zip(words, svg.FILLS, strict=False))


def _lines(words: str, most: int) -> list[str]:
    """A head in one line or two, which may also part behind a hyphen."""
    return [words] if len(words) <= most else svg.two_lines(words.replace("-", "- "), most)


def _said(name: str, cells: Mapping[str, object]) -> str:
    return f"{name}: {', '.join(f'{column} {each}' for column, each in cells.items())}"
