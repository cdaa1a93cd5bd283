"""How long a throttled reassignment takes while producers write on: tests/vectors/operations/throttled-copies.json."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from typing import Any

from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.live import Kafka
from kafkalearn.live.reading import metadata_request
from kafkalearn.live.request_values import NONE, error_name, reassign

FILE = "operations/throttled-copies.json"
ABOUT = (
    "A topic whose partitions move from broker 1 to others, throttled: the partitions (target, bytes), the throttle, "
    "the bytes that were written to each in a second meanwhile, replication.quota.window.num (each of its windows is a "
    "second), and how many seconds it took until the targets were the only replicas; null: it was not over after "
    "patience. Written by python3 -m tools.real plans."
)
SIDES = ("leader", "follower")
MB = 1_000_000
RECORD = 50_000
PATIENCE_S = 45.0
FEW, DEFAULT = 2, 11
CASES = (
    ("alone", [[2, 12 * MB]], MB, 0, FEW),
    ("with writes", [[2, 8 * MB]], MB, MB // 2, FEW),
    ("the leader sends to two", [[2, 6 * MB], [3, 6 * MB]], MB, 0, FEW),
    ("more is written than passes", [[2, 4 * MB]], MB, 3 * MB // 2, FEW),
    ("with the default of windows", [[2, 24 * MB]], MB, 0, DEFAULT),
)


def recorded(version: str, line: str) -> list[dict[str, Any]]:
    """Every case, by brokers of a release."""
    cases = []
    for windows in (FEW, DEFAULT):
        with Kafka(3, line, {"replication.quota.window.num": windows}) as kafka:
            for name, copies, throttle, written, with_windows in CASES:
                if with_windows == windows:
                    taken = _taken(kafka, name.replace(" ", "-"), copies, throttle, written)
                    cases.append(
                        {
                            "name": name, "copies": copies, "throttle": throttle, "written": written,
                            "windows": windows, "patience": PATIENCE_S, "seconds": taken,
                        }
                    )  # fmt: skip
                    print(cases[-1], flush=True)
    return cases


def _taken(kafka: Kafka, topic: str, copies: list[list[int]], throttle: int, written: int) -> float | None:
    kafka.create_topic(topic, assignment=[[1]] * len(copies))
    for partition, (_, size) in enumerate(copies):
        kafka.send(topic, [bytes(RECORD)] * (size // RECORD), partition=partition)
    is_over = threading.Event()
    writers = [
        threading.Thread(target=_write, args=(kafka, topic, place, written, is_over)) for place in range(len(copies))
    ]
    for each in writers if written else ():
        each.start()
    try:
        _throttle(kafka, topic, throttle)
        begin_s = time.monotonic()
        for place, (to, _) in enumerate(copies):
            _ask(kafka, reassign(TopicPartition(topic, place), [to]))
        while time.monotonic() - begin_s < PATIENCE_S:
            if _replicas(kafka, topic) == {place: [to] for place, (to, _) in enumerate(copies)}:
                return round(time.monotonic() - begin_s, 1)
            time.sleep(0.1)
        for place in range(len(copies)):
            _ask(kafka, reassign(TopicPartition(topic, place), None))
        return None
    finally:
        is_over.set()
        for each in writers if written else ():
            each.join()


def _ask(kafka: Kafka, words: Mapping[str, Any]) -> None:
    answer = kafka.ask(1, "AlterPartitionReassignments", words)
    errors = [error_name(each["errorCode"]) for found in answer["responses"] for each in found["partitions"]]
    if set(errors) != {NONE}:
        raise AssertionError(f"{words}: {errors}")


def _throttle(kafka: Kafka, topic: str, bytes_per_s: int) -> None:
    """As the tool does it: the rates of all brokers, and all replicas of the topic."""
    kafka.alter_topic(topic, {f"{side}.replication.throttled.replicas": "*" for side in SIDES})
    change = AlterConfigOpType.SET
    entries = [
        ConfigEntry(f"{side}.replication.throttled.rate", str(bytes_per_s), incremental_operation=change)
        for side in SIDES
    ]
    admin = kafka.admin()
    for each in kafka.broker_ids:
        resource = ConfigResource(ResourceType.BROKER, str(each), incremental_configs=entries)
        (future,) = admin.incremental_alter_configs([resource], request_timeout=30).values()
        future.result(30)
    time.sleep(1)  # until every broker knows


def _write(kafka: Kafka, topic: str, partition: int, bytes_per_s: int, is_over: threading.Event) -> None:
    begin_s, sent = time.monotonic(), 0
    while not is_over.wait(0.02):
        due = int(bytes_per_s * (time.monotonic() - begin_s)) // RECORD - sent
        if due > 0:
            kafka.send(topic, [bytes(RECORD)] * due, acks=1, partition=partition)
            sent += due


def _replicas(kafka: Kafka, topic: str) -> Mapping[int, list[int]]:
    (found,) = kafka.ask(2, "Metadata", metadata_request([topic]))["topics"]
    return {each["partitionIndex"]: each["replicaNodes"] for each in found["partitions"]}
