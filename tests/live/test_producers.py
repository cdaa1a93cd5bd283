"""Producers whose answers get lost on the way, and batches with every sequence number, as a real broker judges them."""

from __future__ import annotations

import random

import pytest

from conformance.mechanisms.producers import KINDS, LOST_ANSWERS, PRODUCERS, RULES, SEQUENCES
from conformance.search import compare
from kafkalearn.base.hashing import crc32, fnv1a, int32, java_abs, java_remainder, murmur2, to_positive
from kafkalearn.live import Kafka
from kafkalearn.partitioning import partition_for_key
from tests.live.checked import holds
from tests.live.java import run_java_class

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


# A thousand keys through each of librdkafka's partitioners, and through Kafka's own producer in Java.
PARTITION_COUNT = 7
FROM_HASH = {
    "murmur2": lambda key: to_positive(murmur2(key)) % PARTITION_COUNT,
    "crc32": lambda key: crc32(key) % PARTITION_COUNT,
    "fnv1a": lambda key: java_abs(java_remainder(int32(fnv1a(key)), PARTITION_COUNT)),
}
"""The partition by each of our rules again, from the hash alone."""


def keys() -> list[bytes]:
    drawn = random.Random(11)
    found = {drawn.randbytes(drawn.randint(1, 20)) for _ in range(1200)}
    return sorted(found)[:1000]


KEYS = keys()


@holds(
    "murmur2 of a key", "CRC-32 of a key", "FNV-1a of a key", "key to partition, Java producer (murmur2)",
    "key to partition, librdkafka (crc32) and Sarama (fnv1a)",
)  # fmt: skip
@pytest.mark.parametrize("partitioner", RULES)
def test_a_thousand_keys_land_where_we_say(kafka, new_name, partitioner):
    topic, landed = new_name("keys"), {}
    kafka.create_topic(topic, PARTITION_COUNT)
    producer = kafka.producer(partitioner=partitioner)
    for key in KEYS:
        producer.produce(
            topic, b"", key, on_delivery=lambda _, message: landed.update({message.key(): message.partition()})
        )
    assert producer.flush(120) == 0

    rule = RULES[partitioner]
    assert landed == {key: partition_for_key(key, PARTITION_COUNT, rule) for key in KEYS}
    assert landed == {key: FROM_HASH[rule](key) for key in KEYS}


@holds("key to partition, Java producer (murmur2)")
def test_a_thousand_keys_of_the_java_producer_land_where_we_say(kafka, new_name):
    topic = new_name("java-keys")
    kafka.create_topic(topic, PARTITION_COUNT)

    printed = run_java_class(kafka.release, "SendKeys", kafka.bootstrap, topic, *(key.hex() for key in KEYS))

    landed = dict(line.split() for line in printed.splitlines())
    assert landed == {key.hex(): str(partition_for_key(key, PARTITION_COUNT)) for key in KEYS}
