"""How a function that a student wrote is judged."""

import pytest

from kafkalearn.exercises.kit.functions import Function, is_stub

HALVES = Function(lambda n, step: n // 2 + step, ("n", "step"), ((0, 0), (1, 0), (7, 3), (8, 1)))


def not_written_yet(n, step):
    """Half of n."""


def raises_not_implemented(n, step):
    raise NotImplementedError


def forgets_to_return(n, step):
    n // 2 + step


def fails_in_a_helper(n, step):
    return _divide(n, step)


def _divide(n, step):
    quotient = n // step
    return quotient


@pytest.mark.parametrize("stub", [lambda n, step: ..., lambda n, step: None, not_written_yet, raises_not_implemented])
def test_a_function_without_a_body_is_not_attempted(stub):
    assert HALVES.judge(stub).outcome == "not attempted"


@pytest.mark.parametrize("function", [lambda n: 0, lambda n: n, raises_not_implemented, forgets_to_return, len, 3])
def test_only_an_empty_body_is_a_stub(function):
    assert not is_stub(function)


def test_a_function_that_does_what_kafka_does_is_right():
    assert HALVES.judge(lambda n, step: (n >> 1) + step)


def test_the_smallest_failing_case_is_shown_with_both_answers():
    result = HALVES.judge(lambda n, step: n / 2 + step)

    assert repr(result) == (
        "Not right yet. It fails 2 of 4 cases. The smallest: for n=1, step=0 it gives 0.5, and Kafka gives 0."
    )


def test_a_forgotten_return_is_named():
    assert "for n=0, step=0 it gives None (is a `return` missing?), and Kafka gives 0" in repr(
        HALVES.judge(forgets_to_return)
    )


def test_an_exception_is_explained_with_the_line_of_the_student():
    result = HALVES.judge(fails_in_a_helper)

    assert result.outcome == "error"
    assert str(result.sentences[0]).startswith("For n=0, step=0 it ends with ZeroDivisionError: ")
    assert str(result.sentences[0]).endswith(", in line 2 of _divide: quotient = n // step.")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (3, "3 is a whole number, and a function is wanted: give the function itself, without calling it."),
        (lambda n: n, "The function must take (n, step): too many positional arguments."),
        (lambda n, step, base: n, "The function must take (n, step): missing a required argument: 'base'."),
    ],
    ids=["a value", "too few parameters", "too many parameters"],
)
def test_what_cannot_be_called_like_that_is_explained(answer, said):
    assert repr(HALVES.judge(answer)) == f"This cannot be checked. {said}"


def test_a_function_is_recognised_by_what_it_does():
    def truncates(n, step):
        return int(n / 2) + step

    assert HALVES.matches(lambda n, step: int(n * 0.5 + step), truncates)
    assert not HALVES.matches(lambda n, step: n, truncates)


def test_the_faulty_code_itself_is_not_attempted_however_it_is_written():
    repair = Function(HALVES.rule, HALVES.parameters, HALVES.cases, unrepaired=lambda n, step: n / 2 + step)

    result = repair.judge(lambda n, step: step + n * 0.5)

    assert result.outcome == "not attempted"
    assert result.sentences[0] == "It still does what the faulty code does."
