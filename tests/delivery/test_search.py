"""What a search finds of a producer and its partition, and that nothing is left once a setting is corrected."""

from itertools import product

import pytest

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.base.search import Watched
from kafkalearn.delivery import (
    NONE_DOUBLED,
    NONE_LOST,
    ORDER_KEPT,
    PROMISES,
    AnswerArrived,
    ConnectionLost,
    ProducerSettings,
    RequestArrived,
    RequestSent,
    Send,
    Settings,
    TopicSettings,
    broken,
    find,
    simulate,
)
from kafkalearn.delivery.client import places_of_producer
from kafkalearn.delivery.search import ends, model, rows_of
from kafkalearn.replication import BrokerCrashed, BrokerFrozen, Fetch, SessionExpired, TimePassed, on_every_broker

TRAFFIC = [Send, RequestSent, RequestArrived, AnswerArrived, Fetch]
LEADER_DIES = [*TRAFFIC, BrokerCrashed, SessionExpired]


def settings(replica_count: int = 3, min_isr: int = 1, **producer) -> Settings:
    return Settings(
        TopicSettings(replica_count, min_insync_replicas=min_isr, fetch_wait_max_ms=0), ProducerSettings(**producer)
    )


def test_acks_1_loses_with_the_leader_and_acks_all_does_not():
    limits = {Send: 1, BrokerCrashed: 1}
    lost = find(settings(acks=1), LEADER_DIES, (NONE_LOST,), at_most=limits)
    kept = find(settings(), LEADER_DIES, PROMISES, at_most=limits)

    events = [type(frame.event).__name__ for frame in lost.trace[1:]]
    assert events == ["Send", "RequestArrived", "AnswerArrived", "BrokerCrashed", "SessionExpired"]
    assert kept.outcome == "nothing left"


@pytest.mark.parametrize(
    ("producer", "outcome"),
    [
        ({"acks": "all", "is_idempotent": False}, "found"),
        ({"acks": "all", "is_idempotent": False, "max_in_flight": 1}, "nothing left"),
        ({"acks": "all"}, "nothing left"),
    ],
)
def test_order_needs_one_request_in_flight_or_idempotence(producer, outcome):
    kinds, limits = [*TRAFFIC, ConnectionLost], {Send: 2, ConnectionLost: 1}
    assert find(settings(2, **producer), kinds, (ORDER_KEPT,), at_most=limits).outcome == outcome


def test_five_in_flight_are_no_danger_to_an_idempotent_producer():
    kinds, limits = [Send, RequestSent, RequestArrived, AnswerArrived, ConnectionLost], {Send: 5, ConnectionLost: 2}
    assert find(settings(1), kinds, (NONE_DOUBLED, ORDER_KEPT), at_most=limits).outcome == "nothing left"


def test_a_fetch_looks_at_the_producer_only_if_it_has_an_answer_for_it():
    """Else a search would work it out again for each state of the producer."""
    chosen = settings(2)
    searched, place = model(chosen), places_of_producer(chosen.topic)[0]
    appended = [Send(), RequestArrived()]
    looked_at = {}
    for name, before in {"copies": appended, "answers": [*appended, Fetch(2)]}.items():
        watched = Watched(searched.split(simulate(chosen, before)[-1].state))
        searched.happen(watched, Fetch(2))
        looked_at[name] = place in watched.reads
    assert looked_at == {"copies": False, "answers": True}


def test_time_may_pass_in_a_search_too():
    kinds = [*TRAFFIC, BrokerFrozen, TimePassed(30_001)]
    found = find(settings(2, acks=1), kinds, (NONE_DOUBLED,), at_most={Send: 1, BrokerFrozen: 1, TimePassed: 1})
    assert "TimePassed" in [type(frame.event).__name__ for frame in found.trace[1:]]


def test_a_broken_promise_has_a_name():
    retried = [Send(), RequestArrived(), ConnectionLost(), RequestSent(), RequestArrived()]
    chosen = settings(1, is_idempotent=False)
    assert broken(chosen, simulate(chosen, retried)[-1].state) == (NONE_DOUBLED,)
    with pytest.raises(KafkaLearnError, match="unknown promise 'no loss'"):
        find(chosen, [Send], ("no loss",))


def test_only_the_broker_that_is_named_crashes():
    a_follower = [*TRAFFIC, BrokerCrashed(2), SessionExpired(2)]
    limits = {Send: 1, BrokerCrashed: 1}
    assert find(settings(acks=1), a_follower, (NONE_LOST,), at_most=limits).outcome == "nothing left"
    any_broker = [*TRAFFIC, on_every_broker(BrokerCrashed(2)), SessionExpired]
    assert find(settings(acks=1), any_broker, (NONE_LOST,), at_most=limits).outcome == "found"


KINDS = [Send, RequestSent, RequestArrived, AnswerArrived, ConnectionLost]


def counted_one_by_one(settings, length: int) -> dict:
    found = {}
    for size in range(length + 1):
        for schedule in product([kind() for kind in KINDS], repeat=size):
            try:
                end = simulate(settings, schedule)[-1].state
            except IllegalEvent:
                continue
            if not end.producer.in_flight:
                found[end] = found.get(end, 0) + 1
    return found


@pytest.mark.parametrize("producer", [ProducerSettings(acks=1), ProducerSettings()])
def test_counting_by_states_counts_every_schedule(producer):
    settings = Settings(TopicSettings(replica_count=1), producer)
    assert dict(ends(settings, KINDS, 5)) == counted_one_by_one(settings, 5)


def test_rows_tell_what_the_application_knows_what_the_log_holds_and_what_became_of_it():
    settings = Settings(TopicSettings(replica_count=1), ProducerSettings(acks=1))
    twice = [Send(), RequestArrived(), ConnectionLost(), RequestSent(), RequestArrived(), AnswerArrived()]
    sent, log, results = rows_of([("r", simulate(settings, twice)[-1].state)])
    assert (sent, log, results) == ([("r", 1, "NONE", 1)], [("r", 1, 0), ("r", 1, 1)], [("r", 1, "doubled")])


def test_a_length_below_zero_is_refused():
    with pytest.raises(KafkaLearnError, match="length must be at least 0"):
        ends(Settings(), KINDS, -1)
