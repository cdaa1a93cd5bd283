"""Counts of partitions as the statistics want them."""

import pytest
from pyspark.errors import PySparkAttributeError
from pyspark.sql import functions as sf

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.partitioning.skew import evenness
from kafkalearn.spark import columns
from kafkalearn.spark.columns import counts_by_partition, quotient, static_call

pytestmark = pytest.mark.spark


def test_every_partition_is_counted_the_empty_ones_too(spark):
    rows = spark.createDataFrame([(partition,) for partition in (4, 0, 4, None, 4)], "partition int")
    counts = counts_by_partition(rows, 6)

    assert counts == (1, 0, 0, 0, 3, 0)
    assert evenness(counts).largest_over_mean == 4.5


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((0, "p"), "partition_count must be at least 1"),
        ((6, "partition"), r"no column 'partition'; they have \['p', 'name'\]"),
        ((6, "name"), "column 'name' must be tinyint or smallint or int or bigint, it is string"),
        ((6, "p"), "column 'p' holds ids outside 0 to 5, the first is -48; was partition_count another"),
    ],
)
def test_bad_input_is_refused_with_what_came_and_what_to_do(spark, arguments, said):
    rows = spark.createDataFrame([(-48, "a"), (7, "b")], "p int, name string")
    with pytest.raises(KafkaLearnError, match=said):
        counts_by_partition(rows, *arguments)


@pytest.mark.parametrize(("number", "by", "times"), [(0, 3, 0), (6, 3, 2), (8, 3, 2), (2**62 + 1, 2, 2**61)])
def test_whole_numbers_are_divided_without_a_fraction(spark, number, by, times):
    row = spark.range(1).select(
        quotient(sf.lit(number), by).alias("by_number"), quotient(sf.lit(number), sf.lit(by)).alias("by_column")
    )
    assert tuple(row.first()) == (times, times)


def test_a_static_method_is_compiled_into_the_query(spark):
    rows = spark.range(3).select(sf.col("id").cast("int"))
    call = static_call(rows, "java.lang.Integer", "toBinaryString", "java.lang.String", sf.col("id"))
    length = static_call(rows, "java.lang.String", "valueOf", "java.lang.String", call)
    hashed = rows.select(static_call(rows, "java.util.Objects", "hashCode", "int", length).alias("hash"))

    assert [row["hash"] for row in hashed.collect()] == [ord("0"), ord("1"), 31 * ord("1") + ord("0")]


def test_a_class_that_spark_does_not_have_gives_none(spark):
    assert static_call(spark.range(3), "org.example.NoSuchClass", "hash", "int", sf.col("id")) is None


def test_a_platform_that_hides_java_and_a_call_within_that_is_not_there_give_none(spark, monkeypatch):
    rows = spark.range(3)
    inner = static_call(rows, "org.example.NoSuchClass", "hash", "int", sf.col("id"))
    assert static_call(rows, "java.util.Objects", "hashCode", "int", inner) is None

    def hidden(*_):
        raise PySparkAttributeError(errorClass="JVM_ATTRIBUTE_NOT_SUPPORTED", messageParameters={"attr_name": "_jvm"})

    monkeypatch.setattr(columns, "_static_invoke", hidden)
    assert static_call(rows, "java.util.Objects", "hashCode", "int", sf.col("id")) is None
