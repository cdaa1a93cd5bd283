"""What acks and replicas cost: the formula against a run of the simulator whose clock is moved from part to part."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.delivery import ProducerSettings, RequestArrived, Send, Settings, TopicSettings, simulate
from kafkalearn.delivery.client import RETRIABLE
from kafkalearn.delivery.cost import Trip, latency, timed_run
from kafkalearn.delivery.model import AnswerArrived, BatchWillBeRetried, CallbackInvoked
from kafkalearn.delivery.produce_errors import produce_error, produce_errors
from kafkalearn.replication import BrokerCrashed, SessionExpired
from tests.every import every_case
from tests.recorded import recorded

TIMES = st.integers(0, 20_000)
TRIPS = st.builds(Trip, TIMES, TIMES, st.lists(TIMES, max_size=4).map(tuple))


@given(st.sampled_from([0, 1, "all"]), TRIPS)
def test_a_run_calls_the_callback_when_the_formula_says(acks, trip):
    called = [frame.state.partition.now_ms for frame in timed_run(acks, trip) if frame.state.producer.callbacks]
    assert called[0] == latency(acks, trip)


@given(TRIPS, TIMES)
def test_one_more_replica_never_makes_it_shorter_and_matters_to_acks_all_alone(trip, follower):
    more = trip._replace(followers=(*trip.followers, follower))
    assert latency("all", more) >= latency("all", trip) >= latency(1, trip) == latency(1, more) >= latency(0, more) == 0


def test_what_cannot_be_is_refused():
    with pytest.raises(KafkaLearnError, match="at most 5 replicas"):
        timed_run(1, Trip(1, 1, (1, 1, 1, 1, 1)))
    with pytest.raises(KafkaLearnError, match="acks"):
        latency(2, Trip(1, 1))
    with pytest.raises(KafkaLearnError, match="trip"):
        latency(1, Trip(-1, 1))


@every_case("release", recorded("produce-errors")["releases"])
def test_every_error_is_what_the_released_client_has(release):
    of_protocol = {each.code: each for each in produce_errors(release) if each.code is not None}
    known = {int(code): values for code, values in recorded("produce-errors")["releases"][release]["errors"].items()}

    assert {code: [each.name, each.exception, each.is_retriable] for code, each in of_protocol.items()} == {
        code: values[:3] for code, values in known.items()
    }


def test_the_simulator_tries_again_after_the_retriable_errors_and_no_others():
    assert {each.name for each in produce_errors() if each.is_retriable and each.code is not None} == RETRIABLE


@pytest.mark.parametrize(("retries", "effect"), [(0, CallbackInvoked), (None, BatchWillBeRetried)])
def test_a_retriable_error_reaches_the_callback_only_when_no_retry_is_left(retries, effect):
    topic = TopicSettings(2, min_insync_replicas=2, fetch_wait_max_ms=0)
    events = [BrokerCrashed(2), SessionExpired(2), Send(), RequestArrived(), AnswerArrived()]
    end = simulate(Settings(topic, ProducerSettings("all", retries=retries)), events)[-1].state

    assert [each.error for each in end.effects if isinstance(each, effect)] == ["NOT_ENOUGH_REPLICAS"]
    assert produce_error("NOT_ENOUGH_REPLICAS").written == "no"
    assert end.partition.leader.log.records == ()


def test_an_unknown_error_is_refused():
    with pytest.raises(KafkaLearnError, match="unknown error 'NOT_LEADER_FOR_PARTITION'"):
        produce_error("NOT_LEADER_FOR_PARTITION")
    assert produce_error("NOT_LEADER_FOR_PARTITION", "2.5").is_retriable
