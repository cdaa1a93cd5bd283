"""Who moves when a topic grows: counted by Spark, and by hand."""

from collections import Counter

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.partitioning.keyed import PARTITIONERS, partition_for_key
from kafkalearn.spark.partitioning import moved_share, moved_share_by_count, moves_by_key

pytestmark = pytest.mark.spark

RECORDS = [f"user-{index * index % 97}".encode() for index in range(1000)] + [None, None]


@pytest.fixture(scope="module")
def records(spark):
    return spark.createDataFrame([(key,) for key in RECORDS], "key binary")


def moves(key, before, after, partitioner="murmur2"):
    return partition_for_key(key, before, partitioner) != partition_for_key(key, after, partitioner)


@pytest.mark.parametrize("partitioner", PARTITIONERS)
def test_each_key_has_its_records_its_two_partitions_and_whether_they_differ(records, partitioner):
    rows = records.transform(moves_by_key, 6, 7, partitioner).collect()

    assert {bytes(row.key): tuple(row)[1:] for row in rows} == {
        key: (
            count,
            partition_for_key(key, 6, partitioner),
            partition_for_key(key, 7, partitioner),
            moves(key, 6, 7, partitioner),
        )
        for key, count in Counter(filter(None, RECORDS)).items()
    }


def test_shares_are_of_keys_and_of_their_records(records):
    counts = Counter(filter(None, RECORDS))
    moved = {key: count for key, count in counts.items() if moves(key, 6, 7)}

    (row,) = moved_share(records.transform(moves_by_key, 6, 7)).collect()
    assert row.asDict() == {
        "key_count": len(counts),
        "moved_key_count": len(moved),
        "moved_key_share": len(moved) / len(counts),
        "record_count": 1000,
        "moved_record_count": sum(moved.values()),
        "moved_record_share": sum(moved.values()) / 1000,
    }


def test_without_records_nothing_moves_and_there_is_no_share(records):
    (row,) = moved_share(records.where("key is null").transform(moves_by_key, 6, 7)).collect()
    assert tuple(row) == (0, 0, None, 0, 0, None)


@pytest.mark.parametrize("partitioner", ["murmur2", "fnv1a"])
def test_each_partition_count_is_compared_with_the_next(records, partitioner):
    keys = set(filter(None, RECORDS))
    rows = records.transform(moved_share_by_count, range(1, 30), partitioner).collect()

    assert [tuple(row) for row in rows] == [
        (count, len(keys), moved := sum(moves(key, count, count + 1, partitioner) for key in keys), moved / len(keys))
        for count in range(1, 30)
    ]


def test_as_many_partitions_as_before_move_nobody(records):
    assert records.transform(moves_by_key, 12, 12).where("moves").count() == 0


def test_twice_the_partitions_move_a_key_only_by_the_old_count(records):
    rows = records.transform(moves_by_key, 6, 12).collect()
    assert {row.partition_after - row.partition_before for row in rows} == {0, 6}


def test_partition_counts_are_asked_for(records):
    with pytest.raises(KafkaLearnError, match="partition_counts is empty"):
        records.transform(moved_share_by_count, [])
    with pytest.raises(KafkaLearnError, match="after must be at least 1, got 0"):
        records.transform(moves_by_key, 6, 0)
