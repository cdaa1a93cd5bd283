"""When the cleaner comes next, against the eligibility that is held to Kafka's own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.log import Clean, Log, Roll, Settings, next_clean
from kafkalearn.log.cleaner import NextClean, cleanable
from tests.log.schedules import after, one_each, plain_schedules, small_settings


@given(small_settings, plain_schedules, st.integers(0, 1000))
def test_the_log_is_eligible_from_that_moment_on_and_not_a_millisecond_before(settings, schedule, now_ms):
    log = after(settings, *schedule)
    at_ms = next_clean(settings, log, now_ms).at_ms
    tried = range(now_ms, now_ms + 1200)  # longer than any lag that is drawn but the endless one
    eligible = [each for each in tried if cleanable(settings, log, each).is_eligible]
    assert at_ms == (eligible[0] if eligible else None)


@given(small_settings, plain_schedules, st.integers(0, 1000))
def test_the_missing_bytes_lift_the_ratio_above_the_limit_and_one_less_does_not(settings, schedule, now_ms):
    log = after(settings, *schedule)
    found, missing = cleanable(settings, log, now_ms), next_clean(settings, log, now_ms).missing_bytes
    is_due = found.is_eligible

    def ratio(more_bytes):
        dirty = found.cleanable_bytes + more_bytes
        return dirty / (found.clean_bytes + dirty) if dirty else 0

    assert (missing == 0) == is_due or settings.max_compaction_lag_ms < 1000
    if not is_due:
        assert ratio(missing) > settings.min_cleanable_dirty_ratio >= ratio(missing - 1)


def test_a_log_that_nobody_compacts_waits_for_nothing():
    assert next_clean(Settings("delete"), Log(), 0) == NextClean(None, None)


def test_with_a_ratio_of_one_no_number_of_bytes_is_enough_once_something_is_clean():
    settings = Settings("compact", min_cleanable_dirty_ratio=1.0)
    log = after(settings, one_each(("a", "1", 0)), Roll(), Clean(10, True))
    assert next_clean(settings, log, 20) == NextClean(None, None)


@pytest.mark.parametrize("ratio", [1 - 2**-53, 1 - 2**-50])
def test_a_ratio_of_almost_one_is_answered_at_once(ratio):
    settings = Settings("compact", min_cleanable_dirty_ratio=ratio)
    log = after(settings, one_each(("a", "1", 0)), Roll(), Clean(10, True))
    found, missing = cleanable(settings, log, 20), next_clean(settings, log, 20).missing_bytes

    assert missing > 2**40
    assert missing / (found.clean_bytes + missing) > ratio >= (missing - 1) / (found.clean_bytes + missing - 1)


def test_the_clock_is_a_number():
    with pytest.raises(KafkaLearnError, match="now_ms must be a whole number of at least 0, got str '1e9'"):
        next_clean(Settings("compact"), Log(), "1e9")
