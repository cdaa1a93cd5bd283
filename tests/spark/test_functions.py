"""Kafka's placements as functions of SQL: the answers of the rules on DataFrames."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.spark import register
from kafkalearn.spark.coordinator import with_offsets_partition
from kafkalearn.spark.functions import kafka_partition, offsets_partition
from kafkalearn.spark.partitioning import with_partition

pytestmark = pytest.mark.spark


def test_sql_gives_the_same_and_null_for_null(spark):
    names = ["", "test-group", "größe 😀 位移", "polygenelubricants", "DESIGNING WORKHOUSES", None]
    names += [f"console-consumer-{number}" for number in range(500)]
    rows = spark.createDataFrame([(each,) for each in names], "g string").selectExpr("g", "encode(g, 'utf-8') AS k")
    register(spark)
    register(spark)  # again, it replaces them
    rows.transform(with_offsets_partition, 50, "g", "o").transform(
        with_partition, 12, key="k", output="p"
    ).createOrReplaceTempView("placed")
    asked = "o, p, offsets_partition(g, 50) AS o2, kafka_partition(k, 12) AS p2, kafka_partition(g, 12) AS p3"
    found = [tuple(row) for row in spark.sql(f"SELECT {asked} FROM placed").collect()]
    assert len(found) == 506
    assert [row for row in found if row[0] != row[2] or row[1] != row[3] or row[1] != row[4]] == []
    assert (None,) * 5 in found


@pytest.mark.parametrize("call", ["offsets_partition('g', 0)", "kafka_partition('k', 0)"])
def test_no_partitions_are_refused(spark, call):
    register(spark)
    with pytest.raises(Exception, match="partitions must be at least 1"):
        spark.sql(f"SELECT {call}").collect()


def test_columns_refuse_what_the_rules_refuse(spark):
    with pytest.raises(KafkaLearnError, match="partition_count must be at least 1"):
        offsets_partition("g", 0)
    with pytest.raises(KafkaLearnError, match="unknown partitioner 'murmur'; did you mean"):
        kafka_partition("k", 3, "murmur")
