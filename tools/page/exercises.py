"""Exercises in a page of the book: what stands in the editor is run, and judged as a notebook's cell is.

The page sends the code, the exercise and the reader's file of progress; it gets what to show and the new file. The
judge, the counts and the file are JupyterLab's own: `kafkalearn.exercises`.
"""

from __future__ import annotations

import ast
import io
import linecache
from collections.abc import Mapping
from contextlib import redirect_stdout
from importlib import import_module
from types import CodeType, MappingProxyType, ModuleType

from kafkalearn.base.errors import KafkaLearnError, unknown_name
from kafkalearn.exercises.kit.exercise import Exercise
from kafkalearn.exercises.kit.given import Bounds, Spent
from kafkalearn.exercises.kit.result import ERROR, Result, Sentence, as_words, finished, ours, say
from tools.page.progress import progress_in_memory

NOT_IN_THE_PAGE = ("00.proof_of_install",)
"""The exercises that are about Spark itself, which no page has."""


def find_exercise(name: str) -> tuple[ModuleType, Exercise]:
    """A chapter's module of exercises and one of them, by the name in a record: ``"01.same_partition"``.

    Raises
    ------
    KafkaLearnError
        If there is no such exercise; the message has the nearest names.

    Examples
    --------
    >>> find_exercise("01.same_partition")[1].name
    'same_partition'
    """
    number, _, short = name.partition(".")
    try:
        chapter = import_module(f"kafkalearn.exercises.chapter{number}")
    except ModuleNotFoundError as error:
        raise KafkaLearnError(f"no chapter of this course has the number {number[:20]!r}") from error
    known = {each.name: each for each in chapter.all_exercises()}
    if short not in known:
        raise unknown_name("exercise", short, list(known))
    return chapter, known[short]


def check(payload: Mapping[str, object]) -> dict[str, object]:
    """What one press of Check gives.

    Parameters
    ----------
    payload : mapping
        ``exercise``: its name in a record. ``code``: the text of the editor, whose last line is the check.
        ``record``: the reader's file of progress as text, or nothing.

    Returns
    -------
    dict
        ``outcome`` and ``html`` of the result, ``printed``: what the code has printed, ``record``: the file of
        progress now, ``trouble``: empty, or why the file that was given could not be read (a new one is begun).

    Examples
    --------
    >>> code = 'broker_id = 3\\nexercises.predict_coordinator.check(broker_id)'
    >>> said = check({"exercise": "00.predict_coordinator", "code": code})
    >>> said["outcome"], said["html"][:37]
    ('wrong', '<p><strong>Not right yet.</strong> Pa')
    """
    printed = io.StringIO()
    with redirect_stdout(printed):
        name, code = str(payload["exercise"]), str(payload["code"])
        said = judged(name, code, {"__name__": "__main__"}, str(payload.get("record") or ""))
    return said | {"printed": printed.getvalue()}


def judged(
    name: str, code: str, names: dict[str, object], record: str, reasons: Mapping[str, str] = MappingProxyType({})
) -> dict[str, object]:
    """The same, for code that is run in a namespace that others share; what it prints is not taken up.

    Parameters
    ----------
    name, code, record : str
        As `check` takes them.
    names : dict
        The namespace; what the code makes stays in it.
    reasons : mapping of str to str, optional
        Names that are not there, and a sentence that says why.
    """
    chapter, exercise = find_exercise(name)
    names.setdefault("exercises", chapter)
    with progress_in_memory(record) as progress:
        result = run(code, names, exercise, reasons)
        record = progress.text()
    return {"outcome": result.outcome, "html": result.html, "record": record, "trouble": progress.trouble}


def define(name: str, code: str, names: dict[str, object]) -> None:
    """What an answer makes, without its check; where it does not run, what it has made until then."""
    chapter, exercise = find_exercise(name)
    names.setdefault("exercises", chapter)
    with redirect_stdout(io.StringIO()):
        run(code, names, exercise, is_checked=False)


def run(
    code: str,
    names: dict[str, object],
    exercise: Exercise,
    reasons: Mapping[str, str] = MappingProxyType({}),
    *,
    is_checked: bool = True,
) -> Result:
    """The result that the last line of some code gives; what goes wrong before it is a result that says so.

    Without `is_checked` that line is left out.
    """
    file = f"<{exercise.name}>"
    try:
        statements, last = _parts(code, file)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Result(ERROR, (_not_python(error),))
    # So that the functions in it can be kept as text.
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
    try:
        Bounds().run(exec, statements, names)
        given = eval(last, names) if last is not None and is_checked else None
    except Spent as spent:
        return Result(ERROR, (ours(f"Your code {spent}."),))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever the reader's code raises is the thing to explain
        return Result(ERROR, (_ended_with(error, file, code, reasons),))
    if isinstance(given, Result):
        return given
    wanted = as_words(f"exercises.{exercise.name}.check(...)")
    return Result(ERROR, (say("The last line is to be {}: put your answer in place of the dots.", wanted),))


def _parts(code: str, file: str) -> tuple[CodeType, CodeType | None]:
    """All statements but the last, and the last if it is an expression."""
    body = ast.parse(code, file).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    statements = compile(ast.Module(body, []), file, "exec", dont_inherit=True)
    return statements, compile(ast.Expression(last.value), file, "eval", dont_inherit=True) if last else None


def _not_python(error: Exception) -> Sentence:
    line = getattr(error, "lineno", None)
    place = f"line {line}" if line else "this"
    return finished(say(f"Python cannot read {place}: {{}}", as_words(getattr(error, "msg", None) or str(error))))


def _ended_with(error: BaseException, file: str, code: str, reasons: Mapping[str, str]) -> Sentence:
    reason = reasons.get(error.name or "") if isinstance(error, NameError) else None
    words = as_words(reason or (f"{type(error).__name__}: {error}" if str(error) else type(error).__name__))
    line, traceback = None, error.__traceback__
    while traceback is not None:
        line = traceback.tb_lineno if traceback.tb_frame.f_code.co_filename == file else line
        traceback = traceback.tb_next
    if line is None:
        return finished(say("Your code ends with {}", words))
    text = as_words(code.splitlines()[line - 1])
    return finished(say(f"Your code ends in line {line}, {{}}, with {{}}", text, words))


ANSWERS = {"check": check}
