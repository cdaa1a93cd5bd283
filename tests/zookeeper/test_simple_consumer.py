"""The low-level consumer: what each request is answered, and what the application's own mistakes cost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.zookeeper.fetching import (
    Append,
    BrokerCrashed,
    BrokerStarted,
    LeaderMoved,
    LogTruncated,
    RecordsDeleted,
)
from kafkalearn.zookeeper.simple_consumer import (
    Fetch,
    FindLeader,
    FindOffset,
    Restart,
    Save,
    Seek,
    Settings,
    broken,
    check,
    simulate,
    start,
    step,
)
from tests.recorded import recorded
from tests.schedules import sensible_run

BEGIN = [Append("orders", 0, 6), FindLeader(2), FindOffset("smallest"), Fetch()]
TWO = Settings(fetch_message_max_bytes=200)


def last_effect(settings, *events):
    return simulate(settings, events)[-1].state.effects[-1]


def test_any_broker_that_runs_names_the_leader_even_one_that_is_gone():
    assert last_effect(TWO, FindLeader(2)).leader == 1
    assert last_effect(TWO, BrokerCrashed(2), FindLeader(2)).error == "no connection"
    assert last_effect(TWO, BrokerCrashed(1), FindLeader(2)).leader == 1
    assert last_effect(TWO, LeaderMoved("orders", 0, None), FindLeader(2)).error == "LEADER_NOT_AVAILABLE"


def test_a_fetch_goes_to_the_broker_that_it_is_connected_to_until_another_leader_is_found():
    moved = [*BEGIN, LeaderMoved("orders", 0, 2), Fetch()]
    assert last_effect(TWO, *moved).error == "NOT_LEADER_FOR_PARTITION"
    assert last_effect(TWO, *moved, FindOffset("largest")).error == "NOT_LEADER_FOR_PARTITION"
    assert last_effect(TWO, *moved, FindLeader(1), Fetch()).offsets == (2, 3)
    assert last_effect(TWO, *BEGIN, BrokerCrashed(1), Fetch()).error == "no connection"
    assert last_effect(TWO, *BEGIN, BrokerCrashed(1), BrokerStarted(1), Fetch()).offsets == (2, 3)


@pytest.mark.parametrize(("reset", "handled"), [("smallest", (0, 1, 4, 5)), ("largest", (0, 1))])
def test_out_of_range_is_the_applications_to_answer(reset, handled):
    gone = [*BEGIN, RecordsDeleted("orders", 0, 4), Fetch()]
    assert last_effect(TWO, *gone).error == "OFFSET_OUT_OF_RANGE"
    end = simulate(TWO, [*gone, FindOffset(reset), Fetch()])[-1].state
    assert end.handled == handled


def test_behind_the_end_is_out_of_range_too_and_at_the_end_there_is_nothing():
    assert last_effect(TWO, *BEGIN, LogTruncated("orders", 0, 1), Fetch()).error == "OFFSET_OUT_OF_RANGE"
    assert last_effect(TWO, *BEGIN, LogTruncated("orders", 0, 2), Fetch()).offsets == ()


def test_what_was_not_saved_comes_again_and_what_was_saved_too_early_never():
    settings = Settings(fetch_message_max_bytes=300)
    late = simulate(settings, [*BEGIN, Restart(), FindLeader(1), FindOffset("smallest"), Fetch()])
    assert "the application gets no record twice" in broken(settings, late[-1].state)
    early = [*BEGIN, Seek(5), Save(), Restart(), FindLeader(1), Fetch()]
    frames = simulate(settings, early)
    assert "the application skips no record" in broken(settings, frames[-1].state, frames[-2].state)


def test_before_0_10_1_a_large_record_stops_the_reader():
    events = [Append("orders", 0, 1, 900), *BEGIN[1:]]
    assert last_effect(Settings(fetch_message_max_bytes=200, release="0.10.0"), *events).offset == 0
    assert last_effect(TWO, *events).offsets == (0,)


@pytest.mark.parametrize(
    ("event", "says"),
    [
        (Fetch(), "FindLeader first"),
        (FindOffset("largest"), "FindLeader first"),
        (Save(), "no offset to save"),
        (FindLeader(9), "no broker 9"),
    ],
)
def test_what_the_application_cannot_do_yet_is_refused(event, says):
    with pytest.raises(IllegalEvent, match=says):
        step(TWO, start(TWO), event)


def test_a_time_that_no_broker_knows_is_refused():
    with pytest.raises(KafkaLearnError, match="unknown reset 'earliest'"):
        FindOffset("earliest")


one_event = st.one_of(
    st.builds(Append, st.just("orders"), st.just(0), st.integers(1, 4)),
    st.builds(FindLeader, st.integers(1, 2)),
    st.sampled_from([Fetch(), Fetch(), Save(), Restart(), FindOffset("smallest"), FindOffset("largest")]),
    st.builds(LeaderMoved, st.just("orders"), st.just(0), st.sampled_from([None, 1, 2])),
    st.sampled_from([BrokerCrashed(1), BrokerCrashed(2), BrokerStarted(1), BrokerStarted(2)]),
)


@given(st.lists(one_event, max_size=40))
def test_every_record_between_two_starts_comes_once_and_in_order(events):
    before, since = None, ()
    for frame in sensible_run(step, TWO, start(TWO), events):
        check(TWO, frame.state, before)
        new = () if before is None else frame.state.handled[len(before.handled) :]
        since = () if isinstance(frame.event, Restart | FindOffset) else since + new
        assert since == tuple(range(since[0], since[0] + len(since))) if since else True
        before = frame.state


def test_every_answer_and_every_refusal_was_recorded():
    steps = [each for script in recorded("simple-consumer")["scripts"] for each in script["steps"]]
    effects = [each["expect"]["effects.-1"] for each in steps if "expect" in each]
    assert {each["op"] for each in effects} == {
        "LeaderFound", "OffsetFound", "Fetched", "Saved", "Restarted", "Refused",
    }  # fmt: skip
    errors = {each["error"] for each in effects if each["op"] == "Refused"}
    assert errors == {"no connection", "LEADER_NOT_AVAILABLE", "NOT_LEADER_FOR_PARTITION", "OFFSET_OUT_OF_RANGE"}
