"""Exercises through the page's own entry point: one of each form, its solution and known wrong answers, odd input.

That each solution is right and each known wrong answer gets its sentence, tests/exercises holds for all.
"""

import json

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.exercises.kit.functions import Open
from kafkalearn.exercises.progress.record import Entry, Record, encoded
from tests.exercises.every_exercise import EXERCISES, name_of, one_of_each_form
from tools.page.exercises import NOT_IN_THE_PAGE, check, find_exercise

each_exercise = pytest.mark.parametrize("exercise", [exercise for _, exercise in EXERCISES], ids=name_of)
of_each_form = pytest.mark.parametrize("exercise", one_of_each_form(), ids=name_of)
each_wrong_answer = pytest.mark.parametrize(
    ("exercise", "misconception"),
    [(exercise, misconception) for exercise in one_of_each_form() for misconception in exercise.misconceptions],
    ids=name_of,
)


def code_of(exercise, answer):
    """What a reader would type to give an answer: a function in full, a value as the file has it."""
    words = encoded(answer)
    if isinstance(words, dict) and "function" in words:
        return f"{words['source']}\nexercises.{exercise.name}.check({words['function']})"
    read = "from kafkalearn.exercises.progress.record import decoded"
    return f"{read}\nexercises.{exercise.name}.check(decoded({words!r}))"


def checked(exercise, code, record=""):
    return check({"exercise": exercise.progress.exercise, "code": code, "record": record})


@of_each_form
def test_the_solution_is_right_and_kept(exercise):
    exercise.progress.forget()
    said = checked(exercise, code_of(exercise, exercise.solve()))

    outcome = "open" if isinstance(exercise.judge, Open) else "right"
    assert said["outcome"] == outcome, said["html"]
    entry = Record.read(said["record"]).entry(exercise.progress.exercise)
    assert (entry.outcome, entry.try_count) == (outcome, 1)
    assert "strange" not in json.dumps(entry.answer)


@each_wrong_answer
def test_a_known_wrong_answer_gets_its_sentence(exercise, misconception):
    said = checked(exercise, code_of(exercise, misconception.wrong))

    listed = exercise.judge.judge(misconception.wrong).adding(misconception.cure)
    assert said["outcome"] == "wrong"
    assert listed.html.splitlines()[-1] in said["html"].splitlines()


def test_all_but_what_is_about_spark_itself_run_in_a_page():
    needing_spark = [each.progress.exercise for _, each in EXERCISES if "spark" in each.asks.casefold()]

    assert set(NOT_IN_THE_PAGE) <= set(needing_spark)
    assert len(EXERCISES) - len(NOT_IN_THE_PAGE) >= 120


@each_exercise
def test_the_untouched_editor_is_not_attempted_and_changes_nothing(exercise):
    exercise.progress.forget()
    before = Record("Anna", {exercise.progress.exercise: Entry("wrong", 2, 1, True, 7)}).text()

    said = checked(exercise, exercise.start, before)

    assert (said["outcome"], said["record"]) == ("not attempted", before)


def test_tries_are_counted_on_from_the_file():
    (exercise,) = (each for _, each in EXERCISES if each.name == "same_partition")
    exercise.progress.forget()
    exercise.progress._entry = None  # as in a Python that has just begun
    right = exercise.solve()
    before = Record("Anna", {"01.same_partition": Entry("wrong", 2, 1, False, "search")}).text()

    after = checked(exercise, code_of(exercise, right), before)["record"]
    again = checked(exercise, code_of(exercise, right), after)["record"]

    assert Record.read(after).name == "Anna"
    assert Record.read(after).entry("01.same_partition") == Entry("right", 3, 1, False, right)
    assert again == after


def said_of(code):
    return check({"exercise": "01.same_partition", "code": code})


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("group_id = (", "Python cannot read line 1"),
        ("\x00", "Python cannot read"),
        ("x = 1\ny = 1 / 0\nexercises.same_partition.check(x)", "in line 2, <code>y = 1 / 0</code>, with"),
        ("import sys\nsys.exit()\n1", "<code>SystemExit</code>"),
        ("while True:\n    pass", "was stopped after 3,000,000 lines"),
        ("group_id = 'a'", "The last line is to be <code>exercises.same_partition.check(...)</code>"),
        ("", "The last line is to be"),
        ("'<b>'", "The last line is to be"),
        ("raise ValueError('<img onerror=x>')\n1", "&lt;img onerror=x&gt;"),
    ],
)
def test_code_that_gives_no_answer_is_explained(code, words):
    said = said_of(code)

    assert said["outcome"] == "error"
    assert words in said["html"]
    assert Record.read(said["record"]).entries == {}


def test_what_is_printed_is_shown():
    assert said_of("print('looked at 50')\nexercises.same_partition.check(...)")["printed"] == "looked at 50\n"


def test_a_function_may_use_others_of_the_same_cell_and_is_kept_whole():
    code = "def double(n):\n    return 2 * n\n\ndef f(key, n):\n    return double(n)\n\nexercises.mask_step.check(f)"
    said = check({"exercise": "02.mask_step", "code": code})

    assert "def double" in Record.read(said["record"]).entry("02.mask_step").answer["source"]


def test_a_file_that_cannot_be_read_is_said_and_a_new_one_begun():
    find_exercise("01.same_partition")[1].progress.forget()

    said = check({"exercise": "01.same_partition", "code": "exercises.same_partition.check('a')", "record": "{"})

    assert "invalid JSON" in said["trouble"]
    assert Record.read(said["record"]).entry("01.same_partition").outcome == "wrong"


@pytest.mark.parametrize("name", ["01.same_partitoin", "77.none", "01", "../etc.x"])
def test_an_exercise_that_is_not_there(name):
    with pytest.raises(KafkaLearnError, match=r"did you mean|no chapter|unknown exercise"):
        check({"exercise": name, "code": ""})
