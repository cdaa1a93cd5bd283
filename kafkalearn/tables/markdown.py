"""Rows of plain dictionaries as a table of Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafkalearn.tables.text import columns_of


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
    lines = [heading, ["---"] * len(heading), *([_cell(value) for value in row.values()] for row in rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _cell(value: object) -> str:
    text = f"{value:,}" if type(value) is int else str(value)
    return text.replace("|", "\\|")
