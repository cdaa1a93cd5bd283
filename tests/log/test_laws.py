"""What must hold of every log and every cleaning, over generated schedules."""

from dataclasses import replace
from functools import partial
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.log import (
    Append,
    Clean,
    CleanerRound,
    EndTransaction,
    Log,
    NewBatch,
    ProducerExpired,
    Retain,
    Roll,
    Settings,
    check,
    index_of,
    look_up,
    step,
)
from kafkalearn.trace import run

keys, values = st.sampled_from("abc"), st.sampled_from([None, "", "v", "w" * 40])
rows = st.lists(st.tuples(keys, values, st.integers(0, 500)), min_size=1, max_size=4).map(tuple)
appends = st.builds(lambda records: Append((NewBatch(records),)), rows)
rolls, cleans = st.just(Roll()), st.builds(Clean, st.integers(0, 1000), st.booleans())
plain_schedules = st.lists(appends | rolls | cleans, max_size=25)
small_settings = st.builds(
    Settings,
    st.just("compact"),
    segment_bytes=st.sampled_from([300, 1000, 1 << 30]),
    segment_ms=st.sampled_from([50, 604800000]),
    index_interval_bytes=st.sampled_from([0, 100, 4096]),
    min_cleanable_dirty_ratio=st.sampled_from([0.0, 0.5]),
    min_compaction_lag_ms=st.sampled_from([0, 100]),
    max_compaction_lag_ms=st.sampled_from([50, 2**63 - 1]),
    delete_retention_ms=st.sampled_from([1, 100, 86400000]),
    offset_map_slots=st.sampled_from([2, 3, 100]),
)


def final_values(log):
    """What a reader from the beginning knows at the end: the last value of each key that was not deleted."""
    last = {record.key: record.value for record in log.records}
    return {key: value for key, value in last.items() if value is not None}


def cleanings(settings, schedule):
    """The logs before and after each event that cleaned."""
    trace = run(partial(step, settings), Log(), schedule)
    for before, after in pairwise(trace):
        check(after.state)
        if isinstance(after.event, Clean) and after.state.last.has_run:
            yield after.event, before.state, after.state


@given(small_settings, plain_schedules)
def test_the_last_value_of_every_key_survives(settings, schedule):
    for _, before, after in cleanings(settings, schedule):
        assert final_values(after) == final_values(before)


@given(small_settings, plain_schedules)
def test_offsets_order_and_content_never_change(settings, schedule):
    for _, before, after in cleanings(settings, schedule):
        kept = set(after.records)
        assert after.records == tuple(record for record in before.records if record in kept)
        assert after.log_end_offset == before.log_end_offset
        spans = {(batch.base_offset, batch.last_offset) for batch in before.batches}
        assert {(batch.base_offset, batch.last_offset) for batch in after.batches} <= spans


@given(small_settings, plain_schedules)
def test_a_last_tombstone_goes_only_after_the_horizon_that_an_earlier_cleaning_gave_it(settings, schedule):
    for clean, before, after in cleanings(settings, schedule):
        last = {record.key: record for record in before.records}
        horizons = {record: batch.delete_horizon_ms for batch in before.batches for record in batch.records}
        for record in last.values():
            if record not in after.records:
                assert record.value is None
                assert horizons[record] is not None
                assert clean.now_ms >= horizons[record]


@given(small_settings, plain_schedules)
def test_a_horizon_is_set_once_and_kept(settings, schedule):
    for clean, before, after in cleanings(settings, schedule):
        old = {batch.base_offset: batch.delete_horizon_ms for batch in before.batches}
        for batch in after.batches:
            given_now = clean.now_ms + settings.delete_retention_ms
            assert batch.delete_horizon_ms in (old[batch.base_offset] or given_now, old[batch.base_offset])


@given(small_settings, plain_schedules)
def test_the_active_segment_is_neither_cleaned_nor_merged(settings, schedule):
    for _, before, after in cleanings(settings, schedule):
        assert after.active == before.active


@given(small_settings, plain_schedules)
def test_a_second_pass_over_the_same_data_changes_nothing(settings, schedule):
    for clean, _, after in cleanings(settings, schedule):
        again = step(settings, replace(after, checkpoint=None), Clean(clean.now_ms, is_forced=True))
        assert after.last.is_map_full or set(again.records) == set(after.records)


@given(small_settings, plain_schedules)
def test_what_is_cleaned_is_no_longer_dirty(settings, schedule):
    for clean, before, after in cleanings(settings, schedule):
        assert before.last is not after.last
        assert after.checkpoint == after.last.latest_offset + 1
        if not after.last.is_map_full:
            assert not step(settings, after, Clean(clean.now_ms, is_forced=True)).last.has_run


