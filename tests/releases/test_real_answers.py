"""Answers of a real Kafka: the recorded ones, and whom is asked first."""

from __future__ import annotations

import pytest

from kafkalearn import find_coordinator, offsets_partition
from kafkalearn.releases.real_answers import NobodyAnswers, ask_with, questions, real_answer, recorded_answers


@pytest.fixture(autouse=True)
def nobody_is_asked_afterwards():
    yield
    ask_with(None)


def test_without_anybody_to_ask_every_answer_is_the_recorded_one():
    for name in questions():
        answer = real_answer(name)
        assert answer.value == recorded_answers()["answers"][name]
        assert answer.asked == (
            f"Asked of Kafka {recorded_answers()['version']} on {recorded_answers()['recorded']}, and recorded."
        )


def test_the_coordinators_are_those_of_the_rule():
    leaders = [number % 3 + 1 for number in range(50)]
    for group, found in real_answer("coordinators").value.items():
        broker = find_coordinator(group, leaders=leaders).broker_id
        assert found == {"partition": offsets_partition(group), "broker": broker}
    assert all(offsets_partition(group) == each for group, each in real_answer("short group ids").value.items())


def test_who_is_asked_answers_and_where_nobody_does_the_reason_is_said():
    ask_with(lambda name: f"live: {name}", "4.3.1")
    assert real_answer("range") == ("live: range", "Asked of Kafka 4.3.1, started on this machine for it.")

    def nobody(name):
        raise NobodyAnswers("there is no Java")

    ask_with(nobody, "4.3.1")
    answer = real_answer("range")
    assert answer.value == recorded_answers()["answers"]["range"]
    assert answer.asked.endswith("and recorded; here none can be asked: there is no Java")
