"""What the cleaner may take of a log."""

import pytest
from hypothesis import given

from kafkalearn.log import Clean, Cleaned, CleanerRound, MoveLogStart, Roll, SetHighWatermark, Settings, step
from tests.log.schedules import A_TWICE, after, cleanings, last_effect, offsets, plain_schedules, small_settings


@pytest.mark.parametrize(("release", "kept"), [("3.0", [1]), ("3.1", [0, 1])])
def test_records_above_the_high_watermark_could_be_cleaned_up_to_3_0(release, kept):
    events = (A_TWICE, Roll(), SetHighWatermark(1), Clean(5000, is_forced=True))
    assert offsets(after(Settings("compact", release), *events)) == kept


@pytest.mark.parametrize(("release", "checkpoint"), [("2.4.0", 2), ("2.4.1", 3)])
def test_a_look_of_the_cleaner_moves_a_checkpoint_that_is_below_the_log_start(release, checkpoint):
    settings = Settings("compact,delete", release, min_cleanable_dirty_ratio=0.99)
    cleaned = (A_TWICE, Roll(), Clean(5000, is_forced=True), A_TWICE)
    assert after(settings, *cleaned).checkpoint == 2
    assert after(settings, *cleaned, MoveLogStart(3)).checkpoint == 2
    assert after(settings, *cleaned, MoveLogStart(3), CleanerRound(6000)).checkpoint == checkpoint


@given(small_settings, plain_schedules)
def test_what_is_cleaned_is_no_longer_dirty(settings, schedule):
    for clean, _, log in cleanings(settings, schedule):
        done = last_effect(log, Cleaned)
        assert log.checkpoint == done.latest_offset + 1
        if not done.is_map_full:
            again = step(settings, log, Clean(clean.now_ms, is_forced=True))
            assert last_effect(again, Cleaned) is None
