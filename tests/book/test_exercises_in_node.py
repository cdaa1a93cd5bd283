"""Every exercise in the pages' own Python, run by Node: each solution, and each known wrong answer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kafkalearn.exercises.kit.properties import Open
from kafkalearn.exercises.progress.record import Record
from tests.book.test_exercises_in_the_page import code_of, each_exercise, each_wrong_answer
from tools.book.live.in_node import PagePython, page_python
from tools.book.live.packages import NotFetched

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


@each_exercise
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
