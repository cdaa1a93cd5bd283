"""The share of keys that move is exact."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.partitioning.keyed import moved_share, partition_for_key

counts = st.integers(min_value=1, max_value=60)


@given(counts, counts)
def test_the_share_is_what_counting_all_remainders_gives(before, after):
    hashes = range(before * after)

    moved = sum(value % before != value % after for value in hashes)
    assert moved_share(before, after) * len(hashes) == moved


@given(counts)
def test_one_more_partition_moves_all_but_one_in_so_many(before):
    assert moved_share(before, before + 1) * (before + 1) == before


@given(counts)
def test_doubling_moves_half_and_no_change_moves_nothing(before):
    assert moved_share(before, 2 * before) * 2 == 1
    assert moved_share(before, before) == 0


def test_real_keys_move_in_that_share():
    keys = [f"order-{number}".encode() for number in range(20_000)]

    moved = sum(partition_for_key(key, 6) != partition_for_key(key, 7) for key in keys)
    assert moved / len(keys) == pytest.approx(float(moved_share(6, 7)), abs=0.01)


def test_a_topic_without_partitions_is_refused():
    with pytest.raises(KafkaLearnError, match="after must be at least 1, got 0"):
        moved_share(6, 0)