@given(plain_schedules, st.sampled_from([2, 3, 5]))
def test_a_small_map_needs_more_passes_and_ends_where_a_large_one_does(schedule, slots):
    writes = [event for event in schedule if not isinstance(event, Clean)]
    dirty = run(partial(step, Settings("compact")), Log(), [*writes, Roll()])[-1].state
    once = step(Settings("compact"), dirty, Clean(1000, is_forced=True))
    passes = [Clean(1000, is_forced=True)] * (dirty.log_end_offset + 1)
    many = run(partial(step, Settings("compact", offset_map_slots=slots, load_factor=1.0)), dirty, passes)[-1].state

    assert many.records == once.records
    assert many.checkpoint == once.checkpoint


@given(small_settings, plain_schedules)
def test_every_record_of_the_copied_part_has_one_verdict_and_it_is_carried_out(settings, schedule):
    for _, before, after in cleanings(settings, schedule):
        verdicts = {verdict.offset: verdict.is_kept for verdict in after.last.verdicts}
        assert len(verdicts) == len(after.last.verdicts)
        kept = {record.offset for record in after.records}
        assert {offset for offset, is_kept in verdicts.items() if is_kept} == kept & set(verdicts)
        assert {record.offset for record in before.records} - set(verdicts) <= kept


transactional = st.builds(
    lambda records, producer_id: Append((NewBatch(records, None, producer_id, 0, 0, is_transactional=True),)),
    rows,
    st.integers(1, 2),
)
ends = st.builds(EndTransaction, st.integers(1, 2), st.booleans(), st.integers(0, 500))
expiries = st.builds(ProducerExpired, st.integers(1, 2))
mixed_schedules = st.lists(appends | transactional | ends | expiries | rolls | cleans, max_size=25)


@given(small_settings, mixed_schedules)
def test_with_transactions_too_the_promises_hold_and_nothing_unstable_is_touched(settings, schedule):
    for _, before, after in cleanings(settings, schedule):
        stable = before.last_stable_offset
        assert [each for each in after.records if each.offset >= stable] == [
            each for each in before.records if each.offset >= stable
        ]
        aborted = {each.producer_id for each in before.transactions if each.is_aborted}
        untouched = [each for each in before.batches if each.producer_id not in aborted and each.marker is None]
        last = {record.key: record for batch in untouched for record in batch.records}
        for record in last.values():
            newer = any(each.key == record.key and each.offset > record.offset for each in before.records)
            assert newer or record.value is None or record in after.records


@given(small_settings, mixed_schedules)
def test_the_last_batch_of_a_live_producer_is_never_forgotten(settings, schedule):
    for _, before, after in cleanings(settings, schedule):
        for producer in before.producers:
            if producer.last_data_offset is not None:
                assert producer.last_data_offset in {batch.last_offset for batch in after.batches}


deleting = st.builds(
    Settings,
    st.sampled_from(["delete", "compact,delete", "compact", ""]),
    segment_bytes=st.sampled_from([150, 300, 1000]),
    retention_ms=st.sampled_from([-1, 0, 100, 1000]),
    retention_bytes=st.sampled_from([-1, 0, 300, 1000]),
)


@given(deleting, st.lists(appends | rolls, max_size=25), st.integers(0, 2000))
def test_retention_takes_whole_segments_from_the_old_end_and_leaves_the_bytes_it_must(settings, writes, now_ms):
    before = run(partial(step, settings), Log(), writes)[-1].state
    after = step(settings, before, Retain(now_ms))
    check(after)
    gone = after.last.deleted_count

    assert after.segments[: len(before.segments) - gone] == before.segments[gone:]
    assert gone == 0 or settings.is_deleted
    if settings.retention_ms < 0 <= settings.retention_bytes and gone:
        assert sum(each.size_bytes for each in after.segments) >= settings.retention_bytes
    assert after.records == tuple(each for each in before.records if each.offset >= after.segments[0].base_offset)


@given(deleting, st.lists(appends | rolls, max_size=20), st.lists(st.integers(0, 2000), max_size=4))
def test_a_round_of_the_cleaner_looks_after_compacted_topics_only(settings, writes, times):
    before = run(partial(step, settings), Log(), writes)[-1].state
    after = run(partial(step, settings), before, [CleanerRound(now_ms) for now_ms in times])[-1].state
    check(after)
    assert settings.is_compacted or after.segments == before.segments


@given(small_settings, plain_schedules)
def test_a_look_up_finds_the_record_or_the_next_one_behind_its_index_entry(settings, schedule):
    log = run(partial(step, settings), Log(), schedule)[-1].state
    offsets = [record.offset for record in log.records]
    for offset in range(log.log_end_offset):
        base, position, found = look_up(settings, log, offset)
        assert found == min((each for each in offsets if each >= offset), default=None)
        segment = next(each for each in log.segments if each.base_offset == base)
        index = index_of(settings, segment, segment is not log.active)
        assert position in {0, *(at for _, at in index.offsets)}


@given(small_settings, mixed_schedules)
def test_every_moment_can_be_a_key_of_a_search(settings, schedule):
    trace = run(partial(step, settings), Log(), schedule)
    assert len({frame.state for frame in trace}) <= len(trace)
