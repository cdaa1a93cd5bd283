"""The chapters ask what their exercises ask, in their order, with the cell to begin with and what it says."""

import ast
import builtins
import json
import re
from dataclasses import fields, is_dataclass
from functools import cache

import nbformat
import pytest

from kafkalearn.exercises.kit.game import Game
from tests.every import every_case
from tests.exercises.every_exercise import CHAPTERS, EXERCISES, name_of, run_cell
from tools.chapters import chapter_paths

MOST, FEWEST = 8, 6
FEWEST_OF_A_PART = 4  # of a chapter that is several lessons; together they have as many as any
WITH_SPARK = {"proof_of_install"}  # its cell needs a session, which the chapter's own test has

NOTEBOOKS = {path.stem.split("_")[0]: path for path in chapter_paths()}
each_chapter = pytest.mark.parametrize("chapter", CHAPTERS, ids=name_of)


def exercise_cells(chapter):
    """The text and the code of each exercise in the notebook."""
    cells = json.loads(NOTEBOOKS[name_of(chapter).removeprefix("chapter")].read_text(encoding="utf-8"))["cells"]
    asked = [at for at, cell in enumerate(cells) if re.match(r"### Exercise \d+\n", "".join(cell["source"]))]
    code = ((at, next(each for each in cells[at:] if ".check(" in "".join(each["source"]))) for at in asked)
    return [(cells[at], cell) for at, cell in code]  # a game's board stands between


@each_chapter
def test_a_chapter_has_six_to_eight_exercises(chapter):
    lessons = [each for each in CHAPTERS if each.__name__[:-1] == chapter.__name__ or each is chapter]
    fewest = FEWEST_OF_A_PART if len(lessons) > 1 or not chapter.__name__[-1].isdigit() else FEWEST

    assert fewest <= len(chapter.all_exercises()) <= MOST


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


each_exercise = every_case(("chapter", "exercise"), EXERCISES, ids=name_of)
CODE = re.compile(r"```(?:python)?\n(.*?)```|`([^`\n]+)`", re.DOTALL)


@cache
def code_cells(number: str) -> tuple[str, ...]:
    """The code of a chapter, cell by cell, without magics."""
    (path,) = (path for path in chapter_paths() if path.name.startswith(f"{number}_"))
    cells = nbformat.read(path, as_version=4).cells
    return tuple(re.sub(r"^[%!].*$", "", cell.source, flags=re.M) for cell in cells if cell.cell_type == "code")


def start_cell(chapter, exercise) -> tuple[int, str]:
    """Where in the chapter the student begins with an exercise, and the cell."""
    cells = enumerate(code_cells(name_of(chapter).removeprefix("chapter")))
    (found,) = ((place, cell) for place, cell in cells if f"exercises.{exercise.name}.check(" in cell)
    return found


def bound_by(code: str) -> set[str]:
    """The names that some code defines anywhere in it."""
    tree = ast.walk(ast.parse(code))
    names = set()
    for node in tree:
        match node:
            case ast.Import() | ast.ImportFrom():
                names |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
            case ast.Name(id=name, ctx=ast.Store()) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.arg(arg=name):
                names.add(name)
    return names


def used_by(code: str) -> set[str]:
    return {
        each.id for each in ast.walk(ast.parse(code)) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
    }


def known_in(chapter, place: int) -> set[str]:
    """What a student has when the cell at this place is run: all cells up to it, and Python's own names."""
    return set(dir(builtins)).union(*map(bound_by, code_cells(name_of(chapter).removeprefix("chapter"))[: place + 1]))


def classes_in(answer: object) -> set[str]:
    """The classes of the library that an answer is made of."""
    if isinstance(answer, dict):
        return classes_in([*answer.values()])
    if isinstance(answer, list | tuple | set | frozenset):
        return set().union(*map(classes_in, answer))
    if is_dataclass(answer) and not isinstance(answer, type):
        return {type(answer).__name__}.union(*(classes_in(getattr(answer, each.name)) for each in fields(answer)))
    return set()


def written_with(exercise) -> set[str]:
    """The names in the code of a worked solution and of the hints, where they build something: ``Send()``."""
    if isinstance(exercise.judge, Game):  # its moves are words of a line
        return set()
    names = set()
    for block, span in CODE.findall("\n".join([exercise.reasoning, *exercise.hints])):
        try:
            tree = ast.parse(block or span)
        except SyntaxError:  # a formula, a setting, a word
            continue
        calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)]
        names |= {each.func.id for each in calls if each.func.id[:1].isupper()}
    return names


@each_exercise
def test_the_cell_of_the_chapter_is_the_one_that_the_exercise_gives(chapter, exercise):
    _, cell = start_cell(chapter, exercise)
    given = [ast.dump(each) for each in ast.parse(exercise.start).body]

    # The chapter may make something ready first, such as a Spark session.
    assert [ast.dump(each) for each in ast.parse(cell).body][-len(given) :] == given


@each_exercise
def test_all_names_of_the_cell_and_of_a_right_answer_are_there_when_the_student_begins(chapter, exercise):
    place, cell = start_cell(chapter, exercise)
    needed = used_by(cell) | classes_in(exercise.solve()) | written_with(exercise)

    assert needed - known_in(chapter, place) == set()


def test_names_are_found_in_answers_and_in_worked_solutions():
    (found,) = (each for _, each in EXERCISES if each.name == "lost_without_a_crash")

    assert {"Send", "AnswerArrived", "BrokerStopped"} <= classes_in(found.solve()) & written_with(found)
