"""Retention: whole segments, from the old end, and only what a rule allows."""

from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.log import CleanerRound, Retain, Settings, check, simulate, step
from kafkalearn.log.effects import SegmentsDeleted
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
    assert log.effects == (SegmentsDeleted(2),)
    assert sum(segment.size_bytes for segment in log.segments) == 300
