"""Rows of plain dictionaries as text in columns, for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kafkalearn.errors import KafkaLearnError
from kafkalearn.phrases import listed, shown


def text_table(rows: Iterable[Mapping[str, object]]) -> str:
    """A table with a line for each row, its columns as wide as needed; "nothing" if there is no row.

    Parameters
    ----------
    rows : iterable of mapping
        All with the same keys, which become the heading.

    Raises
    ------
    KafkaLearnError
        If a row has other keys than the first.

    Examples
    --------
    >>> print(text_table([{"setting": "acks", "old": "1"}, {"setting": "linger.ms", "old": "0"}]))
    setting    old
    acks       1
    linger.ms  0
    """
    rows = list(rows)
    if not rows:
        return "nothing"
    lines = [[*map(_text, columns_of(rows))], *([*map(_text, row.values())] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )


def columns_of(rows: Sequence[Mapping[str, object]]) -> tuple[str, ...]:
    """The keys that all rows have; none of no rows.

    Raises
    ------
    KafkaLearnError
        If a row has other keys than the first.
    """
    heading = tuple(rows[0]) if rows else ()
    for number, row in enumerate(rows):
        if tuple(row) != heading:
            own, first = listed(map(_text, row)), listed(map(_text, heading))
            raise KafkaLearnError(f"row {number} has the columns {own}; those of row 0 are {first}")
    return heading


def _text(value: object) -> str:
    try:
        return str(value)
    except ValueError:  # of a number that Python does not write out
        return shown(value)
