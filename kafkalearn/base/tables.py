"""Render rows as tables: in a notebook, on a page without pandas, in a terminal.

`table` is for every simulator's rows: a DataFrame where pandas is, else a `PlainTable` that looks the same. Of rows of
plain dictionaries `text_table` makes text in columns, `markdown_table` Markdown, `html_table` the look of a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module
from importlib.util import find_spec
from numbers import Number
from typing import Any, TypeGuard

from kafkalearn.base.checks import LARGEST_LONG, iterable, one_of
from kafkalearn.base.errors import KafkaLearnError, listed, shown
from kafkalearn.base.marked import Marked

__all__ = [
    "PlainTable",
    "table",
    "text_table",
]


# On a page: words to the left, numbers to the right, long numbers with separators.

MOST_ROWS = 60  # a page shows the first and the last half of so many


def html_table(columns: Sequence[str], labels: Sequence[object] | None, rows: Sequence[Sequence[object]]) -> str:
    """An HTML table; every value is escaped, and one that is `Marked` has its code and its stress.

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
    """Format a value for a reader: nothing for a missing one, yes and no, separators in numbers of five digits.

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
    text = value.html if isinstance(value, Marked) else escape(cell_text(value), quote=False)
    return text.replace("$", "&#36;")  # else a page takes dollars for mathematics


def _side(values: Sequence[object]) -> str:
    present = [value for value in values if value is not None and value == value]
    return "right" if present and all(_is_number(value) for value in present) else "left"


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, Number) and not isinstance(value, bool | complex)


def _is_whole(value: object) -> TypeGuard[int]:
    return _is_number(value) and hasattr(value, "__index__")


# In a terminal.


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
    lines = [[*map(_text, cells)] for cells in (columns_of(rows), *(row.values() for row in rows))]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = ([cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in lines)
    return "\n".join("  ".join(cells).rstrip() for cells in padded)


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


# As Markdown.


def markdown_table(rows: Iterable[Mapping[str, object]], columns: Iterable[str] = ()) -> str:
    """A table with a line for each row; whole numbers with commas, a bar in a cell does not end it.

    Parameters
    ----------
    rows : iterable of mapping
        All with the same keys, which become the heading.
    columns : iterable of str, optional
        The heading where there is no row.

    Raises
    ------
    KafkaLearnError
        If a row has other keys than the first.

    Examples
    --------
    >>> print(markdown_table([{"rule": "a|b", "records": 50000000}]))
    | rule | records |
    | --- | --- |
    | a\\|b | 50,000,000 |
    """
    rows = list(rows)
    heading = columns_of(rows) or tuple(columns)
    lines = [heading, ["---"] * len(heading), *([_markdown_cell(value) for value in row.values()] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _markdown_cell(value: object) -> str:
    text = f"{value:,}" if type(value) is int else value.markdown if isinstance(value, Marked) else str(value)
    return text.replace("|", "\\|")


# One table for every simulator's rows.


@dataclass(frozen=True, slots=True)
class PlainTable:
    """Rows, their columns and what each row is called; shown by notebooks and pages as pandas would show it.

    Attributes
    ----------
    columns : tuple of str
        The heading.
    rows : tuple of tuple
        The values, in the order of the columns.
    labels : tuple of object, or None
        What each row is called.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    labels: tuple[object, ...] | None = None

    def __len__(self) -> int:
        """How many rows."""
        return len(self.rows)

    def _repr_html_(self) -> str:
        return html_table(self.columns, self.labels, self.rows)

    def __repr__(self) -> str:
        """The table as text."""
        heading, lines = self.columns, self.rows
        if self.labels is not None:
            heading = ("", *self.columns)
            lines = tuple((label, *row) for label, row in zip(self.labels, self.rows, strict=True))
        return text_table(dict(zip(heading, map(cell_text, line), strict=True)) for line in lines)


