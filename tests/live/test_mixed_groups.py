"""A rolling change of the protocol and its way back: by Java's own consumers, by librdkafka's, and asked at random."""

from __future__ import annotations

import time

import pytest
from confluent_kafka import Consumer, Producer
from hypothesis import HealthCheck, Phase, find, settings

from conformance.mechanisms.mixed_groups import CONFIG, MIXED
from kafkalearn.live.request_values import error_name
from tests.live.java import run_java_class

pytestmark = pytest.mark.live
RULE = "a group that changes its protocol while it runs"
PATIENCE_S = 60

THERE_AND_BACK = [
    "classic classic 3 3 Classic",
    "consumer classic 3 3 Consumer",
    "consumer consumer 3 3 Consumer",
    "classic consumer 3 3 Consumer",
    "classic classic 3 3 Classic",
]


@pytest.mark.holds(RULE)
def test_java_consumers_change_one_by_one_and_back_and_read_each_record_once(kafka, new_name):
    topic = new_name("orders")
    kafka.create_topic(topic, 6)
    said = run_java_class(kafka.release, "RollingChange", kafka.bootstrap, topic, new_name("group"))
    assert said.splitlines() == [*THERE_AND_BACK, "sent 30 read 30 twice 0"]


def test_consumers_of_librdkafka_do_so_too(kafka, new_name):
    topic, group = new_name("orders"), new_name("group")
    kafka.create_topic(topic, 6)
    spoken = ["classic", "classic"]
    consumers = [_started(kafka, topic, group, each) for each in spoken]
    read: list[tuple[int, int]] = []
    said, sent = [], 0
    try:
        for place in (None, 0, 1, 0, 1):
            if place is not None:
                consumers[place].close()
                spoken[place] = "consumer" if spoken[place] == "classic" else "classic"
                consumers[place] = _started(kafka, topic, group, spoken[place])
            _poll_until(consumers, read, lambda: all(len(each.assignment()) == 3 for each in consumers))
            sent += _sent(kafka, topic)
            _poll_until(consumers, read, lambda count=sent: len(set(read)) == count)
            _poll_until(consumers, read, lambda each=sent // 6: _committed(kafka, group) == [each] * 6)
            counts = " ".join(str(len(each.assignment())) for each in consumers)
            said.append(f"{' '.join(spoken)} {counts} {_type_of(kafka, group)}")
    finally:
        for each in consumers:
            each.close()
    assert said == THERE_AND_BACK
    assert len(read) == len(set(read)) == sent == 30


def _started(kafka, topic: str, group: str, protocol: str) -> Consumer:
    own = {} if protocol == "consumer" else {"heartbeat.interval.ms": 100}
    words = {"bootstrap.servers": kafka.bootstrap, "group.id": group, "group.protocol": protocol}
    words["auto.commit.interval.ms"] = 100
    consumer = Consumer({**words, "auto.offset.reset": "earliest", **own})
    consumer.subscribe([topic])
    return consumer


def _committed(kafka, group: str) -> list[int]:
    """The next owner of a partition begins at its committed offset: what is committed is read once."""
    return sorted(each.offset for each in kafka.committed(group).values())


def _sent(kafka, topic: str) -> int:
    producer = Producer({"bootstrap.servers": kafka.bootstrap})
    for partition in range(6):
        producer.produce(topic, b"x", partition=partition)
    assert producer.flush(PATIENCE_S) == 0
    return 6


def _poll_until(consumers: list[Consumer], read: list[tuple[int, int]], is_so) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end_s, [each.assignment() for each in consumers]
        for each in consumers:
            message = each.poll(0.02)
            if message is not None and message.error() is None:
                read.append((message.partition(), message.offset()))


def _type_of(kafka, group: str) -> str:
    words = {"groupIds": [group], "includeAuthorizedOperations": False}
    (found,) = kafka.ask(kafka.coordinator(group), "ConsumerGroupDescribe", words)["groups"]
    return "Consumer" if error_name(found["errorCode"]) == "NONE" else "Classic"


@pytest.mark.holds(RULE)
def test_random_requests_are_answered_as_by_the_simulator(cluster, new_name, release):
    kafka = cluster(1, config=CONFIG)
    differing: list[object] = []

    def agrees(case) -> bool:
        for _ in range(MIXED.tries):
            seen = MIXED.ask(kafka, case, new_name)
            if MIXED.say(release, case, seen) == seen:
                return True
        differing.append(case)
        return False

    few = settings(
        max_examples=12, deadline=None, database=None, derandomize=True, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    with pytest.raises(Exception, match=r"did not satisfy|No examples|NoSuchExample") as none_found:
        find(MIXED.cases(release), lambda case: not agrees(case), settings=few)
    assert none_found.type.__name__ == "NoSuchExample", differing
