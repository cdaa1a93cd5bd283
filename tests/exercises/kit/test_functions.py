"""How a function that a student wrote is judged."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.exercises.kit.functions import Function, Having, Open, Property, is_stub
from kafkalearn.exercises.kit.result import say

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


def refuse(answer):
    raise KafkaLearnError("group_id has a lone surrogate")


SHORT_WORD = Having(
    "",
    (
        Property(str.isalpha, lambda word: say("{} is no word.", word)),
        Property(lambda word: len(word) < 4, lambda word: say("{} has {} letters.", word, len(word))),
    ),
)


def test_any_answer_that_holds_every_property_is_right():
    assert SHORT_WORD.judge("ab")
    assert SHORT_WORD.judge("xyz")


def test_the_first_property_that_does_not_hold_is_named():
    assert repr(SHORT_WORD.judge("12345")) == "Not right yet. '12345' is no word."
    assert repr(SHORT_WORD.judge("abcde")) == "Not right yet. 'abcde' has 5 letters."


def test_what_the_library_refuses_is_an_error_with_its_message():
    result = Having("", (Property(refuse, str),)).judge("\ud83d")

    assert repr(result) == "This cannot be checked. group_id has a lone surrogate."


def test_a_dict_with_open_places_is_not_attempted_yet():
    result = Having({}, ()).judge({"billing": "billing", "tracking": ...})

    assert repr(result) == "Not attempted yet. Still open: 'tracking'."


def test_what_a_property_cannot_look_at_is_explained():
    result = Having([], (Property(lambda numbers: sum(numbers) > 3, str),)).judge([1, "2"])

    assert repr(result) == (
        "This cannot be checked. [1, '2'] cannot be tried: TypeError: unsupported operand type(s) for +: 'int' and "
        "'str'."
    )


def test_an_answer_in_another_form_is_brought_into_the_one_that_is_looked_at():
    upper = Having("", (Property(str.isupper, str),), form=lambda word: word.upper() if isinstance(word, str) else word)

    assert upper.judge("abc")
    assert upper.matches("abc", "ABC")
    assert upper.judge(3).outcome == "error"


def test_an_open_question_takes_words_and_judges_nothing():
    assert Open().judge("It depends.").outcome == "open"
    assert Open().judge("  ").outcome == "not attempted"
    assert Open().judge(42).outcome == "error"
