"""What holds for every exercise of every chapter, those of later chapters included."""

import re

import pytest

from kafkalearn.exercises.kit.exercise import Exercise
from kafkalearn.exercises.kit.properties import Open
from kafkalearn.exercises.kit.result import ERROR, NOT_ATTEMPTED, OPEN, RIGHT, WRONG
from tests.exercises.every_exercise import CHAPTERS, EXERCISES, name_of, run_cell

each_exercise = pytest.mark.parametrize(("chapter", "exercise"), EXERCISES, ids=name_of)
each_wrong_answer = pytest.mark.parametrize(
    ("exercise", "misconception"),
    [(exercise, misconception) for _, exercise in EXERCISES for misconception in exercise.misconceptions],
    ids=name_of,
)


def test_the_chapters_are_found():
    assert [name_of(chapter) for chapter in CHAPTERS][:3] == ["chapter00", "chapter01", "chapter02"]


@each_exercise
def test_the_solution_passes(chapter, exercise):
    result = exercise.check(exercise.solve())

    assert result.outcome == (OPEN if isinstance(exercise.judge, Open) else RIGHT), result


@each_wrong_answer
def test_a_listed_wrong_answer_fails_with_its_own_sentence(exercise, misconception):
    result = exercise.check(misconception.wrong)

    assert result.outcome == WRONG
    assert misconception.cure in result.sentences
    assert not result


@each_wrong_answer
def test_a_cure_does_not_give_the_answer_away(exercise, misconception):
    right = exercise.solve()
    parts = right.values() if isinstance(right, dict) else [right]
    told = [part for part in parts if re.search(rf"(?<![\w.]){re.escape(str(part))}(?![\w.])", misconception.cure)]

    assert told == []


@each_exercise
def test_the_untouched_cell_says_not_attempted(chapter, exercise):
    result = run_cell(exercise.start, {"exercises": chapter})

    assert result.outcome == NOT_ATTEMPTED
    assert repr(result).startswith("Not attempted yet.")


@each_exercise
@pytest.mark.parametrize("nothing", [..., None])
def test_nothing_is_not_attempted(chapter, exercise, nothing):
    assert exercise.check(nothing).outcome == exercise.check().outcome == NOT_ATTEMPTED


@each_exercise
@pytest.mark.parametrize(
    "nonsense",
    [object(), 3 + 4j, [[1], [2]], float("nan"), print],
    ids=["object", "complex", "nested list", "NaN", "print"],
)
def test_nonsense_is_explained_and_never_raises(chapter, exercise, nonsense):
    result = exercise.check(nonsense)

    assert result.outcome in (ERROR, WRONG)
    assert len(result.sentences) >= 1
    assert "0x" not in repr(result).replace("0x7fffffff", "")  # no address, which would differ in the next run


@each_exercise
def test_hints_climb_and_the_last_one_repeats(chapter, exercise):
    exercise.progress.hint_count = 0
    total = len(exercise.hints)

    said = [repr(exercise.hint()) for _ in range(total + 1)]

    assert total >= 2
    assert said[:-1] == [f"Hint {n} of {total}: {hint}" for n, hint in enumerate(exercise.hints, start=1)]
    assert said[-1] == said[-2]


@each_exercise
def test_question_and_solution_are_texts_for_notebook_and_terminal(chapter, exercise):
    for note in (exercise.question(), exercise.solution()):
        assert repr(note) == note._repr_markdown_() == note.text
        assert len(note.text) > 60
    assert exercise.progress.has_seen_solution


@each_exercise
def test_the_chapter_knows_the_exercise_by_its_name(chapter, exercise):
    assert isinstance(exercise, Exercise)
    assert getattr(chapter, exercise.name) is exercise
    assert f"exercises.{exercise.name}.check(" in exercise.start
    assert repr(exercise) == f"Exercise {exercise.name}: .question(), .check(answer), .hint(), .solution()"


@pytest.mark.parametrize("chapter", CHAPTERS, ids=name_of)
def test_the_score_has_a_line_for_each_exercise(chapter):
    for exercise in chapter.all_exercises():
        exercise.check(exercise.solve())

    lines = repr(chapter.score()).splitlines()

    names = [exercise.name for exercise in chapter.all_exercises()]
    assert [line.split(" | ")[0].strip("| ") for line in lines[4:]] == names
    assert len(set(names)) == len(names)
    right, total = map(int, re.search(r": (\d+) of (\d+) right$", lines[0]).groups())
    assert right == total - sum(isinstance(exercise.judge, Open) for exercise in chapter.all_exercises())


@each_exercise
def test_no_two_misconceptions_are_the_same_mistake(chapter, exercise):
    for listed in exercise.misconceptions:
        others = [other for other in exercise.misconceptions if other is not listed and other.recognises is None]
        assert not any(exercise.judge.matches(listed.wrong, other.wrong) for other in others)
