"""Groups that never come to rest: each promise of progress kept by consumers that do their part, and broken once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.groups import classic, consumer, search
from tests.base.plain_search import assert_steps_as_the_simulator
from tests.schedules import sensible_steps

NEW = consumer.Settings(
    topics={"orders": 2}, session_timeout_ms=6000, heartbeat_interval_ms=1000, assignment_interval_ms=0
)
COORDINATORS = [*map(classic.Settings, ("2.4", "2.7", "3.9", "4.4")), NEW]


@pytest.mark.parametrize("promise", search.PROGRESS)
@pytest.mark.parametrize("coordinator", COORDINATORS, ids=str)
def test_consumers_that_do_their_part_come_to_rest(coordinator, promise):
    assert search.find_stuck(coordinator, promise).outcome == "nothing left"


@pytest.mark.parametrize(
    ("release", "outcome"), [("2.5", "nothing left"), ("2.6", "found"), ("2.8.0", "found"), ("2.8.1", "nothing left")]
)
def test_one_that_hangs_before_its_sync_is_waited_for_without_end_in_some_releases(release, outcome):
    found = search.find_stuck(classic.Settings(release), hang=["c1"])

    assert found.outcome == outcome
    if found.trace:
        assert {frame.state.group.state for frame in found.trace[found.loop_start :]} == {"CompletingRebalance"}
        assert {type(frame.event) for frame in found.trace[found.loop_start + 1 :]} == {search.Turn, search.TimePassed}


def test_two_that_are_too_slow_by_turns_rebalance_without_end_and_one_does_not():
    assert search.find_stuck(classic.Settings(), search.IS_ALL_READ, busy=["c1"]).outcome == "nothing left"
    found = search.find_stuck(classic.Settings(), search.IS_ALL_READ, busy=["c1", "c2"])
    generations = [frame.state.group.generation for frame in found.trace[found.loop_start :]]

    assert generations[-1] > generations[0]


def test_the_new_protocol_waits_for_a_member_that_gives_nothing_up_only_as_long_as_its_timeout():
    assert search.find_stuck(NEW, busy=["c1"]).outcome == "nothing left"
    found = search.find_stuck(NEW, busy=["c1"], time_passes=False)

    assert found.is_dead_end
    assert found.trace[-1].state.group.state == "Reconciling"


def test_what_a_member_that_hangs_has_nobody_reads():
    found = search.find_stuck(NEW, search.IS_ALL_READ, hang=["c1"])

    assert found.trace[-1].state.client("c1").hangs
    assert found.trace[-1].state.group.state == "Stable"


EVENTS = [
    search.Starts("a"),
    search.Starts("b", is_busy=True),
    *map(search.Turn, "ab"),
    *map(search.Beat, "ab"),
    *map(search.Hangs, "ab"),
    search.TimePassed(search.WINDOW_MS),
]


@given(st.sampled_from(COORDINATORS), st.lists(st.sampled_from(EVENTS), max_size=40), st.sampled_from(EVENTS))
def test_a_step_of_the_search_is_the_simulator_s_step(coordinator, schedule, event):
    settings = search.Settings(coordinator)
    members = first = search.start(settings)
    for _, _, members in sensible_steps(search.step, settings, first, schedule):
        (consumer if coordinator is NEW else classic).check(coordinator, members.group)
    searched = search.model(settings, search.COMES_TO_REST)
    assert_steps_as_the_simulator(searched, lambda state, last: search.step(settings, state, last), members, event)


def test_what_makes_no_sense_is_refused():
    settings = search.Settings(NEW)
    members = search.step(settings, search.start(settings), search.Starts("a"))
    for event, said in [
        (search.Starts("a"), "has started already"),
        (search.Turn("b"), "has not started"),
        (search.Beat("a"), "no member"),
    ]:
        with pytest.raises(IllegalEvent, match=said):
            search.step(settings, members, event)
    with pytest.raises(KafkaLearnError, match="'c9'"):
        search.find_stuck(NEW, busy=["c9"])
    with pytest.raises(KafkaLearnError, match="no progress"):
        search.find_stuck(NEW, "no progress")
