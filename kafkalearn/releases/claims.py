"""Right or dated: what is often written about Kafka, what is true, since when, and the chapter that shows it.

The claims are data, in ``claims.json`` beside this file.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kafkalearn.base.errors import unknown_name
from kafkalearn.base.marked import Marked

__all__ = [
    "Claim",
    "claims",
]


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that readers have read.

    Attributes
    ----------
    says : str
        The claim.
    true : str
        What is so.
    since : str
        Since which release; "always" if it never was as the claim says.
    chapter : str
        The chapter that shows it: ``"07"``.
    subject : str
        Words that stand in that chapter where it is shown.
    """

    says: str
    true: str
    since: str
    chapter: str
    subject: str


@cache
def all_claims() -> tuple[Claim, ...]:
    """Every claim, in the order of the chapters."""
    text = (Path(__file__).parent / "claims.json").read_text(encoding="utf-8")
    return tuple(Claim(**each) for each in json.loads(text))


def claims(chapter: str | None = None) -> list[dict[str, str | Marked]]:
    """Rows for a table: what you may have read, what is true, since when, and the chapter that shows it.

    Parameters
    ----------
    chapter : str, optional
        Only those of one chapter, without the column that names it.

    Returns
    -------
    list of dict
        For `kafkalearn.base.tables.table`.

    Raises
    ------
    KafkaLearnError
        If no claim belongs to such a chapter.

    Examples
    --------
    >>> print(claims("09")[0]["true today"])
    0 to 6; the HW is exclusive
    """
    known = sorted({each.chapter for each in all_claims()})
    if chapter is not None and chapter not in known:
        raise unknown_name("chapter", chapter, known)
    chosen = (each for each in all_claims() if chapter in (None, each.chapter))
    return [
        {"you may have read": Marked(each.says), "true today": Marked(each.true), "since": each.since}
        | ({"chapter": each.chapter} if chapter is None else {})
        for each in chosen
    ]
