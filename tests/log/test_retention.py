"""Retention: whole segments, from the old end, and only what a rule allows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.log import (
    Append,
    Clean,
    CleanerRound,
    EndTransaction,
    MoveLogStart,
    NewBatch,
    Retain,
    SetHighWatermark,
    Settings,
    check,
    simulate,
    step,
)
from kafkalearn.log.index import NOT_FOUND, SPECIAL_TIMES, FoundOffset, list_offset
from kafkalearn.log.model import SegmentsDeleted
from kafkalearn.log.retention import BELOW_LOG_START, TOO_MANY_BYTES, TOO_OLD
from tests.every import every_case
from tests.log.schedules import after, appends, last_effect, one_each, rolls
from tests.recorded import recorded

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


AFTER_REMOVAL = recorded("list-offsets-after-removal")
BATCHES = st.lists(st.lists(st.integers(0, 50), min_size=1, max_size=4), max_size=10)


def log_of(batches, **settings):
    events = [Append((NewBatch(tuple(("k", "v", each) for each in batch)),)) for batch in batches]
    return simulate(Settings(**settings), events)[-1].state


def answers_of(log, case):
    return [["NONE", *list_offset(log, each)] for each in case["asked"]]


@every_case("case", AFTER_REMOVAL["below_the_start"], ids=lambda case: f"{case['release']}-{case['policy']}")
def test_a_segment_below_the_log_start_counts_until_it_is_deleted(case):
    settings = Settings(case["policy"], case["release"].rpartition(".")[0], segment_ms=1000, retention_ms=-1)
    write = [Append((NewBatch((("k", "v", at_ms),)),)) for at_ms in range(0, 10_000, 2000)]
    log = simulate(settings, [*write[:3], MoveLogStart(3), *write[3:]])[-1].state
    assert [each.base_offset for each in log.segments] == case["before"]["segments"]
    assert answers_of(log, case) == case["before"]["answers"]
    look = CleanerRound(0) if settings.is_compacted else Retain(0)
    log = simulate(settings, [look], log)[-1].state
    assert [each.base_offset for each in log.segments] == case["after"]["segments"]
    assert answers_of(log, case) == case["after"]["answers"]


@every_case("case", AFTER_REMOVAL["emptied"], ids=lambda case: case["release"])
def test_a_batch_that_the_cleaner_has_emptied_keeps_its_largest_timestamp_and_has_no_record(case):
    settings = Settings(
        "compact", case["release"].rpartition(".")[0], segment_bytes=1 << 20, min_cleanable_dirty_ratio=0,
        max_message_bytes=2_000_000,
    )  # fmt: skip
    big = "x" * 900_000
    batches = [
        NewBatch((("a", "1", 900),), producer_id=7001), NewBatch((("b", "1", 900),)), NewBatch((("d", big, 100),)),
        NewBatch((("a", "2", 50), ("e", big, 100))), NewBatch((("f", big, 100),)), NewBatch((("g", big, 100),)),
    ]  # fmt: skip
    log = simulate(settings, [*(Append((each,)) for each in batches), Clean(1000)])[-1].state
    assert [[len(batch.records) for batch in each.batches] for each in log.segments] == case["records"]
    assert answers_of(log, case) == case["answers"]


@given(BATCHES, st.integers(0, 55))
def test_in_one_segment_it_is_the_first_record_that_is_as_late(batches, time_ms):
    times = [each for batch in batches for each in batch]
    late = [FoundOffset(offset, each) for offset, each in enumerate(times) if each >= time_ms]
    assert list_offset(log_of(batches), time_ms) == (late[0] if late else FoundOffset(NOT_FOUND))


@given(BATCHES, st.integers(0, 55), st.integers(1, 20))
def test_segments_change_nothing(batches, time_ms, segment_ms):
    assert list_offset(log_of(batches, segment_ms=segment_ms), time_ms) == list_offset(log_of(batches), time_ms)


@given(BATCHES)
def test_the_newest_record_is_the_first_of_those_with_the_largest_timestamp(batches):
    log = log_of(batches, segment_ms=10)
    found = list_offset(log, "max timestamp")
    assert found == (list_offset(log, log.segments and found.timestamp_ms) if batches else FoundOffset(NOT_FOUND))
    assert found.timestamp_ms == max((each for batch in batches for each in batch), default=-1)


def test_what_is_not_replicated_or_not_decided_is_not_found():
    open_one = NewBatch((("k", "v", 20),), producer_id=7, is_transactional=True)
    events = [Append((NewBatch((("k", "v", 10),)), open_one)), SetHighWatermark(1)]
    log = simulate(Settings(), events)[-1].state
    assert list_offset(log, 15) == list_offset(log, "max timestamp") == FoundOffset(NOT_FOUND)
    assert list_offset(log, "latest") == FoundOffset(1)
    log = simulate(Settings(), [*events, SetHighWatermark(2)])[-1].state
    assert list_offset(log, 15) == FoundOffset(1, 20)
    assert list_offset(log, 15, "read_committed") == FoundOffset(NOT_FOUND)
    assert list_offset(log, "latest", "read_committed") == FoundOffset(1)
    ended = [*events, SetHighWatermark(2), EndTransaction(7, True, 30), SetHighWatermark(3)]
    assert list_offset(simulate(Settings(), ended)[-1].state, 25) == FoundOffset(2, 30)  # the marker counts, too


def test_what_cannot_be_asked_is_refused():
    with pytest.raises(KafkaLearnError, match="latest"):
        list_offset(log_of([]), "newest")
    with pytest.raises(KafkaLearnError, match="at least 0"):
        list_offset(log_of([]), -3)
    with pytest.raises(KafkaLearnError, match="isolation level"):
        list_offset(log_of([]), "latest", "committed")
    assert list_offset(log_of([]), "earliest") == FoundOffset(0)
    assert len(SPECIAL_TIMES) == 5
