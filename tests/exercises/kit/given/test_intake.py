"""An answer becomes plain data, whatever it does when it is looked at."""

from collections import Counter, OrderedDict, namedtuple
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.exercises.kit.functions import _call
from kafkalearn.exercises.kit.given import GivenFunction, Spent, Strange, taken
from kafkalearn.exercises.kit.result import kind_of, shown
from kafkalearn.replication import Fetch, Produce
from tests.every import every_case
from tests.exercises.kit.hostile import FUNCTIONS, VALUES, NoAttribute, never_ends

Point = namedtuple("Point", "x y")
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary() | st.just(...),
    lambda inside: st.lists(inside) | st.tuples(inside, inside) | st.dictionaries(st.text() | st.integers(), inside),
    max_leaves=20,
)


@given(PLAIN)
def test_plain_data_stays_as_it_is(value):
    once = taken(value)

    assert once == value
    assert type(once) is type(value)
    assert taken(once) == once


@pytest.mark.parametrize(
    ("value", "as_plain"),
    [
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (pd.Series([1, 2]), [1, 2]),
        (Decimal("12"), 12),
        (Decimal("0.5"), 0.5),
        (Decimal("Infinity"), float("inf")),
        (Point(1, 2), (1, 2)),
        (Counter("aab"), {"a": 2, "b": 1}),
        (OrderedDict(a=1), {"a": 1}),
        (MappingProxyType({"a": 1}), {"a": 1}),
        ({"a": 1}.keys(), ["a"]),
        (range(3), [0, 1, 2]),
        (bytearray(b"ab"), b"ab"),
        (Fraction(1, 3), Fraction(1, 3)),
        ([Fetch(2), Produce], [Fetch(2), Produce]),
    ],
    ids=str,
)
def test_what_holds_plain_data_becomes_it(value, as_plain):
    assert taken(value) == as_plain
    assert type(taken(value)) in (type(as_plain), type(taken(pd.Series([1]))))


@every_case("name", VALUES)
def test_whatever_it_is_it_can_be_compared_hashed_in_a_set_and_shown(name):
    plain = taken(VALUES[name])

    assert plain == plain or name == "NaN"
    assert len(shown(plain)) <= 90
    assert "\n" not in shown(plain)
    assert kind_of(plain)
    assert taken(plain) == plain or name == "NaN"


def test_a_number_that_is_one_only_by_its_class_has_no_method_of_its_own():
    class Two(int):
        def __eq__(self, other):
            raise SystemExit

        __hash__ = __repr__ = __int__ = __index__ = __eq__

    assert taken(Two(2)) == 2
    assert type(taken(Two(2))) is int


def test_an_event_that_only_has_the_name_of_ours_is_none():
    class Fetch:
        __module__ = "kafkalearn.replication.events"

    assert isinstance(taken(Fetch()), Strange)


def test_an_event_with_something_odd_in_it_is_made_of_what_is_known_of_it():
    event = Fetch(2)
    object.__setattr__(event, "broker_id", NoAttribute())

    assert isinstance(taken(event), Strange)


@pytest.mark.parametrize("function", FUNCTIONS[2:])
def test_a_function_raises_what_can_be_explained_or_gives_plain_data(function):
    answer = taken(function)
    assert isinstance(answer, GivenFunction)

    outcome = _call(answer, ([1, 2], {3: 4}))

    assert str(outcome.error) if outcome.error else taken(outcome.value) == outcome.value


def test_a_function_that_never_ends_is_tried_once():
    answer = taken(never_ends)
    for _ in range(1000):
        with pytest.raises(Spent):
            answer(1)


def test_a_function_gets_copies_of_its_arguments():
    ours = [1, [2]]

    def spoils(numbers):
        numbers[1].clear()
        numbers.clear()
        return "done"

    assert taken(spoils)(ours) == "done"
    assert ours == [1, [2]]
