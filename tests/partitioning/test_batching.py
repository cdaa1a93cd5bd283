import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.formats.records import BATCH_HEADER_BYTES, length_of, record_bytes
from kafkalearn.partitioning.keyless import all_full, append, has_room

keys = st.none() | st.binary(max_size=300)
records = st.tuples(keys, st.integers(0, 3000))


@given(st.lists(records, max_size=60), st.integers(1, 5000))
def test_batches_hold_every_record_and_only_the_last_is_open(added, batch_size):
    queue = ()
    for key, value_bytes in added:
        queue = append(queue, key, value_bytes, batch_size)

    assert sum(batch.record_count for batch in queue) == len(added)
    assert all(batch.is_closed for batch in queue[:-1])
    assert all(batch.byte_count <= batch.limit_bytes for batch in queue)
    assert all_full(queue) == (not queue or queue[-1].is_full)


@given(st.lists(records, min_size=1, max_size=30), st.integers(1, 5000))
def test_a_queue_grows_by_a_record_and_by_a_header_when_a_batch_opens(added, batch_size):
    queue = ()
    for key, value_bytes in added:
        before, fits = queue, has_room(queue, key, value_bytes)
        queue = append(queue, key, value_bytes, batch_size)
        growth = sum(each.byte_count for each in queue) - sum(each.byte_count for each in before)
        place = queue[-1].record_count - 1
        assert growth == record_bytes(length_of(key), value_bytes, place) + (0 if fits else BATCH_HEADER_BYTES)
        assert len(queue) == len(before) + (not fits)


@pytest.mark.parametrize(("value_bytes", "expected"), [(100, 109), (300, 309), (939, 948), (1000, 1009), (2000, 2009)])
def test_a_keyless_record_takes_the_bytes_the_real_producer_appended(value_bytes, expected):
    assert record_bytes(-1, value_bytes) == expected
