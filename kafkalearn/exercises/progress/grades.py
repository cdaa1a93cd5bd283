"""The table of a class: ``python -m kafkalearn.exercises.progress.grades FOLDER``, or ``make grades ARGS=FOLDER``.

FOLDER has the files that were handed in. Each answer is judged again, in processes of its own; of what the files say
of themselves only tries and hints are taken over. A line for each student is printed, one for each answer is written
to ``grades.csv`` in the folder.
"""

from __future__ import annotations

import csv
import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.exercises.kit.result import OPEN, RIGHT
from kafkalearn.exercises.progress.judging import all_exercises, judge_apart
from kafkalearn.exercises.progress.record import Entry, Record, read_file
from kafkalearn.exercises.progress.sandbox import left_open

HEAD = ("name", "file", "exercise", "outcome", "the file says", "tries", "hints", "solution seen first", "text")


@dataclass(frozen=True, slots=True)
class Graded:
    """One file that was handed in."""

    path: Path
    record: Record
    outcomes: dict[str, str]  # by exercise, found again
    trouble: str = ""  # why the file could not be read

    @property
    def name(self) -> str:
        """Whose it is."""
        return self.record.name or self.path.stem

    @property
    def untrue(self) -> list[str]:
        """The exercises that the file says are done, and that are not."""
        return [
            name
            for name, entry in self.record.entries.items()
            if entry.is_done and self.outcomes.get(name) not in (RIGHT, OPEN)
        ]

    def done_of(self, chapter: str) -> int:
        """How many exercises of a chapter are done."""
        return sum(
            name.startswith(f"{chapter}.") and outcome in (RIGHT, OPEN) for name, outcome in self.outcomes.items()
        )


def graded(path: Path) -> Graded:
    """One file, judged again."""
    try:
        record = read_file(path)
    except KafkaLearnError as error:
        return Graded(path, Record(), {}, str(error))
    return Graded(path, record, judge_apart(record))


def class_rows(class_: Sequence[Graded]) -> list[tuple[str, ...]]:
    """The heading, and a row for each student: what is done in each chapter, with how many tries and hints.

    >>> class_rows([])[0][:4], class_rows([])[0][-3:]
    (('name', '00', '01', '02'), ('done', 'tries', 'hints'))
    """
    chapters = sorted({name.partition(".")[0] for name in all_exercises()})
    rows: list[tuple[str, ...]] = [("name", *chapters, "done", "tries", "hints")]
    for each in class_:
        done = [each.done_of(chapter) for chapter in chapters]
        entries = each.record.entries.values()
        tries, hints = sum(entry.try_count for entry in entries), sum(entry.hint_count for entry in entries)
        rows.append((each.name[:30], *map(str, done), str(sum(done)), str(tries), str(hints)))
    return rows


def text_table(rows: Sequence[Sequence[str]]) -> str:
    """Rows as lines, with names to the left and numbers to the right.

    >>> print(text_table([("name", "done"), ("Anna", "7")]))
    name  done
    Anna     7
    """
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = [
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)


def csv_rows(class_: Iterable[Graded]) -> list[tuple[object, ...]]:
    """A row for each answer, as in `HEAD`."""
    return [
        tuple(map(_cell, (each.name, each.path.name, name, each.outcomes[name], *_said(entry, each.outcomes[name]))))
        for each in class_
        for name, entry in each.record.entries.items()
    ]


def _said(entry: Entry, outcome: str) -> tuple[object, ...]:
    text = entry.answer if outcome == OPEN else ""
    return entry.outcome, entry.try_count, entry.hint_count, "yes" if entry.has_seen_solution else "no", text


def _cell(value: object) -> object:
    """A text that begins like a formula would be one in a spreadsheet."""
    return f"'{value}" if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r") else value


def remarks(class_: Iterable[Graded]) -> Iterator[str]:
    """Which files could not be read, and which say of an exercise that it is done, and it is not."""
    for each in class_:
        if each.trouble:
            yield f"{each.path.name}: {each.trouble}"
        elif each.untrue:
            yield f"{each.name}: the file says done, and that is not so: {', '.join(each.untrue)}"


def main(words: Sequence[str]) -> int:
    """Judge a folder; the exit code."""
    parser = ArgumentParser("make grades", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="with the files that were handed in")
    parser.add_argument("--csv", type=Path, help="the table to write; grades.csv in the folder if not said")
    given = parser.parse_args(words)
    paths = sorted(given.folder.glob("*.json"))
    if not paths:
        print(f"kafkalearn: no file ends in .json in {given.folder}", file=sys.stderr)
        return 1
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        class_ = list(pool.map(graded, paths))
    to = given.csv or given.folder / "grades.csv"
    try:
        with to.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([HEAD, *csv_rows(class_)])
    except OSError as error:
        print(f"kafkalearn: {to} cannot be written: {error}", file=sys.stderr)
        return 1
    print(text_table(class_rows([each for each in class_ if not each.trouble])))
    for remark in remarks(class_):
        print(remark)
    print(f"every answer is in {to}")
    if open_ends := left_open():
        print(f"this system does not refuse an answer: {', '.join(open_ends)}; only Python itself does")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
