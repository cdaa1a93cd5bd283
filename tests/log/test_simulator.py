"""The simulator of a log as a whole: events that make no sense, and states as keys."""

import pytest
from hypothesis import given

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.log import (
    Append,
    EndTransaction,
    MoveLogStart,
    NewBatch,
    SetHighWatermark,
    Settings,
    simulate,
    step,
)
from kafkalearn.log.model import AppendRefused, DeleteRecordsRefused
from tests.log.schedules import A_TWICE, COMPACT, after, mixed_schedules, small_settings

BOTH = Settings("compact,delete")


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (SetHighWatermark(9), "the high watermark is between 0 and the log end offset 2"),
        ("clean", "is no event of this simulator"),
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
