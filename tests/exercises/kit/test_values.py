"""How an answer that is a value, or has parts, is judged."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from pyspark.sql import Row

from kafkalearn.exercises.kit.compare import Value

WHOLE = Value(lambda: 12)
SHARE = Value(lambda: Fraction(1, 3), within=0.01)
PARTS = Value(lambda: {"partition": 9, "broker": 1})
TUPLE = Value(lambda: (9, "murmur2"))
A_DICT = "and a dict with the parts 'partition', 'broker' is wanted"
SET = Value(lambda: frozenset({"a", "b"}))


@pytest.mark.parametrize(
    "answer", [12, 12.0, np.int32(12), np.float64(12), Fraction(12), Decimal(12), pd.Series([12]).sum()], ids=repr
)
def test_a_number_counts_whatever_its_type(answer):
    assert WHOLE.judge(answer)


@pytest.mark.parametrize("answer", [0.333, 1 / 3, np.float32(0.34), Decimal("0.33")], ids=repr)
def test_a_share_may_be_a_little_off(answer):
    assert SHARE.judge(answer)


def test_a_number_too_big_for_a_float_is_only_wrong():
    assert repr(SHARE.judge(10**400)) == "Not right yet."


@pytest.mark.parametrize("answer", [13, 12.5, -12, float("inf"), 0], ids=repr)
def test_another_number_is_wrong_and_the_right_one_is_not_told(answer):
    assert repr(WHOLE.judge(answer)) == "Not right yet."


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("twelve", "'twelve' is text, and a whole number is wanted."),
        (True, "True is True or False, and a whole number is wanted."),
        ([12, 13], "[12, 13] is a list, and a whole number is wanted."),
        (np.array([12, 13]), "[12, 13] is a list, and a whole number is wanted."),
        (
            pd.Series([12, 13]),
            "[12, 13] is a Series, and a whole number is wanted: take the value out of it, for example with `[0]`.",
        ),
        (print, "This is a function, and a whole number is wanted: call it and give what it returns."),
        pytest.param(
            (n for n in [12]),
            "<generator object <genexpr>> is a generator, and a whole number is wanted: give `list(...)` of it.",
            id="generator",
        ),
        (float("nan"), "It is NaN, not a number: some step before had nothing to count or to divide by."),
        (pd.NA, "It is NaN, not a number: some step before had nothing to count or to divide by."),
    ],
    ids=repr,
)
def test_what_is_no_number_is_explained(answer, said):
    assert repr(WHOLE.judge(answer)) == f"This cannot be checked. {said}"


def test_a_data_frame_is_asked_for_its_value_and_a_row_has_it():
    result = WHOLE.judge(pd.DataFrame({"count": [12]}))
    assert repr(result) == (
        "This cannot be checked. This is a DataFrame, and a whole number is wanted: "
        "take the value out of it, for example with `.count()` or `.collect()`."
    )

    assert WHOLE.judge(Row(count=12))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"partition": 9, "broker": 1}, "Right."),
        (pd.Series({"partition": 9, "broker": 1}), "Right."),
        ({"partition": 9, "broker": 2}, "Not right yet. Right: 'partition'. Not right: 'broker'."),
        ({"partition": 9, "broker": ...}, "Not attempted yet. Right: 'partition'. Still open: 'broker'."),
        ({"broker": 2}, "Not right yet. Not right: 'broker'. Still open: 'partition'."),
        ({"partition": ..., "broker": None}, "Not attempted yet."),
        (
            {"partition": "nine", "broker": 1},
            "This cannot be checked. Right: 'broker'. Cannot be checked: 'partition'.\n"
            "'partition': 'nine' is text, and a whole number is wanted.",
        ),
        (
            {"partitions": 9},
            "This cannot be checked. The answer has no part 'partitions'; its parts are 'partition', 'broker'.",
        ),
        (9, f"This cannot be checked. 9 is a whole number, {A_DICT}."),
    ],
    ids=repr,
)
def test_each_part_is_judged_by_itself(answer, said):
    assert repr(PARTS.judge(answer)) == said


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ([9, "murmur2"], "Right."),
        ((9, "crc32"), "Not right yet. Right: 1. Not right: 2."),
        ((9,), "This cannot be checked. 2 parts are wanted, as a tuple or a list, and (9,) has 1 of them."),
        ("murmur2", "This cannot be checked. 2 parts are wanted, as a tuple or a list, and 'murmur2' is text."),
    ],
    ids=repr,
)
def test_the_parts_of_a_tuple_are_numbered(answer, said):
    assert repr(TUPLE.judge(answer)) == said


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        pytest.param({"b", "a"}, "Right.", id="a set"),
        (np.array(["a", "b"]), "Right."),
        (["a", "c", "d"], "Not right yet. 1 of the 3 is right, 2 do not belong; one is missing."),
        (["a"], "Not right yet. It is right; one is missing."),
        ({"c"}, "Not right yet. It does not belong; 2 are missing."),
        ("ab", "Right."),
        ("b, a", "Right."),
        ("{A and B}", "Right."),
        (7, "Not right yet. It does not belong; 2 are missing."),
        (7j, 'This cannot be checked. 7j is a complex number, and a set such as `{"a", "b"}` is wanted.'),
        ([["a"], ["b"]], 'This cannot be checked. [\'a\'] is in it, and a set such as `{"a", "b"}` is wanted.'),
    ],
    ids=repr,
)
def test_of_a_set_only_counts_are_said(answer, said):
    assert repr(SET.judge(answer)) == said


def test_a_wrong_answer_matches_by_the_parts_it_names():
    assert PARTS.matches({"partition": 3, "broker": 0}, {"broker": 0})
    assert not PARTS.matches({"partition": 3, "broker": 2}, {"broker": 0})
    assert not PARTS.matches(3, {"broker": 0})
    assert WHOLE.matches(np.int64(3), 3)
