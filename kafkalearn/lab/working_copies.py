"""The reader's own copies of the chapters, without results: each question stands before its answer.

The chapters of the course are committed with their outputs, for pages and for tests. Who works through them gets
copies that hold no outputs, in a folder of their own, with the marks of `kafkalearn.predictions`: JupyterLab's side
closes what tells an answer until it is predicted. A copy that its reader has not changed follows the course; one
that was changed or run is the reader's, and stays.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from kafkalearn.base.errors import KafkaLearnError, unknown_name
from kafkalearn.base.files import one_at_a_time, written_whole
from kafkalearn.predictions.marking import MARK, marked

RECORD = ".made-from.json"  # in the folder of the copies: for each, the digest of what it was made from
LOCK = ".made-from.lock"  # beside it: of several that start at once, one after the other makes copies


@dataclass(frozen=True, slots=True)
class Copy:
    """What was done about one chapter.

    Attributes
    ----------
    name : str
        The file's name without its ending.
    change : str
        ``"new"``, ``"updated"``, ``"as it was"``, or ``"behind"``: the course has another one, but this one is its
        reader's.
    """

    name: str
    change: str


def update_copies(chapters: Iterable[Path], folder: Path) -> list[Copy]:
    """Copy chapters that are not there yet, and update those that their reader has not edited.

    Parameters
    ----------
    chapters : iterable of Path
        The notebooks of the course.
    folder : Path
        Where the copies are; it is made.

    Returns
    -------
    list of Copy
        One for each chapter, in order.

    Raises
    ------
    KafkaLearnError
        If a chapter cannot be read or a copy not be written: which, and why. The copies before it are in place.
    """
    _make(folder)
    with _alone_in(folder):
        return _update_copies(chapters, folder)


def _update_copies(chapters: Iterable[Path], folder: Path) -> list[Copy]:
    made_from, copies = _record(folder), []
    chapters = list(chapters)
    course = _course(chapters)
    for chapter in chapters:
        notebook = for_the_reader(without_results(_read(chapter)), chapter.stem, course)
        digest, copy = _digest(notebook), folder / chapter.name
        if not copy.exists():
            change = "new"
        elif _digest_of_file(copy) != made_from.get(chapter.name):
            change = "as it was" if made_from.get(chapter.name) == digest else "behind"
        else:
            change = "as it was" if made_from[chapter.name] == digest else "updated"
        if change in ("new", "updated"):
            _write(copy, notebook)
            made_from[chapter.name] = digest
            _write(folder / RECORD, made_from)
        copies.append(Copy(chapter.stem, change))
    return copies


def reset_copies(chapters: Sequence[Path], folder: Path, words: Sequence[str]) -> list[tuple[Path, Path | None]]:
    """Fresh copies of the chapters whose names hold one of the words; each old one stays beside its new one.

    Returns
    -------
    list of (Path, Path or None)
        Each new copy, and where its old one now is.

    Raises
    ------
    KafkaLearnError
        If no chapter is so named, or as `update_copies`.
    """
    chosen = [chapter for chapter in chapters if any(word in chapter.stem for word in words)]
    if not chosen:
        raise unknown_name("chapter", " ".join(words), [chapter.stem for chapter in chapters])
    _make(folder)
    with _alone_in(folder):
        kept = [(folder / chapter.name, _put_aside(folder / chapter.name)) for chapter in chosen]
        _update_copies(chosen, folder)
    return kept


def without_results(notebook: dict) -> dict:
    """The notebook without outputs and execution counts.

    >>> without_results({"cells": [{"cell_type": "code", "source": "1", "outputs": [1], "execution_count": 3}]})
    {'cells': [{'cell_type': 'code', 'source': '1', 'outputs': [], 'execution_count': None}]}
    """
    bare = {"outputs": [], "execution_count": None}
    return notebook | {
        "cells": [cell | bare if cell["cell_type"] == "code" else cell for cell in notebook["cells"]],
    }


_CHECK = re.compile(r"^exercises\.(\w+)\.check\(", re.MULTILINE)


def exercises_in(notebook: dict, stem: str) -> list[str]:
    """The exercises that a chapter asks, as a file of progress names them: ``"01.same_partition"``.

    >>> exercises_in({"cells": [{"cell_type": "code", "source": ["x = 1\\n", "exercises.one.check(x)"]}]}, "01_a")
    ['01.one']
    """
    texts = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [f"{stem.split('_')[0]}.{name}" for text in texts for name in _CHECK.findall(text)]


def _course(chapters: Iterable[Path]) -> dict[str, list[str]]:
    """The exercises of each chapter of the course that these are of, also when only a few of them are copied."""
    beside = {path for chapter in chapters for path in chapter.parent.glob("*.ipynb")}
    course = {}
    for path in sorted(beside):
        with suppress(KafkaLearnError):  # it is said where that one is copied
            course[path.stem] = exercises_in(_read(path), path.stem)
    return course


def for_the_reader(notebook: dict, stem: str, course: Mapping[str, list[str]]) -> dict:
    """The notebook with what a reader's copy has and a chapter has not.

    That are the marks of its predictions; where it stands in the course, for the line of progress; and, in each cell
    with an exercise, its name, for the bar below it, and the import of its judge: it works on the second day, too, when
    the first cell was not run.
    """
    copy = marked(notebook)
    line = f"from kafkalearn.exercises import chapter{stem.split('_')[0]} as exercises\n"
    for cell in copy["cells"]:
        source = "".join(cell["source"])
        asked = _CHECK.search(source) if cell["cell_type"] == "code" else None
        if asked:
            marks = cell.setdefault("metadata", {}).setdefault(MARK, {})
            marks["exercise"] = f"{stem.split('_')[0]}.{asked[1]}"
            cell["source"] = source if line in source else line + source
    copy["metadata"] = {**copy.get("metadata", {}), MARK: {"chapter": stem, "course": dict(course)}}
    return copy


def _digest(notebook: dict) -> str:
    """Of what a reader would notice; JupyterLab changes metadata and the form of the file by opening it."""
    cells = [
        (
            *(cell["cell_type"], "".join(cell["source"]), cell.get("outputs") or [], cell.get("execution_count")),
            *([marks] if (marks := cell.get("metadata", {}).get(MARK)) else []),
        )
        for cell in notebook["cells"]
    ]
    return sha256(json.dumps(cells, sort_keys=True).encode()).hexdigest()


def _digest_of_file(path: Path) -> str | None:
    """None for what is not a notebook: then it is the reader's."""
    try:
        return _digest(_read(path))
    except (KafkaLearnError, LookupError, TypeError, AttributeError):
        return None


