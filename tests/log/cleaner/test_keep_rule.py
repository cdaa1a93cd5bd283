"""Which records a pass keeps, and why; when tombstones go."""

from dataclasses import replace

from hypothesis import given

from kafkalearn.log import Clean, Cleaned, Roll, Settings, step
from tests.log.schedules import (
    A_TWICE,
    after,
    cleanings,
    last_effect,
    offsets,
    one_each,
    plain_schedules,
    small_settings,
)


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
