"""Faults of consumers: members that get no further, groups that only commits keep alive."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from kafkalearn.operations.faults import findings as kind
from kafkalearn.operations.faults.rules import LASTING_MS
from kafkalearn.spark.operations.lasting import sample_of
from kafkalearn.spark.operations.rows import finding

PLACE = ["topic", "partition"]


def progress(records: DataFrame, commits: DataFrame) -> DataFrame:
    """How each group gets on in each partition in which it commits.

    Returns
    -------
    DataFrame
        ``group_id``, ``topic``, ``partition``; ``moved_ms``, of the first commit of the largest offset;
        ``committed_ms``, of the last; ``has_lag``; ``until_ms``, the last sample with records.
    """
    ends = records.groupBy(*PLACE).agg((sf.max("offset") + 1).alias("log_end"), sf.max("appended_ms").alias("last_ms"))
    until = ends.agg(sf.max(sample_of("last_ms")).alias("until_ms"))
    furthest = sf.min(sf.struct((-sf.col("offset")).alias("offset"), sf.col("committed_ms")))
    return (
        commits.groupBy("group_id", *PLACE)
        .agg(furthest.alias("moved"), sf.max("committed_ms").alias("committed_ms"))
        .join(sf.broadcast(ends), PLACE, "left")
        .crossJoin(sf.broadcast(until))
        .select(
            "group_id",
            *PLACE,
            sf.col("moved.committed_ms").alias("moved_ms"),
            "committed_ms",
            (sf.coalesce("log_end", sf.lit(0)) > -sf.col("moved.offset")).alias("has_lag"),
            "until_ms",
        )
    )


def hanging_consumers(of_groups: DataFrame, members: DataFrame) -> DataFrame:
    """Members that own partitions to the end, and for an hour got no further in any, with something left to read."""
    last = (
        _owners(members)
        .join(of_groups, ["group_id", *PLACE])
        .groupBy("group_id", "member_id")
        .agg(
            sf.max("moved_ms").alias("at_ms"),
            sf.bool_or("has_lag").alias("has_lag"),
            sf.max("until_ms").alias("until_ms"),
        )
    )
    hangs = last.where((sf.col("until_ms") - sf.col("at_ms") >= LASTING_MS) & sf.col("has_lag"))
    return finding(hangs, kind.HANGING_CONSUMER, "group_id", "member_id")


def kept_groups(of_groups: DataFrame, members: DataFrame) -> DataFrame:
    """Groups without members that somebody commits for to the end, for an hour without getting further."""
    last = (
        of_groups.join(sf.broadcast(_owners(members).select("group_id").distinct()), "group_id", "left_anti")
        .groupBy("group_id")
        .agg(
            sf.max("moved_ms").alias("at_ms"),
            sf.max("committed_ms").alias("committed_ms"),
            sf.bool_or("has_lag").alias("has_lag"),
            sf.max("until_ms").alias("until_ms"),
        )
    )
    is_kept = (sf.col("until_ms") - sf.col("at_ms") >= LASTING_MS) & sf.col("has_lag")
    is_committed = sf.col("until_ms") - sf.col("committed_ms") < LASTING_MS
    return finding(last.where(is_kept & is_committed), kind.KEPT_GROUP, "group_id")


def _owners(members: DataFrame) -> DataFrame:
    """What each member owns at the last sample."""
    until = members.agg(sf.max("at_ms").alias("at_ms"))
    return members.join(sf.broadcast(until), "at_ms").select("group_id", "member_id", *PLACE)
