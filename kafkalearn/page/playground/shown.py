"""What several parts show: a run as the player takes it, tables, and lines of text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from kafkalearn.tables.page import html_table
from kafkalearn.views.drawing.frames import Animation


def played(animation: Animation) -> dict[str, object]:
    """A drawn run for the page's player."""
    return {"animation": json.loads(animation.payload), "start": animation.start}


def rows_html(rows: Sequence[Mapping[str, object]]) -> str:
    """Rows by column as a table; nothing for no rows.

    >>> rows_html([]), rows_html([{"client": "<b>"}]).count("&lt;b&gt;")
    ('', 1)
    """
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return html_table(columns, None, [[row.get(name) for name in columns] for row in rows]) if rows else ""
