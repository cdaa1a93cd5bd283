"""Keyed records through the partitioners of librdkafka, and the partitions in which the broker has them."""

from __future__ import annotations

from hypothesis import strategies

from kafkalearn.live.conform.mechanism import Answer, Case, Mechanism, TooSlow
from kafkalearn.live.conform.topics import log_ends, new_topic
from kafkalearn.partitioning import partition_for_key

RULES = {
    "murmur2": "murmur2",
    "murmur2_random": "murmur2",
    "consistent": "crc32",
    "consistent_random": "crc32",
    "fnv1a": "fnv1a",
    "fnv1a_random": "fnv1a",
}
"""Our name for the rule behind each of librdkafka's."""

DRAWS_FOR_EMPTY_KEYS = "consistent_random"
MOST_PARTITIONS, LONGEST_KEY = 40, 40
TIMEOUT_S = 15


def _cases(release: str) -> strategies.SearchStrategy[Case]:
    keys = strategies.lists(strategies.binary(max_size=LONGEST_KEY), min_size=1, max_size=60, unique=True)
    return strategies.fixed_dictionaries(
        {
            "partitions": strategies.integers(1, MOST_PARTITIONS),
            "partitioner": strategies.sampled_from(sorted(RULES)),
            "keys": keys.map(lambda found: [key.hex() for key in found]),
        }
    )


def _keys(case: Case) -> list[bytes]:
    keys = [bytes.fromhex(each) for each in case["keys"]]
    return [key for key in keys if key or case["partitioner"] != DRAWS_FOR_EMPTY_KEYS]


def _ask(kafka, case: Case, new_name) -> Answer:
    topic, keys = new_name("keys"), _keys(case)
    places = new_topic(kafka, topic, case["partitions"])
    producer = kafka.producer(partitioner=case["partitioner"], linger_ms=0)
    for key in keys:
        producer.produce(topic, b"", key)
    if producer.flush(TIMEOUT_S):
        raise TooSlow(f"not all of {len(keys)} records were answered in {TIMEOUT_S} s")
    filled = [place for place, end in log_ends(kafka, places).items() if end]
    return {record.key.hex(): place.partition for place in filled for record in kafka.records(*place)}


def _say(release: str, case: Case, seen: Answer) -> Answer:
    rule = RULES[case["partitioner"]]
    return {key.hex(): partition_for_key(key, case["partitions"], rule) for key in _keys(case)}


PARTITIONERS = Mechanism(
    name="partitioners",
    rules=(
        "murmur2 of a key",
        "CRC-32 of a key",
        "FNV-1a of a key",
        "key to partition, Java producer (murmur2)",
        "key to partition, librdkafka (crc32) and Sarama (fnv1a)",
    ),
    cases=_cases,
    ask=_ask,
    say=_say,
    only_requests=True,
)
