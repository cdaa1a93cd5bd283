"""Log lines of brokers and clients, pasted or dropped: each rebalance in them, its cause, and what would avoid it."""

from __future__ import annotations

import io
from collections.abc import Mapping
from html import escape

from kafkalearn.answers import why
from kafkalearn.errors import KafkaLearnError
from kafkalearn.page.playground.fields import settings_field, text_field
from kafkalearn.versions.releases import DEFAULT_RELEASE

MOST_LETTERS = 20_000_000


def explain(fields: Mapping[str, object]) -> dict[str, object]:
    """What the lines say of groups, as `kafkalearn.answers.why` answers.

    Parameters
    ----------
    fields : mapping
        ``lines``: of any logs, together; ``group``: only this one, or nothing; ``zone``: of times that say none;
        ``settings``: of the consumers, lines of ``name = value``; ``release``: whose defaults.

    Returns
    -------
    dict
        ``text``: the answer; ``html``: for each rebalance the lines that it was seen by.

    Examples
    --------
    >>> explain({"lines": "INFO started"})["text"][:30]
    'Nothing about groups in 1 line'
    """
    lines = str(fields.get("lines") or "")
    if not lines.strip():
        raise KafkaLearnError("there are no lines: paste some of a broker's or a client's log, or drop the file")
    if len(lines) > MOST_LETTERS:
        raise KafkaLearnError(f"lines may have {MOST_LETTERS:,} characters here, got {len(lines):,}")
    found = why(
        io.StringIO(lines),
        group=text_field(fields, "group") or None,
        zone=text_field(fields, "zone", "UTC"),
        settings=settings_field(fields, "settings") or None,
        release=text_field(fields, "release", DEFAULT_RELEASE),
    )
    seen = [
        f"<li>{escape(each.words)}<pre>{escape(chr(10).join(line.text for line in each.evidence))}</pre></li>"
        for each in found.rebalances
    ]
    listed = f"<details><summary>The lines it was seen by</summary><ol>{''.join(seen)}</ol></details>" if seen else ""
    return {"text": str(found), "html": listed}
