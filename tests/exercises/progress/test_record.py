"""The file of progress: what is written is read, two files make one, and what is no such file says what is wrong."""

import json
import math
import os
import struct as packing
import subprocess
import sys
from fractions import Fraction
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.hashing import murmur2
from kafkalearn.exercises.kit.compare import Value
from kafkalearn.exercises.kit.exercise import Chapter, Exercise
from kafkalearn.exercises.kit.given import Strange
from kafkalearn.exercises.progress.record import (
    BESIDE_COPIES,
    FILE_NAME,
    LONGEST,
    MOVED,
    VARIABLE,
    Entry,
    FunctionSource,
    Made,
    NoRecord,
    NoSource,
    Record,
    decoded,
    encoded,
    file_of_progress,
    keep,
    read_file,
    source_of,
    write_file,
)
from kafkalearn.lab.working_copies import RECORD
from kafkalearn.replication import Fetch, Produce
from tests.every import every_case
from tests.exercises.every_exercise import EXERCISES
from tests.exercises.kit.hostile import FUNCTIONS, VALUES
from tests.exercises.kit.test_given import PLAIN
from tests.project.modules import ROOT

OUTCOMES = ("right", "wrong", "open", "error", "not attempted")
ENTRIES = st.builds(
    Entry,
    st.sampled_from(OUTCOMES),
    st.integers(0, 9),
    st.integers(0, 3),
    st.booleans(),
    st.sampled_from((None, 1, "a")),
)
RECORDS = st.builds(
    Record, st.sampled_from(("", "Anna", "Bo")), st.dictionaries(st.sampled_from(("01.a", "01.b")), ENTRIES)
)


def test_a_file_of_the_time_when_12_and_13_were_one_chapter_each_is_read_by_the_names_of_today():
    entries = {"12.stand_still": Entry("right", 2, 1), "13.my_cluster": Entry("wrong", 1), "13.four_proposals": Entry()}
    both = Record("Anna", {"13.my_cluster": Entry("wrong", 3), "13c.my_cluster": Entry("right", 1)})

    assert {*MOVED.values()} <= {each.progress.exercise for _, each in EXERCISES}
    assert {*Record.read(Record("Anna", entries).text()).entries} == {
        "12b.stand_still", "13c.my_cluster", "13.four_proposals",
    }  # fmt: skip
    assert Record.read(both.text()).entries == {"13c.my_cluster": Entry("right", 3)}


@given(RECORDS)
def test_what_is_written_is_read(record):
    assert Record.read(record.text()) == record


@given(RECORDS, RECORDS, RECORDS)
def test_files_go_together_in_any_order_and_as_often_as_one_likes(one, two, three):
    assert one | two == two | one
    assert (one | two) | three == one | (two | three)
    assert one | one == one | Record() == one
    assert all(((one | two).entry(name).is_done) >= one.entry(name).is_done for name in one.entries)


def test_which_two_of_three_files_come_first_does_not_matter():
    one, two, three = Entry("right", 0), Entry("wrong", 1), Entry("right", 0, answer=1)

    assert (one | two) | three == one | (two | three) == Entry("right", 1, answer=1)


def test_the_best_answer_stays():
    right, wrong = Entry("right", 2, 1, False, 7), Entry("wrong", 5, 0, True, 8)

    assert right | wrong == Entry("right", 5, 1, True, 7)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a progress file: invalid JSON"),
        ("{", "not a progress file: invalid JSON"),
        ("[" * 100_000, "not a progress file: invalid JSON"),
        ("[]", 'it must have "format": "kafkalearn progress"'),
        ('{"format": "other"}', 'it must have "format": "kafkalearn progress"'),
        ('{"format": "kafkalearn progress", "version": 1}', '"exercises" must be an object'),
        ('{"format": "kafkalearn progress", "version": 1, "name": 3, "exercises": {}}', '"name" a text'),
        (
            '{"format": "kafkalearn progress", "version": 1, "exercises": {"a": 1}}',
            "a in this file of progress has no outcome",
        ),
        ('{"format": "kafkalearn progress", "version": 1, "exercises": {"a": {"outcome": []}}}', "has no outcome"),
        (
            '{"format": "kafkalearn progress", "version": 1, "exercises": {"a": {"outcome": "right", "tries": -1}}}',
            "tries must be at least 0, got -1",
        ),
        ("x" * 5_000_001, "has 5,000,001 characters"),
    ],
)
def test_what_is_no_such_file_is_refused(text, said):
    with pytest.raises(NoRecord, match=said):
        Record.read(text)


