"""A difference is found, cut down to its shortest case, and the same seed finds it again; nothing is asked twice."""

from __future__ import annotations

import pytest

from conformance.mechanism import Mechanism
from conformance.search import Difference, compare, find_difference, text_of
from tests.live.conform.planted import right, summing, wrong_above_the_limit


def searched(mechanism: Mechanism, seed: int = 1, **words: object) -> tuple[Difference | None, list]:
    asked = []

    def ask(case):
        asked.append(case)
        return compare(mechanism, "4.3", case, mechanism.ask(None, case, str))

    return find_difference(mechanism, "4.3", ask, seed, 50, **words), asked


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_planted_difference_is_found_and_cut_down_to_the_shortest_case(seed):
    found, asked = searched(summing(wrong_above_the_limit), seed)
    assert found == Difference([11], 10, 11)
    texts = [text_of(case) for case in asked]
    assert len(texts) == len(set(texts))


def test_without_a_difference_as_many_cases_are_asked_as_were_wanted():
    found, asked = searched(summing(right))
    assert found is None
    assert 25 <= len(asked) <= 50  # those drawn twice are asked once


def test_the_same_seed_draws_the_same_cases():
    assert searched(summing(right), 7)[1] == searched(summing(right), 7)[1]
    assert searched(summing(right), 7)[1] != searched(summing(right), 8)[1]


def test_where_there_is_no_time_to_cut_down_the_first_difference_counts():
    (case, broker, simulator), asked = searched(summing(wrong_above_the_limit), shrink_s=-1)
    assert (broker, simulator) == (sum(case) - 1, sum(case))
    assert case == asked[-1]


def test_a_broker_that_answers_the_second_time_otherwise_confuses_nobody():
    answers = iter(range(1_000_000, 2_000_000))
    found, _ = searched(summing(lambda *_: next(answers)))
    assert found.case == []


def test_a_simulator_that_fails_has_given_another_answer():
    failing = Mechanism("failing", (), None, None, lambda release, case, seen: 1 // case)
    assert compare(failing, "4.3", 0, 7) == Difference(
        0, 7, {"raised": "ZeroDivisionError: integer division or modulo by zero"}
    )


def test_tuples_are_lists_as_in_the_file_that_the_answer_is_read_from():
    same = Mechanism("same", (), None, None, lambda release, case, seen: {"offsets": (1, 2)})
    assert compare(same, "4.3", {}, {"offsets": [1, 2]}) is None
