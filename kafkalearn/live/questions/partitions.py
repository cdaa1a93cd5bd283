"""Where keys land: what the producers' own partitioners do with them."""

from __future__ import annotations

from kafkalearn.live.errors import NotReached
from kafkalearn.live.kafka import Kafka

KEYS = ("order-4711", "order-42", "order-1001", "", "订单-7")
PARTITIONS = 6
PARTITIONERS = {"murmur2": "murmur2", "crc32": "consistent", "fnv1a": "fnv1a"}
"""librdkafka's name for each rule; `murmur2` is the Java client's."""
TIMEOUT_S = 15.0


def partitions_of_keys(release: str) -> dict[str, dict[str, int]]:
    """Of each of `KEYS` the partition that it was written to, by the rule that picked it."""
    landed: dict[str, dict[str, int]] = {key: {} for key in KEYS}
    with Kafka(1, release) as kafka:
        for rule, partitioner in PARTITIONERS.items():
            kafka.create_topic(rule, PARTITIONS)
            producer = kafka.producer(partitioner=partitioner)
            for key in KEYS:
                producer.produce(rule, b"", key.encode())
            if producer.flush(TIMEOUT_S):
                raise NotReached(f"records of the topic {rule} were not taken within {TIMEOUT_S:.0f} s")
            for number in range(PARTITIONS):
                for each in kafka.disk(1).records(rule, number):
                    landed[each.key.decode()][rule] = number
    return landed
