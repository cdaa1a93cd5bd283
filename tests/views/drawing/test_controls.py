import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.drawing.controls import control, slider

FORMS = {
    "text": ("billing", "text", "billing"),
    "a tick": (True, "tick", True),
    "a number": (50, "number", 50),
    "a range": ((1, 9), "slider", 1),
    "a range with a start": ((1, 9, 3), "slider", 3),
    "a slider with words": (slider(0, 9, 3, {0: "none"}), "slider", 3),
    "a choice": (["murmur2", "crc32"], "choice", "murmur2"),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_short_form_makes_a_control(name):
    short, kind, first = FORMS[name]

    made = control("it", short)

    assert (made.kind, made.first) == (kind, first)
    assert made.from_page(made.to_page(first)) == first
    assert made.checked(first) == first


@pytest.mark.parametrize("short", [None, 1.5, (9, 1), (1, 2, 3, 4), [], (1.0, 2.0), (1, 9, 10), (False, 2), object()])
def test_what_is_no_control_is_refused(short):
    with pytest.raises(KafkaLearnError, match=r"control it=.*(give text|a slider needs whole numbers)"):
        control("it", short)


@pytest.mark.parametrize(("low", "high", "words"), [(0, 3, {4: "no"}), (0, 3, {"0": "no"}), (3, 0, {}), (0, 1.5, {})])
def test_a_slider_that_makes_no_sense_is_refused(low, high, words):
    with pytest.raises(KafkaLearnError, match="slider"):
        slider(low, high, words=words)


@pytest.mark.parametrize(
    ("short", "value", "words"),
    [
        ("text", 5, "it takes text, got 5"),
        (True, 1, "it takes True or False, got 1"),
        (7, True, "it takes a whole number, got True"),
        (7, "7", "it takes a whole number, got '7'"),
        ((1, 9), 0, "it goes from 1 to 9, got 0"),
        (["a", "b"], "c", "it is one of a, b, got 'c'"),
        ([1, 2], True, "it is one of 1, 2, got True"),
    ],
)
def test_a_value_that_it_cannot_stand_at_is_refused(short, value, words):
    with pytest.raises(KafkaLearnError) as refused:
        control("it", short).checked(value)
    assert str(refused.value) == words


@pytest.mark.parametrize("position", [-1, 2, "0", None, True])
def test_a_choice_that_is_not_there_is_refused(position):
    with pytest.raises(KafkaLearnError, match="it has 2 choices, got number"):
        control("it", ["a", "b"]).from_page(position)


def test_yes_and_no_are_the_words_for_true_and_false():
    assert control("unclean", [False, True]).for_page["options"] == ["no", "yes"]
