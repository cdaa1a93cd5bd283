"""How an answer that is a value, or has parts, is judged."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyspark.sql import Row

from kafkalearn.exercises.kit.compare import Value, as_settings, compare, is_same
from kafkalearn.exercises.kit.functions import Function
from kafkalearn.exercises.kit.result import ERROR, RIGHT, WRONG, Block, Result, as_words, ours, say
from tests.exercises.kit.hostile import MARKUP, ReprIsMarkup, elements, markdown2html_mistune, strangers

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


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=5)


@given(TEXTS)
@example("`")
@example("``$x$``")
@example("<b>*x*</b>")
@example(" ` ")
def test_a_value_is_the_same_in_all_three_forms(text):
    result = Result(WRONG, (say("{} is *not* it.", text),))

    assert f"{text!r} is" in repr(result)
    assert strangers(result) == []
    for form in (result._repr_html_(), markdown2html_mistune(result._repr_markdown_())):
        # Markdown joins blanks at the edges of code; a value has its quotes there.
        assert repr(text) in elements(form).code


@pytest.mark.parametrize(
    "value", [MARKUP, [MARKUP], {MARKUP: MARKUP}, ReprIsMarkup()], ids=["text", "list", "dict", "repr"]
)
def test_markup_is_text(value):
    result = Result(WRONG, (say("{} is wrong.", value), as_words(MARKUP), Block(MARKUP)))

    assert strangers(result) == []
    assert "<img" not in result._repr_html_()
    assert "<img" in elements(result._repr_html_()).code
    assert "<img" in elements(markdown2html_mistune(result._repr_markdown_())).code


def test_our_own_words_keep_their_stress_and_their_code():
    result = Result(WRONG, ("The *sign* goes **first**; `a < b` stays, and so do 2**31 and 2**32, {1, 2}.",))

    assert result._repr_html_() == (
        "<p><strong>Not right yet.</strong> The <em>sign</em> goes <strong>first</strong>; <code>a &lt; b</code> "
        "stays, and so do 2**31 and 2**32, {1, 2}.</p>"
    )


def test_a_block_stands_alone_and_keeps_its_lines():
    result = Result(WRONG, ("It breaks a law.", Block("m0: a-0\nm1: ```")))

    assert repr(result) == "Not right yet. It breaks a law.\nm0: a-0\nm1: ```"
    assert result._repr_html_().endswith("<pre>m0: a-0\nm1: ```</pre>")
    assert "m0: a-0\nm1: ```" in elements(markdown2html_mistune(result._repr_markdown_())).code


def test_words_of_ours_may_have_braces():
    assert str(ours("{1, 2}")) == "{1, 2}"
    assert say("{}", ours("{}")).markdown == "{}"


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
