"""Rows of plain dictionaries as text in columns, for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def text_table(rows: Iterable[Mapping[str, object]]) -> str:
    """A table with a line for each row, its columns as wide as needed; "nothing" if there is no row.

    Parameters
    ----------
    rows : iterable of mapping
        All with the same keys, which become the heading.

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
    lines = [list(rows[0]), *([str(value) for value in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )
