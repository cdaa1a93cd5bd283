"""Tables no wider than a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from kafkalearn.answers.answer import text_width
from kafkalearn.phrases import counted
from kafkalearn.tables.text import text_table

SHOWN = 12  # rows of a table in words; all are in the data
NAME_WIDTH = 12  # of the first column of a table, at least
LESS_NEEDED = ("an hour", "last commit", "members")  # columns, the first to go before the others


def table(rows: list[dict[str, object]], what: str) -> Iterator[str]:
    """A table no wider than a terminal: columns that do not fit are left to --json, the first one's names are cut."""
    shown = [dict(row) for row in rows[:SHOWN]]
    first, *others = shown[0]
    taken = {name: 2 + max(len(str(each)) for each in (name, *(row[name] for row in shown))) for name in others}
    for name in LESS_NEEDED:
        if name in taken and sum(taken.values()) + NAME_WIDTH > text_width():
            del taken[name]
            shown = [{each: value for each, value in row.items() if each != name} for row in shown]
    longest = max(NAME_WIDTH, text_width() - sum(taken.values()))
    for row in shown:
        row[first] = row[first] if len(row[first]) <= longest else f"{row[first][: longest - 3]}..."
    yield text_table(shown)
    if len(rows) > SHOWN:
        yield f"and {counted(len(rows) - SHOWN, f'more {what}')}; --json has them all"
