"""A thousand keys through each of librdkafka's partitioners, and through Kafka's own producer in Java."""

from __future__ import annotations

import random

import pytest

from kafkalearn.base.hashing import crc32, fnv1a, int32, java_abs, java_remainder, murmur2, to_positive
from kafkalearn.partitioning import partition_for_key
from tests.live.checked import holds
from tests.live.java import run_java_class

pytestmark = pytest.mark.live

PARTITION_COUNT = 7
BY_PARTITIONER = {
    "murmur2": "murmur2",
    "murmur2_random": "murmur2",
    "consistent": "crc32",
    "consistent_random": "crc32",
    "fnv1a": "fnv1a",
    "fnv1a_random": "fnv1a",
}
"""Our name for the rule behind each of librdkafka's."""

FROM_HASH = {
    "murmur2": lambda key: to_positive(murmur2(key)) % PARTITION_COUNT,
    "crc32": lambda key: crc32(key) % PARTITION_COUNT,
    "fnv1a": lambda key: java_abs(java_remainder(int32(fnv1a(key)), PARTITION_COUNT)),
}
"""The same from the hash alone."""


def keys() -> list[bytes]:
    drawn = random.Random(11)
    found = {drawn.randbytes(drawn.randint(1, 20)) for _ in range(1200)}
    return sorted(found)[:1000]


KEYS = keys()


@holds(
    "murmur2 of a key", "CRC-32 of a key", "FNV-1a of a key", "key to partition, Java producer (murmur2)",
    "key to partition, librdkafka (crc32) and Sarama (fnv1a)",
)  # fmt: skip
@pytest.mark.parametrize("partitioner", BY_PARTITIONER)
def test_a_thousand_keys_land_where_we_say(kafka, new_name, partitioner):
    topic, landed = new_name("keys"), {}
    kafka.create_topic(topic, PARTITION_COUNT)
    producer = kafka.producer(partitioner=partitioner)
    for key in KEYS:
        producer.produce(
            topic, b"", key, on_delivery=lambda _, message: landed.update({message.key(): message.partition()})
        )
    assert producer.flush(15) == 0

    rule = BY_PARTITIONER[partitioner]
    assert landed == {key: partition_for_key(key, PARTITION_COUNT, rule) for key in KEYS}
    assert landed == {key: FROM_HASH[rule](key) for key in KEYS}


@holds("key to partition, Java producer (murmur2)")
def test_a_thousand_keys_of_the_java_producer_land_where_we_say(kafka, new_name):
    topic = new_name("java-keys")
    kafka.create_topic(topic, PARTITION_COUNT)

    printed = run_java_class(kafka.release, "SendKeys", kafka.bootstrap, topic, *(key.hex() for key in KEYS))

    landed = dict(line.split() for line in printed.splitlines())
    assert landed == {key.hex(): str(partition_for_key(key, PARTITION_COUNT)) for key in KEYS}