def test_a_newer_file_is_refused_and_is_no_damaged_one():
    with pytest.raises(KafkaLearnError, match="is of version 2; this kafkalearn reads version 1") as refused:
        Record.read('{"format": "kafkalearn progress", "version": 2, "exercises": {}}')
    assert not isinstance(refused.value, NoRecord)


def test_names_hold_nothing_that_a_terminal_obeys():
    text = json.dumps({"format": "kafkalearn progress", "version": 1, "name": "A\x1b[2Jnna", "exercises": {}})

    assert Record.read(text).name == "A[2Jnna"


def test_a_file_is_written_as_a_whole_or_not_at_all(tmp_path):
    path = tmp_path / "progress.json"
    write_file(path, Record("Anna"))
    assert read_file(path) == Record("Anna")
    assert [each.name for each in tmp_path.iterdir()] == ["progress.json"]

    path.write_text("", encoding="utf-8")
    assert read_file(path) == Record()

    with pytest.raises(KafkaLearnError, match="cannot be read"):
        read_file(tmp_path / "none.json")
    with pytest.raises(KafkaLearnError, match="cannot be written"):
        write_file(tmp_path / "no such folder" / "progress.json", Record())


def kept(answer):
    return decoded(json.loads(json.dumps(encoded(answer))))


@given(PLAIN)
def test_plain_data_comes_back(value):
    assert kept(value) == value


@pytest.mark.parametrize(
    "value",
    [
        *(float("inf"), 2**70, -(2**70), Fraction(1, 3), 3j, b"\xff", ..., {1: "a", "b": [..., None]}),
        *(frozenset({1, (2, "x")}), [Fetch(2), Produce(acks=1), Fetch], (1, [2, (3,)]), "\ud83d", {"set": [1]}),
    ],
)
def test_what_json_has_no_word_for_comes_back(value):
    assert kept(value) == value
    assert type(kept(value)) is type(value)


@every_case("name", VALUES)
def test_whatever_is_given_has_words(name):
    assert json.dumps(encoded(VALUES[name]))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_comes_back_as_text_or_as_a_reason(function):
    back = kept(function)

    assert isinstance(back, FunctionSource | Strange)
    if isinstance(back, Strange):
        assert back.text == "a function that is not kept as text: it is not a function written in Python"


@pytest.mark.parametrize(
    "words",
    [
        {"made": "os.system", "of": {}},
        {"made": "kafkalearn.exercises.progress.processes.Process", "of": {"module": "x"}},
        {"made": "kafkalearn.replication.events.Fetch", "of": {"nothing": 1}},
        {"made": "kafkalearn.replication.events.Fetch"},
        {"class": "subprocess.Popen"},
        {"class": "kafkalearn.lab.__main__.main"},
        {"int": "12x"},
        {"int": 5},
        {"dict": [[1]]},
        {"dict": [[[1], 2]]},
        {"set": [[1]]},
        {"bytes": "zz"},
        {"float": []},
        {"fraction": "1/0"},
        {"other": 1},
        {},
    ],
    ids=str,
)
def test_what_no_answer_is_is_refused(words):
    with pytest.raises(KafkaLearnError, match="this is no answer as it is kept in a file"):
        decoded(words)


@every_case(("chapter", "exercise"), EXERCISES, ids=lambda each: getattr(each, "name", ""))
def test_every_solution_can_be_kept(chapter, exercise):
    answer = exercise.solve()

    back = kept(answer)
    assert isinstance(back, FunctionSource) if callable(answer) else exercise.judge.judge(back) or back == answer


def new_kernel():
    """An exercise as a fresh kernel has it."""
    exercise = Exercise("twelve", "?", "", Value(lambda: 12), ("look", "12"), "It is 12.")
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
    assert "lies in progress.json.damaged now: not a progress file" in repr(result)
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
    assert "cannot be written" in repr(result)


