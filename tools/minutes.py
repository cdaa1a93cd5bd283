"""``python3 run.py minutes``: how long each chapter takes, counted by one formula, part by part.

    python3 run.py minutes          a line for each chapter
    python3 run.py minutes 05 06    those chapters, a line for each section
    python3 run.py minutes --write  writes the count wherever the course says it (tools.timings)

The formula, for everything but the exercises and what stands under "Further":

- text is read at 130 words a minute, tables in it, too;
- a line of code takes four seconds; an import, an empty line and the asserts take none;
- a frame of a player takes four seconds, at most three minutes together: who has seen thirty frames jumps;
- a prediction takes a minute, and so does a player with controls;
- a line of printed text or of a table takes three seconds, at most thirty an answer; a picture twenty;
- a cell that asks Spark is waited for, five seconds, and thirty for the start of Spark.

It is a count, not a measurement: it is the same for all chapters, so that an hour of one is an hour of another. A cell
that only makes sure of what was said is not a cell to be read, and not counted as one.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from tools.chapters import chapter_paths

WORDS_A_MINUTE = 130
CODE_LINE_S = FRAME_S = 4
PLAYER_MOST_S = 180
PREDICTION_S = CONTROLS_S = 60
ANSWER_LINE_S, ANSWER_MOST_S, PICTURE_S = 3, 30, 20
SPARK_CELL_S, SPARK_START_S = 5, 30

MOST_MINUTES, MOST_CELLS, MOST_PLAYERS = 60, 60, 5
FIRST_PLAYED_CELL = 10  # the first player or game stands within so many cells

_WORD = re.compile(r"[^\W_]+(?:[-'.:/_][^\W_]+)*")
_ASKS_SPARK = re.compile(r"\bspark\b|\.(?:transform|agg|groupBy|collect|toPandas|withColumn)\(|\bF\.")
_PLAYER = re.compile(r'<script type="application/json">(.*?)</script>', re.DOTALL)
_EXERCISES, _FURTHER = re.compile(r"## Exercises|### Exercise \d"), re.compile(r"## (?:\d+ )?Further\b")


@dataclass(frozen=True, slots=True)
class Count:
    """What a part of a chapter has, and the seconds it takes."""

    cell_count: int = 0
    player_count: int = 0
    seconds: float = 0.0

    def __add__(self, other: Count) -> Count:
        """Both together."""
        return Count(
            self.cell_count + other.cell_count, self.player_count + other.player_count, self.seconds + other.seconds
        )

    @property
    def minutes(self) -> int:
        """The seconds as minutes, rounded."""
        return round(self.seconds / 60)


def count(notebook: NotebookNode) -> dict[str, Count]:
    """What each section has, by its heading, in order; exercises and what stands under "Further" are left out.

    >>> from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
    >>> cells = [new_markdown_cell("# 03 · Who?"), new_code_cell("f(1)"), new_markdown_cell("**Predict:** whom?")]
    >>> [(name, each.cell_count, round(each.seconds)) for name, each in count(new_notebook(cells=cells)).items()]
    [('', 3, 66)]
    """
    sections: dict[str, Count] = {}
    for heading, cell in lesson(notebook):
        sections[heading] = sections.get(heading, Count()) + _of(cell)
    return sections


def together(notebook: NotebookNode) -> Count:
    """The whole lesson."""
    return sum(count(notebook).values(), Count())


def first_played(notebook: NotebookNode) -> int | None:
    """Which cell of a lesson has the first player or game, counted from 1; None: none has."""
    for number, (_, cell) in enumerate(lesson(notebook), 1):
        if _players(cell) or "Game(" in cell.source or ".board(" in cell.source:
            return number
    return None


def lesson(notebook: NotebookNode) -> list[tuple[str, NotebookNode]]:
    """Each cell that is not an exercise and not under "Further", with the heading of its section."""
    found, heading, is_left_out = [], "", False
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            first = cell.source.split("\n", 1)[0]
            if _EXERCISES.match(first) or _FURTHER.match(first):
                is_left_out = True
            elif first.startswith("## "):
                heading, is_left_out = first.removeprefix("## "), False
        if not is_left_out:
            found.append((heading, cell))
    return found


def _of(cell: NotebookNode) -> Count:
    if cell.cell_type != "code":
        read_s = 60 * word_count(cell.source) / WORDS_A_MINUTE
        return Count(1, 0, read_s + PREDICTION_S * cell.source.count("**Predict"))
    players = _players(cell)
    if _only_makes_sure(cell):
        return Count(0, 0, SPARK_CELL_S if _ASKS_SPARK.search(cell.source) else 0)
    seconds = CODE_LINE_S * line_count(cell.source) + sum(map(_played_s, players))
    seconds += sum(_answer_s(output) for output in cell.get("outputs", []))
    if _ASKS_SPARK.search(cell.source):
        seconds += SPARK_START_S if "get_spark()" in cell.source else SPARK_CELL_S
    return Count(1, len(players), seconds)


def _only_makes_sure(cell: NotebookNode) -> bool:
    """Whether a cell shows nothing and asserts: what it says has been said in the text."""
    return not cell.get("outputs") and re.search(r"^\s*assert\b", cell.source, re.MULTILINE) is not None


def word_count(source: str) -> int:
    """The words of a text, those in its tables, too."""
    return len(_WORD.findall(source))


def line_count(source: str) -> int:
    """The lines of code that are read: no imports, no asserts, no empty lines."""
    try:
        statements = ast.parse(source).body
    except SyntaxError:  # a line for IPython, or a blank to be filled in
        return len([line for line in source.splitlines() if line.strip()])
    read = [each for each in statements if not isinstance(each, ast.Import | ast.ImportFrom | ast.Assert)]
    numbers = {number for each in read for number in range(each.lineno, (each.end_lineno or each.lineno) + 1)}
    lines = source.splitlines()
    return sum(bool(lines[number - 1].strip()) for number in numbers)


def _players(cell: NotebookNode) -> list[tuple[int, bool]]:
    """Of each player that a cell shows: its frames, and whether it has controls."""
    found = []
    for output in cell.get("outputs", []):
        for text in _PLAYER.findall("".join(output.get("data", {}).get("text/html", ""))):
            state = json.loads(text)
            frame_count, has_controls = len(state.get("_animation", {}).get("frames", ())), bool(state.get("_controls"))
            if frame_count > 1 or has_controls:
                found.append((frame_count, has_controls))
    return found


def _played_s(player: tuple[int, bool]) -> float:
    frame_count, has_controls = player
    return min(FRAME_S * frame_count, PLAYER_MOST_S) + CONTROLS_S * has_controls


def is_picture(data: Mapping[str, str]) -> bool:
    """Whether an output shows a picture: a player, or one that stands still."""
    return _is_player(data) or "image/svg+xml" in data or "image/png" in data


def _is_player(data: Mapping[str, str]) -> bool:
    return _PLAYER.search("".join(data.get("text/html", ""))) is not None


def _answer_s(output: NotebookNode) -> float:
    data = output.get("data", {})
    if _is_player(data):
        return 0.0  # counted by its frames
    if is_picture(data):
        return float(PICTURE_S)
    text = "".join(output.get("text", "") or data.get("text/plain", "") or output.get("evalue", ""))
    return float(min(ANSWER_LINE_S * len(text.strip().splitlines()), ANSWER_MOST_S))


def main(words: list[str]) -> int:
    """Print the count; 1 if no chapter is so named, or one is over its limits."""
    is_over = False
    paths = [path for path in chapter_paths() if not words or path.stem.split("_")[0] in words]
    for path in paths:
        notebook = nbformat.read(path, as_version=4)
        whole, first = together(notebook), first_played(notebook)
        is_over |= whole.minutes > MOST_MINUTES
        print(_line(path, whole, first))
        for heading, part in count(notebook).items() if words else ():
            shown = f"{part.cell_count:3} cells  {part.player_count:2} players"
            print(f"    {part.seconds / 60:5.1f}  {shown}  {heading or 'the opening'}")
    return int(is_over or not paths)


def _line(path: Path, whole: Count, first: int | None) -> str:
    return (
        f"{path.stem:24} {whole.minutes:3} min  {whole.cell_count:3} cells  {whole.player_count:2} players, "
        f"the first in cell {first or '-'}"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
