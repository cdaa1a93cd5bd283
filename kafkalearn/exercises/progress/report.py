"""Makes the file to hand in: ``python -m kafkalearn.exercises.progress.report --name Anna``, or ``make report``.

It is the file of progress itself, with a name in it, and of several files (two machines, the book's pages) what they
know together.
"""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import or_
from pathlib import Path

from kafkalearn.base.errors import KafkaLearnError, counted
from kafkalearn.base.files import REPOSITORY
from kafkalearn.exercises.progress.judging import all_exercises
from kafkalearn.exercises.progress.record import FILE_NAME, VARIABLE, Record, file_of_progress, read_file, write_file

COPIES = "my-chapters"  # where `kafkalearn.lab` makes the working copies


def found_files() -> list[Path]:
    """The file of progress of this machine: that of the folder one is in, or that of the working copies."""
    here = file_of_progress()
    candidates = [here] if here else [folder / COPIES / FILE_NAME for folder in (Path.cwd(), REPOSITORY)]
    return [path for path in candidates if path.is_file()][:1]


def summary(record: Record) -> str:
    """How far one is, a line for each chapter that was begun.

    >>> print(summary(Record()))
    nothing was tried yet
    """
    lines = []
    for chapter in sorted({name.partition(".")[0] for name in record.entries}):
        mine = [entry for name, entry in record.entries.items() if name.startswith(f"{chapter}.")]
        total = sum(name.startswith(f"{chapter}.") for name in all_exercises())
        done, tries = sum(entry.is_done for entry in mine), sum(entry.try_count for entry in mine)
        hints = sum(entry.hint_count for entry in mine)
        lines.append(f"{chapter}: {done} of {total} done, {counted(tries, 'try', 'tries')}, {counted(hints, 'hint')}")
    return "\n".join(lines) or "nothing was tried yet"


def not_kept(record: Record) -> list[str]:
    """The exercises whose answer the file does not have: a function that is not text of its own."""
    return [
        name
        for name, entry in record.entries.items()
        if entry.is_done and isinstance(entry.answer, dict) and "strange" in entry.answer
    ]


def main(words: Sequence[str]) -> int:
    """Write the file; the exit code."""
    parser = ArgumentParser("make report", description=__doc__.splitlines()[0])
    parser.add_argument("--name", help="who hands it in")
    parser.add_argument("--to", type=Path, help="the file to write; beside the first one if not said")
    parser.add_argument("files", nargs="*", type=Path, help="files of progress; found by itself if there is one")
    given = parser.parse_args(words)
    try:
        files = given.files or found_files()
        if not files:
            raise KafkaLearnError(
                f"no {FILE_NAME} is in this folder or in {COPIES}; it is there once an exercise of a working copy was "
                f"checked. Name the file, or set {VARIABLE}"
            )
        record = reduce(or_, map(read_file, files))
        record = replace(record, name=(given.name or record.name)[:200])
        to = given.to or files[0].with_name("-".join(["report", *re.findall(r"\w+", record.name)]) + ".json")
        write_file(to, record)
    except KafkaLearnError as error:
        print(f"kafkalearn: {error}", file=sys.stderr)
        return 1
    print(summary(record))
    if missing := not_kept(record):
        print(f"not in the file, for it could not be kept as text: {', '.join(missing)}")
    print(f"{to} is the file to hand in" + ("" if record.name else "; put your name in it: ARGS='--name \"Anna\"'"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
