"""A real producer whose answers get lost on the way: what its callbacks say of each record, and what lies in the log.

A case has ``is_idempotent``, ``retries`` (None: without end), ``acks``, and ``sends``: for each record how many answers
in a row are lost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies

from kafkalearn.delivery import (
    AnswerArrived,
    ConnectionLost,
    ProducerSettings,
    RequestArrived,
    RequestSent,
    Send,
    Settings,
    TopicSettings,
    start,
    step,
)
from kafkalearn.delivery.events import DeliveryEvent
from kafkalearn.delivery.settings import FOR_EVER
from kafkalearn.delivery.state import Delivery
from kafkalearn.live.conform.mechanism import Answer, Case, Mechanism
from kafkalearn.live.kafka import Kafka
from kafkalearn.live.nodes.layout import HOST, Node
from kafkalearn.live.proxy import Proxy
from kafkalearn.replication.effects import NONE

MOST_SENDS, MOST_LOST = 4, 3
PATIENCE_S = 15
BACKOFF = {"retry_backoff_ms": 20, "retry_backoff_max_ms": 50}

_PROXIES: dict[int, Proxy] = {}


def advertised(node: Node) -> str:
    """Where clients find a node: at a proxy before it."""
    if node.port not in _PROXIES:
        _PROXIES[node.port] = Proxy()
    return f"PLAINTEXT://{HOST}:{_PROXIES[node.port].port}"


def proxy_of(kafka: Kafka) -> Proxy:
    """The proxy before the one broker of a cluster, which passes everything on to it."""
    proxy = _PROXIES[int(kafka.bootstrap.rpartition(":")[2])]
    proxy.forward_to(kafka)
    return proxy


def cases(release: str) -> Any:
    """Records of one producer."""
    lost = strategies.sampled_from([0, 0, *range(1, MOST_LOST + 1)])
    return strategies.fixed_dictionaries(
        {
            "is_idempotent": strategies.booleans(),
            "retries": strategies.none() | strategies.integers(0, 2),
            "sends": strategies.lists(lost, min_size=1, max_size=MOST_SENDS),
            "acks": strategies.sampled_from(["all", 1]),
        }
    ).filter(lambda case: not case["is_idempotent"] or (case["acks"] == "all" and case["retries"] is None))


def ask(kafka: Kafka, case: Case, new_name: Callable[[str], str]) -> Answer:
    """For each record its callback and where it lies; the log, and how many requests were sent."""
    proxy, topic = proxy_of(kafka), new_name("topic")
    kafka.create_topic(topic)
    retries = {} if case["retries"] is None else {"retries": case["retries"]}
    producer = kafka.producer(
        linger_ms=0, acks=case["acks"], enable_idempotence=case["is_idempotent"], **BACKOFF, **retries
    )
    producer.list_topics(topic, timeout=PATIENCE_S)  # connected through the proxy before anything is lost
    proxy.reset()
    callbacks: dict[str, list[Any]] = {}

    def note(error: Any, message: Any) -> None:
        callbacks[message.value().decode()] = [error is None, message.offset() if error is None else None]

    for number, lost_count in enumerate(case["sends"]):
        proxy.swallow("Produce", lost_count)
        producer.produce(topic, f"m{number}".encode(), partition=0, on_delivery=note)
        producer.flush(PATIENCE_S)
        proxy.swallow("Produce", 0)
    return {
        "callbacks": callbacks,
        "log": [record.value.decode() for record in kafka.disk(1).records(topic, 0)],
        "requests": proxy.counts["Produce"],
    }


def say(release: str, case: Case, seen: Answer) -> Answer:
    """The same of the simulator."""
    retries = FOR_EVER if case["retries"] is None else case["retries"]
    settings = Settings(
        TopicSettings(replica_count=1, release=release),
        ProducerSettings(acks=case["acks"], is_idempotent=case["is_idempotent"], retries=retries),
    )
    delivery, callbacks, request_count = start(settings), {}, 0
    for number, lost_count in enumerate(case["sends"]):
        value = f"m{number}"
        delivery = _after(settings, delivery, Send(values=(value,)), RequestArrived())
        request_count += 1
        for _ in range(lost_count):
            delivery = _after(settings, delivery, ConnectionLost())
            if not delivery.producer.waiting:
                break
            delivery = _after(settings, delivery, RequestSent(), RequestArrived())
            request_count += 1
        offset = None
        if delivery.producer.in_flight:
            offset = delivery.producer.in_flight[0].base_offset
            delivery = _after(settings, delivery, AnswerArrived())
        is_taken = delivery.producer.callbacks[-1].error == NONE
        callbacks[value] = [is_taken, offset if is_taken else None]
    return {
        "callbacks": callbacks,
        "log": [record.value for record in delivery.partition.leader.log.records],
        "requests": request_count,
    }


def _after(settings: Settings, delivery: Delivery, *events: DeliveryEvent) -> Delivery:
    for event in events:
        delivery = step(settings, delivery, event)
    return delivery


LOST_ANSWERS = Mechanism(
    name="answers lost on the way",
    rules=("acks, failures and the result of a record", "the producer's retries"),
    cases=cases,
    ask=ask,
    say=say,
    settings={"brokers": 1, "config": {"advertised.listeners": advertised}},
    tries=2,
)
