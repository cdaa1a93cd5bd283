"""The simulator of a log as a whole: events that make no sense, and states as keys."""

import pytest
from hypothesis import given

from kafkalearn.errors import IllegalEvent
from kafkalearn.log import MoveLogStart, SetHighWatermark, simulate
from tests.log.schedules import A_TWICE, COMPACT, after, mixed_schedules, small_settings


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (SetHighWatermark(9), "the high watermark is between 0 and the log end offset 2"),
        (MoveLogStart(3), "only what is below the high watermark 2 can be deleted"),
        ("clean", "is no event of this simulator"),
    ],
)
def test_an_event_that_makes_no_sense_is_refused_and_says_why(event, message):
    with pytest.raises(IllegalEvent, match=message):
        after(COMPACT, A_TWICE, event)


@given(small_settings, mixed_schedules)
def test_every_moment_can_be_a_key_of_a_search(settings, schedule):
    trace = simulate(settings, schedule)
    assert len({frame.state for frame in trace}) <= len(trace)
