"""How answers are judged of which many are right, or none."""

from kafkalearn.errors import KafkaLearnError
from kafkalearn.exercises.kit.properties import Having, Open, Property


def refuse(answer):
    raise KafkaLearnError("group_id has a lone surrogate")


SHORT_WORD = Having(
    "",
    (
        Property(str.isalpha, lambda word: f"{word!r} is no word."),
        Property(lambda word: len(word) < 4, lambda word: f"{word!r} has {len(word)} letters."),
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

    assert repr(result) == "Not attempted yet. Not attempted yet: 'tracking'."


def test_an_open_question_takes_words_and_judges_nothing():
    assert Open().judge("It depends.").outcome == "open"
    assert Open().judge("  ").outcome == "not attempted"
    assert Open().judge(42).outcome == "error"
