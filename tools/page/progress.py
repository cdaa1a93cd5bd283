"""A reader's progress in the pages of the book: the same file that JupyterLab's side writes, kept by the browser.

The page holds the file as text. Here it is read, put together with another one, judged again, and made part of the
table of a class, by the rules of `kafkalearn.exercises.progress`.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.exercises.kit.given import GivenFunction
from kafkalearn.exercises.progress import grades
from kafkalearn.exercises.progress.judging import TOO_LONG, all_exercises, outcome_of
from kafkalearn.exercises.progress.record import FILE_NAME, VARIABLE, FunctionSource, Record, encoded
from kafkalearn.exercises.progress.report import not_kept, summary
from kafkalearn.exercises.progress.sandbox import value_of


@dataclass(frozen=True, slots=True)
class ProgressInMemory:
    """The file in which the exercises keep progress for now."""

    path: Path
    trouble: str  # why the text it began with could not be read; empty if it could

    def text(self) -> str:
        """What the file holds."""
        return self.path.read_text(encoding="utf-8") or Record().text()


@contextmanager
def progress_in_memory(text: str) -> Iterator[ProgressInMemory]:
    """Let the exercises keep progress in a file that begins with `text` and is gone afterwards.

    Examples
    --------
    >>> with progress_in_memory("") as progress:
    ...     progress.text() == Record().text()
    True
    """
    before, trouble = os.environ.get(VARIABLE), ""
    try:
        Record.read(text) if text.strip() else None
    except KafkaLearnError as error:
        text, trouble = "", str(error)
    with TemporaryDirectory(prefix="kafkalearn-") as folder:
        path = Path(folder) / FILE_NAME
        path.write_text(text, encoding="utf-8")
        os.environ[VARIABLE] = str(path)
        try:
            yield ProgressInMemory(path, trouble)
        finally:
            if before is None:
                del os.environ[VARIABLE]
            else:
                os.environ[VARIABLE] = before


def merge(payload: Mapping[str, object]) -> dict[str, object]:
    """What several files of progress know together.

    Parameters
    ----------
    payload : mapping
        ``records``: the files as texts, an empty one for none; ``name``: who hands it in, or nothing.

    Returns
    -------
    dict
        ``record``: the file; ``summary``: a line for each chapter that was begun; ``not_kept``: the exercises that are
        done and whose answer is not text.

    Raises
    ------
    KafkaLearnError
        If one of them is not a progress file.

    Examples
    --------
    >>> mine = Record("", {}).text()
    >>> Record.read(merge({"records": [mine, ""], "name": "Anna"})["record"]).name
    'Anna'
    """
    record = Record()
    for text in payload["records"]:
        record |= Record.read(str(text)) if str(text).strip() else Record()
    record = replace(record, name=str(payload.get("name") or record.name)[:200])
    return {"record": record.text(), "summary": summary(record), "not_kept": not_kept(record)}


def judge(payload: Mapping[str, object]) -> dict[str, object]:
    """One file that was handed in, judged again; of what it says of itself only tries and hints are taken over.

    No code of the file runs here. Of a function that it has, the judge is told what it gave (`tools.page.functions`, in
    another Python); as long as it does not know what a call gave, it says which calls it wants to know.

    Parameters
    ----------
    payload : mapping
        ``file``: its name; ``text``: what is in it; ``gave``: what is known so far, by exercise, as pairs of arguments
        and of what the call gave; ``outcomes``: those that this has found before, and that hold.

    Returns
    -------
    dict
        ``file``, ``text``, ``outcomes`` by exercise, ``trouble``: empty, or why it could not be read, and ``wanted``:
        by exercise ``name``, ``source`` and ``calls``. The outcomes hold once nothing is wanted.

    Examples
    --------
    >>> from kafkalearn.exercises.progress.record import Entry
    >>> handed_in = Record("Anna", {"00.predict_coordinator": Entry("right", 1, 0, False, 3)}).text()
    >>> judge({"file": "anna.json", "text": handed_in})["outcomes"]
    {'00.predict_coordinator': 'wrong'}
    """
    file, text = str(payload["file"]), str(payload["text"])
    said = {"file": file, "text": text, "outcomes": {}, "trouble": "", "wanted": {}}
    try:
        record = Record.read(text) if text.strip() else Record()
    except KafkaLearnError as error:
        return said | {"trouble": str(error)}
    gave, known, outcomes, wanted = payload.get("gave") or {}, payload.get("outcomes") or {}, {}, {}
    for name, entry in record.entries.items():
        if name in known and name not in gave:
            outcomes[name] = str(known[name])
            continue
        asked = _Asked(gave.get(name) or [], name)
        outcomes[name] = _outcome(name, entry.answer, asked.function)
        if asked.calls:
            wanted[name] = {"name": asked.source.name, "source": asked.source.source, "calls": asked.wanted()}
    return said | {"outcomes": outcomes, "wanted": wanted}


class _Asked:
    """A function of which only is known what some calls gave; the calls beyond are noted."""

    def __init__(self, gave: Iterable[tuple[object, object]], exercise: str) -> None:
        self._exercise = exercise
        self._gave = {_key(arguments): outcome for arguments, outcome in gave}
        self.source = FunctionSource("", "")
        self.calls: list[object] = []

    def function(self, source: FunctionSource) -> GivenFunction:
        self.source = source
        return _Told(self._call, lambda value: value)

    def _call(self, *arguments: object) -> object:
        words = encoded(arguments)
        if _key(words) in self._gave:
            return value_of(self._gave[_key(words)])
        self.calls.append(words)
        raise RuntimeError("not known yet")

    def wanted(self) -> list[object]:
        """The calls that were asked for, and all others that the judge says beforehand it will ask for."""
        cases = getattr(all_exercises()[self._exercise].judge, "cases", ())
        wanted = {_key(words): words for words in [*self.calls, *map(encoded, cases)]}
        return [words for key, words in wanted.items() if key not in self._gave]


class _Told(GivenFunction):
    """It is called in another Python: a call with other parameters raises there."""

    def refuses(self, arguments: tuple[object, ...]) -> str:
        return ""

    def _call(self, *arguments: object) -> object:
        return self.function(*arguments)  # nothing of theirs runs here: no line is counted


def _key(words: object) -> str:
    return json.dumps(words, sort_keys=True)


def _outcome(name: str, answer: object, define: Callable[[FunctionSource], object]) -> str:
    try:
        return outcome_of(name, answer, define)
    except MemoryError:
        return TOO_LONG


def class_table(payload: Mapping[str, object]) -> dict[str, object]:
    """The table of a class, as ``make grades`` makes it.

    Parameters
    ----------
    payload : mapping
        ``judged``: what `judge` gave for each file, or the page for one whose judging it had to end: the outcomes of
        such a file are `TOO_LONG`. ``asked``: the words of the chapters' questions by cell, which the page has.

    Returns
    -------
    dict
        ``columns`` and ``rows``: a row for each student; ``csv``: a line for each answer; ``remarks``: what could not
        be read, and where a file says done and that is not so, and which have the same text. ``beliefs``: the wrong
        predictions, ``mistakes``: the misconceptions of wrong answers, both by their share, with their heading.
    """
    class_ = [_graded(each) for each in sorted(payload["judged"], key=lambda each: str(each["file"]))]
    columns, *rows = grades.class_rows(class_)
    table = io.StringIO()
    csv.writer(table).writerows([grades.HEAD, *grades.csv_rows(class_)])
    beliefs = [grades.BELIEFS, *grades.belief_rows(class_, payload.get("asked"))]
    return {
        "columns": columns,
        "rows": rows,
        "csv": table.getvalue(),
        "beliefs": beliefs,
        "mistakes": [grades.MISTAKES, *grades.mistake_rows(class_)],
        "remarks": list(grades.remarks(class_)),
    }


def _graded(judged: Mapping[str, object]) -> grades.Graded:
    path, trouble = Path(str(judged["file"])), str(judged.get("trouble") or "")
    record = Record() if trouble or not str(judged["text"]).strip() else Record.read(str(judged["text"]))
    outcomes = {str(name): str(outcome) for name, outcome in dict(judged.get("outcomes") or {}).items()}
    return grades.Graded(path, record, {name: outcomes.get(name, TOO_LONG) for name in record.entries}, trouble)


ANSWERS = {"merge": merge, "judge": judge, "class_table": class_table}