def test_half_a_character_in_an_answer_is_kept(copies):
    new_kernel().check("\ud83d")

    assert [entry.answer for entry in read_file(copies / FILE_NAME).entries.values()] == ["\ud83d"]


KEEP = (
    "import sys\nfrom kafkalearn.exercises.progress.record import Entry, keep\n"
    "for n in range(40):\n    assert not keep(f'00.{sys.argv[1]}{n}', Entry('right', 1, 0, False, n))"
)


def test_two_notebooks_that_keep_at_once_lose_nothing(tmp_path):
    (tmp_path / FILE_NAME).write_text("", encoding="utf-8")
    writers = [
        subprocess.Popen([sys.executable, "-c", KEEP, name], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)})
        for name in "ab"
    ]

    assert [each.wait() for each in writers] == [0, 0]
    assert len(read_file(tmp_path / FILE_NAME).entries) == 80


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


LIMIT = 3
TABLE = {"a": [1, 2], "b": (3,)}
OBJECT = object()


def helper(n):
    return n * LIMIT


def uses_all(n, base=LIMIT):
    """What it uses: a helper, a constant, modules, names from modules, itself, a comprehension's own names."""
    if n > 10:
        return uses_all(10)
    (one,) = packing.unpack(">b", packing.pack(">b", n))
    return helper(one) + math.floor(1.5) + sum(b - a for a, b in pairwise(range(n))) + TABLE["a"][0] + base


@cache
def decorated(n: "Nothing") -> "NothingElse":  # noqa: F821
    return n + 1


def closure_over(step):
    def add(n):
        return n + step

    return add


def uses_the_library(n):
    return murmur2(bytes(n))


def uses_an_object(n):
    return OBJECT


def uses_a_name_that_is_not_there(n):
    return not_there  # noqa: F821


def is_long(n):
    return "x" * 0


first, second = (lambda n: n + 1), (lambda n: n + 2)
in_a_call = [
    lambda n: n - 1,
    lambda n: (lambda m: m * 2)(n),
]


def made_from(function):
    name, text = source_of(function)
    namespace = {"__name__": "__main__"}
    exec(compile(text, "<answer>", "exec"), namespace)
    return namespace[name]


@pytest.mark.parametrize(
    "function",
    [
        uses_all,
        decorated,
        closure_over(5),
        uses_the_library,
        helper,
        first,
        second,
        *in_a_call,
        lambda n: helper(n) + 1,
    ],
)
def test_it_does_the_same_on_its_own(function):
    again = made_from(function)

    assert [again(n) for n in range(12)] == [function(n) for n in range(12)]


def test_what_its_notebook_has_not_is_left_to_its_call():
    with pytest.raises(NameError):
        made_from(uses_a_name_that_is_not_there)(1)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (len, "it is not a function written in Python"),
        (str.upper, "it is not a function written in Python"),
        (eval("lambda n: n"), "its source is not known"),
        (uses_an_object, "it uses OBJECT, which is no function, no class, no module and no plain value"),
    ],
)
def test_what_cannot_be_kept_says_why(function, reason):
    with pytest.raises(NoSource, match=reason):
        source_of(function)


def test_a_text_that_is_too_long_is_not_kept(monkeypatch):
    monkeypatch.setitem(globals(), "TABLE", dict.fromkeys(range(LONGEST // 100), "x" * 100))
    with pytest.raises(NoSource, match="it is longer than 60,000 characters"):
        source_of(uses_all)


def test_predictions_are_kept_and_the_first_that_was_made_goes_before_one_that_was_shown():
    mine = Record("Anna", {}, {"c01-002": Made("positive"), "c01-006": Made(None)})
    other = Record("", {}, {"c01-002": Made(None), "c01-012": Made("41")})

    assert Record.read(mine.text()) == mine
    assert json.loads(mine.text())["predictions"]["c01-002"] == {"said": "positive", "right": False}
    assert (mine | other).predictions == {"c01-002": Made("positive"), "c01-006": Made(None), "c01-012": Made("41")}
    assert mine | other == other | mine
    assert "predictions" not in Record("Anna").text()


def test_damaged_predictions_are_said():
    with pytest.raises(NoRecord, match="predictions"):
        Record.read('{"format": "kafkalearn progress", "version": 1, "exercises": {}, "predictions": {"a": 1}}')
