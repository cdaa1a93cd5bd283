"""Where the course says how long a lesson takes: its chapter, its notes and the syllabus, written from one count.

    python3 run.py minutes --write

A chapter says it in its first cells, and the book's card has it from there; the notes say it section by section, what
stands before the first as ``the opening``; the syllabus adds lessons up. Only the minutes of the exercises are an
estimate, made by hand in the notes. No count is rounded in two places: the sections of a lesson add up to it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from tools import minutes
from tools.book.instructor import EXERCISES, NOTES, OPENING, WITH, WITHOUT, Timing, notes_path
from tools.chapters import chapter_paths

SYLLABUS = NOTES / "README.md"
_SAID = re.compile(r"(?<=\bAbout)(\s)\d+(?=\sminutes\b)")
_TABLE = re.compile(r"(?<=\| --- \| --- \|\n)(?:\| .+ \|\n)+")
_ROW = re.compile(r"^(\| a [^|]+ \| ([^|]+) \|) \d+ \| \d+ \|$", re.MULTILINE)


def stale() -> Iterator[tuple[Path, str]]:
    """Each file that says other minutes than are counted, with its text as it should be."""
    timings: dict[str, Timing] = {}
    for path in chapter_paths():
        text = path.read_text(encoding="utf-8")
        notebook = nbformat.reads(text, as_version=4)
        notes = notes_path(path.stem).read_text(encoding="utf-8")
        timing = timed(notebook, Timing.read(notes).exercises)
        timings[path.stem.split("_")[0]] = timing
        if _says_other(notebook, timing.without):
            yield path, nbformat.writes(notebook) + "\n"
        if (as_counted := with_times(notes, timing)) != notes:
            yield notes_path(path.stem), as_counted
    syllabus = SYLLABUS.read_text(encoding="utf-8")
    if (as_counted := with_sums(syllabus, timings)) != syllabus:
        yield SYLLABUS, as_counted


def timed(notebook: NotebookNode, exercises: int) -> Timing:
    """The times of a lesson, section by section, beside those of its exercises."""
    parts = {heading or OPENING: part.seconds for heading, part in minutes.count(notebook).items()}
    whole = minutes.together(notebook).minutes
    return Timing(dict(zip(parts, shared_out(whole, list(parts.values())), strict=True)), whole, exercises)


def shared_out(whole: int, seconds: Sequence[float]) -> list[int]:
    """Minutes of each part that add up to `whole`, a minute or more for each where there are so many.

    >>> shared_out(10, [200, 200, 185, 20])
    [3, 3, 3, 1]
    """
    shares = [max(1, int(each / 60)) for each in seconds]
    while missing := whole - sum(shares):
        step = 1 if missing > 0 else -1
        places = [at for at, share in enumerate(shares) if step > 0 or share > 1] or range(len(shares))
        shares[max(places, key=lambda at: step * (seconds[at] / 60 - shares[at]))] += step
    return shares


def _says_other(notebook: NotebookNode, whole: int) -> bool:
    """Let the first cells of a chapter say its minutes; whether they said others."""
    for cell in notebook.cells[:2]:
        as_counted, many = _SAID.subn(rf"\g<1>{whole}", cell.source, count=1)
        if many:
            is_other, cell.source = as_counted != cell.source, as_counted
            return is_other
    return False


def with_times(notes: str, timing: Timing) -> str:
    """The notes with these times in their first table.

    >>> table = "| section | minutes |\\n| --- | --- |\\n| 1 Who? | 8 |\\n\\nIn class: all."
    >>> print(with_times(table, Timing({"1 Who?": 7}, 7, 5)))
    | section | minutes |
    | --- | --- |
    | 1 Who? | 7 |
    | **without exercises** | 7 |
    | exercises | 5 |
    | **with exercises** | 12 |
    <BLANKLINE>
    In class: all.
    """
    rows = {**timing.sections, WITHOUT: timing.without, EXERCISES: timing.exercises, WITH: timing.together}
    table = "".join(f"| {name} | {many} |\n" for name, many in rows.items())
    return _TABLE.sub(lambda _: table, notes, count=1)


def with_sums(syllabus: str, timings: Mapping[str, Timing]) -> str:
    """The syllabus with the sums of the lessons that each of its rows has."""

    def summed(row: re.Match[str]) -> str:
        chosen = [timings[each] for each in row[2].split(", ")]
        return f"{row[1]} {sum(each.without for each in chosen)} | {sum(each.together for each in chosen)} |"

    return _ROW.sub(summed, syllabus)


def main() -> int:
    """Write every file that says other minutes than are counted, and print its name."""
    for path, text in stale():
        path.write_text(text, encoding="utf-8", newline="\n")
        print(f"{path.name}: changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
