"""The simulator of a log as a whole: events that make no sense, and states as keys."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.log import (
    Append,
    Clean,
    CleanerFailed,
    EndTransaction,
    MoveLogStart,
    NewBatch,
    Retain,
    Roll,
    SetHighWatermark,
    Settings,
    broken,
    check,
    look_up,
    simulate,
    step,
)
from kafkalearn.log.index import index_of
from kafkalearn.log.model import LONG_MAX, AppendRefused, Batch, DeleteRecordsRefused, Log, Record, Segment
from kafkalearn.log.simulator import INVARIANTS
from kafkalearn.releases import DEFAULT_RELEASE, default
from tests.log.schedules import (
    A_TWICE,
    COMPACT,
    after,
    appends,
    cleans,
    deletions,
    ends,
    expiries,
    mixed_schedules,
    offsets,
    one_each,
    operations,
    plain_schedules,
    possible,
    rolls,
    small,
    small_settings,
    transactional,
)

BOTH = Settings("compact,delete")


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (SetHighWatermark(9), "the high watermark is between 0 and the log end offset 2"),
    ],
)
def test_an_event_that_makes_no_sense_is_refused_and_says_why(event, message):
    with pytest.raises(IllegalEvent, match=message):
        after(COMPACT, A_TWICE, event)


@pytest.mark.parametrize("offset", [3, -2])
def test_records_above_the_high_watermark_are_not_deleted(offset):
    before = after(BOTH, A_TWICE, SetHighWatermark(2), A_TWICE, MoveLogStart(1))
    log = step(BOTH, before, MoveLogStart(offset))
    assert (log, log.effects) == (before, (DeleteRecordsRefused("OFFSET_OUT_OF_RANGE"),))


def test_the_log_start_moves_up_to_the_high_watermark_and_never_back():
    log = after(BOTH, A_TWICE, SetHighWatermark(1), MoveLogStart(-1))
    assert (log.log_start_offset, log.effects) == (1, ())
    assert after(BOTH, A_TWICE, MoveLogStart(2), MoveLogStart(1)).log_start_offset == 2


def test_an_administrator_deletes_no_records_of_a_log_that_is_compacted_alone():
    before = after(COMPACT, A_TWICE)
    log = step(COMPACT, before, MoveLogStart(1))
    assert (log, log.effects) == (before, (DeleteRecordsRefused("POLICY_VIOLATION"),))


@pytest.mark.parametrize(("release", "last_stable_offset"), [("4.0", 0), ("3.9", 1)])
def test_what_is_unstable_may_begin_below_the_log_start_since_4_0(release, last_stable_offset):
    batch = NewBatch((("a", "1", 0), ("b", "1", 0)), None, 7, 0, 0, is_transactional=True)
    log = simulate(Settings(release=release), [Append((batch,)), MoveLogStart(1)])[-1].state
    assert (log.log_start_offset, log.last_stable_offset) == (1, last_stable_offset)


def test_a_producer_writes_nothing_else_while_its_transaction_is_open():
    begun = Append((NewBatch((("a", "1", 0),), None, 7, 0, 0, is_transactional=True),))
    outside = Append((NewBatch((("a", "2", 0),), None, 7, 0, 1),))
    log = after(COMPACT, begun, outside)
    assert (log.log_end_offset, log.effects) == (1, (AppendRefused("INVALID_TXN_STATE"),))
    assert after(COMPACT, begun, EndTransaction(7, True, 1), outside).log_end_offset == 3


@given(small_settings, mixed_schedules)
def test_every_moment_can_be_a_key_of_a_search(settings, schedule):
    trace = simulate(settings, schedule)
    assert len({frame.state for frame in trace}) <= len(trace)


def test_a_batch_without_records_is_refused():
    with pytest.raises(KafkaLearnError, match="a batch has at least one record"):
        NewBatch(())


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"codec": "zip"}, "unknown codec 'zip'"),
        ({"codec": "gzip"}, "how well gzip packs these records is not known here: give size_bytes"),
        ({"size_bytes": 68}, "these records take 69 bytes uncompressed, got size_bytes=68"),
    ],
)
def test_a_size_that_no_batch_has_is_refused(wrong, message):
    with pytest.raises(KafkaLearnError, match=message):
        NewBatch((("k", "", 0),), **wrong)


def test_an_append_without_batches_is_refused():
    with pytest.raises(KafkaLearnError, match="an append has at least one batch"):
        Append(())


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"cleanup_policy": "compakt"}, "unknown cleanup policy 'compakt'; did you mean 'compact'"),
        ({"min_cleanable_dirty_ratio": 1.5}, "min_cleanable_dirty_ratio must be a number of at least 0 and at most 1"),
        ({"offset_map_slots": 1}, "holds no key at all: a cleaner with such a buffer does not start"),
        ({"message_timestamp_after_max_ms": 1, "release": "3.5"}, f"3.6 to {DEFAULT_RELEASE} have it"),
        ({"message_timestamp_difference_max_ms": 1, "release": "4.0"}, "0.10.0 to 3.9 have it"),
        ({"release": "4"}, "unknown release '4'"),
        ({"cleanup_policy": "", "release": "4.1"}, "came with Kafka 4.2, the release is 4.1"),
        ({"cleanup_policy": "compact,delete", "release": "0.10.0"}, "came with Kafka 0.10.1"),
    ],
)
def test_settings_that_no_broker_takes_are_refused(setting, message):
    with pytest.raises(KafkaLearnError, match=message):
        Settings(**setting)


def test_the_defaults_are_kafkas():
    for name, setting in {
        "segment_bytes": "segment.bytes",
        "segment_ms": "segment.ms",
        "index_interval_bytes": "index.interval.bytes",
        "segment_index_bytes": "segment.index.bytes",
        "retention_ms": "retention.ms",
        "retention_bytes": "retention.bytes",
        "min_cleanable_dirty_ratio": "min.cleanable.dirty.ratio",
        "min_compaction_lag_ms": "min.compaction.lag.ms",
        "max_compaction_lag_ms": "max.compaction.lag.ms",
        "delete_retention_ms": "delete.retention.ms",
        "max_message_bytes": "max.message.bytes",
    }.items():
        assert getattr(Settings(), name) == default(setting, side="topic")
    assert Settings().max_compaction_lag_ms == LONG_MAX
    assert Settings().timestamp_limits_ms == (LONG_MAX, default("message.timestamp.after.max.ms", side="topic"))
    assert Settings().usable_key_count == 5033164


@given(small_settings, plain_schedules)
def test_a_look_up_finds_the_record_or_the_next_one_behind_its_index_entry(settings, schedule):
    log = after(settings, *schedule)
    for offset in range(log.log_end_offset):
        base, position, found = look_up(settings, log, offset)
        assert found == min((each for each in offsets(log) if each >= offset), default=None)
        segment = next(each for each in log.segments if each.base_offset == base)
        index = index_of(settings, segment, segment is not log.active)
        assert position in {0, *(at for _, at in index.offsets)}


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
