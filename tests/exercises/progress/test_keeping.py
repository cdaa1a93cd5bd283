"""Progress is kept beside working copies, from kernel to kernel, and nowhere else."""

import pytest

from kafkalearn.exercises.kit.compare import Value
from kafkalearn.exercises.kit.exercise import Chapter, Exercise
from kafkalearn.exercises.progress.record import (
    BESIDE_COPIES,
    FILE_NAME,
    VARIABLE,
    Entry,
    Record,
    file_of_progress,
    keep,
    read_file,
)
from kafkalearn.lab.working_copies import RECORD


def new_kernel():
    """An exercise as a fresh kernel has it."""
    exercise = Exercise("twelve", "?", "", Value(lambda: 12), lambda: 12, ("look", "12"), "It is 12.")
    Chapter("99 test", (exercise,))
    return exercise


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def copies(folder):
    (folder / BESIDE_COPIES).write_text("{}", encoding="utf-8")
    return folder


def kept_in(folder):
    return read_file(folder / FILE_NAME).entry("99.twelve")


def test_the_folder_of_copies_is_known_by_what_the_lab_leaves_there():
    assert BESIDE_COPIES == RECORD


def test_elsewhere_nothing_is_written(folder):
    exercise = new_kernel()
    exercise.check(13)
    exercise.hint()

    assert file_of_progress() is None
    assert list(folder.iterdir()) == []
    assert exercise.progress.entry == Entry("wrong", 1, 1, False, 13)


def test_beside_copies_each_answer_hint_and_solution_is_written(copies):
    exercise = new_kernel()
    assert not (copies / FILE_NAME).exists()

    exercise.check()
    assert not (copies / FILE_NAME).exists()
    exercise.check(13)
    assert kept_in(copies) == Entry("wrong", 1, 0, False, 13)
    exercise.hint()
    exercise.solution()
    assert kept_in(copies) == Entry("wrong", 1, 1, True, 13)
    exercise.check(12)
    assert kept_in(copies) == Entry("right", 2, 1, True, 12)


def test_the_same_answer_again_is_no_further_try_and_an_error_is_none(copies):
    exercise = new_kernel()
    for answer in (13, 13, "thirteen", 14, 13):
        exercise.check(answer)

    assert kept_in(copies) == Entry("wrong", 2, 0, False, 14)


def test_a_right_answer_stays_when_a_wrong_one_follows(copies):
    exercise = new_kernel()
    exercise.check(12)
    exercise.check(13)
    exercise.solution()

    assert kept_in(copies) == Entry("right", 2, 0, False, 12)


def test_the_next_kernel_goes_on(copies):
    first = new_kernel()
    first.check(13)
    first.hint()

    second = new_kernel()
    assert repr(second.hint()) == "Hint 2 of 2: 12"
    second.check(12)
    assert kept_in(copies) == Entry("right", 2, 2, False, 12)


def test_two_kernels_at_once_keep_both(copies):
    one, two = new_kernel(), new_kernel()
    one.check(12)
    two.check(13)
    keep("98.other", Entry("right", 1))

    assert kept_in(copies).outcome == "right"
    assert read_file(copies / FILE_NAME).entry("98.other").outcome == "right"


def test_the_variable_names_another_file(folder, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(folder / "mine.json"))
    new_kernel().check(12)

    assert read_file(folder / "mine.json").entry("99.twelve").outcome == "right"


def test_a_damaged_file_is_put_aside_and_said(copies):
    (copies / FILE_NAME).write_text("{", encoding="utf-8")

    result = new_kernel().check(12)

    assert result
    assert "lies in progress.json.damaged now: this is no file of progress" in repr(result)
    assert (copies / "progress.json.damaged").read_text(encoding="utf-8") == "{"
    assert kept_in(copies).outcome == "right"


def test_a_newer_file_is_left_alone_and_said(copies):
    newer = '{"format": "kafkalearn progress", "version": 2, "exercises": {}}'
    (copies / FILE_NAME).write_text(newer, encoding="utf-8")

    result = new_kernel().check(13)

    assert "Progress is not kept: this file of progress is of version 2" in repr(result)
    assert (copies / FILE_NAME).read_text(encoding="utf-8") == newer


def test_a_file_that_cannot_be_written_is_said(folder, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(folder / "no such folder" / "mine.json"))

    result = new_kernel().check(12)

    assert result
    assert "Progress is not kept: progress cannot be written to" in repr(result)


def test_the_score_has_what_is_kept(copies):
    first = new_kernel()
    first.check(13)
    first.check(12)

    chapter = Chapter("99 test", (new_kernel(),))
    assert repr(chapter.score()).splitlines()[-1] == "| twelve | right | 2 | 0 of 2 | no |"


def test_a_record_has_no_time_and_no_place(copies):
    new_kernel().check(12)

    assert (copies / FILE_NAME).read_text(encoding="utf-8") == Record(
        "", {"99.twelve": Entry("right", 1, 0, False, 12)}
    ).text()
