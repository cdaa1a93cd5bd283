"""The exercises of a chapter as an assignment of otter-grader or nbgrader: ``make export ARGS='otter 01 04'``.

    python -m kafkalearn.exercises.export otter 01 04 --to DIR      these chapters; all, if none is said
    python -m kafkalearn.exercises.export nbgrader --to DIR

The judges are ours and stay in the package: what is written asks them, so an answer that the chapter calls right passes
there, and the message of one that does not is the chapter's own. For otter-grader 6 or 7 a chapter is a folder with
the students' notebook and a test for each exercise, and beside it the same notebook solved; for nbgrader 0.9 it is a
source notebook, from which ``nbgrader generate_assignment`` takes the solutions. An exercise that no program judges has
no test in the one, and points by hand in the other. Nothing of either program is needed to write it.
"""

from __future__ import annotations

import ast
import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import is_dataclass
from fractions import Fraction
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from kafkalearn import __version__, exercises
from kafkalearn.base.checks import one_of
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.exercises.kit.exercise import Chapter, Exercise
from kafkalearn.exercises.kit.functions import Open
from kafkalearn.exercises.progress.record import source_of

FORMS = ("otter", "nbgrader")


def chapter(number: str) -> Chapter:
    """The exercises of a chapter, by its number.

    Raises
    ------
    KafkaLearnError
        If there is no such chapter, or it has none.

    Examples
    --------
    >>> chapter("01").title
    '01 coordinator'
    >>> chapter("001")
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.KafkaLearnError: unknown chapter '001'; did you mean '01' or '00' or '00b'?
    """
    one_of("chapter", number, chapter_numbers())
    module = import_module(f"{exercises.__name__}.chapter{number}")
    return next(each for each in vars(module).values() if isinstance(each, Chapter))


def chapter_numbers() -> list[str]:
    """The numbers of all chapters that have exercises, in order."""
    names = (each.name for each in iter_modules(exercises.__path__))
    return sorted(name.removeprefix("chapter") for name in names if name.startswith("chapter"))


def files(form: str, numbers: Iterable[str]) -> dict[str, str]:
    """What a folder holds for these chapters, each file by its path there.

    Parameters
    ----------
    form : str
        One of `FORMS`.
    numbers : iterable of str
        As `chapter` takes them.

    Raises
    ------
    KafkaLearnError
        If the form or a chapter is unknown.

    Examples
    --------
    >>> [*files("otter", ["01"])][:3]
    ['01/01.ipynb', '01/requirements.txt', '01/tests/predict_partition.py']
    >>> [*files("nbgrader", ["01"])]
    ['nbgrader_config.py', 'source/01/01.ipynb']
    """
    one_of("form", form, FORMS)
    found = {} if form == "otter" else {"nbgrader_config.py": NBGRADER}
    for number in numbers:
        found |= dict(_for_otter(chapter(number)) if form == "otter" else _for_nbgrader(chapter(number)))
    return found


# An exercise in parts: the cell to begin with, the name that the answer has in it, and a cell that answers.


def answer_name(exercise: Exercise) -> str:
    """What the answer is called in the cell that an exercise begins with: its last line checks it.

    >>> answer_name(chapter("01").exercises[0])
    'partitions'
    """
    last = ast.parse(exercise.start).body[-1]
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call) and isinstance(last.value.args[0], ast.Name):
        return last.value.args[0].id
    raise AssertionError(f"{exercise.name} does not end with a check of a name")


def solving(exercise: Exercise) -> str:
    """Lines after which the answer of an exercise has its name, and is right.

    >>> print(solving(chapter("01").exercises[0]))
    partitions = {'foo': 24, 'payments.v1': 40, 'GydZG_': 0}
    """
    assert exercise.solve is not None
    right, name = exercise.solve(), answer_name(exercise)
    if not isinstance(right, type) and callable(right):
        own, source = source_of(right)
        plain = ast.unparse(_Unannotated().visit(ast.parse(source)))
        return plain if own == name else f"{plain}\n{name} = {own}"
    kinds = dict.fromkeys(_kinds_in(right))
    return "\n".join((*(f"from {each.__module__} import {each.__name__}" for each in kinds), f"{name} = {right!r}"))


class _Unannotated(ast.NodeTransformer):
    """Takes annotations away: in the middle of a cell none can be left unread, and what they name is not imported."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | None:
        return None if node.module == "__future__" else node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        return node if node.value is None else ast.Assign([node.target], node.value, lineno=node.lineno)


def _kinds_in(value: object) -> Iterator[type]:
    """The classes that a value's `repr` names."""
    if isinstance(value, type):
        yield value
    elif isinstance(value, dict):
        yield from _kinds_in([*value, *value.values()])
    elif isinstance(value, Fraction):
        yield Fraction
    elif is_dataclass(value) or hasattr(value, "_fields"):
        yield type(value)
        names = getattr(value, "_fields", None) or getattr(value, "__dataclass_fields__", ())
        yield from _kinds_in([getattr(value, each) for each in names])
    elif isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from _kinds_in(each)


def _with_solution(exercise: Exercise, begin: str = "", end: str = "") -> str:
    """The cell to begin with, and before its check the lines that solve it."""
    *before, check = exercise.start.rstrip().splitlines()
    return "\n".join([*before, *filter(None, [begin, solving(exercise), end]), check])


def _is_by_hand(exercise: Exercise) -> bool:
    return isinstance(exercise.judge, Open)


