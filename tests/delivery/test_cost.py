"""What acks and replicas cost: the formula against a run of the simulator whose clock is moved from part to part."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.delivery.cost import Trip, latency, timed_run

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
