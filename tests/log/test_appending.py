"""Writing to a log: what is refused, and when a new segment is opened."""

import pytest

from kafkalearn.log import Append, Log, NewBatch, Roll, Settings, start, step
from kafkalearn.log.effects import Appended, AppendRefused, SegmentRolled
from kafkalearn.segments.sizes import batch_bytes
from tests.log.schedules import A_TWICE, COMPACT, after, one_each


def test_an_append_has_an_effect_for_each_batch():
    log = after(Settings(segment_bytes=100), one_each(("a", "1", 0), ("a", "2", 1)))
    assert log.effects == (Appended(0, 0), SegmentRolled(1), Appended(1, 1))
    assert after(COMPACT, A_TWICE, Roll()).effects == (SegmentRolled(2),)


def test_a_record_with_a_null_key_is_refused_on_a_compacted_topic_since_0_9():
    null_key = one_each((None, "x", 1))
    assert after(COMPACT, null_key).effects == (AppendRefused("INVALID_RECORD"),)
    assert after(COMPACT, null_key).log_end_offset == 0
    assert after(Settings("compact", "0.8.2"), null_key).effects == (Appended(0, 0),)


def test_a_batch_that_is_too_large_is_not_written_nor_are_those_behind_it():
    large = NewBatch((("k", "v", 1),), size_bytes=100)
    assert after(Settings(max_message_bytes=99), Append((large,))).effects == (AppendRefused("MESSAGE_TOO_LARGE"),)
    log = after(Settings(segment_bytes=99), Append((NewBatch((("a", "1", 0),)), large, NewBatch((("b", "1", 0),)))))
    assert (log.effects, log.log_end_offset) == ((Appended(0, 0), AppendRefused("RECORD_LIST_TOO_LARGE")), 1)


def test_a_full_time_index_rolls_one_entry_early():
    settings = Settings(index_interval_bytes=0, segment_index_bytes=36)
    log = after(settings, one_each(*(("k", "v", at) for at in range(6))))
    assert [segment.base_offset for segment in log.segments] == [0, 3]


def test_offsets_that_are_too_far_apart_roll():
    far = Log(log_end_offset=2**31)
    log = step(Settings(), step(Settings(), far, one_each(("k", "v", 1))), one_each(("k", "v", 2)))
    assert [segment.base_offset for segment in log.segments] == [0, 2**31]


@pytest.mark.parametrize(("policy", "bases"), [("compact", [0, 2]), ("delete", [0])])
def test_a_compacted_segment_stays_open_no_longer_than_max_compaction_lag(policy, bases):
    events = (one_each(("k", "1", 0)), one_each(("k", "2", 60)), one_each(("k", "3", 101)))
    log = after(Settings(policy, max_compaction_lag_ms=100), *events)
    assert [segment.base_offset for segment in log.segments] == bases


def test_rolling_an_empty_active_segment_changes_nothing():
    assert after(COMPACT, Roll(), Roll()) == start(COMPACT)
    assert len(after(COMPACT, A_TWICE, Roll(), Roll()).segments) == 2
    assert after(COMPACT, A_TWICE, Roll(), Roll()).effects == ()


def test_the_sizes_are_those_of_kafkas_batches():
    assert batch_bytes(0, 1000, [(0, 1000, "a", "1.0.0")]) == 74
    assert batch_bytes(0, 1000, [(0, 1000, "a", None)]) == 69
    assert batch_bytes(0, 1000, [(0, 1000, "a", "")]) == 69
