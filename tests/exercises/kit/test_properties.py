"""How answers are judged of which many are right, or none."""

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.exercises.kit.functions import Having, Open, Property
from kafkalearn.exercises.kit.result import say


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