# Notebooks: as nbformat 4.5 has them.


def _cell(kind: str, name: str, source: str, **metadata: object) -> dict[str, object]:
    lines = source.splitlines(keepends=True)
    made: dict[str, object] = {"cell_type": kind, "id": name[:64], "metadata": metadata, "source": lines}
    return made if kind == "markdown" else {**made, "execution_count": None, "outputs": []}


def _notebook(cells: Iterable[dict[str, object]]) -> str:
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    made = {"cells": [*cells], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(made, indent=1, ensure_ascii=False) + "\n"


def _imports(of: Chapter) -> str:
    return f"from kafkalearn.exercises import chapter{of.number} as exercises"


def _asked(number: int, exercise: Exercise) -> str:
    more = "\n\n*This one is read by your instructor.*" if _is_by_hand(exercise) else ""
    return f"### Exercise {number}\n\n{exercise.asks}{more}"


# otter-grader: a notebook, and beside it tests in its exception-based form.


def _for_otter(of: Chapter) -> Iterator[tuple[str, str]]:
    number = of.number
    yield f"{number}/{number}.ipynb", _otter_notebook(of, is_solved=False)
    yield f"{number}/requirements.txt", f"kafkalearn=={__version__}\n"
    for each in of.exercises:
        if not _is_by_hand(each):
            yield f"{number}/tests/{each.name}.py", OTTER.format(number=number, name=each.name)
    yield f"solved/{number}.ipynb", _otter_notebook(of, is_solved=True)


OTTER = """\
OK_FORMAT = False

from otter.test_files import test_case

name = "{name}"
points = 1


@test_case()
def test_answer({name}):
    from kafkalearn.exercises import chapter{number}

    result = chapter{number}.{name}.check({name})
    assert result, repr(result)
"""
"""A test: what the chapter says of the answer. It imports the judge itself, whatever a notebook calls `exercises`."""


def _otter_notebook(of: Chapter, is_solved: bool) -> str:
    begin = f'import otter\n\n{_imports(of)}\n\ngrader = otter.Notebook("{of.number}.ipynb")'
    cells = [_cell("markdown", "title", f"# {of.title}"), _cell("code", "begin", begin)]
    for number, each in enumerate(of.exercises, start=1):
        cells.append(_cell("markdown", f"{each.name}-asks", _asked(number, each)))
        cells.append(_cell("code", each.name, _with_solution(each) if is_solved else each.start))
        if not _is_by_hand(each):
            check = f'{each.name} = {answer_name(each)}\ngrader.check("{each.name}")'
            cells.append(_cell("code", f"{each.name}-check", check, deletable=False, editable=False))
    return _notebook(cells)


# nbgrader: a source notebook, whose cells say what they are.

NBGRADER = """\
# Written by kafkalearn. An answer's cell keeps what it begins with; only the solution between the marks is taken out.
c = get_config()
c.CourseDirectory.course_id = "kafkalearn"
c.ClearSolutions.code_stub = {"python": "# your answer stands here"}
"""


def _for_nbgrader(of: Chapter) -> Iterator[tuple[str, str]]:
    cells = [_cell("markdown", "title", f"# {of.title}"), _locked("begin", _imports(of))]
    for number, each in enumerate(of.exercises, start=1):
        cells.append(_cell("markdown", f"{each.name}-asks", _asked(number, each)))
        answer = _with_solution(each, "### BEGIN SOLUTION", "### END SOLUTION")
        by_hand = {"grade": True, "points": 1} if _is_by_hand(each) else {"grade": False}
        cells.append(_cell("code", each.name, answer, nbgrader=_nbgrader(each.name, solution=True, **by_hand)))
        if not _is_by_hand(each):
            judged = f"result = chapter{of.number}.{each.name}.check({answer_name(each)})"
            test = f"from kafkalearn.exercises import chapter{of.number}\n\n{judged}\nassert result, repr(result)"
            cells.append(_locked(f"{each.name}-check", test, grade=True, points=1))
    yield f"source/{of.number}/{of.number}.ipynb", _notebook(cells)


def _locked(name: str, source: str, **more: object) -> dict[str, object]:
    return _cell("code", name, source, nbgrader=_nbgrader(name, locked=True, **more))


def _nbgrader(name: str, **own: object) -> dict[str, object]:
    """What a cell says of itself, in version 3 of nbgrader's form."""
    said: dict[str, object] = {"grade": False, "solution": False, "locked": False, "task": False}
    return {**said, **own, "grade_id": name, "schema_version": 3}


def main(words: Sequence[str] | None = None) -> int:
    """Write the files; errors are one sentence."""
    parser = ArgumentParser("make export", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("form", choices=FORMS)
    parser.add_argument("chapter", nargs="*", help="such as 01; all, if none is said")
    parser.add_argument("--to", type=Path, default=None, help="the folder; exported-otter or -nbgrader if not said")
    given = parser.parse_args(words)
    to = given.to or Path(f"exported-{given.form}")
    try:
        made = files(given.form, given.chapter or chapter_numbers())
    except KafkaLearnError as error:
        print(f"kafkalearn: {error}", file=sys.stderr)
        return 1
    for name, text in made.items():
        path = to / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    print(f"{len(made)} files are in {to}; docs/instructor/README.md says what a department does with them")
    return 0


if __name__ == "__main__":
    sys.exit(main())
