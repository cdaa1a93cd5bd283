"""What a committed chapter must be like, beyond running: each rule says what is wrong in one sentence."""

from __future__ import annotations

import re
from collections.abc import Iterator

from nbformat import NotebookNode

from tools.chapters import KERNELSPEC
from tools.sections import in_sections

MOST_LINES = 15  # more belongs into the library
MOST_COLUMNS = 85  # what a projector shows without scrolling, at the size that the last row can read
MOST_CHARACTERS = 8_000  # of one answer in plain text: a verdict and a table, not everything there is
TO_FIX = "to-fix"  # code given to the reader to be changed, which has the length it has
UNCOMPARED = {"nbval-ignore-output", "nbval-skip"}
# Folders of whoever ran the notebook. Kafka's own /tmp/kafka-logs is a default that chapters speak of.
MACHINE = re.compile(r"(?:/home/|/Users/|/root/|/tmp/(?!kafka)|/private/var/|\b[A-Z]:\\\\?\w|site-packages)[^\s\"'<]*")
# Dollars around a backslash, or a display: the offline pages cannot set mathematics.
INSTRUCTOR = re.compile(r"\binstructor|\bin class(?:,| \()", re.IGNORECASE)
MATHEMATICS = re.compile(r"\$\$|\$[^$\n]*\\[a-z]+[^$\n]*\$|\\\(|\\\[|\\begin\{")


def faults(notebook: NotebookNode) -> list[str]:
    """All that is wrong with a notebook; empty if nothing is."""
    return [*_whole(notebook), *(f"cell {index}: {fault}" for index, fault in _by_cell(notebook))]


def _whole(notebook: NotebookNode) -> Iterator[str]:
    if notebook.metadata.get("kernelspec") != KERNELSPEC:
        yield "its kernel is not plain python3; run make chapters"
    ids = [cell.get("id") for cell in notebook.cells]
    if None in ids or len(set(ids)) < len(ids):
        yield "cells without an id, or with the same one; run make chapters"
    counts = [cell.get("execution_count") for cell in notebook.cells if cell.cell_type == "code"]
    if counts != list(range(1, len(counts) + 1)):
        # nbval compares nothing in a notebook that has not been run, and says nothing either.
        yield f"was not run from top to bottom in a fresh kernel, its cells are numbered {counts}; run make chapters"
    if [_slide(cell) for cell in notebook.cells] != [_slide(cell) for cell in in_sections(notebook).cells]:
        yield "its sections are not cut and marked as slides; write tools.sections.in_sections of it"


def _slide(cell: NotebookNode) -> str:
    return cell.metadata.get("slideshow", {}).get("slide_type", "")


def _by_cell(notebook: NotebookNode) -> Iterator[tuple[int, str]]:
    for index, cell in enumerate(notebook.cells):
        rules = _code if cell.cell_type == "code" else _prose
        yield from ((index, fault) for fault in rules(cell))


def _prose(cell: NotebookNode) -> Iterator[str]:
    if found := MATHEMATICS.search(cell.source):
        yield f"has mathematics ({found.group()}), which shows only with a network; write it as text"
    if found := INSTRUCTOR.search(cell.source):
        yield f"speaks to the instructor ({found.group()}); what is for them stands in docs/instructor"


def _code(cell: NotebookNode) -> Iterator[str]:
    tags, lines = set(cell.metadata.get("tags", [])), cell.source.splitlines()
    if not cell.source.strip():
        yield "is empty"
    if len(lines) > MOST_LINES and TO_FIX not in tags:
        yield f"has {len(lines)} lines, at most {MOST_LINES} are read; move some into the library"
    for number, line in enumerate(lines, 1):
        if len(line) > MOST_COLUMNS:
            yield f"line {number} has {len(line)} columns, at most {MOST_COLUMNS} fit on a projector"
    if tags & UNCOMPARED and "shows-time" not in tags:
        yield f"is not compared ({', '.join(sorted(tags & UNCOMPARED))}) and is not tagged shows-time"
    for output in cell.outputs:
        if output.output_type == "error" and "raises-exception" not in tags:
            yield f"ends in {output.ename} and is not tagged raises-exception"
        if found := MACHINE.search(_text(output)):
            yield f"shows a folder of one machine: {found.group()}"
        if (length := len(_plain(output))) > MOST_CHARACTERS:
            yield f"answers with {length:,} characters, at most {MOST_CHARACTERS:,} are read; show a table of it"


def _plain(output: NotebookNode) -> str:
    """What an output says where nothing but text can be shown."""
    return "".join(output.get("text") or output.get("data", {}).get("text/plain", ""))


def _text(output: NotebookNode) -> str:
    """All that an output says in letters; pictures in base64 say nothing."""
    data = [value for kind, value in output.get("data", {}).items() if kind.startswith(("text/", "image/svg"))]
    parts = [output.get("text", ""), output.get("evalue", ""), *output.get("traceback", []), *data]
    return "\n".join("".join(part) for part in parts)
