"""All rules over a cluster's tables, and their rows as the findings that `kafkalearn.operations.faults.judge` takes."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame

from kafkalearn.operations.faults import Finding
from kafkalearn.spark.columns.checks import require
from kafkalearn.spark.data.cluster_logs import ClusterTables
from kafkalearn.spark.operations.of_groups import hanging_consumers, kept_groups, progress
from kafkalearn.spark.operations.of_records import future_records, hot_partitions
from kafkalearn.spark.operations.of_replicas import frozen_followers, leaders_on_one_broker, stopped_cleaners
from kafkalearn.spark.operations.rows import COLUMNS


def find_faults(tables: ClusterTables) -> DataFrame:
    """All that the rules find in a cluster's logs.

    Parameters
    ----------
    tables : ClusterTables
        As `kafkalearn.spark.data.cluster_logs.cluster_tables` makes them.

    Returns
    -------
    DataFrame
        ``kind``, ``at_ms``, ``broker``, ``topic``, ``partition``, ``group_id``, ``member_id``: what does not name the
        fault is null.

    Examples
    --------
    >>> from kafkalearn.operations.faults import judge, plant
    >>> from kafkalearn.spark.data.cluster_logs import cluster_tables
    >>> from kafkalearn.spark.session import get_spark
    >>> found = as_findings(find_faults(cluster_tables(get_spark(), "small", seed=1)))
    >>> judge(found, plant(1)).is_perfect
    True
    """
    for column in ("offset", "appended_ms", "timestamp_ms"):
        require(tables.records, column, ("bigint",), "give what cluster_tables() returns")
    of_groups = progress(tables.records, tables.commits)
    found = (
        stopped_cleaners(tables.replicas),
        leaders_on_one_broker(tables.replicas),
        frozen_followers(tables.replicas),
        future_records(tables.records),
        hot_partitions(tables.records),
        hanging_consumers(of_groups, tables.members),
        kept_groups(of_groups, tables.members),
    )
    return reduce(DataFrame.unionByName, found)


def as_findings(found: DataFrame) -> tuple[Finding, ...]:
    """The rows of `find_faults` as `Finding`, in order."""
    return tuple(sorted(Finding(*row) for row in found.select(*COLUMNS).collect()))
