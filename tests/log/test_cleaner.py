"""What the second pass of a cleaning writes: the same batches with fewer records, and which empty ones stay."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.log import (
    Append,
    BrokerRestarted,
    Clean,
    Cleaned,
    CleanerFailed,
    CleanerRound,
    EndTransaction,
    Log,
    MoveLogStart,
    NewBatch,
    ProducerExpired,
    ReplaceCleanerThreads,
    Roll,
    SetHighWatermark,
    Settings,
    cleaner_metrics,
    log_from_records,
    next_clean,
    simulate,
    step,
)
from kafkalearn.log.cleaner import NextClean, cleanable, groups_of
from kafkalearn.log.model import CleanerStopped, Record
from tests.log.schedules import (
    A_TWICE,
    COMPACT,
    after,
    cleanings,
    last_effect,
    mixed_schedules,
    offsets,
    one_each,
    plain_schedules,
    small_settings,
)


@given(small_settings, plain_schedules)
def test_offsets_order_and_content_never_change(settings, schedule):
    for _, before, log in cleanings(settings, schedule):
        kept = set(log.records)
        assert log.records == tuple(record for record in before.records if record in kept)
        assert log.log_end_offset == before.log_end_offset
        spans = {(batch.base_offset, batch.last_offset) for batch in before.batches}
        assert {(batch.base_offset, batch.last_offset) for batch in log.batches} <= spans


@given(small_settings, plain_schedules)
def test_the_active_segment_is_neither_cleaned_nor_merged(settings, schedule):
    for _, before, log in cleanings(settings, schedule):
        assert log.active == before.active


@pytest.mark.parametrize(
    ("release", "batches"), [("3.9", [(0, 0)]), ("4.0", [(0, 0), (1, 1)]), ("4.4", [(0, 0), (1, 1)])]
)
def test_the_last_batch_of_a_round_is_kept_since_4_0_even_when_empty(release, batches):
    log = after(Settings("delete", release), one_each(("a", "1", 1), (None, "x", 2)), Roll(), Clean(5, is_forced=True))
    assert [(each.base_offset, each.last_offset) for each in log.batches] == batches


@pytest.mark.parametrize(
    ("release", "kept"), [("3.9", [0, 2]), ("4.0", [0, 1, 2]), ("4.3", [0, 1, 2]), ("4.4", [0, 2])]
)
def test_since_4_4_the_last_batch_of_a_round_goes_if_anything_was_written_behind_it(release, kept):
    """Brokers of 4.3.1 and 4.4.0 were asked: tests/live/test_compaction.py."""
    events = (one_each(("a", "1", 1), (None, "x", 2)), Roll(), one_each(("b", "1", 3)), Clean(5, is_forced=True))
    assert [each.base_offset for each in after(Settings("delete", release), *events).batches] == kept


def test_a_producer_that_expired_leaves_no_empty_batch_behind():
    of_producer = one_each(("k", "1", 1), producer_id=7, producer_epoch=0, base_sequence=0)
    events = (of_producer, one_each(("k", "2", 2)), Roll())
    with_it = after(COMPACT, *events, Clean(5, is_forced=True))
    without = after(COMPACT, *events, ProducerExpired(7), Clean(5, is_forced=True))

    assert [len(batch.records) for batch in with_it.batches] == [0, 1]
    assert [len(batch.records) for batch in without.batches] == [1]


@given(small_settings, mixed_schedules)
def test_the_last_batch_of_a_live_producer_is_never_forgotten(settings, schedule):
    for _, before, log in cleanings(settings, schedule):
        for producer in before.producers:
            if producer.last_data_offset is not None:
                assert producer.last_data_offset in {batch.last_offset for batch in log.batches}


def compressed(*records, size_bytes=100):
    return Append((NewBatch(records, size_bytes=size_bytes, codec="zstd"),))


def test_a_compressed_batch_that_keeps_all_its_records_keeps_its_bytes():
    log = after(COMPACT, compressed(("a", "1" * 500, 0), ("b", "2", 0)), Roll(), Clean(10, is_forced=True))
    assert (log.batches[0].size_bytes, log.batches[0].codec) == (100, "zstd")


def test_of_a_compressed_batch_that_loses_records_the_size_is_in_proportion():
    half = compressed(("a", "1" * 500, 0), ("b", "2" * 500, 0), size_bytes=161)
    log = after(COMPACT, half, compressed(("a", "3", 0)), Roll(), Clean(10, is_forced=True))
    assert [(each.size_bytes, each.codec) for each in log.batches] == [(61 + 50, "zstd"), (100, "zstd")]


def test_a_compressed_batch_without_records_is_a_header():
    last = Append((NewBatch((("a", "1", 0),), 90, 7, 0, 0, codec="lz4"),))
    log = after(COMPACT, last, compressed(("a", "2", 0)), Roll(), Clean(10, is_forced=True))
    assert [each.size_bytes for each in log.batches] == [61, 100]


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


@pytest.mark.parametrize(("release", "state"), [("2.0", "dead"), ("2.1", "uncleanable"), ("4.3", "uncleanable")])
def test_after_an_exception_nothing_is_cleaned_any_more(release, state):
    settings = Settings("compact", release)
    log = after(settings, A_TWICE, Roll(), CleanerFailed(), Clean(5000))
    assert (log.cleaner, offsets(log), log.effects) == (state, [0, 1], ())
    assert offsets(step(settings, step(settings, log, BrokerRestarted()), Clean(5000))) == [1]


def test_out_of_memory_ends_the_thread_in_every_release():
    assert after(COMPACT, CleanerFailed("out of memory", is_java_error=True)).cleaner == "dead"


def test_new_threads_help_a_dead_cleaner_and_not_a_partition_that_is_left_out():
    assert after(Settings("compact", "2.0"), CleanerFailed(), ReplaceCleanerThreads()).cleaner == "running"
    assert after(COMPACT, CleanerFailed(), ReplaceCleanerThreads()).cleaner == "uncleanable"


def test_retention_of_compact_delete_stops_with_the_cleaner():
    settings = Settings("compact,delete", retention_ms=100)
    events = (A_TWICE, Roll(), one_each(("b", "1", 90_000)))
    assert offsets(after(settings, *events, CleanerRound(50_000))) == [2]
    assert offsets(after(settings, *events, CleanerFailed(), CleanerRound(50_000))) == [0, 1, 2]


def test_an_operator_sees_a_checkpoint_that_stands_still():
    log = after(COMPACT, A_TWICE, Roll(), Clean(5000), CleanerFailed(), A_TWICE, Roll(), CleanerRound(9000))
    assert cleaner_metrics(COMPACT, log, 65_000) == {
        "cleaner-offset-checkpoint": 2,
        "log end offset": 4,
        "time-since-last-run-ms": 60_000,
        "uncleanable-partitions-count": 1,
        "uncleanable-bytes": 140,
        "DeadThreadCount": 0,
    }
    assert list(cleaner_metrics(Settings("compact", "0.9.0"), log, 0)) == [
        "cleaner-offset-checkpoint",
        "log end offset",
    ]


def test_a_dead_cleaner_cannot_fail_and_threads_could_not_be_replaced_before_1_1():
    with pytest.raises(IllegalEvent, match="the cleaner thread is dead already"):
        after(Settings("compact", "2.0"), CleanerFailed(), CleanerFailed())
    with pytest.raises(IllegalEvent, match=r"without a restart since 1\.1 only"):
        after(Settings("compact", "1.0"), ReplaceCleanerThreads())


def test_a_merged_segment_kept_old_tombstones_alive_up_to_3_0():
    wait = [one_each(("x", "1", 10)), Roll()]
    events = [Append(one_each(("a", "1", 1), ("a", None, 2)).batches, now_ms=1000), Roll(), Clean(10, True), *wait]
    settings = Settings("compact", "2.8")
    log = step(settings, after(settings, *events), Clean(10**15, is_forced=True))

    assert 1 in offsets(log)
    assert last_effect(log, Cleaned).legacy_horizon_ms == 1000 - 86400000


def decisions_of(log):
    return last_effect(log, Cleaned).decisions


def test_there_is_a_reason_why_each_record_stayed_or_went():
    tombstones = one_each(("b", None, 1002), (None, "x", 1003), ("c", "", 1004))
    log = after(Settings("delete"), A_TWICE, tombstones, Roll(), Clean(5000, is_forced=True))

    assert [(each.offset, each.is_kept, each.reason) for each in decisions_of(log)] == [
        (0, False, "overtaken by offset 1"),
        (1, True, "last of its key"),
        (2, True, "tombstone, met for the first time"),
        (3, False, "no key"),
        (4, True, "last of its key"),
    ]


def test_a_tombstone_waits_for_its_horizon_and_for_something_new_to_clean():
    settings = Settings("compact", delete_retention_ms=100)
    deleted = (one_each(("a", "1", 1), ("a", None, 2)), Roll(), Clean(1000))
    assert offsets(after(settings, *deleted, Clean(10**12, is_forced=True))) == [1]

    later = (*deleted, one_each(("b", "1", 3)), Roll())
    assert offsets(after(settings, *later, Clean(1099, is_forced=True))) == [1, 2]
    assert offsets(after(settings, *later, Clean(1100, is_forced=True))) == [2]


def test_even_with_no_retention_a_tombstone_survives_the_clean_that_first_meets_it():
    settings = Settings("compact", delete_retention_ms=0)
    log = after(settings, one_each(("a", None, 1)), Roll(), Clean(1000))
    assert (offsets(log), log.batches[0].delete_horizon_ms) == ([0], 1000)


@given(small_settings, plain_schedules)
def test_the_last_value_of_every_key_survives(settings, schedule):
    for _, before, log in cleanings(settings, schedule):
        assert final_values(log) == final_values(before)


def final_values(log):
    """What a reader from the beginning knows at the end: the last value of each key that was not deleted."""
    last = {record.key: record.value for record in log.records}
    return {key: value for key, value in last.items() if value is not None}


@given(small_settings, plain_schedules)
def test_a_last_tombstone_goes_only_after_the_horizon_that_an_earlier_cleaning_gave_it(settings, schedule):
    for clean, before, log in cleanings(settings, schedule):
        last = {record.key: record for record in before.records}
        horizons = {record: batch.delete_horizon_ms for batch in before.batches for record in batch.records}
        for record in last.values():
            if record not in log.records:
                assert record.value is None
                assert horizons[record] is not None
                assert clean.now_ms >= horizons[record]


@given(small_settings, plain_schedules)
def test_a_horizon_is_set_once_and_kept(settings, schedule):
    for clean, before, log in cleanings(settings, schedule):
        old = {batch.base_offset: batch.delete_horizon_ms for batch in before.batches}
        for batch in log.batches:
            given_now = clean.now_ms + settings.delete_retention_ms
            assert batch.delete_horizon_ms in (old[batch.base_offset] or given_now, old[batch.base_offset])


@given(small_settings, plain_schedules)
def test_every_record_of_the_copied_part_has_one_decision_and_it_is_carried_out(settings, schedule):
    for _, before, log in cleanings(settings, schedule):
        is_kept = {each.offset: each.is_kept for each in decisions_of(log)}
        assert len(is_kept) == len(decisions_of(log))
        there = set(offsets(log))
        assert {offset for offset, kept in is_kept.items() if kept} == there & set(is_kept)
        assert set(offsets(before)) - set(is_kept) <= there


@given(small_settings, plain_schedules)
def test_a_second_pass_over_the_same_data_changes_nothing(settings, schedule):
    for clean, _, log in cleanings(settings, schedule):
        again = step(settings, never_cleaned(log), Clean(clean.now_ms, is_forced=True))
        assert last_effect(log, Cleaned).is_map_full or set(again.records) == set(log.records)


def never_cleaned(log):
    return replace(log, checkpoint=None)


def test_an_open_transaction_holds_the_cleaner_back():
    inside = one_each(("t", "1", 2), producer_id=7, producer_epoch=0, base_sequence=0, is_transactional=True)
    events = (A_TWICE, Roll(), inside, Roll(), one_each(("a", "3", 3)), Roll())
    held = after(COMPACT, *events, Clean(5, is_forced=True))
    ended = after(COMPACT, *events, EndTransaction(7, True, 4), Roll(), Clean(5, is_forced=True))

    assert (held.last_stable_offset, offsets(held)) == (2, [1, 2, 3])
    assert (ended.last_stable_offset, offsets(ended)) == (5, [2, 3])


@given(small_settings, mixed_schedules)
def test_with_transactions_too_last_values_survive_and_nothing_unstable_is_touched(settings, schedule):
    for _, before, log in cleanings(settings, schedule):
        stable = before.last_stable_offset
        assert [each for each in log.records if each.offset >= stable] == [
            each for each in before.records if each.offset >= stable
        ]
        aborted = {each.producer_id for each in before.transactions if each.is_aborted}
        untouched = [each for each in before.batches if each.producer_id not in aborted and each.marker is None]
        last = {record.key: record for batch in untouched for record in batch.records}
        for record in last.values():
            newer = any(each.key == record.key and each.offset > record.offset for each in before.records)
            assert newer or record.value is None or record in log.records


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


FULL_MAP = {"offset_map_slots": 4, "load_factor": 0.75}
FOUR_KEYS = one_each(*((key, "1", 1) for key in "abcd"))


@given(plain_schedules, st.sampled_from([2, 3, 5]))
def test_a_small_map_needs_more_passes_and_ends_where_a_large_one_does(schedule, slots):
    writes = [event for event in schedule if not isinstance(event, Clean)]
    dirty = after(Settings("compact"), *writes, Roll())
    once = step(Settings("compact"), dirty, Clean(1000, is_forced=True))
    passes = [Clean(1000, is_forced=True)] * (dirty.log_end_offset + 1)
    many = simulate(Settings("compact", offset_map_slots=slots, load_factor=1.0), passes, dirty)[-1].state

    assert many.records == once.records
    assert many.checkpoint == once.checkpoint


def test_a_text_and_its_utf_8_are_one_key():
    writes = one_each(("é", "1", 1), ("é".encode(), "2", 1), (b"\xff", "1", 1), ("é", "3", 1))
    for release in ("4.3", "0.9.0"):
        log = after(Settings("compact", release), writes, Roll(), Clean(5, is_forced=True))
        assert offsets(log) == [2, 3]


def test_a_segment_larger_than_the_map_killed_the_cleaner_before_0_10_0():
    log = after(Settings("compact", "0.9.0", **FULL_MAP), FOUR_KEYS, Roll(), Clean(5, is_forced=True))
    (stopped,) = log.effects
    assert (log.cleaner, offsets(log)) == ("dead", [0, 1, 2, 3])
    assert "4 messages in segment 00000000000000000000.log but offset map can fit only 3" in stopped.reason


def test_before_0_10_0_a_segment_that_no_longer_fits_waits_for_the_next_pass():
    events = (one_each(("a", "1", 1), ("b", "1", 1)), Roll(), one_each(("a", "2", 1), ("c", "1", 1)), Roll())
    settings = Settings("compact", "0.9.0", **FULL_MAP)
    first = after(settings, *events, Clean(5, is_forced=True))
    assert (first.checkpoint, offsets(first)) == (2, [0, 1, 2, 3])
    assert offsets(step(settings, first, Clean(6, is_forced=True))) == [1, 2, 3]


def test_a_record_without_key_killed_the_cleaner_of_0_8():
    log = after(Settings("compact", "0.8.2"), one_each((None, "x", 1)), Roll(), Clean(5, is_forced=True))
    reason = "the message at offset 0 has no key; Kafka 0.8 required one"
    assert (log.cleaner, log.effects) == ("dead", (CleanerStopped(reason),))


@pytest.mark.parametrize(("distance", "group_count"), [(1, 1), (2**31 - 1, 1), (2**31, 2)])
def test_small_segments_are_merged_only_where_offsets_fit_into_four_bytes(distance, group_count):
    """As `Cleaner.groupSegmentsBySize` has it: an index keeps an offset as its distance from the base."""
    first, second = (log_from_records([Record(at, "a", "1", 0)]).segments[0] for at in (0, distance))
    segments = (first, replace(second, base_offset=distance))

    assert len(groups_of(COMPACT, segments, distance + 1)) == group_count
