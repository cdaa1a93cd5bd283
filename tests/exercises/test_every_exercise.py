"""What holds for every exercise of every chapter, those of later chapters included."""

import re
from functools import cache
from itertools import product

import pytest

from kafkalearn.base.hashing import to_positive
from kafkalearn.coordinator.rule import offsets_partition
from kafkalearn.exercises.chapter01 import OFFSETS_CASES
from kafkalearn.exercises.chapter02 import BYTES_CASES, HASH_CASES, TEXT_CASES
from kafkalearn.exercises.kit import given
from kafkalearn.exercises.kit.exercise import Exercise
from kafkalearn.exercises.kit.functions import Open
from kafkalearn.exercises.kit.result import ERROR, NOT_ATTEMPTED, OPEN, RIGHT, WRONG
from kafkalearn.partitioning.keyed import partition_for_key
from tests.every import every_case
from tests.exercises.every_exercise import ALL, CHAPTERS, EXERCISES, name_of, one_of_each_form, run_cell
from tests.exercises.kit.hostile import FUNCTIONS, VALUES, strangers
from tests.recorded import recorded

each_exercise = every_case(("chapter", "exercise"), EXERCISES, ids=name_of)
of_each_form = every_case("exercise", one_of_each_form(), ids=name_of)
each_wrong_answer = every_case(
    ("exercise", "misconception"),
    [(exercise, misconception) for _, exercise in EXERCISES for misconception in exercise.misconceptions],
    ids=name_of,
)


def of_all(test):
    """For the night what a push tries with one exercise of each form."""
    return pytest.mark.nightly(every_case("exercise", ALL.values(), ids=name_of)(test))


@cache
def solved(exercise):
    """A right answer, which is not to be changed: some take a run of many seconds to find."""
    return exercise.solve()


def test_the_chapters_are_found():
    assert [name_of(chapter) for chapter in CHAPTERS][:3] == ["chapter00", "chapter00b", "chapter01"]


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
    right = solved(exercise)
    parts = right.values() if isinstance(right, dict) else [right]
    told = [part for part in parts if re.search(rf"(?<![\w.]){re.escape(str(part))}(?![\w.])", misconception.cure)]

    assert told == []


@each_exercise
def test_the_untouched_cell_says_not_attempted(chapter, exercise):
    result = run_cell(exercise.start, {"exercises": chapter})

    assert result.outcome == NOT_ATTEMPTED
    assert repr(result).startswith("Not attempted yet.")


@each_exercise
@every_case("nothing", [..., None])
def test_nothing_is_not_attempted(chapter, exercise, nothing):
    assert exercise.check(nothing).outcome == exercise.check().outcome == NOT_ATTEMPTED


def said_of_nonsense(exercise, nonsense):
    """What a check says of an answer that is none."""
    result = exercise.check(nonsense)

    is_noted = isinstance(exercise.judge, Open) and issubclass(type(nonsense), str)
    assert result.outcome in ((OPEN,) if is_noted else (ERROR, WRONG)), result
    assert result.sentences or result.outcome == WRONG
    assert strangers(result) == []
    said = (repr(result), result._repr_markdown_(), result._repr_html_())
    assert not any("0x" in each.replace("0x7fffffff", "") for each in said)  # no address, another in the next run
    assert max(map(len, said)) < 2000
    return repr(result)


def give_anything(exercise):
    for nonsense in VALUES.values():
        said_of_nonsense(exercise, nonsense)

    for part in ("markup", "repr exits", "5,000 digits", "equal to all", "contains itself"):
        said_of_nonsense(exercise, dict.fromkeys(("a", "b"), VALUES[part]))
        said_of_nonsense(exercise, [VALUES[part], VALUES[part]])


test_whatever_is_given_is_explained_and_does_no_harm = of_each_form(give_anything)
test_whatever_is_given_to_any_exercise_is_explained_and_does_no_harm = of_all(give_anything)


@each_exercise
def test_each_part_may_be_nonsense(chapter, exercise):
    right = solved(exercise)
    if isinstance(right, dict):
        for name, nonsense in product(
            right, ("markup", "repr exits", "no attribute", "contains itself", "5,000 digits")
        ):
            result = exercise.check({**right, name: VALUES[nonsense]})
            assert result.outcome in (ERROR, WRONG, RIGHT)
            assert strangers(result) == []


