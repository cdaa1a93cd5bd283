"""What holds of every log, over generated schedules; and what settings and accidents break."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn.log import (
    Append,
    Clean,
    CleanerFailed,
    EndTransaction,
    MoveLogStart,
    NewBatch,
    Retain,
    Roll,
    Settings,
    broken,
    check,
    simulate,
)
from kafkalearn.log.model import Batch, Log, Record, Segment
from kafkalearn.log.simulator import INVARIANTS
from tests.log.schedules import (
    A_TWICE,
    COMPACT,
    after,
    appends,
    cleans,
    deletions,
    ends,
    expiries,
    one_each,
    operations,
    possible,
    rolls,
    small,
    transactional,
)

SURVIVES = "the last value of every key survives"
IS_GONE = "a tombstone is gone once its delete horizon has passed"
IS_RUNNING = "the cleaner is running"

writes = appends | transactional | ends | expiries | rolls
of_any_kind = st.lists(writes | cleans | operations | deletions, max_size=25)
any_settings = st.builds(
    Settings,
    st.sampled_from(["compact", "delete", "compact,delete"]),
    st.sampled_from(["4.3", "3.9", "3.0", "1.1"]),
    retention_ms=st.sampled_from([-1, 100]),
    **small,
)


def moments(topic, schedule):
    """The states of a run of what makes sense in a schedule, each with the one before it."""
    states = [frame.state for frame in simulate(topic, possible(topic, schedule))]
    return zip(states, [None, *states[:-1]], strict=True)


@settings(max_examples=300)
@given(any_settings, of_any_kind)
def test_the_invariants_hold_whatever_happens(topic, schedule):
    for log, before in moments(topic, schedule):
        check(topic, log, before)


@settings(max_examples=300)
@given(any_settings, st.lists(writes | cleans | operations, max_size=25))
def test_only_retention_and_delete_records_take_a_last_value(topic, schedule):
    compacted = replace(topic, cleanup_policy="compact")
    for log, before in moments(compacted, schedule):
        assert SURVIVES not in broken(compacted, log, before)


IN_A_TRANSACTION = Append((NewBatch((("b", "1", 2000),), None, 7, 0, 0, is_transactional=True),))
RECORD = Record(0, "a", "1", 0)
FIRST = Batch(0, 0, (RECORD,), 69, 0)


@pytest.mark.parametrize(
    ("name", "log", "before"),
    [
        ("segments follow each other", Log((Segment(3), Segment(3)), log_end_offset=3), None),
        ("batches follow each other", Log((Segment(0, (FIRST, FIRST)),), log_end_offset=1), None),
        ("batches lie in their segment", Log((Segment(1, (FIRST,)),), log_end_offset=1), None),
        (
            "records lie in their batch, in the order of their offsets",
            Log((Segment(0, (replace(FIRST, records=(RECORD, RECORD)),)),), log_end_offset=1),
            None,
        ),
        ("log start, last stable offset, high watermark and log end are in order", Log(log_start_offset=1), None),
        ("the cleaner is in a known state", Log(cleaner="asleep"), None),
        (
            "what was written keeps its offset and its content",
            Log((Segment(0, (FIRST,)),), log_end_offset=1),
            Log((Segment(0, (replace(FIRST, records=(replace(RECORD, value="2"),)),)),), log_end_offset=1),
        ),
        ("below the checkpoint a key has one record", replace(after(COMPACT, A_TWICE), checkpoint=2), None),
        (
            "a delete horizon, once set, stays the same",
            Log((Segment(0, (replace(FIRST, delete_horizon_ms=2),)),), log_end_offset=1),
            Log((Segment(0, (replace(FIRST, delete_horizon_ms=1),)),), log_end_offset=1),
        ),
        (
            "no deleted or overtaken value comes back",
            Log((Segment(0, (FIRST,)),), log_end_offset=2),
            after(COMPACT, A_TWICE),
        ),
    ],
)
def test_a_state_that_breaks_an_invariant_is_a_fault_that_is_named(name, log, before):
    assert name in INVARIANTS
    with pytest.raises(AssertionError, match=name):
        check(COMPACT, log, before)


def test_a_pass_that_did_something_else_than_it_decided_is_a_fault():
    *_, before, done = (frame.state for frame in simulate(COMPACT, [A_TWICE, Roll(), Clean(5000)]))
    with pytest.raises(AssertionError, match="the cleaner does what it decided"):
        check(COMPACT, replace(done, segments=before.segments), before)


def test_a_tombstone_that_went_too_early_is_a_fault():
    events = [one_each(("a", None, 0)), Roll(), Clean(1000), one_each(("b", "1", 2000)), Roll()]
    *_, before, done = (frame.state for frame in simulate(COMPACT, [*events, Clean(3000, is_forced=True)]))
    without = (replace(done.segments[0], batches=done.segments[0].batches[1:]), *done.segments[1:])
    with pytest.raises(AssertionError, match="the last tombstone of a key waits for its delete horizon"):
        check(COMPACT, replace(done, segments=without), before)


@pytest.mark.parametrize(
    ("topic", "events", "expected"),
    [
        (COMPACT, [A_TWICE, Roll(), Clean(5000)], ()),
        (Settings("delete", retention_ms=100), [A_TWICE, Retain(5000)], (SURVIVES,)),
        (Settings("compact,delete"), [A_TWICE, MoveLogStart(2)], (SURVIVES,)),
        (COMPACT, [IN_A_TRANSACTION, EndTransaction(7, False, 3000), Roll(), Clean(5000)], ()),
        (Settings("compact", delete_retention_ms=0), [one_each(("a", None, 0)), Roll(), Clean(1000)], (IS_GONE,)),
        (COMPACT, [A_TWICE, CleanerFailed()], (IS_RUNNING,)),
    ],
)
def test_what_breaks_a_promise(topic, events, expected):
    *_, before, log = (frame.state for frame in simulate(topic, events))
    assert broken(topic, log, before) == expected


def test_a_promise_about_tombstones_is_broken_while_nothing_is_dirty_enough():
    deleted = [one_each(("a", None, 0)), Roll(), Clean(1000)]
    days = [Clean(day * 86_400_000) for day in range(1, 9)]
    states = [frame.state for frame in simulate(COMPACT, [*deleted, *days])]
    assert [IS_GONE in broken(COMPACT, state) for state in states] == [False] * 5 + [True] * 7
