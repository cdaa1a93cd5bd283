"""A rolling change of the protocol and its way back: by Java's own consumers, by librdkafka's, and asked at random."""

from __future__ import annotations

import time

import pytest
from confluent_kafka import Consumer, Producer
from hypothesis import HealthCheck, Phase, find, settings

from conformance.mechanisms.mixed_groups import CONFIG, MIXED
from kafkalearn.groups import consumer
from kafkalearn.groups.classic import model as classic
from kafkalearn.groups.consumer import events as consumer_events
from kafkalearn.groups.mixed import Settings, start, step
from kafkalearn.live.errors import wait_for
from kafkalearn.live.request_values import consumer_heartbeat, error_name, join_group
from tests.live.java import run_java_class

pytestmark = pytest.mark.live
RULE = "a group that changes its protocol while it runs"
PATIENCE_S = 120

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
def test_an_empty_group_that_its_coordinator_was_made_to_forget_is_there_again_with_the_next_one(cluster, release):
    """A JoinGroup with a member id does that: nothing is written of it. The coordinator of two brokers is killed."""
    kafka = cluster(2, config={"offsets.topic.num.partitions": 1, "group.consumer.assignment.interval.ms": None})
    kafka.create_topic("t", 1, 2)
    settings = Settings(release, consumer=consumer.Settings(release, topics={"t": 1}))
    first, ghost = kafka.coordinator("g"), join_group("g", "ghost", {"range": b""}, 45_000, 300_000)

    def asked(broker, name, values):
        return wait_for(lambda: kafka.ask(broker, name, values), lambda got: got["errorCode"] != 15, name)

    def described(broker):
        words = {"groupIds": ["g"], "includeAuthorizedOperations": False}
        (found,) = kafka.ask(broker, "ConsumerGroupDescribe", words)["groups"]
        return [error_name(found["errorCode"]), found["groupState"], found["groupEpoch"], found["assignmentEpoch"]]

    asked(first, "ConsumerGroupHeartbeat", consumer_heartbeat("g", "n", 0, ["t"], {}, None, 300_000))
    asked(first, "ConsumerGroupHeartbeat", consumer_heartbeat("g", "n", -1))
    answers = [error_name(kafka.ask(first, "JoinGroup", ghost, 9)["errorCode"])]
    (deleted,) = kafka.ask(first, "DeleteGroups", {"groupsNames": ["g"]}, 2)["results"]
    answers.append(error_name(deleted["errorCode"]))

    group, said = start(settings), []
    protocols = (("range", (("t",), ())),)
    for event in (
        consumer.join("n", ("t",)),
        consumer.leave("n"),
        classic.JoinGroup("c", "ghost", protocols=protocols),
        consumer_events.GroupDeleted(),
    ):
        group = step(settings, group, event)
        kinds = classic.JoinAnswered | consumer_events.DeleteAnswered
        said += [each.error for each in group.effects if isinstance(each, kinds)]
    assert (answers, group.group_type) == (said, None)

    kafka.kill(first)
    group = step(settings, group, consumer_events.PartitionMoved())
    expected = ["NONE", group.state, group.epoch, group.consumer.assignment_epoch]
    assert wait_for(lambda: described(3 - first), expected, "the group at the next coordinator:") == expected


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
