"""The rules of chapter 13 in Spark: faults in a cluster's logs, and the load that a dead broker leaves.

Run it with ``python benchmarks/operations.py [--rows 10000000] [--partitions 1000000] [--rounds 5] [--go-on]``. Each is
beside a query that only reads the same columns, and beside what one would do without it: the rows brought into pandas,
the partitions counted in Python.
"""

from __future__ import annotations

import sys

from _measure import Way, WrongAnswer, machine, measure, parser
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafkalearn.operations.faults import ClusterLogs, Finding
from kafkalearn.operations.faults import find_faults as find_without_spark
from kafkalearn.operations.faults.findings import SAMPLE_MS
from kafkalearn.operations.faults.planting import FAULT_COUNT, BatchRow, CommitRow, MemberRow, ReplicaRow
from kafkalearn.operations.leadership import load_without, partition_of
from kafkalearn.spark.data.logs import ClusterTables, cluster_tables
from kafkalearn.spark.operations import as_findings, find_faults
from kafkalearn.spark.operations import load_without as load_on_spark
from kafkalearn.spark.session.spark_session import get_spark

BROKERS, FACTOR, SIZE_BYTES = 12, 3, 10**8
BATCH = ["topic", "partition", "leader", "sample"]


def in_pandas(tables: ClusterTables) -> None:
    """The rules of the core over all records, which are brought into this process and put together to batches."""
    records = tables.records.toPandas()
    records["sample"] = records["appended_ms"] // SAMPLE_MS * SAMPLE_MS
    found = records.groupby(BATCH, sort=False).agg(
        base_offset=("offset", "min"), record_count=("offset", "size"), max_timestamp_ms=("timestamp_ms", "max")
    )
    batches = tuple(BatchRow(*row) for row in found.reset_index().itertuples(index=False, name=None))
    others = (
        tuple(kind(*row) for row in rows.collect())
        for kind, rows in ((ReplicaRow, tables.replicas), (CommitRow, tables.commits), (MemberRow, tables.members))
    )
    _require_six(find_without_spark(ClusterLogs(batches, *others)))


def fault_ways(tables: ClusterTables) -> list[Way]:
    """Ways to the faults; all find six."""
    columns = (sf.sum("appended_ms"), sf.sum("timestamp_ms"), sf.max("offset"))
    return [
        Way("read the columns, sum them", lambda: tables.records.agg(*columns).collect()),
        Way("find_faults, all eight rules", lambda: _require_six(as_findings(find_faults(tables)))),
        Way("the same rules after toPandas", lambda: in_pandas(tables), is_slow=True),
    ]


def _require_six(found: tuple[Finding, ...]) -> None:
    if len(found) != FAULT_COUNT:
        raise WrongAnswer(f"{len(found)} faults found, {FAULT_COUNT} were planted")


def placed(spark: SparkSession, count: int) -> DataFrame:
    """Partitions whose replicas are rotated over twelve brokers, all in sync."""
    replicas = ", ".join(f"cast((id + {place}) % {BROKERS} + 1 AS int)" for place in range(FACTOR))
    return spark.range(count).selectExpr(
        "'orders' AS topic",
        "cast(id AS int) AS partition",
        f"array({replicas}) AS replicas",
        f"array_sort(array({replicas})) AS isr",
        f"cast(id % {BROKERS} + 1 AS int) AS leader",
        f"cast({SIZE_BYTES} AS bigint) AS size_bytes",
    )


def load_ways(spark: SparkSession, count: int) -> list[Way]:
    """Ways to what every broker leads without broker 1; the last has its partitions as objects already."""
    partitions = placed(spark, count)
    objects = [
        partition_of(
            "orders", number, [(number + place) % BROKERS + 1 for place in range(FACTOR)], size_bytes=SIZE_BYTES
        )
        for number in range(count)
    ]
    return [
        Way("explode the replicas, count them", lambda: _counted(partitions)),
        Way("load_without on Spark", lambda: partitions.transform(load_on_spark, dead=[1]).collect()),
        Way("load_without in Python", lambda: load_without(objects, dead=[1]), is_slow=True),
    ]


def _counted(partitions: DataFrame) -> None:
    partitions.select(sf.explode("replicas").alias("broker_id")).groupBy("broker_id").count().collect()


def main(argv: list[str]) -> None:
    """Measure and print."""
    arguments = parser(__doc__.splitlines()[0], rows=10_000_000, rounds=5, warm_up=2)
    arguments.add_argument("--partitions", type=int, default=1_000_000)
    options = arguments.parse_args(argv)
    spark = get_spark("kafkalearn benchmark")
    on = machine(spark)
    tables = cluster_tables(spark, options.rows, seed=1)
    measure("cluster_faults", f"six faults in {options.rows:,} records", on, fault_ways(tables), options)
    print()
    ways = load_ways(spark, options.partitions)
    measure("broker_load", f"the load without a broker, {options.partitions:,} partitions", on, ways, options)


if __name__ == "__main__":
    main(sys.argv[1:])