MILLION = "a" * 1_000_000


def give_a_million_letters(exercise):
    right = solved(exercise)
    names = right if isinstance(right, dict) else ()
    answers = [MILLION, {MILLION: 1}, {"a": MILLION}, *({**right, name: MILLION} for name in names)]
    for answer in answers:
        result = exercise.check(answer)
        assert max(map(len, (repr(result), result._repr_markdown_(), result._repr_html_()))) < 10_000


test_a_million_letters_are_not_said_again = of_each_form(give_a_million_letters)
test_a_million_letters_are_said_again_by_no_exercise = of_all(give_a_million_letters)


def give_any_function(exercise, monkeypatch):
    monkeypatch.setattr(given, "LINES", 100_000)  # enough for every right answer
    for function in FUNCTIONS:
        said_of_nonsense(exercise, function)

    outcome = OPEN if isinstance(exercise.judge, Open) else RIGHT
    assert exercise.check(exercise.solve()).outcome == outcome, "an answer before it has changed what the check uses"


test_whatever_a_function_does_is_explained_and_does_no_harm = of_each_form(give_any_function)
test_whatever_a_function_does_to_any_exercise_is_explained_and_does_no_harm = of_all(give_any_function)


@each_exercise
def test_hints_climb_and_the_last_one_repeats(chapter, exercise):
    exercise.progress.forget()
    total = len(exercise.hints)

    said = [repr(exercise.hint()) for _ in range(total + 1)]

    assert total >= 2
    assert said[:-1] == [f"Hint {n} of {total}: {hint}" for n, hint in enumerate(exercise.hints, start=1)]
    assert said[-1] == said[-2]


@each_exercise
def test_question_and_solution_are_texts_for_notebook_and_terminal(chapter, exercise):
    exercise.progress.forget()
    for note in (exercise.question(), exercise.solution()):
        assert repr(note) == note._repr_markdown_() == note.text
        assert len(note.text) > 60
    assert exercise.progress.entry.has_seen_solution


@each_exercise
def test_the_chapter_knows_the_exercise_by_its_name(chapter, exercise):
    assert isinstance(exercise, Exercise)
    assert getattr(chapter, exercise.name) is exercise
    assert f"exercises.{exercise.name}.check(" in exercise.start
    assert repr(exercise) == f"Exercise {exercise.name}: .question(), .check(answer), .hint(), .solution()"


@pytest.mark.parametrize("chapter", CHAPTERS, ids=name_of)
def test_the_score_has_a_line_for_each_exercise(chapter):
    for exercise in chapter.all_exercises():
        exercise.check(solved(exercise))

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


GROUPS = {(case["group_id"], case["partitions"]): case["partition"] for case in recorded("groups-hash")["vectors"]}
KEYS = {
    (bytes.fromhex(case["key_hex"]), int(partition_count)): partition
    for case in recorded("groups-murmur2")["vectors"]
    for partition_count, partition in case["partition"].items()
}
HASHES = {bytes.fromhex(case["key_hex"]): case["murmur2"] for case in recorded("groups-murmur2")["vectors"]}


def test_each_group_lies_where_kafka_put_it():
    assert {case: offsets_partition(*case) for case in OFFSETS_CASES} == {case: GROUPS[case] for case in OFFSETS_CASES}


def test_each_key_lands_where_kafka_put_it():
    assert {case: partition_for_key(*case) for case in BYTES_CASES} == {case: KEYS[case] for case in BYTES_CASES}


def test_the_keys_given_as_text_are_the_same_keys():
    assert tuple((key.encode(), partition_count) for key, partition_count in TEXT_CASES) == BYTES_CASES


def test_each_hash_and_its_partition_are_those_of_a_key():
    for (key, partition_count), (key_hash, same_count) in zip(BYTES_CASES, HASH_CASES, strict=True):
        assert (key_hash, same_count) == (HASHES[key], partition_count)
        assert to_positive(key_hash) % partition_count == KEYS[key, partition_count]
