"""What holds in every run, over schedules drawn at random: also those that no sensible application would follow."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn import commits
from kafkalearn.base.search import explore, whole
from kafkalearn.commits import CommitSync, Crash, Poll, Process, Settings, Start
from kafkalearn.commits.model import SINKS
from kafkalearn.commits.simulator import NOT_AHEAD, NOT_DOUBLED, NOT_LOST
from tests.recorded import recorded
from tests.schedules import sensible_steps

# The recorded scripts of what a crash costs, as events of the simulator.
SINK_OF = {"idempotent_sink": "idempotent", "offset_in_transaction": "transaction", "optimistic_offset": "lock"}


def script_of(case):
    """The settings and the events of a recorded case."""
    events = [event for op in case["events"] for event in events_of(op)]
    first = next(op["offsets"][0] for op in case["events"] if op["op"] == "poll")
    seen = [op for op in case["events"] if op["op"] in ("poll", "process")]
    record_count = 1 + max(offset for op in seen for offset in (*op.get("offsets", ()), op.get("offset", 0)))
    settings = Settings(
        record_count,
        committed=first,
        is_auto=has_auto(case),
        auto_commit_interval_ms=0,
        sink=SINK_OF.get(case["strategy"], "plain"),
    )
    return settings, [Start("A"), *events]


def has_auto(case):
    return any(op["op"] == "auto_commit" for op in case["events"])


def events_of(op):
    """What an operation of a script is here; a takeover brings the poll that the script leaves out."""
    by = op.get("by", "A")
    match op["op"]:
        case "poll":
            return [Poll(by, at_most=len(op["offsets"]))]
        case "process":
            return [Process(by, op["offset"])]
        case "commit":
            return [CommitSync(by, op["offset"])]
        case "auto_commit":
            return []  # inside the poll that follows
        case "crash":
            return [Crash(by)]
        case "restart":
            return [Start(by)]
        case "takeover":
            return [Start(by), Poll(by)]
        case "seek_to_stored":
            return []  # a consumer of such a sink starts there
    raise AssertionError(f"unknown operation {op}")


by = st.sampled_from("AB")
offsets = st.one_of(st.none(), st.integers(0, 9))
events = st.one_of(
    *(
        st.builds(kind, by)
        for kind in (commits.Start, commits.Assign, commits.Poll, commits.Process, commits.Close, commits.Crash)
    ),
    st.builds(commits.Poll, by, st.integers(0, 3)),
    st.builds(commits.Process, by, offsets),
    st.builds(commits.CommitSync, by, offsets),
    st.builds(commits.CommitAsync, by, offsets),
    st.builds(commits.Answered, by, st.booleans()),
    st.builds(commits.Rebalance, by),
    st.builds(commits.Produce, st.integers(0, 2)),
    st.builds(commits.Delete, st.integers(0, 9)),
    st.builds(commits.TimePassed, st.integers(0, 9000)),
    st.builds(commits.Checkpoint, by, st.booleans()),
)
settings_drawn = st.builds(
    commits.Settings,
    st.just(5),
    committed=st.sampled_from([None, 0, 2]),
    is_auto=st.booleans(),
    auto_offset_reset=st.sampled_from(["earliest", "latest", "none"]),
    max_poll_records=st.integers(1, 4),
    sink=st.sampled_from(list(SINKS)),
)


def moments(drawn, schedule):
    """The states before and after each event that makes sense."""
    return sensible_steps(commits.step, drawn, commits.start(drawn), schedule)


@given(settings_drawn, st.lists(events, max_size=40))
@settings(max_examples=150)
def test_every_schedule_keeps_what_always_holds(drawn, schedule):
    for before, event, after in moments(drawn, schedule):
        commits.check(drawn, after, before)
        assert after.now_ms >= before.now_ms
        assert after.written[: len(before.written)] == before.written
        assert after.sink.writes[: len(before.sink.writes)] == before.sink.writes
        assert set(commits.doubled(before)) <= set(commits.doubled(after))
        if drawn.sink != "checkpoint":  # where a result is held first
            assert len(after.sink.writes) - len(before.sink.writes) == isinstance(event, commits.Process)


@given(settings_drawn, st.lists(events, max_size=40))
@settings(max_examples=100)
def test_only_the_owner_or_a_standalone_consumer_of_an_empty_group_changes_the_committed_offset(drawn, schedule):
    for before, _, after in moments(drawn, schedule):
        for written in after.written[len(before.written) :]:
            consumer = before.consumer(written.by)
            alone = consumer is not None and consumer.generation == -1
            assert before.owner is None if alone else before.owner == written.by


@given(settings_drawn, st.lists(events, max_size=40))
@settings(max_examples=100)
def test_a_lost_record_has_no_result_and_nobody_is_about_to_process_it(drawn, schedule):
    for _, _, after in moments(drawn, schedule):
        unprocessed = {offset for consumer in after.consumers for offset in consumer.unprocessed}
        done = {each.offset for each in after.sink.writes}
        assert not set(commits.lost(after)) & (unprocessed | done)


@given(settings_drawn, st.lists(events, max_size=40))
@settings(max_examples=100)
def test_a_checkpoint_stores_results_and_offset_together_and_a_restart_begins_there(drawn, schedule):
    for before, event, after in moments(drawn, schedule):
        if isinstance(event, commits.Checkpoint) and after.consumer(event.by) is not None:
            applied = {each.offset for each in after.sink.writes[len(before.sink.writes) :]}
            assert applied == {each.offset for each in before.sink.held if each.by == event.by}
            assert after.sink.stored == before.consumer(event.by).done
        elif not isinstance(event, commits.Checkpoint) and drawn.sink == "checkpoint":
            assert (after.sink.writes, after.sink.stored) == (before.sink.writes, before.sink.stored)


BOTH = [event(by) for event in (commits.Poll, commits.Process, commits.Start) for by in "AB"]


def search(events, *names, sink="plain", **limits):
    promises = {name: commits.PROMISES[name] for name in names}
    settings = commits.Settings(2, sink=sink, max_poll_records=1)
    return explore(whole(settings, commits.step, promises), commits.start(settings), events, **limits)


def happened(found):
    return [(type(frame.event).__name__, frame.event.by) for frame in found.trace[1:]]


def test_the_shortest_way_to_do_a_record_twice_needs_no_crash_only_a_new_owner():
    found = search(BOTH, NOT_DOUBLED)
    assert found.broken == (NOT_DOUBLED,)
    assert [name for name, _ in happened(found)] == ["Start", "Poll", "Process"] * 2


@pytest.mark.parametrize("sink", ["idempotent", "lock"])
def test_no_schedule_doubles_into_an_idempotent_sink_or_past_a_lock(sink):
    found = search([*BOTH, commits.Crash("A"), commits.Crash("B")], NOT_DOUBLED, NOT_LOST, sink=sink, depth=9)
    assert found.trace is None
    assert found.state_count > 100


def test_a_zombie_doubles_into_a_transaction_without_a_lock():
    assert search(BOTH, NOT_DOUBLED, sink="transaction").broken == (NOT_DOUBLED,)


def test_the_search_and_the_sweep_lose_with_as_many_events():
    found = search(
        [commits.Start(), commits.Poll(), commits.Process(), commits.CommitSync(), commits.Crash()], NOT_LOST
    )
    swept = commits.shortest(commits.sweep("before the batch", commits.Workload(2, 1)), "lost")
    assert [name for name, _ in happened(found)] == ["Start", "Poll", "CommitSync", "Crash"]
    assert swept.after + 1 == len(found.trace) - 1


def test_only_an_offset_made_by_hand_can_be_ahead_of_what_was_polled():
    assert search([*BOTH, commits.CommitSync(), commits.CommitSync("B")], NOT_AHEAD, depth=7).trace is None
    assert search([commits.Start(), commits.CommitSync(offset=5)], NOT_AHEAD).broken == (NOT_AHEAD,)


CASES = recorded("log-consumer-dedup")["cases"]


def test_every_recorded_crash_loses_and_doubles_what_it_should():
    for case in recorded("log-consumer-dedup")["cases"]:
        settings, events = script_of(case)
        trace = commits.simulate(settings, events)
        end, expected = trace[-1].state, case["expect"]
        for frame in trace:
            commits.check(settings, frame.state)

        applied = {each.offset: end.sink.times(each.offset) for each in end.sink.writes}
        assert commits.doubled(end) == tuple(expected["duplicated"]), case["id"]
        assert "lost" not in expected or commits.lost(end) == tuple(expected["lost"]), case["id"]
        assert "committed" not in expected or end.committed == expected["committed"], case["id"]
        assert "stored_offset" not in expected or end.sink.stored == expected["stored_offset"], case["id"]
        if "applied_times" in expected:
            assert applied == {int(offset): times for offset, times in expected["applied_times"].items()}, case["id"]
        if "applied_by" in expected:
            by = {str(offset): end.sink.appliers(offset) for offset in applied}
            assert by == {offset: (name,) for offset, name in expected["applied_by"].items()}, case["id"]
            refused = [[each.by, each.offset] for each in end.sink.writes if each.answer == "refused"]
            assert refused == expected["refused"], case["id"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_every_poll_of_a_script_returns_the_offsets_it_names_and_every_record_was_polled(case):
    trace = commits.simulate(*script_of(case))
    named = [tuple(op["offsets"]) for op in case["events"] if op["op"] == "poll"]
    polled = [frame.state.effects[-1].offsets for frame in trace if isinstance(frame.event, commits.Poll)]
    processed = [frame.event.offset for frame in trace if isinstance(frame.event, commits.Process)]

    assert polled[: len(named)] == named
    assert processed == [op["offset"] for op in case["events"] if op["op"] == "process"]
