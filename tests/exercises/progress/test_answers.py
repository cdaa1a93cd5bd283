"""An answer goes into a file and comes back as what it was; nothing runs on the way."""

import json
from fractions import Fraction

import pytest
from hypothesis import given

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.exercises.kit.given import Strange
from kafkalearn.exercises.progress.record import FunctionSource, decoded, encoded
from kafkalearn.replication import Fetch, Produce
from tests.every import every_case
from tests.exercises.every_exercise import EXERCISES
from tests.exercises.kit.given.test_intake import PLAIN
from tests.exercises.kit.hostile import FUNCTIONS, VALUES


def kept(answer):
    return decoded(json.loads(json.dumps(encoded(answer))))


@given(PLAIN)
def test_plain_data_comes_back(value):
    assert kept(value) == value


@pytest.mark.parametrize(
    "value",
    [
        *(float("inf"), 2**70, -(2**70), Fraction(1, 3), 3j, b"\xff", ..., {1: "a", "b": [..., None]}),
        *(frozenset({1, (2, "x")}), [Fetch(2), Produce(acks=1), Fetch], (1, [2, (3,)]), "\ud83d", {"set": [1]}),
    ],
)
def test_what_json_has_no_word_for_comes_back(value):
    assert kept(value) == value
    assert type(kept(value)) is type(value)


@every_case("name", VALUES)
def test_whatever_is_given_has_words(name):
    assert json.dumps(encoded(VALUES[name]))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_comes_back_as_text_or_as_a_reason(function):
    back = kept(function)

    assert isinstance(back, FunctionSource | Strange)
    if isinstance(back, Strange):
        assert back.text == "a function that is not kept as text: it is no function written in Python"


@pytest.mark.parametrize(
    "words",
    [
        {"made": "os.system", "of": {}},
        {"made": "kafkalearn.exercises.progress.processes.Process", "of": {"module": "x"}},
        {"made": "kafkalearn.replication.events.Fetch", "of": {"nothing": 1}},
        {"made": "kafkalearn.replication.events.Fetch"},
        {"class": "subprocess.Popen"},
        {"class": "kafkalearn.lab.__main__.main"},
        {"int": "12x"},
        {"int": 5},
        {"dict": [[1]]},
        {"dict": [[[1], 2]]},
        {"set": [[1]]},
        {"bytes": "zz"},
        {"float": []},
        {"fraction": "1/0"},
        {"other": 1},
        {},
    ],
    ids=str,
)
def test_what_no_answer_is_is_refused(words):
    with pytest.raises(KafkaLearnError, match="this is no answer as it is kept in a file"):
        decoded(words)


@every_case(("chapter", "exercise"), EXERCISES, ids=lambda each: getattr(each, "name", ""))
def test_every_solution_can_be_kept(chapter, exercise):
    answer = exercise.solve()

    back = kept(answer)
    assert isinstance(back, FunctionSource) if callable(answer) else exercise.judge.judge(back) or back == answer
