"""The chapters ask what their exercises ask, in their order, with the cell to begin with and what it says."""

import ast
import json
import re

import pytest

from tests.exercises.every_exercise import CHAPTERS, name_of, run_cell
from tools.chapters import chapter_paths

MOST, FEWEST = 8, 6
WITH_SPARK = {"proof_of_install"}  # its cell needs a session, which the chapter's own test has

NOTEBOOKS = {path.stem.split("_")[0]: path for path in chapter_paths()}
each_chapter = pytest.mark.parametrize("chapter", CHAPTERS, ids=name_of)


def exercise_cells(chapter):
    """The text and the code of each exercise in the notebook."""
    cells = json.loads(NOTEBOOKS[name_of(chapter).removeprefix("chapter")].read_text(encoding="utf-8"))["cells"]
    asked = [at for at, cell in enumerate(cells) if re.match(r"### Exercise \d+\n", "".join(cell["source"]))]
    return [(cells[at], cells[at + 1]) for at in asked]


@each_chapter
def test_a_chapter_has_six_to_eight_exercises(chapter):
    assert FEWEST <= len(chapter.all_exercises()) <= MOST


@each_chapter
def test_the_notebook_asks_them_all_in_their_order(chapter):
    texts = ["".join(text["source"]) for text, _ in exercise_cells(chapter)]

    assert texts == [f"### Exercise {n}\n\n{each.asks}" for n, each in enumerate(chapter.all_exercises(), start=1)]


@each_chapter
def test_each_cell_is_the_one_to_begin_with_and_shows_what_it_says(chapter):
    for (_, code), exercise in zip(exercise_cells(chapter), chapter.all_exercises(), strict=True):
        source = "".join(code["source"])
        if exercise.name in WITH_SPARK:
            source = source.partition("\n")[2]
        assert ast.dump(ast.parse(source)) == ast.dump(ast.parse(exercise.start)), exercise.name

        said = run_cell(source, {"exercises": chapter})
        (output,) = code["outputs"]
        assert {kind: "".join(lines) for kind, lines in output["data"].items()} == {
            "text/plain": repr(said),
            "text/markdown": said._repr_markdown_(),
            "text/html": said._repr_html_(),
        }
