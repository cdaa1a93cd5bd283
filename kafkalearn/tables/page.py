"""The look of a table on a page: words to the left, numbers to the right, long numbers with separators."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from numbers import Number
from typing import TypeGuard

from kafkalearn.arguments import LARGEST_LONG
from kafkalearn.phrases import shown

MOST_ROWS = 60  # a page shows the first and the last half of so many


def html_table(columns: Sequence[str], labels: Sequence[object] | None, rows: Sequence[Sequence[object]]) -> str:
    """An HTML table; every value is escaped.

    Parameters
    ----------
    columns : sequence of str
        The heading, without the labels' own.
    labels : sequence of object or None
        What stands before each row.
    rows : sequence of sequence
        The values.

    Examples
    --------
    >>> html_table(["offset"], None, [[12345]]).splitlines()[-3]
    '<tr><td style="text-align:right">12,345</td></tr>'
    """
    sides = [_side([row[at] for row in rows]) for at in range(len(columns))]
    label_cell = "" if labels is None else '<th style="text-align:left"></th>'
    heads = [f'<th style="text-align:{side}">{_cell(name)}</th>' for name, side in zip(columns, sides, strict=True)]
    lines = ['<table class="dataframe" border="0">', f"<thead><tr>{label_cell}{''.join(heads)}</tr></thead>", "<tbody>"]
    half = MOST_ROWS // 2
    for number, row in enumerate(rows):
        if len(rows) > MOST_ROWS and half <= number < len(rows) - half:
            if number == half:
                lines.append(f'<tr><td colspan="{len(columns) + (labels is not None)}">…</td></tr>')
            continue
        label = "" if labels is None else f'<th style="text-align:left">{_cell(labels[number])}</th>'
        pairs = zip(row, sides, strict=True)
        cells = [f'<td style="text-align:{side}">{_cell(value)}</td>' for value, side in pairs]
        lines.append(f"<tr>{label}{''.join(cells)}</tr>")
    lines += ["</tbody>", "</table>"]
    return "\n".join(lines) + (f"\n<p>{len(rows):,} rows</p>" if len(rows) > MOST_ROWS else "")


def cell_text(value: object) -> str:
    """A value as a reader sees it: nothing for a missing one, yes and no, separators in numbers of five digits.

    >>> cell_text(1234567), cell_text(None), cell_text(True), cell_text(0.5), cell_text(2013)
    ('1,234,567', '', 'yes', '0.5', '2013')
    """
    if value is None or value != value:  # NaN, and pandas' NaT
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if _is_whole(value):
        if abs(value) > LARGEST_LONG:
            return shown(value)
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    if _is_number(value):
        return f"{value:,.6g}" if abs(value) < 10_000 else f"{value:,.0f}"
    return str(value)


def _cell(value: object) -> str:
    return escape(cell_text(value), quote=False).replace("$", "&#36;")  # else a page takes dollars for mathematics


def _side(values: Sequence[object]) -> str:
    present = [value for value in values if value is not None and value == value]
    return "right" if present and all(_is_number(value) for value in present) else "left"


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, Number) and not isinstance(value, bool | complex)


def _is_whole(value: object) -> TypeGuard[int]:
    return _is_number(value) and hasattr(value, "__index__")
