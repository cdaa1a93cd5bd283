"""The ways of running: quick names files that are there, any order is a seed's, and laws are tried as often as said."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.every import SHOWN, every_case
from tests.running import long, quick
from tests.running.any_order import shuffled
from tools.environment import ROOT


def is_there(path: str, test: str = "") -> bool:
    return (ROOT / path).exists() and (not test or f"\ndef {test}(" in (ROOT / path).read_text(encoding="utf-8"))


def test_what_quick_leaves_out_is_there_and_each_stands_once():
    names = [name for names in quick.LEFT_OUT.values() for name in names]

    assert [name for name in names if not is_there(*name.split("::"))] == []
    assert len({*names}) == len(names)
    assert quick.is_left_out(ROOT / "tests" / "spark" / "test_coordinator.py")
    assert not quick.is_left_out(Path(__file__))


def test_what_is_kept_of_what_takes_long_and_what_is_left_out_is_there():
    kept = [(place, name) for place, names in long.KEPT.items() for name in names]
    paths = [(place, name) if place.endswith(".py") else (f"{place}/{name}",) for place, name in kept]

    assert [each for each in paths if not is_there(*each)] == []
    assert [name for names in long.LEFT_OUT.values() for name in names if not is_there(name)] == []


@pytest.mark.parametrize(
    ("nodeid", "is_long"),
    [
        ("tests/live/test_groups.py::test_join", False),
        ("tests/live/test_spark.py::test_read", True),
        ("notebooks/00_start.ipynb::Cell 1", False),
        ("notebooks/01_coordinator.ipynb::Cell 1", True),
        ("tests/spark/test_partitioning.py::test_keys", False),
        ("kafkalearn/spark/lag.py::kafkalearn.spark.lag.lag_of", True),
        ("tests/project/test_setup.py::test_the_first_run_installs_and_the_next_one_goes_straight_on", False),
        ("tests/project/test_setup.py::test_another_lock_is_installed_at_the_next_run", True),
        ("tests/project/test_running.py::test_join", False),
    ],
)
def test_what_takes_long_is_told_by_its_name(nodeid, is_long):
    assert long.is_long(nodeid) is is_long


def test_a_law_that_asks_for_many_examples_is_tried_with_few():
    tried = []

    @settings(max_examples=300)
    @given(st.integers())
    def law(number):
        tried.append(number)

    quick.tried_with_few_examples(law)
    quick.tried_with_few_examples(test_what_quick_leaves_out_is_there_and_each_stands_once)  # no law: nothing happens
    law()

    assert 1 < len(tried) <= quick.EXAMPLES


def items(*names):
    return [SimpleNamespace(path=Path(name.partition("::")[0]), nodeid=name) for name in names]


TESTS = items(*(f"tests/test_{file}.py::test_{name}" for file in "abcde" for name in "wxyz"))


def test_any_order_is_one_order_a_seed_and_keeps_files_together():
    one, again, other = (shuffled(given, seed) for given, seed in ((TESTS, "1"), (TESTS[::-1], "1"), (TESTS, "2")))

    assert one == again
    assert sorted(map(id, one)) == sorted(map(id, other)) == sorted(map(id, TESTS))
    assert one != other
    assert {one.index(each) // 4 == one.index(TESTS[at - at % 4]) // 4 for at, each in enumerate(TESTS)} == {True}


def test_cells_of_a_chapter_keep_their_order():
    cells = items(*(f"notebooks/01.ipynb::Cell {number}" for number in range(12)))

    assert shuffled([*cells, *TESTS], "3").index(cells[-1]) - shuffled([*cells, *TESTS], "3").index(cells[0]) == 11
    assert [each for each in shuffled([*cells, *TESTS], "3") if each in cells] == cells


# Many cases in one test: each is run, each that fails is named, and none fails without a word.


def test_every_case_is_run_and_each_that_failed_is_named():
    ran = []

    @every_case("number", range(20), ids=lambda number: f"n{number}")
    def holds(number):
        ran.append(number)
        assert number % 2 == 0, f"{number} is odd"

    with pytest.raises(ExceptionGroup) as raised:
        holds()

    assert ran == [*range(20)]
    head, *named = str(raised.value).partition(" (")[0].splitlines()
    assert head == "10 of 20 cases failed:"
    assert named == [f"{odd}: n{odd}" for odd in range(1, 20, 2)]
    assert len(raised.value.exceptions) == SHOWN
    assert raised.value.exceptions[0].__notes__ == ["in case 1: n1"]


def test_what_holds_says_nothing_and_two_multiply():
    ran = []

    @every_case("letter", "ab")
    @every_case("number, square", [(1, 1), (2, 4)])
    def holds(number, square, letter):
        ran.append((letter, number, square))

    assert holds() is None
    assert ran == [("a", 1, 1), ("a", 2, 4), ("b", 1, 1), ("b", 2, 4)]


@every_case("number", [1, 2])
def test_fixtures_and_parameters_of_pytest_come_beside_the_cases(number, tmp_path, request):
    assert tmp_path.is_dir()
    assert request.node.name == "test_fixtures_and_parameters_of_pytest_come_beside_the_cases"
    assert inspect.signature(request.function).parameters.keys() == {"tmp_path", "request"}


@pytest.mark.parametrize("stop", [pytest.fail, pytest.skip])
def test_a_case_that_stops_by_word_has_failed(stop):
    @every_case("number", [1, 2])
    def stops(number):
        if number == 2:
            stop("no reason")

    with pytest.raises(BaseExceptionGroup, match="1 of 2 cases failed"):
        stops()


def test_no_cases_are_no_test():
    with pytest.raises(AssertionError, match="there are no cases"):
        every_case("number", [])
