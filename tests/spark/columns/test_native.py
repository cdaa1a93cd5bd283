"""Java's functions inside a query, or None where they cannot be."""

import pytest
from pyspark.sql import functions as sf

from kafkalearn.spark.columns import static_call

pytestmark = pytest.mark.spark


def test_a_static_method_is_compiled_into_the_query(spark):
    rows = spark.range(3).select(sf.col("id").cast("int"))
    call = static_call(rows, "java.lang.Integer", "toBinaryString", "java.lang.String", sf.col("id"))
    length = static_call(rows, "java.lang.String", "valueOf", "java.lang.String", call)
    hashed = rows.select(static_call(rows, "java.util.Objects", "hashCode", "int", length).alias("hash"))

    assert [row["hash"] for row in hashed.collect()] == [ord("0"), ord("1"), 31 * ord("1") + ord("0")]


def test_a_class_that_spark_does_not_have_gives_none(spark):
    assert static_call(spark.range(3), "org.example.NoSuchClass", "hash", "int", sf.col("id")) is None
