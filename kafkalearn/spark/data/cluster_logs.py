"""Four hours of a cluster's logs with faults in them, as tables: the same cluster for the same seed, large or small.

What happens is decided by `kafkalearn.operations.faults`; here each batch becomes as many records as it has. Of size
``"class"``, 10 million records, it takes 10 s to make on two cores.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import NamedTuple

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafkalearn.operations.faults import ClusterLogs, Finding, cluster_logs, plant
from kafkalearn.operations.faults.logs import YEAR_2100_MS
from kafkalearn.operations.faults.topology import SAMPLE_COUNT, SAMPLE_MS, TOPICS
from kafkalearn.spark.columns.division import quotient
from kafkalearn.spark.data.cache import Recipe, kept
from kafkalearn.spark.data.datasets import SEED, rows_of
from kafkalearn.spark.data.zipf import hash_of
from kafkalearn.spark.session.progress import Update

VERSION = 1
CELL_COUNT = SAMPLE_COUNT * sum(TOPICS.values())

PIECE_COUNT = 16  # a few batches become many records: so all cores share them

PLACE = "topic STRING, partition INT"
BATCH_SCHEMA = f"{PLACE}, leader INT, appended_ms BIGINT, base_offset BIGINT, record_count INT, max_timestamp_ms BIGINT"
REPLICA_SCHEMA = (
    f"at_ms BIGINT, {PLACE}, leader INT, broker INT, is_in_sync BOOLEAN, log_end_offset BIGINT, "
    "cleaner_offset BIGINT, size_bytes BIGINT"
)
COMMIT_SCHEMA = f"group_id STRING, {PLACE}, offset BIGINT, committed_ms BIGINT"
MEMBER_SCHEMA = f"at_ms BIGINT, group_id STRING, member_id STRING, {PLACE}"


class ClusterTables(NamedTuple):
    """The logs of a cluster as DataFrames.

    Attributes
    ----------
    records : DataFrame
        ``topic``, ``partition``, ``leader``, ``offset``, ``appended_ms``, ``timestamp_ms`` (the producer's).
    replicas : DataFrame
        A row for each replica and sample, every five minutes: ``at_ms``, ``topic``, ``partition``, ``leader``,
        ``broker``, ``is_in_sync``, ``log_end_offset``, ``cleaner_offset`` (its line in cleaner-offset-checkpoint; null
        where nothing is compacted), ``size_bytes``.
    commits : DataFrame
        ``group_id``, ``topic``, ``partition``, ``offset``, ``committed_ms``.
    members : DataFrame
        What each member owned at a sample: ``at_ms``, ``group_id``, ``member_id``, ``topic``, ``partition``.
    """

    records: DataFrame
    replicas: DataFrame
    commits: DataFrame
    members: DataFrame


def cluster_tables(
    spark: SparkSession,
    size: str | int = "class",
    *,
    seed: int = SEED,
    faults: Sequence[Finding] | None = None,
    update: Update | None = None,
) -> ClusterTables:
    """The logs of the cluster that a seed draws, its faults in them.

    Parameters
    ----------
    spark : SparkSession
        Where they are made and read.
    size : str or int
        ``"small"``, ``"class"``, ``"big"``, or about how many records. The other tables have 15,000 rows in any case.
    seed : int
        Another seed, another cluster and other faults.
    faults : sequence of Finding or None
        None: what `kafkalearn.operations.faults.plant` draws for the seed; empty: none.
    update : callable, optional
        As in `kafkalearn.spark.data.datasets.group_ids`.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> tables = cluster_tables(get_spark(), "small", seed=1)
    >>> tables.replicas.select("broker").distinct().count(), tables.members.columns
    (6, ['at_ms', 'group_id', 'member_id', 'topic', 'partition'])
    """
    rows = rows_of(size)
    planted = tuple(plant(seed) if faults is None else faults)
    logs = cluster_logs(seed, planted, records_per_batch=max(rows // CELL_COUNT, 10))
    what = sha256(repr(planted).encode()).hexdigest()[:12]
    parameters = (("seed", seed), ("faults", what), ("v", VERSION))
    recipe = Recipe("cluster_records", rows, parameters, bytes_per_row=9)
    return tables_of(spark, logs, kept(spark, recipe, lambda: generate_records(spark, logs, seed), update))


def tables_of(spark: SparkSession, logs: ClusterLogs, records: DataFrame | None = None) -> ClusterTables:
    """The tables of logs that are there already; without `records` these are made anew in each query."""
    return ClusterTables(
        generate_records(spark, logs, SEED) if records is None else records,
        _frame(spark, logs.replicas, REPLICA_SCHEMA),
        _frame(spark, logs.commits, COMMIT_SCHEMA),
        _frame(spark, logs.members, MEMBER_SCHEMA),
    )


def generate_records(spark: SparkSession, logs: ClusterLogs, seed: int) -> DataFrame:
    """The records of all batches: appended one after the other until the next sample.

    A batch's largest timestamp is that of its last record, even if it is from the future.
    """
    batches = _frame(spark, logs.batches, BATCH_SCHEMA).repartition(PIECE_COUNT, "topic", "partition")
    number = sf.col("number")
    records = batches.withColumn("number", sf.explode(sf.sequence(sf.lit(0), sf.col("record_count") - 1)))
    appended = sf.col("appended_ms") + quotient(number.cast("bigint") * sf.lit(SAMPLE_MS), sf.col("record_count"))
    return records.select(
        "topic",
        "partition",
        "leader",
        (sf.col("base_offset") + number).alias("offset"),
        appended.alias("appended_ms"),
        _timestamp(appended, number, seed).alias("timestamp_ms"),
    )


def _timestamp(appended: Column, number: Column, seed: int) -> Column:
    """When the producer made the record: up to five minutes before, by its own clock."""
    usual = appended - sf.pmod(hash_of(seed, "timestamp", sf.col("base_offset") + number), sf.lit(SAMPLE_MS))
    is_last = number == sf.col("record_count") - 1
    return sf.when(is_last & (sf.col("max_timestamp_ms") >= YEAR_2100_MS), sf.col("max_timestamp_ms")).otherwise(usual)


def _frame(spark: SparkSession, rows: Iterable[tuple], schema: str) -> DataFrame:
    return spark.createDataFrame([tuple(row) for row in rows], schema)
