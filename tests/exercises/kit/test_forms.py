"""Answers count in every reasonable form, and in no unreasonable one."""

import pytest

from kafkalearn.exercises.kit.compare import Value, as_settings, compare, is_same
from kafkalearn.exercises.kit.functions import Function
from kafkalearn.exercises.kit.result import ERROR, RIGHT, WRONG


@pytest.mark.parametrize("answer", [True, "yes", "Yes", " YES. ", "true", "y", ["yes"], (True,)])
def test_yes(answer):
    assert compare(answer, True).outcome == RIGHT
    assert compare(answer, False).outcome == WRONG


@pytest.mark.parametrize("answer", [1, 0, "perhaps", "yes and no", [True, False], b"yes"])
def test_neither_yes_nor_no(answer):
    verdict = compare(answer, True)

    assert verdict.outcome == ERROR
    assert str(verdict.reason).endswith("and yes or no (True or False) is wanted")


@pytest.mark.parametrize(
    "answer", [1200, 1200.0, "1200", "1,200", "1_200", "1 200", "1200.0", " 1200 ", [1200], "1.2e3"]
)
def test_a_number(answer):
    assert compare(answer, 1200).outcome == RIGHT


@pytest.mark.parametrize("answer", ["1,20", "12,00", "1200 records", "one", "0x4b0", "1200!", "", "--1200", True])
def test_no_number(answer):
    assert compare(answer, 1200).outcome == ERROR


@pytest.mark.parametrize("answer", [0.25, "0.25", "25 %", "25%", "0.250"])
def test_a_share(answer):
    assert compare(answer, 0.25).outcome == RIGHT


@pytest.mark.parametrize(
    "answer",
    [
        "partition.assignment.strategy",
        "PARTITION_ASSIGNMENT_STRATEGY",
        "partition-assignment-strategy",
        ["partition.assignment.strategy"],
    ],
)
def test_a_name(answer):
    assert compare(answer, "partition.assignment.strategy").outcome == RIGHT


@pytest.mark.parametrize("answer", ["partition.assignment", "group.id", "partition.assignment.strategies"])
def test_another_name(answer):
    assert compare(answer, "partition.assignment.strategy").outcome == WRONG


@pytest.mark.parametrize(
    "answer", [{"a", "d"}, ["d", "a"], "ad", "a, d", "A and D", "a d", '{"a", "d"}', ("a", "d", "a")]
)
def test_a_set_of_letters(answer):
    assert compare(answer, {"a", "d"}).outcome == RIGHT


@pytest.mark.parametrize("answer", [{7, 8}, [8, 7], "7, 8", "7 and 8", {"7", "8"}, [7.0, 8.0]])
def test_a_set_of_numbers(answer):
    assert compare(answer, {7, 8}).outcome == RIGHT


@pytest.mark.parametrize("answer", [2, "2", [2], {2}])
def test_a_set_of_one(answer):
    assert compare(answer, {2}).outcome == RIGHT


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({1}, "it is right; 2 are missing"),
        ({1, 2}, "both are right; one is missing"),
        ({1, 2, 9}, "2 of the 3 are right, one does not belong; one is missing"),
        ({1, 8, 9}, "1 of the 3 is right, 2 do not belong; 2 are missing"),
        ({1, 2, 3, 9}, "3 of the 4 are right, one does not belong; none is missing"),
        ({8, 9}, "none of the 2 belongs; 3 are missing"),
        ({9}, "it does not belong; 3 are missing"),
        (set(), "3 are missing"),
    ],
)
def test_how_near_a_set_is(answer, said):
    assert str(compare(answer, {1, 2, 3}).reason) == said


def test_the_parts_of_a_dict_may_be_written_differently():
    parts = Value(lambda: {"lag of the group": 3, 445: 1})

    assert parts.judge({"Lag_of_the_group": 3, "445": "1"})
    assert parts.judge({"lag of the group": 3, 445: 1, "others": 1}).outcome == ERROR


@pytest.mark.parametrize(
    ("value", "expected"),
    [((1, "a"), [1, "a"]), ([1, 2], (1, 2)), ([2, 1], {1, 2}), ({"a": [1]}, {"a": (1,)}), (2.0, 2)],
)
def test_what_a_function_gives_may_be_a_list_for_a_tuple_or_a_set(value, expected):
    assert is_same(value, expected)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2", 2),
        (True, 1),
        (1, True),
        ([1, 1, 2], {1, 2}),
        ((1,), (1, 2)),
        ("A", "a"),
        ({"a": 1}, {"a": 1, "b": 2}),
        (b"a", "a"),
    ],
)
def test_but_a_function_has_to_give_the_right_kind(value, expected):
    assert not is_same(value, expected)


def test_a_function_may_give_a_list_where_kafka_gives_a_tuple():
    assert Function(lambda n: (n, n), ("n",), ((1,), (2,))).judge(lambda n: [n, n])


@pytest.mark.parametrize(
    "answer",
    [
        {"acks": "all", "enable.idempotence": True, "min.insync.replicas": 2},
        {"ACKS": "ALL", "enable_idempotence": "true", "min-insync-replicas": "2"},
        {" acks ": "all ", "Enable.Idempotence": "yes", "min insync replicas": 2},
    ],
)
def test_settings_as_in_python_and_as_in_a_properties_file(answer):
    assert as_settings(answer) == {"acks": "all", "enable.idempotence": True, "min.insync.replicas": 2}


@pytest.mark.parametrize("expected", [{"a", "b"}, {"orders", "payments"}, {7, 8}])
def test_a_text_that_never_ends_lists_no_set(expected):
    verdict = compare("a" * 1_000_000, expected)

    assert verdict.outcome == ERROR
    assert "(1,000,000 long) is text, and a set such as" in str(verdict.reason)
