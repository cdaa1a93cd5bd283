"""The share of keys that move is exact."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.partitioning.keyed import PARTITIONERS, moved_share, partition_for_key
from tests.recorded import recorded

OUR_NAME = {
    "java_default": "murmur2",
    "murmur2_random": "murmur2",
    "consistent_random": "crc32",
    "fnv1a_random": "fnv1a",
}


@pytest.mark.parametrize("case", recorded("keys")["cases"], ids=lambda case: case["partitioner"])
def test_real_producers_wrote_a_thousand_keys_where_we_say(case):
    keys = [bytes.fromhex(key) for key in recorded("keys")["keys"]]
    is_drawn = case["partitioner"] == "consistent_random"  # it treats the empty key as no key

    for partition_count, observed in case["partitions"].items():
        ours = [partition_for_key(key, int(partition_count), OUR_NAME[case["partitioner"]]) for key in keys]
        differ = [key for key, mine, real in zip(keys, ours, observed, strict=True) if mine != real]
        assert differ in ([], [b""] if is_drawn else [])


@given(st.binary(), st.integers(1, 10_000), st.sampled_from(sorted(PARTITIONERS)))
def test_every_partitioner_names_a_partition_that_exists(key, partition_count, partitioner):
    assert 0 <= partition_for_key(key, partition_count, partitioner) < partition_count


@given(st.binary(), st.integers(1, 1000))
def test_forgetting_the_mask_changes_the_partition_only_of_a_negative_hash(key, half):
    # 2**31 is a multiple of every power of two: there the mask changes nothing.
    power_of_two = 1 << (half % 20)
    assert partition_for_key(key, power_of_two) == partition_for_key(key, power_of_two, "murmur2-unmasked")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("user-42", 6), r"encode it first: key\.encode\(\)"),
        ((None, 6), "a record without a key"),
        ((42, 6), "key must be bytes, got int 42"),
        ((b"user-42", 0), "partition_count must be at least 1, got 0"),
        ((b"user-42", "6"), "must be a whole number of at least 1, got str '6'"),
        ((b"user-42", 6, "murmur3"), "did you mean 'murmur2'"),
    ],
)
def test_bad_input_is_refused_with_what_came_and_what_is_allowed(arguments, said):
    with pytest.raises(KafkaLearnError, match=said):
        partition_for_key(*arguments)


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
