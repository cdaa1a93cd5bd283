"""Producers whose answers get lost on the way, and batches with every sequence number, as a real broker judges them."""

from __future__ import annotations

import random

import pytest

from conformance.mechanisms.producers import KINDS, LOST_ANSWERS, PRODUCERS, SEQUENCES
from conformance.search import compare
from kafkalearn.live import Kafka
from tests.live.checked import holds

pytestmark = pytest.mark.live

REQUEST_COUNT = 80


@pytest.fixture(scope="module")
def proxied(release):
    with Kafka(release=release, **LOST_ANSWERS.settings) as kafka:
        yield kafka


def same_answers(mechanism, kafka, case, new_name):
    """What a broker answers, once it is seen that we say the same."""
    answer = mechanism.ask(kafka, case, new_name)
    found = compare(mechanism, kafka.release.line, case, answer)
    assert found is None or found.simulator == found.broker
    return answer


@holds("acks, failures and the result of a record", "the producer's retries", "the result of a record")
@pytest.mark.parametrize(
    ("is_idempotent", "retries", "log"),
    [(False, None, ["m0", "m0", "m0", "m1"]), (True, None, ["m0", "m1"]), (False, 0, ["m0", "m1"])],
    ids=["without-idempotence", "with-idempotence", "without-retries"],
)
def test_answers_that_are_lost_on_the_way(proxied, new_name, is_idempotent, retries, log):
    case = {"is_idempotent": is_idempotent, "retries": retries, "acks": "all", "sends": [2, 0]}
    assert same_answers(LOST_ANSWERS, proxied, case, new_name)["log"] == log


@holds("sequence numbers and the window of five batches")
def test_batches_of_a_producer_are_taken_recognised_and_refused_as_we_say(kafka, new_name):
    draw = random.Random(1)
    steps = [
        {
            "producer": draw.randrange(PRODUCERS), "kind": draw.choice(KINDS),
            "by": draw.randint(1, 7), "records": draw.randint(1, 3),
        }
        for _ in range(REQUEST_COUNT)
    ]  # fmt: skip
    answers = same_answers(SEQUENCES, kafka, {"first": [0] * PRODUCERS, "steps": steps}, new_name)
    assert {error for error, _ in answers} == {"NONE", "OUT_OF_ORDER_SEQUENCE_NUMBER", "INVALID_PRODUCER_EPOCH"}