def table(
    rows: object,
    *,
    label: str | Sequence[object] | None = None,
    columns: Sequence[str] | Mapping[str, str] | None = None,
) -> object:
    """A table to look at: words to the left, numbers to the right, long numbers with separators.

    Parameters
    ----------
    rows : iterable of mapping, mapping of label to mapping, or DataFrame
        Rows by column. A mapping names each row; so does the index of a pandas DataFrame, if it has a name or is no
        plain count. A Spark DataFrame is collected.
    label : str or sequence, optional
        The column that names the rows, or their names.
    columns : sequence of str, or mapping of str to str, optional
        The columns wanted, in order; a mapping gives each the words that stand above it.

    Returns
    -------
    pandas.DataFrame or PlainTable
        The first where pandas is installed, with the whole of its methods.

    Raises
    ------
    KafkaLearnError
        If these are no rows, a column is not there, or there are more names than rows or fewer.

    Examples
    --------
    >>> table([{"group": "billing", "lag": 12000}, {"group": "audit", "lag": 0}], label="group")
               lag
    group
    billing  12000
    audit        0
    """
    to_pandas = getattr(rows, "toPandas", None)  # Spark's
    if callable(to_pandas):
        rows = to_pandas()
    plain = _plain(rows)
    if isinstance(label, str):
        plain = _named_by(plain, label)
    elif label is not None:
        plain = _with_labels(plain, tuple(label))
    if columns is not None:
        plain = _chosen(plain, columns)
    if find_spec("pandas") is None:
        return plain
    frame = import_module("kafkalearn.base.frame")  # it imports pandas, which takes a second
    return frame.as_frame(plain, name=label if isinstance(label, str) else None)


def _plain(rows: object) -> PlainTable:
    if callable(getattr(rows, "itertuples", None)):
        return _of_frame(rows)
    if isinstance(rows, Mapping):
        return _with_labels(_of_mappings(list(rows.values())), tuple(rows))
    if isinstance(rows, str | bytes) or not isinstance(rows, Iterable):
        raise KafkaLearnError(f"a table is made of rows, each a mapping of column to value; got {type(rows).__name__}")
    return _of_mappings(list(rows))


def _of_frame(frame: Any) -> PlainTable:  # pandas', which need not be there
    plain = PlainTable(tuple(map(str, frame.columns)), tuple(frame.itertuples(index=False, name=None)))
    is_count = type(frame.index).__name__ == "RangeIndex" and frame.index.name is None
    return plain if is_count else _with_labels(plain, tuple(frame.index))


def _of_mappings(rows: list[object]) -> PlainTable:
    mappings: list[Mapping[object, object]] = []
    for row in rows:
        if not isinstance(row, Mapping):
            raise KafkaLearnError(f"a row is a mapping from column to value; got {type(row).__name__}")
        mappings.append(row)
    columns = tuple(dict.fromkeys(name for row in mappings for name in row))
    values = tuple(tuple(row.get(name) for name in columns) for row in mappings)
    return PlainTable(tuple(map(str, columns)), values)


def _with_labels(plain: PlainTable, labels: tuple[object, ...]) -> PlainTable:
    if len(labels) != len(plain.rows):
        raise KafkaLearnError(f"{len(labels)} names for {len(plain.rows)} rows: each row needs one")
    return PlainTable(plain.columns, plain.rows, labels)


def _named_by(plain: PlainTable, name: str) -> PlainTable:
    at = _place(plain, name)
    rows = tuple(row[:at] + row[at + 1 :] for row in plain.rows)
    return PlainTable(plain.columns[:at] + plain.columns[at + 1 :], rows, tuple(row[at] for row in plain.rows))


def _chosen(plain: PlainTable, columns: Sequence[str] | Mapping[str, str]) -> PlainTable:
    if not isinstance(columns, Mapping):
        columns = {name: name for name in iterable("columns", columns, of="names")}
    places = [_place(plain, name) for name in columns]
    rows = tuple(tuple(row[at] for at in places) for row in plain.rows)
    return PlainTable(tuple(columns.values()), rows, plain.labels)


def _place(plain: PlainTable, name: str) -> int:
    return plain.columns.index(one_of("column", name, plain.columns))
