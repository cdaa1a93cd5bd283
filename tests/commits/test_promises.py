"""The shortest runs that break what a user hopes for, searched among all schedules."""

import pytest

from kafkalearn.base.search import explore, whole
from kafkalearn.commits import (
    PROMISES,
    CommitSync,
    Crash,
    Poll,
    Process,
    Settings,
    Start,
    Workload,
    shortest,
    start,
    step,
    sweep,
)
from kafkalearn.commits.simulator import NOT_AHEAD, NOT_DOUBLED, NOT_LOST

BOTH = [event(by) for event in (Poll, Process, Start) for by in "AB"]


def search(events, *names, sink="plain", **limits):
    promises = {name: PROMISES[name] for name in names}
    settings = Settings(2, sink=sink, max_poll_records=1)
    return explore(whole(settings, step, promises), start(settings), events, **limits)


def events_of(found):
    return [(type(frame.event).__name__, frame.event.by) for frame in found.trace[1:]]


def test_the_shortest_way_to_do_a_record_twice_needs_no_crash_only_a_new_owner():
    found = search(BOTH, NOT_DOUBLED)
    assert found.broken == (NOT_DOUBLED,)
    assert [name for name, _ in events_of(found)] == ["Start", "Poll", "Process"] * 2


@pytest.mark.parametrize("sink", ["idempotent", "lock"])
def test_no_schedule_doubles_into_an_idempotent_sink_or_past_a_lock(sink):
    found = search([*BOTH, Crash("A"), Crash("B")], NOT_DOUBLED, NOT_LOST, sink=sink, depth=9)
    assert found.trace is None
    assert found.state_count > 100


def test_a_zombie_doubles_into_a_transaction_without_a_lock():
    assert search(BOTH, NOT_DOUBLED, sink="transaction").broken == (NOT_DOUBLED,)


def test_the_search_and_the_sweep_lose_with_as_many_events():
    found = search([Start(), Poll(), Process(), CommitSync(), Crash()], NOT_LOST)
    swept = shortest(sweep("before the batch", Workload(2, 1)), "lost")
    assert [name for name, _ in events_of(found)] == ["Start", "Poll", "CommitSync", "Crash"]
    assert swept.after + 1 == len(found.trace) - 1


def test_only_an_offset_made_by_hand_can_be_ahead_of_what_was_polled():
    assert search([*BOTH, CommitSync(), CommitSync("B")], NOT_AHEAD, depth=7).trace is None
    assert search([Start(), CommitSync(offset=5)], NOT_AHEAD).broken == (NOT_AHEAD,)
