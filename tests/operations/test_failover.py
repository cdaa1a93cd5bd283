"""A broker dies, and what each client hears, second by second."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.operations.coordinator_life.model import Resigned
from kafkalearn.operations.failover import (
    CLASSIC_MEMBER,
    COMMITTER,
    MEMBERS_KEPT,
    NEW_MEMBER,
    NEWCOMER,
    SERVED,
    BrokerCrashed,
    BrokerStarted,
    BrokerStopped,
    SecondPassed,
    Settings,
    broken,
    check,
    phases,
    simulate,
    start,
    step,
    timeline,
    unserved_seconds,
)
from kafkalearn.operations.loading import load_seconds
from tests.schedules import sensible_steps


def seconds(count):
    return [SecondPassed()] * count


def of(trace, client):
    return [(first, last, api, error) for first, last, name, api, error in phases(trace) if name == client]


def test_a_client_of_4_3_looks_for_nine_seconds_then_waits_for_the_load():
    trace = simulate(Settings(load_s=4), [BrokerCrashed(1), *seconds(20)])
    assert of(trace, COMMITTER) == [
        (1, 8, "OffsetCommit", "no connection"),
        (9, 12, "OffsetCommit", "COORDINATOR_LOAD_IN_PROGRESS"),
        (13, 18, "OffsetCommit", "NONE"),
    ]
    assert of(trace, NEW_MEMBER)[1] == (9, 12, "ConsumerGroupHeartbeat", "COORDINATOR_LOAD_IN_PROGRESS")
    assert of(trace, CLASSIC_MEMBER)[1] == (9, 18, "Heartbeat", "NONE")
    assert of(trace, NEWCOMER)[-1] == (13, 13, "JoinGroup", "NONE")
    assert unserved_seconds(trace) == {CLASSIC_MEMBER: 8, NEW_MEMBER: 12, COMMITTER: 12, NEWCOMER: 11}


def test_in_1_1_clients_are_sent_away_during_the_load_and_look_in_vain():
    trace = simulate(Settings("1.1", load_s=3), [BrokerCrashed(1), *seconds(12)])
    assert of(trace, COMMITTER)[1] == (6, 8, "OffsetCommit", "NOT_COORDINATOR")
    assert not any(name == NEW_MEMBER for _, name, *_ in timeline(trace))


def test_a_broker_that_is_shut_down_in_order_costs_the_load_alone():
    died = simulate(Settings(load_s=4), [BrokerCrashed(1), *seconds(20)])
    stopped = simulate(Settings(load_s=4), [BrokerStopped(1), *seconds(20)])
    assert unserved_seconds(died)[COMMITTER] - unserved_seconds(stopped)[COMMITTER] == Settings().notice_s


def test_with_one_replica_nobody_is_served_until_its_broker_is_back():
    alone = Settings(replicas=(1,), load_s=2)
    dead = simulate(alone, [BrokerCrashed(1), *seconds(100)])
    assert of(dead, COMMITTER)[-1] == (9, 100, "FindCoordinator", "COORDINATOR_NOT_AVAILABLE")
    assert SERVED in broken(alone, dead[-1].state)
    back = simulate(alone, [BrokerStarted(1), *seconds(10)], dead[-1].state)
    assert [error for *_, error in of(back[1:], COMMITTER)] == ["COORDINATOR_LOAD_IN_PROGRESS", "NONE"]
    assert broken(alone, back[-1].state) == ()


def test_a_broker_that_is_back_gets_its_leadership_again_and_with_it_a_load():
    events = [BrokerCrashed(1), *seconds(20), BrokerStarted(1), *seconds(300)]
    trace = simulate(Settings(load_s=2), events)
    resigned = [frame.state.second for frame in trace for each in frame.state.effects if isinstance(each, Resigned)]
    assert resigned == [300]
    assert of(trace, COMMITTER)[3:] == [(303, 303, "OffsetCommit", "NONE")] or "NOT_COORDINATOR" in [
        error for *_, error in of(trace, COMMITTER)
    ]
    assert trace[-1].state.life.leader == 1


def test_a_load_that_takes_longer_than_clients_wait_breaks_a_promise():
    slow = Settings(load_s=round(load_seconds(8_000_000)))
    trace = simulate(slow, [BrokerCrashed(1), *seconds(70)])
    assert any(SERVED in broken(slow, frame.state) for frame in trace)
    assert not any(MEMBERS_KEPT in broken(slow, frame.state) for frame in trace)


def test_a_broker_that_returns_before_anybody_noticed_is_noticed_then():
    trace = simulate(Settings(load_s=1), [BrokerCrashed(1), *seconds(3), BrokerStarted(1), *seconds(8)])
    assert trace[-1].state.life.leader == 2
    assert trace[-1].state.dead == ()


@pytest.mark.parametrize("event", [BrokerStarted(1), BrokerCrashed(9), BrokerStopped(9)])
def test_what_makes_no_sense_is_refused(event):
    with pytest.raises(IllegalEvent):
        step(Settings(), start(Settings()), event)


def test_who_is_dead_cannot_die():
    with pytest.raises(IllegalEvent, match="down already"):
        simulate(Settings(), [BrokerCrashed(1), BrokerStopped(1)])


BROKERS = st.integers(1, 3)
EVENTS = st.one_of(
    st.just(SecondPassed()),
    st.builds(BrokerCrashed, BROKERS),
    st.builds(BrokerStopped, BROKERS),
    st.builds(BrokerStarted, BROKERS),
)


@given(st.sampled_from(["1.1", "2.8", "3.9", "4.3"]), st.lists(EVENTS, max_size=20), st.integers(0, 3))
def test_whatever_fails_the_invariants_hold_and_once_all_brokers_are_back_everybody_is_served(release, events, load_s):
    settings = Settings(release, load_s=load_s, notice_s=2)
    schedule = [*events, *map(BrokerStarted, (1, 2, 3)), *seconds(25)]
    for before, _, after in sensible_steps(step, settings, start(settings), schedule):
        check(settings, after, before)
    assert all(each.unserved_since_s is None for each in after.clients)
