"""Mark a chapter for lab and book: which cells ask, which stay hidden until a prediction is made, which are folded.

Below a question, up to the next question or heading, all is closed that tells, shows, asserts or draws: each output;
the words; each cell with a check; and each code cell behind the first words, which may speak of the answer. What stays
open is the code that the question asks about; below the last of it, once it has run, stands the verdict. A chapter
stays a plain notebook; its marks are metadata of copies and pages.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any, TypeVar

from kafkalearn.predictions.questions import Prediction, all_predictions

ASKS = re.compile(r"^\*\*Predict\b", re.MULTILINE)
MARK = "kafkalearn"
"""The key of our metadata: ``predict`` (the question), ``after`` (the id of the cell that asks), ``closed`` (``whole``
or ``outputs``), ``verdict`` (the question, whose verdict stands below this cell), ``fold`` (the line that stands for
folded code)."""
LONG = 8
"""Code of so many lines that shows nothing is folded: it makes what later cells show."""
_HEADING = re.compile(r"^#{1,6} ", re.MULTILINE)
_FENCE = re.compile(r"^(```|~~~)", re.MULTILINE)
Notebook = TypeVar("Notebook", bound=Mapping[str, object])
_Cell = dict[str, Any]  # as its file has it


def marked(notebook: Notebook, questions: Mapping[str, Prediction] | None = None) -> Notebook:
    """Copy a notebook and mark its cells: which ask, which stay hidden until then, which are folded.

    Words that tell an answer and stand before the next question in one cell get a cell of their own.

    Parameters
    ----------
    notebook : dict
        As its file has it, or as nbformat reads it.
    questions : mapping of str to Prediction, optional
        By cell; those of the course if not said. A question that is not among them takes any words as a prediction.

    Examples
    --------
    >>> cells = [{"cell_type": "markdown", "id": "a", "source": "**Predict:** what?"}]
    >>> cells += [{"cell_type": "code", "id": "b", "source": "6 * 7", "outputs": []}]
    >>> cells += [{"cell_type": "markdown", "id": "c", "source": "It is 42.\\n\\n# Next"}]
    >>> for cell in marked({"cells": cells})["cells"]:
    ...     cell["id"], sorted(cell.get("metadata", {}).get("kafkalearn", {}).items())[:2]
    ('a', [('predict', {'id': 'a', 'kind': 'text', 'options': [], 'right': None, 'within': 0, 'so': ''})])
    ('b', [('after', 'a'), ('closed', 'outputs')])
    ('c-answer', [('after', 'a'), ('closed', 'whole')])
    ('c', [])
    """
    questions = all_predictions() if questions is None else questions
    whole = deepcopy(notebook)
    cells = whole["cells"]
    assert isinstance(cells, list)
    whole["cells"] = found = [*_marked(cells, questions)]  # type: ignore[index]
    run = (each for each in found if _is_run_for_it(each))
    for asking, cell in {each.get("metadata", {}).get(MARK, {}).get("after", ""): each for each in run}.items():
        _mark(cell, verdict=asking)
    return whole


def _is_run_for_it(cell: Mapping[str, Any]) -> bool:
    """Whether a cell is open code below a question; of several the last counts."""
    is_open = cell.get("metadata", {}).get(MARK, {}).get("closed") == "outputs"
    return is_open and not re.search(r"^exercises\.", _text(cell), re.MULTILINE)


def _marked(cells: list[_Cell], questions: Mapping[str, Prediction]) -> Iterator[_Cell]:
    asking, is_answered = "", False
    for cell in cells:
        if cell["cell_type"] == "code":
            checks = _checks(_text(cell))
            if asking:
                _mark(cell, after=asking, closed="whole" if is_answered or checks else "outputs")
            if line := _fold_line(cell, checks):
                _mark(cell, fold=line)
        elif cell["cell_type"] == "markdown":
            if asking:
                answer, rest = _split(_text(cell))
                if answer:
                    words = cell if not rest else _other(cell, answer)
                    _mark(words, after=asking, closed="whole")
                    is_answered = True
                    if not rest:
                        yield words
                        continue
                    yield words
                    cell["source"] = rest
                asking = ""
            if ASKS.search(_text(cell)):
                asking, is_answered = cell["id"], False
                _mark(cell, predict=_question(cell["id"], questions))
        yield cell


def asked_in(notebook: Mapping[str, object]) -> dict[str, str]:
    """The words of each question of a chapter by the id of its cell, in one line.

    >>> cells = [{"cell_type": "markdown", "id": "a", "source": "A story.\\n\\n**Predict:** how\\nmany?\\n\\nMore."}]
    >>> asked_in({"cells": cells})
    {'a': 'how many?'}
    """
    cells: list[_Cell] = notebook["cells"]  # type: ignore[assignment]
    found = ((cell["id"], ASKS.search(_text(cell)), _text(cell)) for cell in cells if cell["cell_type"] == "markdown")
    begun = ((name, text[at.end() :].split("\n\n")[0]) for name, at, text in found if at)
    return {name: " ".join(words.lstrip(":*").split()) for name, words in begun}


def _question(cell: str, questions: Mapping[str, Prediction]) -> dict[str, object]:
    if cell in questions:
        return questions[cell].for_the_page()
    return {"id": cell, "kind": "text", "options": [], "right": None, "within": 0, "so": ""}


def _split(text: str) -> tuple[str, str]:
    """What tells, and what comes after it: the next question, or the next heading."""
    found = (_HEADING.search(text) if not _FENCE.search(text) else None, ASKS.search(text))
    cut = min((each.start() for each in found if each), default=len(text))
    return text[:cut].strip(), text[cut:].strip()


def _other(cell: _Cell, text: str) -> _Cell:
    answer = deepcopy(cell)
    answer["source"], answer["id"] = text, f"{cell['id']}-answer"[:64]
    return answer


def _mark(cell: _Cell, **marks: object) -> None:
    metadata = cell.setdefault("metadata", {})
    metadata[MARK] = {**metadata.get(MARK, {}), **marks}


def _text(cell: Mapping[str, object]) -> str:
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)  # type: ignore[arg-type]


def _tree(source: str) -> list[ast.stmt]:
    try:
        return ast.parse(source).body
    except SyntaxError:  # a line for IPython
        return []


def _checks(source: str) -> list[str]:
    """What each check of a cell says, as it is written there, in one line."""
    return [
        " ".join((ast.get_source_segment(source, node.test) or "").split())
        for node in _tree(source)
        if isinstance(node, ast.Assert)
    ]


def _fold_line(cell: Mapping[str, object], checks: list[str]) -> str:
    """The line that stands for code that is folded: what its checks hold, or what it makes; empty: it stays open."""
    source = _text(cell)
    if checks:
        return "checked" if len(checks) == 1 else f"checked, {len(checks)} times"
    length = len(source.strip().splitlines())
    if length < LONG or re.search(r"^exercises\.", source, re.MULTILINE):
        return ""
    nodes = _tree(source)
    made = [*dict.fromkeys(name for node in nodes for name in _names(node))]
    shows = not nodes or isinstance(nodes[-1], ast.Expr) or any(isinstance(node, ast.Expr) for node in nodes)
    if shows or not made:
        return ""
    return f"{length} lines of code: {', '.join(made[:5])}{' …' if len(made) > 5 else ''}"


def _names(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign):
        yield from (each.id for target in node.targets for each in ast.walk(target) if isinstance(each, ast.Name))
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
