"""A chapter's cells with a check, as exercises of its page: code to change, hints and solution."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from copy import deepcopy
from html import escape
from importlib import import_module
from pathlib import Path

from nbconvert.filters import Highlight2HTML
from nbconvert.filters.markdown_mistune import markdown2html_mistune
from nbformat import NotebookNode

from kafkalearn.exercises.kit.exercise import Exercise
from tools.book.live.alive import tools
from tools.page.exercises import NOT_IN_THE_PAGE

HERE = Path(__file__).parent


def script_text(name: str) -> str:
    """One of our scripts."""
    return (HERE / name).read_text(encoding="utf-8")


_CHECK = re.compile(r"^exercises\.(\w+)\.check\(", re.MULTILINE)
_HEADING = re.compile(r"^#{1,6}\s+(.+)$", re.MULTILINE)
_REFUSED = (
    '<p class="answers-refused" id="answers-refused" role="status" hidden>This browser keeps nothing for this page, as '
    'in a private window. Your answers last until you close it: <a href="progress.html">save them to a file</a>.</p>'
)


def with_exercises(notebook: NotebookNode, stem: str) -> NotebookNode:
    """A copy of a chapter whose cells with a check have what stands for them as ``metadata.exercise``, in HTML.

    Parameters
    ----------
    notebook : NotebookNode
        The chapter, executed.
    stem : str
        Its file's name: the number of its exercises stands in front.
    """
    notebook = deepcopy(notebook)
    known = exercises_of(stem)
    heading, is_first = "", True
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            heading = [heading, *_HEADING.findall(cell.source)][-1]
        found = _CHECK.search(cell.source) if cell.cell_type == "code" else None
        if found and found[1] in known:
            cell.metadata.exercise = _REFUSED * is_first + box(known[found[1]], cell, heading)
            is_first = False
    return notebook


def exercises_of(stem: str) -> dict[str, Exercise]:
    """The exercises of a chapter by name; none, if it has no module of exercises."""
    try:
        module = import_module(f"kafkalearn.exercises.chapter{stem.split('_')[0]}")
    except ModuleNotFoundError:
        return {}
    return {each.name: each for each in module.all_exercises()}


def import_statements(sources: Iterable[str]) -> list[str]:
    """The import statements at the top of some cells, each once, in order.

    >>> import_statements(["import json", "from math import pi\\nx = 1", "import json", "%time 1"])
    ['import json', 'from math import pi']
    """
    return list(dict.fromkeys(ast.unparse(node) for source in sources for node in _imports_in(source)))


def _imports_in(source: str) -> Iterator[ast.stmt]:
    try:
        tree = ast.parse(source)
    except SyntaxError:  # a line for IPython
        return
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom) and getattr(node, "module", "") != "__future__":
            yield node


def box(exercise: Exercise, cell: NotebookNode, heading: str) -> str:
    """One exercise: its code, to be changed and checked, and what unfolds without Python."""
    name = exercise.progress.exercise
    folds = "\n".join([*_hints(exercise), _fold("solution", "Solution", exercise.reasoning)])
    label = escape(heading)
    if name in NOT_IN_THE_PAGE:
        code = f"<pre>{escape(cell.source)}</pre>\n<p>This one needs Spark, which no page has: do it in JupyterLab.</p>"
        return f'<section class="exercise" aria-label="{label}">\n{code}\n{folds}\n</section>'
    code = Highlight2HTML(pygments_lexer="ipython3")(cell.source, metadata=cell.metadata)
    return f"""<section class="exercise" data-cell="{cell.id}" data-exercise="{name}" aria-label="{label}">
<div class="exercise-code" data-part="code" data-label="Your answer to {label}">{code}</div>
{tools(label, is_exercise=True)}
<div class="exercise-result live-output" data-part="result" role="status"></div>
{folds}
</section>"""


def _hints(exercise: Exercise) -> Iterator[str]:
    total = len(exercise.hints)
    for number, hint in enumerate(exercise.hints, start=1):
        yield _fold("hint", f"Hint {number} of {total}", hint)


def _fold(kind: str, title: str, markdown: str) -> str:
    html = markdown2html_mistune(markdown)
    return (
        f'<details class="{kind}"><summary>{title}</summary>'
        f'<div class="jp-RenderedHTMLCommon jp-RenderedMarkdown">{html}</div></details>'
    )
