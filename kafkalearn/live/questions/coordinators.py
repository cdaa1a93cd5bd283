"""Which broker coordinates a group, and in which partition of the offsets topic its commits lie.

The topic's replicas are placed by hand, in turn, so that the answer is the same in every run: partition p is led by
broker p mod 3 + 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from string import ascii_lowercase

from kafkalearn.live.kafka import Kafka
from kafkalearn.live.reading.groups import OFFSETS_TOPIC
from kafkalearn.live.requests.error_codes import error_name
from kafkalearn.live.requests.values import NEWEST_COMMIT_WITH_NAMES, commit
from kafkalearn.live.waiting import wait_for
from kafkalearn.offsets import decode_key
from kafkalearn.topic_partition import TopicPartition

BROKERS = 3
PARTITIONS = 50
GROUPS = (
    *("billing", "shipping", "search", "console-consumer-77682", "polygenelubricants"),
    *("refunds", "warehouse", "night-report"),
)
"""The shop's, the articles', one whose hash is -2147483648, and those of an exercise."""


def coordinators(release: str) -> dict[str, dict[str, int]]:
    """Of each of `GROUPS` the partition in whose files its commit was found, and the broker that coordinates it."""
    with Kafka(BROKERS, release) as kafka:
        place_offsets_topic(kafka, BROKERS)
        kafka.create_topic("orders")
        brokers = {group: kafka.coordinator(group) for group in GROUPS}
        for group, broker in brokers.items():
            commit_one(kafka, broker, group)
        partitions = partitions_of_groups(kafka)
        return {group: {"partition": partitions[group], "broker": brokers[group]} for group in GROUPS}


def short_group_ids(release: str) -> dict[str, int]:
    """Of each group id of one or two small letters the partition in whose files its commit was found."""
    ids = [*ascii_lowercase, *map("".join, product(ascii_lowercase, repeat=2))]
    with Kafka(1, release) as kafka:
        place_offsets_topic(kafka, 1)
        kafka.create_topic("orders")
        for group in ids:
            commit_one(kafka, 1, group)
        partitions = partitions_of_groups(kafka)
        return {group: partitions[group] for group in ids}


def place_offsets_topic(kafka: Kafka, brokers: int) -> None:
    """Create the offsets topic with one replica of each partition, in turn."""
    kafka.create_topic(
        OFFSETS_TOPIC,
        assignment=[[number % brokers + 1] for number in range(PARTITIONS)],
        config={"cleanup.policy": "compact", "compression.type": "producer", "segment.bytes": 100 * 2**20},
    )


def commit_one(kafka: Kafka, broker: int, group: str) -> None:
    """Commit an offset of a group, as soon as its coordinator takes it."""
    values = commit(group, {TopicPartition("orders", 0): 0})

    def sent() -> str:
        answer = kafka.ask(broker, "OffsetCommit", values, NEWEST_COMMIT_WITH_NAMES)
        return error_name(answer["topics"][0]["partitions"][0]["errorCode"])

    wait_for(sent, "NONE", f"the commit of {group!r}:")


def partitions_of_groups(kafka: Kafka) -> dict[str, int]:
    """In which partition of the offsets topic each group's records lie, on the brokers' disks."""
    return dict(_found(kafka))


def _found(kafka: Kafka) -> Iterable[tuple[str, int]]:
    for broker in kafka.broker_ids:
        disk = kafka.disk(broker)
        for topic, partition in disk.replicas():
            if topic == OFFSETS_TOPIC:
                for each in disk.records(topic, partition):
                    yield decode_key(each.key)[1]["group"], partition
