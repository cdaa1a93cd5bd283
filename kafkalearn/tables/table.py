"""One table for every simulator's rows: a DataFrame where pandas is, else a plain one that looks the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from kafkalearn.arguments import iterable, one_of
from kafkalearn.errors import KafkaLearnError
from kafkalearn.tables.page import cell_text, html_table
from kafkalearn.tables.text import text_table


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
        named = [("",) * (self.labels is not None) + self.columns]
        labels = self.labels or [()] * len(self.rows)
        lines = [((label,) if self.labels else ()) + row for label, row in zip(labels, self.rows, strict=True)]
        return text_table([dict(zip(named[0], map(cell_text, line), strict=True)) for line in lines])


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
    frame = import_module("kafkalearn.tables.frame")  # it imports pandas, which takes a second
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
    at = _place(plain)(name)
    rows = tuple(row[:at] + row[at + 1 :] for row in plain.rows)
    return PlainTable(plain.columns[:at] + plain.columns[at + 1 :], rows, tuple(row[at] for row in plain.rows))


def _chosen(plain: PlainTable, columns: Sequence[str] | Mapping[str, str]) -> PlainTable:
    if not isinstance(columns, Mapping):
        columns = {name: name for name in iterable("columns", columns, of="names")}
    words = dict(columns)
    places = list(map(_place(plain), words))
    return PlainTable(tuple(words.values()), tuple(tuple(row[at] for at in places) for row in plain.rows), plain.labels)


def _place(plain: PlainTable) -> Callable[[str], int]:
    def place(name: str) -> int:
        one_of("column", name, plain.columns)
        return plain.columns.index(name)

    return place
