"""``python -m tools.book.count``: how many of the chapters' code cells run in a page, and what they show there.

Every cell of every chapter is run in order, in Node with the pages' own runtime. A cell counts where it runs without an
error; what it shows is compared with the committed output: text, tables, pictures, and each frame of a player.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from tools.book.live.in_node import PagePython, page_python
from tools.chapters import chapter_paths
from tools.page.controls import KIND

SAME, OTHER, SILENT, RECORDED, FAILED = "same", "other", "silent", "recorded", "failed"


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of one cell.

    Attributes
    ----------
    outcome : str
        ``same`` or ``other`` than the committed output; ``silent``, it ran and shows nothing, as committed;
        ``recorded``, it needs what no page has; ``failed``.
    words : str
        What it needs, what went wrong, or what is other.
    seconds : float
        The processor time of Node.
    """

    chapter: str
    cell: str
    outcome: str
    words: str
    seconds: float


def run_chapter(python: PagePython, path: Path) -> Iterator[Ran]:
    """Run a chapter's cells from top to bottom."""
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    page = path.stem
    python.ask("cells.open", {"page": page, "cells": [{"id": cell.id, "source": cell.source} for cell in cells]})
    for cell in cells:
        began = python.processor_seconds()
        answered = python.ask("cells.run", {"page": page, "cell": cell.id, "source": cell.source})
        yield Ran(page, cell.id, *_judged(cell, answered), python.processor_seconds() - began)


def _judged(cell: NotebookNode, answered: dict) -> tuple[str, str]:
    if answered["needs"]:
        return RECORDED, answered["needs"]
    errors = [part["error"] for part in answered["outputs"] if "error" in part]
    if errors:
        return FAILED, f"{errors[0]['kind']}: {errors[0]['words']}"
    if not answered["outputs"] and not cell.outputs:
        return SILENT, ""
    difference = first_difference(cell.outputs, answered["outputs"])
    return (OTHER, difference) if difference else (SAME, "")


def first_difference(committed: list[NotebookNode], shown: list[dict]) -> str:
    """Where what a page shows is not what the notebook has; the empty text where it is.

    Printed text and values are compared apart: a notebook may have them in several pieces.
    """
    printed = "".join(part["printed"] for part in shown if "printed" in part)
    wanted = "".join(output.text for output in committed if output.output_type == "stream")
    if printed != wanted:
        return f"printed {printed[:60]!r}, committed {wanted[:60]!r}"
    values = [part["shown"] for part in shown if "shown" in part]
    bundles = [output.data for output in committed if output.output_type != "stream"]
    if len(values) != len(bundles):
        return f"{len(values)} values, committed {len(bundles)}"
    return next(filter(None, map(_other_value, values, bundles)), "")


def _other_value(value: dict, committed: NotebookNode) -> str:
    if KIND in value:
        return _other_player(value[KIND], committed.get("text/html", ""))
    # A table is shown as HTML; its text is pandas' own in a notebook.
    for kind in ("text/html", "image/svg+xml", "text/markdown", "text/plain"):
        if kind in committed and (kind in value or kind == "text/plain"):
            same = value.get(kind) == committed[kind]
            return "" if same else f"{kind}: {_where(str(value.get(kind)), committed[kind])}"
    return f"nothing of {', '.join(committed)}"


def _other_player(state: dict, html: str) -> str:
    """Every frame, caption and control of a player is in the data of its page."""
    found = re.search(r'<script type="application/json">(.*?)</script>', html, re.DOTALL)
    if not found:
        return "a player, committed none"
    recorded = json.loads(found[1])
    here = {name: json.loads(state[name]) for name in ("_animation", "_controls")} | {"value": state["value"]}
    return next((f"{name} of the player" for name in here if here[name] != recorded[name]), "")


def _where(text: str, other: str) -> str:
    at = next((at for at, (one, two) in enumerate(zip(text, other, strict=False)) if one != two), 0)
    return f"{text[max(0, at - 20) : at + 30]!r}, committed {other[max(0, at - 20) : at + 30]!r}"


def main(words: list[str]) -> int:
    """Print one line a chapter, each cell that is other or fails, and the sum; ARGS: chapters, ``01 05``."""
    total: Counter[str] = Counter()
    with page_python() as python:
        for path in chapter_paths():
            if words and path.stem.split("_")[0] not in words:
                continue
            ran = list(run_chapter(python, path))
            counts = Counter(each.outcome for each in ran)
            total += counts
            print(
                f"{path.stem}: {_sentence(counts)}; {sum(each.seconds for each in ran):.1f} s of the processor",
                flush=True,
            )
            for each in ran:
                if each.outcome in (OTHER, FAILED) or each.seconds > 5:
                    print(f"    {each.cell} {each.outcome} {each.seconds:.1f} s {each.words}", flush=True)
    print(f"together: {_sentence(total)}")
    return 0


def _sentence(counts: Counter[str]) -> str:
    ran = counts[SAME] + counts[OTHER] + counts[SILENT]
    return (
        f"{ran} of {counts.total()} cells run ({counts[SAME]} show the same, {counts[SILENT]} show nothing, "
        f"{counts[OTHER]} show other), {counts[RECORDED]} recorded, {counts[FAILED]} failed"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
