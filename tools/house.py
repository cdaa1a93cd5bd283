"""``make house``: what a reviewer looks at, and no test does: sizes, long files, doubled names, what a lesson has.

    python3 run.py house

A line of code is neither blank nor a comment nor part of a docstring. Nothing here fails: the report says what is
large, what has the name of something else, and which chapters are longer than a lesson should be.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from kafkalearn.base.tables import text_table
from kafkalearn.predictions.marking import MARK, marked
from kafkalearn.predictions.questions import all_predictions
from tools import minutes
from tools.chapters import chapter_paths
from tools.environment import ROOT

OUTSIDE = ("conformance", "tools", "benchmarks", "tests")
"""The folders beside the package, each a part of its own."""

LONG_FILE, DOUBLED = 500, 4  # lines of a file; modules that define a class of one name
MOST_LINES, MOST_COLUMNS, MOST_CHARACTERS = 15, 85, 8_000  # of a code cell, of its lines, of its printed output
MOST_IN_A_VERDICT = 200  # characters of the sentence that answers a prediction
MOST_WORDS, MOST_SEEN, MOST_TABLES = 3_000, 150, 2  # of a lesson; seen lines of code; tables between two pictures

_TO_FIX = "to-fix"  # code given to the reader to be changed, which has the length it has
_INSTRUCTOR = re.compile(r"\binstructor|\bin class(?:,| \()", re.IGNORECASE)
_AFTER_THE_LESSON = re.compile(r"## Exercises$|### Exercise \d+$|## Further: ")
_RULED = re.compile(r"^\|[\s:|-]+\|$", re.MULTILINE)  # the line below the head of a table in Markdown
_COLUMNS = re.compile(r"\S {2,}\S.*\n.*\S {2,}\S.*\n.*\S {2,}\S")  # three printed lines with columns


@dataclass(frozen=True, slots=True)
class Size:
    """What a few files hold."""

    files: int = 0
    lines: int = 0
    code: int = 0
    imports: int = 0  # lines of import statements

    def __add__(self, other: Size) -> Size:
        """Both together."""
        return Size(
            self.files + other.files, self.lines + other.lines, self.code + other.code, self.imports + other.imports
        )


def size_of(source: str) -> Size:
    """The size of one file.

    >>> size_of('"Words."\\nimport os  # why\\n\\n\\ndef f():\\n    "Words."\\n    return os.sep\\n')
    Size(files=1, lines=7, code=3, imports=1)
    """
    docstrings: set[int] = set()
    imports: set[int] = set()
    inside: set[int] = set()  # texts of several lines, of which any may be blank or begin with a #
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                docstrings.update(_lines_of(node))
            case ast.Import() | ast.ImportFrom():
                imports.update(_lines_of(node))
            case ast.Constant() | ast.JoinedStr():
                inside.update(_lines_of(node))
    lines = (line.strip() for line in source.split("\n"))
    code = {number for number, line in enumerate(lines, 1) if line and not line.startswith("#")}
    return Size(1, source.count("\n"), len((code | inside) - docstrings), len(imports))


def _lines_of(node: ast.stmt | ast.expr) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def part_of(path: Path) -> str:
    """The part that a file of the repository belongs to: a folder of the package, or a folder of the root."""
    top, *rest = path.relative_to(ROOT).parts
    return rest[0] if top == "kafkalearn" and len(rest) > 1 else top


def sizes() -> dict[str, Size]:
    """Each part with what it holds, by name; ``kafkalearn`` has the files of the package itself."""
    found: dict[str, Size] = {}
    for folder in ("kafkalearn", *OUTSIDE):
        for path in sorted((ROOT / folder).rglob("*.py")):
            part = part_of(path)
            found[part] = found.get(part, Size()) + size_of(path.read_text(encoding="utf-8"))
    return dict(sorted(found.items()))


def set_up(sources: Iterable[str]) -> tuple[int, int, int]:
    """Count test functions, all lines, and lines of set-up: those outside of a test and its two blank lines.

    >>> set_up(["import os\\n\\n\\n@mark\\ndef test_a():\\n    assert help()\\n\\n\\ndef help():\\n    return os\\n"])
    (1, 10, 5)
    """
    tests, lines, inside = 0, 0, 0
    for source in sources:
        lines += source.count("\n")
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
                first = min([node, *node.decorator_list], key=lambda each: each.lineno)
                tests, inside = tests + 1, inside + len(_lines_of(node)) + node.lineno - first.lineno + 2
    return tests, lines, lines - inside


def doubled_names(sources: Iterable[str]) -> dict[str, int]:
    """The public classes of a name that several modules define, the most frequent first.

    >>> doubled_names(["class Append: ..."] * 4 + ["class Roll: ..."])
    {'Append': 4}
    """
    trees = (ast.parse(source) for source in sources)
    names = Counter(node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef))
    return {name: many for name, many in names.most_common() if many >= DOUBLED and not name.startswith("_")}


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a reader meets in a lesson, without its exercises and what is further."""

    words: int
    tables: int
    pictures: int
    code: int  # lines that are seen: what is folded from the start is not
    most_tables: int  # between two pictures

    @classmethod
    def of(cls, notebook: NotebookNode) -> Lesson:
        """Count it.

        >>> from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
        >>> picture = new_output("display_data", {"image/svg+xml": "<svg/>"})
        >>> cells = [new_markdown_cell("Who reads?"), new_code_cell("import os\\n\\ndraw()", outputs=[picture])]
        >>> Lesson.of(new_notebook(cells=cells))
        Lesson(words=2, tables=0, pictures=1, code=1, most_tables=0)
        """
        folded = {cell["id"] for cell in marked(notebook)["cells"] if "fold" in cell["metadata"].get(MARK, {})}
        cells = [cell for _, cell in minutes.lesson(notebook)]
        code = [cell for cell in cells if cell.cell_type == "code"]
        met = "".join(kind for cell in cells for kind in _met(cell))
        return cls(
            words=sum(minutes.word_count(cell.source) for cell in cells if cell.cell_type == "markdown"),
            tables=met.count("t"),
            pictures=met.count("p"),
            code=sum(minutes.line_count(cell.source) for cell in code if cell.id not in folded),
            most_tables=max((len(run) for run in met.split("p")[1:-1]), default=0),
        )


