"""What holds in every run, over schedules drawn at random: also those that no sensible application would follow."""

from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.commits import (
    Answered,
    Append,
    Assign,
    Checkpoint,
    Close,
    CommitAsync,
    CommitSync,
    Crash,
    Delete,
    Poll,
    Process,
    Rebalance,
    Settings,
    Start,
    Wait,
    check,
    doubled,
    lost,
    start,
    step,
)
from kafkalearn.commits.model import SINKS

by = st.sampled_from("AB")
offsets = st.one_of(st.none(), st.integers(0, 9))
events = st.one_of(
    *(st.builds(kind, by) for kind in (Start, Assign, Poll, Process, Close, Crash)),
    st.builds(Poll, by, st.integers(0, 3)),
    st.builds(Process, by, offsets),
    st.builds(CommitSync, by, offsets),
    st.builds(CommitAsync, by, offsets),
    st.builds(Answered, by, st.booleans()),
    st.builds(Rebalance, by),
    st.builds(Append, st.integers(0, 2)),
    st.builds(Delete, st.integers(0, 9)),
    st.builds(Wait, st.integers(0, 9000)),
    st.builds(Checkpoint, by, st.booleans()),
)
settings_drawn = st.builds(
    Settings,
    st.just(5),
    committed=st.sampled_from([None, 0, 2]),
    is_auto=st.booleans(),
    auto_offset_reset=st.sampled_from(["earliest", "latest", "none"]),
    max_poll_records=st.integers(1, 4),
    sink=st.sampled_from(list(SINKS)),
)


def moments(drawn, schedule):
    """The states before and after each event that makes sense."""
    pipeline = start(drawn)
    for event in schedule:
        try:
            after = step(drawn, pipeline, event)
        except IllegalEvent:
            continue
        yield pipeline, event, after
        pipeline = after


@given(settings_drawn, st.lists(events, max_size=40))
@settings(max_examples=150)
def test_every_schedule_keeps_what_always_holds(drawn, schedule):
    for before, event, after in moments(drawn, schedule):
        check(drawn, after, before)
        assert after.now_ms >= before.now_ms
        assert after.written[: len(before.written)] == before.written
        assert after.sink.writes[: len(before.sink.writes)] == before.sink.writes
        assert set(doubled(before)) <= set(doubled(after))
        if drawn.sink != "checkpoint":  # where a result is held first
            assert len(after.sink.writes) - len(before.sink.writes) == isinstance(event, Process)


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
        assert not set(lost(after)) & (unprocessed | done)


@given(settings_drawn, st.lists(events, max_size=40))
@settings(max_examples=100)
def test_a_checkpoint_stores_results_and_offset_together_and_a_restart_begins_there(drawn, schedule):
    for before, event, after in moments(drawn, schedule):
        if isinstance(event, Checkpoint) and after.consumer(event.by) is not None:
            applied = {each.offset for each in after.sink.writes[len(before.sink.writes) :]}
            assert applied == {each.offset for each in before.sink.held if each.by == event.by}
            assert after.sink.stored == before.consumer(event.by).done
        elif not isinstance(event, Checkpoint) and drawn.sink == "checkpoint":
            assert (after.sink.writes, after.sink.stored) == (before.sink.writes, before.sink.stored)
