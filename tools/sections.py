"""Sections of a chapter: each heading begins a cell of its own, and a slide."""

from __future__ import annotations

import re
from copy import deepcopy

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

_HEADING = re.compile(r"^(?=#{1,4} )", re.MULTILINE)
_FENCE = re.compile(r"^(```|~~~)", re.MULTILINE)
SLIDE, SUBSLIDE = "slide", "subslide"


def in_sections(notebook: NotebookNode) -> NotebookNode:
    """A copy in which no heading stands inside a cell, and the first cell of each section begins a slide.

    A question that the reader is to answer before the next cell begins a slide below its section's. Cells keep their
    ids; what is cut off gets the id of its cell and a number.
    """
    cells: list[NotebookNode] = []
    for cell in notebook.cells:
        cells += _parts(cell) if cell.cell_type == "markdown" else [deepcopy(cell)]
    for cell in cells:
        kind = _kind(cell)
        if kind:
            cell.metadata.slideshow = NotebookNode(slide_type=kind)
        else:
            cell.metadata.pop("slideshow", None)
    return NotebookNode(notebook | {"cells": cells})


def _parts(cell: NotebookNode) -> list[NotebookNode]:
    if _FENCE.search(cell.source) or "<details" in cell.source:
        return [deepcopy(cell)]  # a # in there may be no heading
    texts = [text.strip() for text in _HEADING.split(cell.source) if text.strip()]
    if len(texts) < 2:
        return [deepcopy(cell)]
    ids = [cell.id, *(f"{cell.id[:60]}-{number}" for number in range(2, len(texts) + 1))]
    return [
        new_markdown_cell(text, id=id_, metadata=deepcopy(cell.metadata)) for text, id_ in zip(texts, ids, strict=True)
    ]


def _kind(cell: NotebookNode) -> str:
    if cell.cell_type != "markdown":
        return ""
    if re.match(r"#{1,2} ", cell.source):
        return SLIDE
    return SUBSLIDE if re.match(r"#{3,4} ", cell.source) or "**Predict" in cell.source else ""
