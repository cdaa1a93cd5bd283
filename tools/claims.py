"""``python -m tools.claims``: all claims on one page, docs/claims.md, chapter by chapter; the book has the same page.

Each chapter shows its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import nbformat

from kafkalearn.base.tables import markdown_table
from kafkalearn.releases.claims import Claim, all_claims
from tools.chapters import chapter_paths
from tools.environment import ROOT

COMMAND = "python -m tools.claims"
PAGE = ROOT / "docs" / "claims.md"
WORDS = """# Right or dated?

What is often written about Kafka, what is true today, and since which release, by the chapter that shows it."""


def text(address: Callable[[Path], str] = lambda path: f"../notebooks/{path.name}") -> str:
    """The page as Markdown.

    Parameters
    ----------
    address : callable
        Where a chapter's file is, from the page; the empty text: the page leads to it nowhere.
    """
    chapters = {path.stem.split("_")[0]: path for path in chapter_paths()}
    parts = [WORDS]
    for number, of_chapter in groupby(sorted(all_claims(), key=_chapter), _chapter):
        path = chapters[number]
        _, _, question = nbformat.read(path, as_version=4).cells[0].source.split("\n")[0].partition(" · ")
        link = address(path)
        where = [f"Shown in [chapter {number}]({link})."] * bool(link)
        parts += [f"## {number}: {question}", *where, markdown_table(map(_row, of_chapter))]
    return "\n\n".join(parts) + "\n"


def _chapter(claim: Claim) -> str:
    return claim.chapter


def _row(claim: Claim) -> dict[str, str]:
    return {"you may have read": claim.says, "true today": claim.true, "since": claim.since}


def main() -> int:
    """Write the page."""
    PAGE.write_text(text(), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
