"""The file of progress: what is written is read, two files make one, and what is no such file says what is wrong."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.exercises.progress.record import Entry, NoRecord, Record, read_file, write_file

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
        ("", "for it is no JSON"),
        ("{", "for it is no JSON"),
        ("[" * 100_000, "for it is no JSON"),
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
