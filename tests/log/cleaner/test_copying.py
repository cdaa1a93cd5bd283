"""What the second pass of a cleaning writes: the same batches with fewer records, and which empty ones stay."""

import pytest
from hypothesis import given

from kafkalearn.log import Append, Clean, NewBatch, ProducerExpired, Roll, Settings
from tests.log.schedules import COMPACT, after, cleanings, mixed_schedules, one_each, plain_schedules, small_settings


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


@pytest.mark.parametrize(("release", "batches"), [("3.9", [(0, 0)]), ("4.0", [(0, 0), (1, 1)])])
def test_the_last_batch_of_a_round_is_kept_since_4_0_even_when_empty(release, batches):
    log = after(Settings("delete", release), one_each(("a", "1", 1), (None, "x", 2)), Roll(), Clean(5, is_forced=True))
    assert [(each.base_offset, each.last_offset) for each in log.batches] == batches


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