def _met(cell: NotebookNode) -> Iterator[str]:
    """Each table (t) and picture (p) of a cell, in order."""
    if cell.cell_type == "markdown":
        yield "t" * len(_RULED.findall(cell.source))
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        text = "".join(output.get("text") or data.get("text/plain", ""))
        if minutes.is_picture(data):
            yield "p"
        elif "<table" in data.get("text/html", "") or _COLUMNS.search(text):
            yield "t"


def remarks(notebook: NotebookNode) -> Iterator[str]:
    """What a reviewer may want to shorten or move in a chapter: times, cells, players, lines, prose that is misplaced.

    >>> from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
    >>> cells = [new_markdown_cell("# 03 · Who?"), new_code_cell("f()\\n" * 16)]
    >>> list(remarks(new_notebook(cells=cells)))
    ['the first player or game is in cell none of 2', 'cell 1 has 16 lines']
    """
    whole, first, has = minutes.together(notebook), minutes.first_played(notebook), Lesson.of(notebook)
    if whole.minutes > minutes.MOST_MINUTES or whole.cell_count > minutes.MOST_CELLS:
        yield f"takes {whole.minutes} minutes and has {whole.cell_count} cells"
    if has.words > MOST_WORDS or has.code > MOST_SEEN:
        yield f"has {has.words:,} words, and {has.code} lines of code that are seen"
    if has.most_tables > MOST_TABLES:
        yield f"has {has.most_tables} tables between two pictures"
    if whole.player_count > minutes.MOST_PLAYERS:
        yield f"has {whole.player_count} players"
    if first is None or first > minutes.FIRST_PLAYED_CELL:
        yield f"the first player or game is in cell {first or 'none'} of {whole.cell_count}"
    is_after = False
    for index, cell in enumerate(notebook.cells):
        yield from (f"cell {index} {remark}" for remark in (_code if cell.cell_type == "code" else _prose)(cell))
        heading = cell.source.split("\n", 1)[0] if cell.cell_type == "markdown" else ""
        is_after |= re.match("##+ Exercise", heading) is not None
        if is_after and heading.startswith("#") and not _AFTER_THE_LESSON.match(heading):
            yield f"cell {index}: {heading!r} stands after the exercises and is not ## Further: ..."


