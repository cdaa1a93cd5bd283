"""The rules that find faults are the same on Spark and without it, and find what was planted."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.operations.faults import KINDS, ClusterLogs, cluster_logs, judge, plant
from kafkalearn.operations.faults import find_faults as find_without_spark
from kafkalearn.operations.faults.findings import SAMPLE_MS, START_MS
from kafkalearn.operations.faults.planting import BatchRow
from kafkalearn.spark.data.logs import cluster_tables, tables_of
from kafkalearn.spark.operations import as_findings, find_faults

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("seed", [1, 8])
def test_both_ways_find_the_same_and_all_that_was_planted(spark, seed):
    planted = plant(seed, fault_count=len(KINDS))
    logs = cluster_logs(seed, planted)
    found = as_findings(find_faults(tables_of(spark, logs)))

    assert found == find_without_spark(logs)
    assert judge(found, planted).is_perfect


def test_a_cluster_without_faults_gives_no_finding(spark):
    assert as_findings(find_faults(tables_of(spark, cluster_logs(4, faults=[])))) == ()


def test_the_records_are_those_of_the_batches(spark):
    logs = cluster_logs(2, plant(2))
    records = tables_of(spark, logs).records
    ends = {(row.topic, row.partition): row.base_offset + row.record_count for row in logs.batches}

    assert records.count() == sum(row.record_count for row in logs.batches)
    found = records.groupBy("topic", "partition").agg({"offset": "max"}).collect()
    assert {(row[0], row[1]): row[2] + 1 for row in found} == ends


def test_a_hot_partition_of_the_largest_size_has_more_records_in_five_minutes_than_an_int_has_milliseconds(spark):
    many = BatchRow("orders", 0, 1, START_MS, 5_000, 50_000, START_MS)
    logs = ClusterLogs((many,), (), (), ())
    last = tables_of(spark, logs).records.orderBy("offset").tail(1)[0]
    assert (last.appended_ms, last.offset) == (START_MS + SAMPLE_MS - 6, 54_999)


def test_rows_that_are_no_records_are_refused(spark):
    tables = cluster_tables(spark, "small", seed=1)
    with pytest.raises(KafkaLearnError, match="no column 'timestamp_ms'"):
        find_faults(tables._replace(records=tables.records.drop("timestamp_ms")))
