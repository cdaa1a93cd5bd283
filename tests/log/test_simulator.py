"""The simulator of a log as a whole: events that make no sense, and states as keys."""

import pytest
from hypothesis import given

from kafkalearn.errors import IllegalEvent
from kafkalearn.log import MoveLogStart, SetHighWatermark, simulate, step
from kafkalearn.log.effects import DeleteRecordsRefused
from tests.log.schedules import A_TWICE, COMPACT, after, mixed_schedules, small_settings


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
    before = after(COMPACT, A_TWICE, SetHighWatermark(2), A_TWICE, MoveLogStart(1))
    log = step(COMPACT, before, MoveLogStart(offset))
    assert (log, log.effects) == (before, (DeleteRecordsRefused("OFFSET_OUT_OF_RANGE"),))


def test_the_log_start_moves_up_to_the_high_watermark_and_never_back():
    log = after(COMPACT, A_TWICE, SetHighWatermark(1), MoveLogStart(-1))
    assert (log.log_start_offset, log.effects) == (1, ())
    assert after(COMPACT, A_TWICE, MoveLogStart(2), MoveLogStart(1)).log_start_offset == 2


@given(small_settings, mixed_schedules)
def test_every_moment_can_be_a_key_of_a_search(settings, schedule):
    trace = simulate(settings, schedule)
    assert len({frame.state for frame in trace}) <= len(trace)