def _code(cell: NotebookNode) -> Iterator[str]:
    lines = cell.source.splitlines()
    if len(lines) > MOST_LINES and _TO_FIX not in cell.metadata.get("tags", []):
        yield f"has {len(lines)} lines"
    widest = max(map(len, lines), default=0)
    if widest > MOST_COLUMNS:
        yield f"has a line of {widest} columns"
    for output in cell.outputs:
        printed = "".join(output.get("text") or output.get("data", {}).get("text/plain", ""))
        if len(printed) > MOST_CHARACTERS:
            yield f"prints {len(printed):,} characters"


def _prose(cell: NotebookNode) -> Iterator[str]:
    if found := _INSTRUCTOR.search(cell.source):
        yield f"speaks to the instructor ({found.group()})"


def _of_predictions() -> Iterator[str]:
    """What the verdicts and the places of the right answers look like, over all chapters."""
    asked = all_predictions()
    yield from (
        f"prediction {name}: its answer has {len(each.so)} characters"
        for name, each in asked.items()
        if len(each.so) > MOST_IN_A_VERDICT
    )
    four = [each for each in asked.values() if each.kind == "choice" and len(each.options) == 4]
    places = Counter(each.options.index(each.right) + 1 for each in four)
    yield "the right one of four is in place " + ", ".join(f"{at}: {places[at]} times" for at in range(1, 5))
    chosen = [each for each in asked.values() if each.kind == "choice"]
    longest = sum(all(len(each.right) > len(other) for other in {*each.options} - {each.right}) for each in chosen)
    chance = sum(1 / len(each.options) for each in chosen) / len(chosen)
    yield f"the right one is the longest in {longest / len(chosen):.0%}, by chance in {chance:.0%}"
    drawn = sum(each.kind in ("point", "marks", "cells") for each in asked.values())
    yield f"{drawn} of {len(asked)} predictions are made in a picture"


def main() -> int:
    """Print the report."""
    print("\n\n".join(["\n".join(_sizes()), "\n".join(_names()), "\n".join(_chapters())]))
    return 0


def _sizes() -> Iterator[str]:
    found = sizes()
    package = reduce(add, (size for part, size in found.items() if part not in OUTSIDE))
    parts = {**found, "all of kafkalearn": package}.items()
    yield text_table(
        [{"part": part, "files": each.files, "lines": each.lines, "code": each.code} for part, each in parts]
    )
    folders = {path.parent for path in (ROOT / "kafkalearn").rglob("*.py")}
    yield f"\n{package.files} files in {len(folders)} folders; {package.imports / package.lines:.1%} of lines import"
    tests, lines, outside = set_up(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    yield f"{tests:,} test functions in {lines:,} lines of tests; {outside / lines:.1%} of these are set-up"
    yield f"\nFiles of more than {LONG_FILE} lines:\n"
    lengths = {path: path.read_text(encoding="utf-8").count("\n") for path in (ROOT / "kafkalearn").rglob("*.py")}
    long = sorted((lines, path.relative_to(ROOT).as_posix()) for path, lines in lengths.items() if lines > LONG_FILE)
    yield from (f"{lines:5} {path}" for lines, path in reversed(long))


def _names() -> Iterator[str]:
    sources = (path.read_text(encoding="utf-8") for path in sorted((ROOT / "kafkalearn").rglob("*.py")))
    yield f"Names that {DOUBLED} or more modules give to a class:\n"
    yield ", ".join(f"{name} {many}" for name, many in doubled_names(sources).items())


def _chapters() -> Iterator[str]:
    rows, said = [], []
    for path in chapter_paths():
        notebook = nbformat.read(path, as_version=4)
        whole, has = minutes.together(notebook), Lesson.of(notebook)
        rows.append(
            {"chapter": path.stem, "minutes": whole.minutes, "cells": whole.cell_count, "words": has.words}
            | {"tables": has.tables, "pictures": has.pictures, "players": whole.player_count, "code seen": has.code}
        )
        said += [f"{path.stem}: {each}" for each in remarks(notebook)]
    yield text_table(rows)
    yield ""
    yield from [*said, *_of_predictions()]


if __name__ == "__main__":
    sys.exit(main())
