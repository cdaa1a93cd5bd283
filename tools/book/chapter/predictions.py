"""A result that the reader is asked to predict waits behind a click: the outputs, and the words that tell them.

After a paragraph that begins with **Predict** the code cells up to the next text have their outputs folded, and that
text is hidden until its next heading, for as long as the fold is closed.
"""

from __future__ import annotations

import re
from copy import deepcopy

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

ASKS = re.compile(r"^\*\*Predict\b", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)


def with_folds(notebook: NotebookNode) -> tuple[NotebookNode, int]:
    """A copy of the notebook whose asked-for results are marked for the page, and how many there are.

    A cell whose outputs fold carries its number as ``metadata.prediction``; what stays hidden with it has the tag
    ``after-prediction-NUMBER``.
    """
    cells: list[NotebookNode] = []
    number, is_asked, is_told = 0, False, False
    for cell in deepcopy(notebook.cells):
        if cell.cell_type == "code":
            if is_asked and cell.get("outputs"):
                number, is_asked, is_told = number + 1, False, True
                cell.metadata.prediction = number
            elif is_told:
                _tag(cell, number)
        elif cell.cell_type == "markdown":
            if is_told:
                told, cell = _split(cell)
                if told:
                    _tag(told, number)
                    cells.append(told)
                is_told = False
            is_asked = cell is not None and ASKS.search(cell.source) is not None
        if cell is not None:
            cells.append(cell)
    marked = NotebookNode(notebook | {"cells": cells})
    return marked, number


def style(count: int) -> str:
    """What hides the words while their fold is closed; on paper all is shown."""
    rules = [
        f"body:has(#prediction-{number}:not([open])) .tag-after-prediction-{number} {{ display: none; }}"
        for number in range(1, count + 1)
    ]
    return "\n".join(["@media screen {", *rules, "}"]) if rules else ""


def _split(cell: NotebookNode) -> tuple[NotebookNode | None, NotebookNode | None]:
    """What tells the result, and what comes after it: the next question, or the next heading."""
    cuts = [found.start() for found in (_HEADING.search(cell.source), ASKS.search(cell.source)) if found]
    cut = min(cuts, default=len(cell.source))
    told, rest = cell.source[:cut].strip(), cell.source[cut:].strip()
    return (
        new_markdown_cell(told, metadata=deepcopy(cell.metadata), id=f"{cell.id}-told"[:64]) if told else None,
        new_markdown_cell(rest, metadata=cell.metadata, id=cell.id) if rest else None,
    )


def _tag(cell: NotebookNode, number: int) -> None:
    cell.metadata.tags = [*cell.metadata.get("tags", []), f"after-prediction-{number}"]
