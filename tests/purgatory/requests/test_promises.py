"""What requests that wait are promised: each promise with the accident or setting that breaks it."""

from dataclasses import replace
from itertools import pairwise

import pytest

from kafkalearn.purgatory.requests import (
    ALL_ANSWERED,
    ENOUGH_BYTES,
    PROMISES,
    WITHIN_TIMEOUT,
    WITHOUT_ERROR,
    ConsumerFetch,
    Settings,
    SizedProduce,
    broken,
    check,
    simulate,
)
from kafkalearn.replication.events import BrokerCrashed, BrokerFrozen, Fetch, LeaderElected, Produce, TimePassed

SETTINGS = Settings(replica_count=2)
PRODUCE = SizedProduce(Produce(acks="all", timeout_ms=1000))
BROKEN_BY = {
    WITHIN_TIMEOUT: [PRODUCE, BrokerFrozen(1), TimePassed(2000)],
    ALL_ANSWERED: [PRODUCE, BrokerCrashed(1)],
    WITHOUT_ERROR: [ConsumerFetch("c1", 0), LeaderElected(2, (1, 2))],
    ENOUGH_BYTES: [ConsumerFetch("c1", 0, min_bytes=250, max_wait_ms=100), TimePassed(100)],
}


@pytest.mark.parametrize("name", PROMISES)
def test_each_promise_is_kept_until_its_accident(name):
    trace = simulate(SETTINGS, BROKEN_BY[name])
    before = (None, *(frame.state for frame in trace))
    found = [broken(SETTINGS, frame.state, was) for frame, was in zip(trace, before, strict=False)]

    assert found[:-1] == [()] * (len(trace) - 1)
    assert name in found[-1]


def test_nothing_is_broken_while_all_is_well():
    trace = simulate(SETTINGS, [Fetch(2), ConsumerFetch("c1", 0), PRODUCE, Fetch(2), TimePassed(100)])
    for before, frame in pairwise(trace):
        assert broken(SETTINGS, frame.state, before.state) == ()


PARKED = simulate(SETTINGS, [ConsumerFetch("c1", 0)])[-1].state
ANSWERED = simulate(SETTINGS, [TimePassed(500)], PARKED)[-1].state
APPENDED = simulate(SETTINGS, [PRODUCE])[-1].state


@pytest.mark.parametrize(
    ("broker", "before", "words"),
    [
        (replace(PARKED, consumers=PARKED.consumers * 2), None, "waits with one fetch"),
        (replace(ANSWERED, consumers=PARKED.consumers), None, "that could be answered"),
        (replace(APPENDED, record_bytes=()), None, "has its size"),
        (replace(ANSWERED, effects=()), PARKED, "answered once"),
        (replace(ANSWERED, effects=ANSWERED.effects * 2), PARKED, "answered once"),
        (replace(PARKED, effects=ANSWERED.effects), PARKED, "answered once"),
    ],
)
def test_a_state_that_cannot_be_is_found(broker, before, words):
    with pytest.raises(AssertionError, match=words):
        check(SETTINGS, broker, before)
