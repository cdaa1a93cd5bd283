"""Producers whose answers get lost on the way, and batches with every sequence number, as a real broker judges them."""

from __future__ import annotations

import random
import time

import pytest

from kafkalearn.delivery import (
    AnswerArrived,
    ConnectionLost,
    ProduceRequest,
    ProducerSettings,
    RequestArrived,
    RequestSent,
    Send,
    Settings,
    TopicSettings,
    record_results,
    simulate,
)
from kafkalearn.delivery.record_results import result_of
from kafkalearn.live import Kafka
from kafkalearn.live.proxy import Proxy
from kafkalearn.live.requests.error_codes import error_name
from kafkalearn.live.requests.values import NEWEST_PRODUCE_WITH_NAMES, produce
from kafkalearn.replication.effects import ProduceAnswered
from kafkalearn.topic_partition import TopicPartition
from tests.live.checked import holds

pytestmark = pytest.mark.live

ONE = TopicSettings(replica_count=1)
NO_OFFSET = -1


@pytest.fixture(scope="module")
def proxied(release):
    with Proxy() as proxy, Kafka(1, release, proxy.config) as kafka:
        proxy.forward_to(kafka)
        yield proxy, kafka


@holds("acks, failures and the result of a record", "the producer's retries", "the result of a record")
@pytest.mark.parametrize(
    ("config", "settings", "is_retried"),
    [
        ({"enable_idempotence": False}, ProducerSettings(acks="all", is_idempotent=False), True),
        ({"enable_idempotence": True}, ProducerSettings(acks="all", is_idempotent=True), True),
        ({"enable_idempotence": False, "retries": 0}, ProducerSettings(is_idempotent=False, retries=0), False),
    ],
    ids=["without-idempotence", "with-idempotence", "without-retries"],
)
def test_an_answer_that_is_lost_on_the_way(proxied, new_name, config, settings, is_retried):
    proxy, kafka = proxied
    topic, callbacks = new_name("orders"), {}
    kafka.create_topic(topic)
    producer = kafka.producer(linger_ms=0, retry_backoff_ms=20, retry_backoff_max_ms=50, **config)
    producer.list_topics(topic, timeout=10)  # connected through the proxy before anything is lost
    proxy.reset()
    proxy.swallow("Produce")
    for value in (b"m1", b"m2"):
        producer.produce(topic, value, partition=0, on_delivery=lambda error, message: callbacks.update(
            {message.value().decode(): (error, message.offset())}))  # fmt: skip
        assert producer.flush(15) == 0

    arrived = [RequestArrived(), AnswerArrived()]
    again = [RequestSent(), *arrived] if is_retried else []
    events = [Send(values=("m1",)), RequestArrived(), ConnectionLost(), *again, Send(values=("m2",)), *arrived]
    state = simulate(Settings(ONE, settings), events)[-1].state
    records = kafka.disk(1).records(topic, 0)
    values = [record.value.decode() for record in records]

    assert values == [record.value for record in state.partition.leader.log.records]
    assert {each.value: each.result for each in record_results(state)} == {
        value: result_of("NONE" if error is None else "lost", values.count(value))
        for value, (error, _) in callbacks.items()
    }
    assert callbacks["m1"][1] == {(False, True): 1, (True, True): 0}.get((settings.is_idempotent, is_retried))
    assert proxy.counts["Produce"] == 2 + is_retried


def drawn_requests(seed: int, producer_id: int) -> list[ProduceRequest]:
    """Batches of one producer: mostly the next one, some sent again, some with a gap or of another epoch."""
    draw = random.Random(seed)
    epoch, following, sent, requests = 0, 0, [(0, 0, 1)], []
    for number in range(60):
        kind = draw.choice(["next"] * 6 + ["again"] * 4 + ["gap", "before", "old epoch", "new epoch", "new epoch, gap"])
        count = draw.randint(1, 3)
        asked = (epoch, following, count)
        if kind == "again":
            asked = draw.choice(sent[-7:])
        elif kind == "gap":
            asked = (epoch, following + draw.randint(1, 3), count)
        elif kind == "before":
            asked = (epoch, max(0, following - draw.randint(1, 3)), count)
        elif kind == "old epoch":
            asked = (max(0, epoch - 1), following, count)
        elif kind.startswith("new epoch"):
            asked = (epoch + 1, 0 if kind == "new epoch" else 2, count)
        if kind in ("next", "new epoch"):
            epoch, following = asked[0], asked[1] + count
            sent.append(asked)
        values = tuple(f"{number}.{index}" for index in range(asked[2]))
        requests.append(ProduceRequest(values, "all", producer_id, asked[0], asked[1]))
    return requests


@holds("sequence numbers and the window of five batches")
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_batches_of_a_producer_are_taken_recognised_and_refused_as_we_say(kafka, new_name, seed):
    topic, now_ms = new_name("orders"), int(time.time() * 1000)
    kafka.create_topic(topic)
    requests, place = drawn_requests(seed, kafka.new_producer_id()), TopicPartition(topic, 0)
    real = []
    for each in requests:
        stamp = {
            "producer_id": each.producer_id,
            "producer_epoch": each.producer_epoch,
            "base_sequence": each.first_sequence,
        }
        values = produce(place, [(None, value.encode(), now_ms) for value in each.values], **stamp)
        answer = kafka.ask(1, "Produce", values, NEWEST_PRODUCE_WITH_NAMES)
        (found,) = answer["responses"][0]["partitionResponses"]
        real.append((error_name(found["errorCode"]), found["baseOffset"]))

    settings = Settings(TopicSettings(replica_count=1, release=kafka.release.version))
    trace = simulate(settings, requests)
    ours = [effect for frame in trace for effect in frame.state.effects if isinstance(effect, ProduceAnswered)]
    assert [(each.error, NO_OFFSET if each.base_offset is None else each.base_offset) for each in ours] == real
    assert {error for error, _ in real} == {"NONE", "OUT_OF_ORDER_SEQUENCE_NUMBER", "INVALID_PRODUCER_EPOCH"}
    assert [record.value.decode() for record in kafka.disk(1).records(topic, 0)] == [
        record.value for record in trace[-1].state.partition.leader.log.records
    ]
