"""Many cases in one test: each is run, each that fails is named, and none fails without a word."""

from __future__ import annotations

import inspect

import pytest

from tests.every import SHOWN, every_case


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
