"""Whatever a student's code does to go on for ever, it ends; bounded by lines and characters, not by a clock."""

import sys
from functools import partial
from itertools import count

import pytest

from kafkalearn.exercises.kit import line_counting
from kafkalearn.exercises.kit.given import Bounds, Spent
from kafkalearn.exercises.kit.line_counting import TooManyLines, line_counter


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
