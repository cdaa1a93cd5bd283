"""The Spark rules for keys give what real clients gave; keys that move; hashes of whole Arrow columns."""

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base import hashing
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.partitioning.keyed import PARTITIONERS, partition_for_key
from kafkalearn.spark import partitioning
from kafkalearn.spark.partitioning import NUMBERS, moved_share, moved_share_by_count, moves_by_key, with_partition
from tests.recorded import recorded

pytestmark = pytest.mark.spark


OUR_NAME = {
    "java_default": "murmur2",
    "murmur2_random": "murmur2",
    "consistent_random": "crc32",
    "fnv1a_random": "fnv1a",
}


def records_of(spark, keys):
    return spark.createDataFrame([(key,) for key in keys], "key binary")


def plan_of(df):
    return df._jdf.queryExecution().toString()


def test_there_is_a_spark_rule_for_each_partitioner():
    assert list(NUMBERS) == list(PARTITIONERS)


def test_murmur2_needs_python_on_the_workers_over_spark_connect_alone(spark, monkeypatch):
    records = records_of(spark, [b""])
    assert "ArrowEvalPython" not in plan_of(records.transform(with_partition, 37))
    monkeypatch.setattr(partitioning, "static_call", lambda *arguments: None)
    assert "ArrowEvalPython" in plan_of(records.transform(with_partition, 37))


def test_recorded_keys_land_where_the_java_client_put_them(spark, route):
    cases = recorded("groups-murmur2")["vectors"]
    records = records_of(spark, [bytes.fromhex(case["key_hex"]) for case in cases])

    for count in map(int, cases[0]["partition"]):
        rows = records.transform(with_partition, count).collect()
        assert [row.partition for row in rows] == [case["partition"][str(count)] for case in cases]


@pytest.mark.parametrize("case", recorded("keys")["cases"], ids=lambda case: case["partitioner"])
def test_real_producers_wrote_a_thousand_keys_where_we_say(spark, case):
    keys = [bytes.fromhex(key) for key in recorded("keys")["keys"]]
    name = OUR_NAME[case["partitioner"]]
    is_drawn = case["partitioner"] == "consistent_random"  # it treats the empty key as no key

    for partition_count, observed in case["partitions"].items():
        rows = records_of(spark, keys).transform(with_partition, int(partition_count), name).collect()
        differ = [key for key, row, real in zip(keys, rows, observed, strict=True) if row.partition != real]
        assert differ in ([], [b""] if is_drawn else [])


@pytest.mark.parametrize("name", PARTITIONERS)
def test_keys_that_stand_in_the_query_itself_are_no_exception(spark, name):
    records = spark.sql("select * from values ('user-42'), (null) as records(key)")  # Spark computes these ahead
    rows = records.transform(with_partition, 12, name).collect()
    assert [row.partition for row in rows] == [partition_for_key(b"user-42", 12, name), None]


@pytest.mark.parametrize("rows", [[], [(None,)], [(b"",)], [(b"",), (None,)]])
def test_tables_without_a_single_byte_of_key_are_no_trouble(spark, rows, route):
    records = spark.createDataFrame(rows, "key binary").coalesce(1)
    for name in PARTITIONERS:
        records = records.transform(with_partition, 5, name, output=name)
    expected = [
        (key, *(key if key is None else partition_for_key(key, 5, each) for each in PARTITIONERS)) for (key,) in rows
    ]
    assert [tuple(row) for row in records.collect()] == expected


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((0,), "partition_count must be at least 1, got 0"),
        ((6, "murmur3"), "did you mean 'murmur2'"),
    ],
)
def test_bad_input_is_refused_with_what_came_and_what_to_do(spark, arguments, said):
    records = spark.createDataFrame([(b"user-42",)], "key binary")
    with pytest.raises(KafkaLearnError, match=said):
        records.transform(with_partition, *arguments)


RECORDS = [f"user-{index * index % 97}".encode() for index in range(1000)] + [None, None]


@pytest.fixture(scope="module")
def records(spark):
    return spark.createDataFrame([(key,) for key in RECORDS], "key binary")


def moves(key, before, after, partitioner="murmur2"):
    return partition_for_key(key, before, partitioner) != partition_for_key(key, after, partitioner)


@pytest.mark.equal("partitioning.moves_by_key")
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


@pytest.mark.equal("partitioning.moved_share")
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


@pytest.mark.equal("partitioning.moved_share_by_count")
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


# Hashes of whole Arrow columns are those of their keys one by one.


keys = st.lists(st.none() | st.binary(max_size=40), max_size=30)


@pytest.mark.parametrize("name", ["murmur2", "fnv1a"])
@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary()])
@given(keys=keys, start=st.integers(0, 5))
def test_a_column_hashes_as_its_keys_do_also_from_the_middle_of_a_buffer(name, kind, keys, start):
    column = partitioning.hashing(name)(pa.array(keys, kind).slice(start))

    one_by_one = getattr(hashing, name)
    assert column.to_pylist() == [None if key is None else one_by_one(key) % 2**32 for key in keys[start:]]
