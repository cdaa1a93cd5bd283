"""The two threads of a process: a pause stops both, work on one poll only the poll thread."""

from __future__ import annotations

import pytest

from kafkalearn.scenarios.consumers import HEARTBEAT_THREAD, POLL_THREAD, Clock, Consumer, Threads
from kafkalearn.scenarios.events import Settings, Subscription


def made_at(thread, **changes):
    """When a call for the moment 10 is made, in a consumer with some attributes changed."""
    clock, moments = Clock(), []
    consumer = Consumer(
        "c1", Settings().of("c1"), processing_ms=100, index=0, count=1, subscription=Subscription(("orders",))
    )
    for name, value in {"is_running": True, "incarnation": 1, **changes}.items():
        setattr(consumer, name, value)
    Threads(clock).after(10, consumer, thread, lambda: moments.append(clock.now_ms))
    consumer.incarnation += changes.get("restarts", 0)
    clock.run(10_000, lambda: None)
    return moments


@pytest.mark.parametrize("thread", [HEARTBEAT_THREAD, POLL_THREAD])
def test_a_call_is_made_in_time_after_a_pause_and_never_in_another_process(thread):
    assert made_at(thread) == [10]
    assert made_at(thread, paused_until_ms=500) == [500]
    assert made_at(thread, restarts=1) == []
    assert made_at(thread, is_running=False) == []


@pytest.mark.parametrize(("thread", "moment"), [(HEARTBEAT_THREAD, 10), (POLL_THREAD, 700)])
def test_work_on_one_poll_delays_the_poll_thread_only(thread, moment):
    assert made_at(thread, working_until_ms=700, poll_distance_ms=700) == [moment]


def test_the_poll_thread_is_woken_once():
    clock, polls = Clock(), []
    consumer = Consumer(
        "c1", Settings().of("c1"), processing_ms=100, index=0, count=1, subscription=Subscription(("orders",))
    )
    consumer.is_running, consumer.owned = True, ("orders-0",)

    class Client:
        def poll(self):
            polls.append(clock.now_ms)

    consumer.client, consumer.polled_ms = Client(), -30  # so the next poll is at 70
    threads = Threads(clock)
    threads.wake_poll(consumer)
    threads.wake_poll(consumer)
    clock.run(1000, lambda: None)
    assert polls == [70]
