"""The network of a scenario: latency both ways, and what a disconnected consumer sends and is sent."""

from __future__ import annotations

import pytest

from kafkalearn.scenarios.consumers import Clock, Consumer, Network, Threads
from kafkalearn.scenarios.events import Settings, Subscription


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def consumer():
    consumer = Consumer(
        "c1", Settings().of("c1"), processing_ms=100, index=0, count=1, subscription=Subscription(("orders",))
    )
    consumer.is_running, consumer.incarnation = True, 1
    return consumer


@pytest.fixture
def network(clock):
    return Network(clock, Threads(clock), latency_ms=5)


def played(clock):
    """Let all calls be made."""
    clock.run(10_000, lambda: None)


def test_a_request_and_its_answer_take_the_latency_each(clock, consumer, network):
    heard = []

    def receive(word):
        heard.append((clock.now_ms, word))
        network.answer(consumer, 1, lambda: heard.append((clock.now_ms, "answer")))

    network.send(consumer, receive, "request")
    played(clock)
    assert heard == [(5, "request"), (10, "answer")]


def test_what_a_disconnected_consumer_sends_arrives_when_it_is_back(clock, consumer, network):
    heard = []
    consumer.disconnected_until_ms = 100
    network.send(consumer, lambda: heard.append(clock.now_ms))
    played(clock)
    assert heard == [105]


def test_a_request_under_way_waits_as_well_when_the_connection_is_lost(clock, consumer, network):
    heard = []
    network.send(consumer, lambda: heard.append(clock.now_ms))
    consumer.disconnected_until_ms = 100
    played(clock)
    assert heard == [100]


def test_an_answer_to_a_process_that_has_ended_is_never_heard(clock, consumer, network):
    heard = []
    network.answer(consumer, 1, lambda: heard.append(clock.now_ms))
    consumer.incarnation = 2
    played(clock)
    assert heard == []
