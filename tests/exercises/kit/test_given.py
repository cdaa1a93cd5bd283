"""An answer becomes plain data, whatever it does when it is looked at."""

import sys
from collections import Counter, OrderedDict, namedtuple
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import count
from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.exercises.kit import line_counting
from kafkalearn.exercises.kit.functions import _call
from kafkalearn.exercises.kit.given import Bounds, GivenFunction, Spent, Strange, taken
from kafkalearn.exercises.kit.line_counting import TooManyLines, line_counter
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


def passes():
    while True:
        pass


def swallows_all():
    while True:
        try:  # noqa: SIM105
            passes()
        except:  # noqa: E722
            pass


def goes_on_at_once():
    while True:
        try:
            pass
        except BaseException:
            continue


def keeps_what_it_swallows():
    swallowed = []
    while True:
        try:
            swallowed.append(1)
        except BaseException as error:
            swallowed.append(error)


def loops_in_its_handler():
    try:
        passes()
    except:  # noqa: E722
        while True:
            try:  # noqa: SIM105
                pass
            except:  # noqa: E722
                pass


def loops_in_its_finally():
    try:
        passes()
    finally:
        while True:
            pass


def never_leaves_its_finally():
    while True:
        try:
            passes()
        finally:
            continue  # noqa: B012


def sums_for_ever():
    return sum(1 for _ in count())


def lists_for_ever():
    return [n for n in count() if n < 0]


def calls_library_code_for_ever():
    import re

    while True:
        re.match("a*", "aaa")


def loops_when_it_is_forgotten():
    class Holder:
        def __del__(self):
            while True:
                pass

    Holder()
    while True:
        pass


ENDLESS = [
    passes,
    swallows_all,
    goes_on_at_once,
    keeps_what_it_swallows,
    loops_in_its_handler,
    loops_in_its_finally,
    never_leaves_its_finally,
    sums_for_ever,
    lists_for_ever,
    calls_library_code_for_ever,
]


@pytest.mark.parametrize("function", ENDLESS)
def test_what_never_ends_is_stopped_and_nothing_stays_behind(function):
    before = sys.gettrace()

    with pytest.raises(Spent) as spent:
        Bounds(lines=20_000).run(function)

    assert str(spent.value) == "was stopped after 20,000 lines of Python: a loop in it may never end"
    assert sys.gettrace() is before
    assert Bounds().run(lambda: sum(range(5))) == 10


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_destructor_that_never_ends_is_stopped_as_well():
    with pytest.raises(Spent):
        Bounds(lines=20_000).run(loops_when_it_is_forgotten)


@pytest.mark.parametrize("function", ENDLESS[:8])
def test_the_way_of_python_3_11_stops_them_too(function):
    """On later Pythons as well, for a debugger may have taken the tools of `sys.monitoring`."""
    if hasattr(sys, "monitoring"):
        pytest.skip("the other way is used here")
    with pytest.raises(TooManyLines):
        line_counting._Traced(20_000).run(function)


def test_calls_share_what_is_left():
    bounds = Bounds(lines=1000)

    def loops(times):
        for _ in range(times):
            pass

    bounds.run(loops, 100)  # two to four lines a turn: that depends on Python's compiler
    bounds.run(loops, 100)
    with pytest.raises(Spent):
        bounds.run(loops, 500)


def test_a_check_inside_a_check_is_counted_by_itself():
    def checks():
        with pytest.raises(Spent):
            Bounds(lines=500).run(passes)
        return "went on"

    bounds = Bounds(lines=100_000)
    assert bounds.run(checks) == "went on"
    with pytest.raises(Spent):
        bounds.run(passes)


def test_as_many_lines_in_every_run():
    def used():
        counter = line_counter(10_000)
        counter.run(partial(sorted, range(10), key=lambda n: -n))
        return counter.left

    assert used() == used() > 9_900


def prints_for_ever():
    while True:
        print("all work and no play")


def prints_and_swallows():
    while True:
        try:  # noqa: SIM105
            print("again")
        except:  # noqa: E722
            pass


@pytest.mark.parametrize("function", [prints_for_ever, prints_and_swallows, lambda: print("x" * 10_000)])
def test_what_is_printed_is_cut(function, capsys):
    with pytest.raises(Spent, match="a loop in it may never end"):
        Bounds(lines=50_000, characters=500).run(function)

    assert len(capsys.readouterr().out) == 500


def test_what_is_printed_is_shown_when_it_ends_and_when_it_raises(capsys):
    def prints_and_fails():
        print("as far as here")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Bounds().run(prints_and_fails)

    assert capsys.readouterr().out == "as far as here\n"


@pytest.mark.parametrize("error", [ValueError, SystemExit, KeyboardInterrupt])
def test_its_own_exceptions_pass_through(error):
    def raises():
        raise error("mine")

    with pytest.raises(error, match="mine"):
        Bounds().run(raises)