def _read(path: Path) -> dict:
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise KafkaLearnError(f"{path} cannot be read as a notebook: {error}") from None
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise KafkaLearnError(f"{path} is not a notebook: it has no cells")
    return notebook


def _record(folder: Path) -> dict[str, str]:
    """What each copy was made from. Without a record that can be read every copy counts as its reader's."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _put_aside(copy: Path) -> Path | None:
    """Rename a copy to the next free name: ``05_rebalance.old-1.ipynb``."""
    if not copy.exists():
        return None
    used = [re.fullmatch(rf"{re.escape(copy.stem)}\.old-(\d+)\.ipynb", each.name) for each in copy.parent.iterdir()]
    number = 1 + max((int(found[1]) for found in used if found), default=0)
    old = copy.with_name(f"{copy.stem}.old-{number}.ipynb")
    try:
        return copy.rename(old)
    except OSError as error:
        raise KafkaLearnError(f"{copy} cannot be renamed to {old.name}: {error.strerror}") from None


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise KafkaLearnError(f"{folder} cannot be made for the copies of the chapters: {error.strerror}") from None


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """While no other process makes copies here; what was copied and the record of it stay of one piece."""
    with ExitStack() as stack:
        try:
            stack.enter_context(one_at_a_time(folder / LOCK))
        except OSError as error:
            raise KafkaLearnError(f"{folder / LOCK} cannot be written: {error.strerror}") from None
        yield


def _write(path: Path, content: dict) -> None:
    """Write atomically: a copy half written would be neither the course's nor the reader's."""
    written_whole({path: json.dumps(content, indent=1, ensure_ascii=False) + "\n"})
