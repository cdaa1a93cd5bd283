"""Recorded histories, asked again: what stays byte for byte, what is written anew, and what no command makes again."""

from __future__ import annotations

import json
from contextlib import contextmanager

import pytest

from conformance.mechanism import TooSlow
from kafkalearn.live.jars import find_release
from kafkalearn.releases.lines import RELEASES
from tests.recorded import ROOT
from tools import release
from tools.histories.__main__ import RECORDINGS
from tools.histories.left import NOT_MADE_AGAIN, is_left
from tools.histories.recording import Recording, taken_in

NEWEST, BEFORE = (find_release(line).version for line in reversed(RELEASES[-2:]))
HISTORIES = [
    {"id": "sum", "release": NEWEST, "asked": [1, 2], "answer": 3, "at_ms": 7},
    {"id": "sum", "release": BEFORE, "asked": [1, 2], "answer": 3, "at_ms": 8},
    {"id": "later", "release": NEWEST, "asked": [5], "answer": 5, "at_ms": 9},
]


def sums(answer, is_said=lambda history: history["answer"] == sum(history["asked"])):
    """A recording of sums, with the clock of the run beside them; a broker answers as it is told to."""

    @contextmanager
    def asking(line):
        yield answer

    return Recording("sums.json", ("cases",), asking, is_said, lambda each: "it takes long" * (each["id"] == "later"))


def adds(history, more=0):
    return {**history, "answer": sum(history["asked"]) + more, "at_ms": history["at_ms"] + 100}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "sums.json").write_text(json.dumps({"about": "sums", "cases": HISTORIES}))
    return tmp_path


def cases(folder):
    return json.loads((folder / "sums.json").read_text())["cases"]


def test_answers_that_differ_in_what_was_drawn_alone_leave_the_file_as_it_was(folder):
    before = (folder / "sums.json").read_bytes()
    assert taken_in(sums(adds), RELEASES[-1], folder) == [
        "cases: 1 as recorded, 0 new", "cases: not asked, it takes long: later",
    ]  # fmt: skip
    assert (folder / "sums.json").read_bytes() == before


def test_an_answer_that_is_another_one_is_written_anew_and_those_of_other_lines_stay(folder):
    told = taken_in(sums(lambda each: adds(each, more=1)), RELEASES[-1], folder)
    assert told == [
        "cases: 0 as recorded, 0 new", "cases: answered otherwise: sum", "cases: not asked, it takes long: later",
    ]  # fmt: skip
    assert [each["answer"] for each in cases(folder)] == [4, 3, 5]


def test_one_strange_answer_and_a_slow_one_are_asked_again(folder):
    answers = iter([1, None, 0])

    def ask(history):
        more = next(answers)
        if more is None:
            raise TooSlow("this machine")
        return adds(history, more)

    assert taken_in(sums(ask), RELEASES[-1], folder)[0] == "cases: 1 as recorded, 0 new"
    assert cases(folder) == HISTORIES


def test_a_machine_that_is_too_slow_each_time_leaves_the_history_as_it_was(folder):
    def ask(history):
        raise TooSlow("this machine")

    assert taken_in(sums(ask), RELEASES[-1], folder)[1] == "cases: not answered in time, 3 times: sum"
    assert cases(folder) == HISTORIES


def test_a_line_without_histories_gets_those_of_the_newest_asked_of_it(folder):
    (folder / "sums.json").write_text(json.dumps({"about": "sums", "cases": HISTORIES[1:2]}))
    assert taken_in(sums(adds), RELEASES[-1], folder) == ["cases: 1 as recorded, 1 new"]
    old, new = cases(folder)
    assert old == HISTORIES[1]
    assert (new["release"], new["answer"], new["at_ms"]) == (NEWEST, 3, 108)


def test_what_has_no_release_is_of_the_newest_line_alone(folder):
    (folder / "sums.json").write_text(json.dumps({"about": "", "cases": [{"id": "sum", "asked": [1], "answer": 1}]}))
    told = taken_in(sums(lambda history: {**history, "answer": 9}), RELEASES[-2], folder)
    assert told == [f"cases: nothing to ask of {RELEASES[-2]}, it is of the newest line alone"]


def test_every_recorded_file_is_made_again_by_a_step_or_named_with_the_reason():
    by_steps = {name for step in release.STEPS for name in step.files}
    files = [
        path.relative_to(ROOT).as_posix()
        for place in ("tests/vectors", "data")
        for path in (ROOT / place).rglob("*")
        if path.is_file() and path.suffix not in (".md", ".py") and "generated" not in path.parts
    ]
    loose = [each for each in files if not is_left(each) and each not in by_steps]
    assert {each for each in loose if not each.startswith("data/real-kafka/topics/")} == set()  # the step answers
    assert not [each for each in by_steps if is_left(each)]
    named = [name for names in NOT_MADE_AGAIN.values() for name in names]
    assert [name for name in named if not any(each.startswith(name) for each in files)] == []


def test_the_step_has_the_files_of_all_histories():
    (step,) = (each for each in release.STEPS if each.name == "histories")
    assert set(step.files) == {f"tests/vectors/{each.file}" for each in RECORDINGS.values()}
