"""Retention: whole segments, from the old end, and only what a rule allows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.log import CleanerRound, MoveLogStart, Retain, Settings, check, simulate, step
from kafkalearn.log.model import SegmentsDeleted
from kafkalearn.log.retention import BELOW_LOG_START, TOO_MANY_BYTES, TOO_OLD
from tests.log.schedules import after, appends, last_effect, one_each, rolls

deleting = st.builds(
    Settings,
    st.sampled_from(["delete", "compact,delete", "compact", ""]),
    segment_bytes=st.sampled_from([150, 300, 1000]),
    retention_ms=st.sampled_from([-1, 0, 100, 1000]),
    retention_bytes=st.sampled_from([-1, 0, 300, 1000]),
)


@given(deleting, st.lists(appends | rolls, max_size=25), st.integers(0, 2000))
def test_retention_takes_whole_segments_from_the_old_end_and_leaves_the_bytes_it_must(settings, writes, now_ms):
    before = after(settings, *writes)
    log = step(settings, before, Retain(now_ms))
    check(settings, log, before)
    deleted = last_effect(log, SegmentsDeleted)
    gone = deleted.segment_count if deleted else 0

    assert log.segments[: len(before.segments) - gone] == before.segments[gone:]
    assert gone == 0 or settings.is_deleted
    if settings.retention_ms < 0 <= settings.retention_bytes and gone:
        assert sum(each.size_bytes for each in log.segments) >= settings.retention_bytes
    assert log.records == tuple(each for each in before.records if each.offset >= log.segments[0].base_offset)


@given(deleting, st.lists(appends | rolls, max_size=20), st.lists(st.integers(0, 2000), max_size=4))
def test_a_round_of_the_cleaner_looks_after_compacted_topics_only(settings, writes, times):
    before = after(settings, *writes)
    log = simulate(settings, [CleanerRound(now_ms) for now_ms in times], before)[-1].state
    check(settings, log)
    assert settings.is_compacted or log.segments == before.segments


def test_retention_by_bytes_never_goes_below_what_it_must_keep():
    log = after(
        Settings(segment_bytes=100, retention_bytes=250, retention_ms=-1),
        one_each(*(("k", "v", at) for at in range(5)), size_bytes=100),
        Retain(10),
    )
    assert log.effects == (SegmentsDeleted(2, (TOO_MANY_BYTES, TOO_MANY_BYTES)),)
    assert sum(segment.size_bytes for segment in log.segments) == 300


FIVE = one_each(*(("k", "v", at) for at in range(5)), size_bytes=100)


@pytest.mark.parametrize(
    ("release", "reasons"),
    [("4.3", (BELOW_LOG_START, TOO_MANY_BYTES, TOO_OLD)), ("2.8", (TOO_OLD, TOO_OLD, TOO_OLD))],
)
def test_each_segment_goes_by_the_first_rule_that_takes_it_and_since_3_0_time_comes_last(release, reasons):
    topic = Settings(release=release, segment_bytes=100, retention_bytes=300, retention_ms=7)
    assert last_effect(after(topic, FIVE, MoveLogStart(1), Retain(10)), SegmentsDeleted).reasons == reasons


def test_one_young_record_keeps_its_segment_and_all_behind_it():
    topic = Settings(segment_bytes=100, retention_ms=5)
    records = one_each(*(("k", "v", at) for at in (0, 90, 1, 2)), size_bytes=100)
    assert after(topic, records, Retain(80)).segments[0].base_offset == 1
    assert after(topic, records, Retain(96)).segments[0].base_offset == 4


def test_the_active_segment_goes_by_time_like_any_other_and_an_empty_one_is_opened():
    log = after(Settings(retention_ms=5), FIVE, Retain(10))
    assert (log.log_start_offset, log.log_end_offset, log.segments[0].base_offset, log.records) == (5, 5, 5, ())
