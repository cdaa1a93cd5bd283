"""Exercises in the pages' own Python, run by Node: all are there; one of each form is solved, and answered wrongly."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from kafkalearn.exercises.kit.functions import Open
from kafkalearn.exercises.progress.record import Record
from tests.book.test_exercises_in_the_page import code_of, each_wrong_answer, of_each_form
from tests.exercises.every_exercise import EXERCISES
from tools.book.live.in_node import PagePython, page_python
from tools.book.live.packages import NotFetched
from tools.chapters import chapter_paths

IN_THE_PAGE = """
import json, pkgutil
from importlib import import_module
import kafkalearn.exercises as exercises
chapters = [each.name for each in pkgutil.iter_modules(exercises.__path__) if each.name.startswith("chapter")]
every = [each for name in chapters for each in import_module(f"kafkalearn.exercises.{name}").all_exercises()]
json.dumps({each.progress.exercise: len(each.misconceptions) for each in every})
"""
pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def python() -> Iterator[PagePython]:
    try:
        with page_python() as started:
            yield started
    except NotFetched as error:
        pytest.skip(str(error))


def checked(python, exercise, code):
    return python.ask("exercises.check", {"exercise": exercise.progress.exercise, "code": code})


def test_every_exercise_of_the_chapters_and_every_known_wrong_answer_is_there(python):
    of_chapters = {
        f"{path.stem.partition('_')[0]}.{name}"
        for path in chapter_paths()
        for name in re.findall(r"\bexercises\.(\w+)\.check\(", path.read_text(encoding="utf-8"))
    }
    run_here = {each.progress.exercise: len(each.misconceptions) for _, each in EXERCISES}

    assert run_here.keys() == of_chapters
    assert run_here == json.loads(python.run(IN_THE_PAGE))


@of_each_form
def test_the_solution_is_right(python, exercise):
    said = checked(python, exercise, code_of(exercise, exercise.solve()))

    assert said["outcome"] == ("open" if isinstance(exercise.judge, Open) else "right"), said["html"]
    entry = Record.read(said["record"]).entry(exercise.progress.exercise)
    assert entry.is_done
    assert "strange" not in str(entry.answer)


@each_wrong_answer
def test_a_known_wrong_answer_gets_its_sentence(python, exercise, misconception):
    said = checked(python, exercise, code_of(exercise, misconception.wrong))

    listed = exercise.judge.judge(misconception.wrong).adding(misconception.cure)
    assert said["outcome"] == "wrong"
    assert listed.html.splitlines()[-1] in said["html"].splitlines()
