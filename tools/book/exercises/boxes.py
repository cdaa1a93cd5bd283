"""A chapter's cells with a check, as editors with hints and solution."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator
from copy import deepcopy
from html import escape
from importlib import import_module
from pathlib import Path

from nbconvert.filters.markdown_mistune import markdown2html_mistune
from nbformat import NotebookNode

from kafkalearn.exercises.kit.exercise import Exercise
from kafkalearn.page.exercises import NOT_IN_THE_PAGE

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
    """A copy of a chapter whose cells with a check have their editor as ``metadata.exercise``, in HTML.

    Parameters
    ----------
    notebook : NotebookNode
        The chapter, executed.
    stem : str
        Its file's name: the number of its exercises stands in front.
    """
    notebook = deepcopy(notebook)
    known = exercises_of(stem)
    imports = import_statements(cell.source for cell in notebook.cells if cell.cell_type == "code")
    heading, is_first = "", True
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            heading = [heading, *_HEADING.findall(cell.source)][-1]
        found = _CHECK.search(cell.source) if cell.cell_type == "code" else None
        if found and found[1] in known:
            above = _REFUSED + _imports_html(imports) if is_first else ""
            cell.metadata.exercise = above + box(known[found[1]], cell.source, heading)
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


def _imports_html(imports: list[str]) -> str:
    text = json.dumps(imports, ensure_ascii=False).replace("<", "\\u003c")
    return f'<script type="application/json" id="exercise-imports">{text}</script>'


def box(exercise: Exercise, source: str, heading: str) -> str:
    """One exercise: its editor with the cell to begin with, and what unfolds without Python."""
    name = exercise.progress.exercise
    folds = "\n".join([*_hints(exercise), _fold("solution", "Solution", exercise.reasoning)])
    if name in NOT_IN_THE_PAGE:
        code = f"<pre>{escape(source)}</pre>\n<p>This one needs Spark, which no page has: do it in JupyterLab.</p>"
        return f'<section class="exercise" aria-label="{escape(heading)}">\n{code}\n{folds}\n</section>'
    lines = source.count("\n") + 1
    return f"""<section class="exercise" data-exercise="{name}" aria-label="{escape(heading)}">
<textarea data-part="code" class="exercise-code" rows="{lines}" spellcheck="false" autocapitalize="off"
 autocomplete="off" aria-label="Your answer to {escape(heading)}">
{escape(source, quote=False)}</textarea>
<div class="exercise-bar" data-part="bar" hidden>
<button type="button" data-part="check">Check</button>
<button type="button" data-part="reset">Reset</button>
<button type="button" data-part="stop" hidden>Stop</button>
<span class="exercise-standing" data-part="standing"></span>
</div>
<div class="exercise-result" data-part="result" role="status"></div>
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
