"""Faults that records show: dated in the far future, or too many in one partition."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as sf

from kafkalearn.operations.faults import findings as kind
from kafkalearn.operations.faults.rules import FAR_FUTURE_MS, HOT_RATIO
from kafkalearn.spark.operations.lasting import lasting, sample_of
from kafkalearn.spark.operations.rows import finding

PLACE = ["topic", "partition"]


def future_records(records: DataFrame) -> DataFrame:
    """Records dated more than a day after they were appended; of a partition the first, by five minutes."""
    found = (
        records.where(sf.col("timestamp_ms") - sf.col("appended_ms") > FAR_FUTURE_MS)
        .groupBy(*PLACE)
        .agg(sf.min(sample_of("appended_ms")).alias("at_ms"), sf.min_by("leader", "appended_ms").alias("broker"))
    )
    return finding(found, kind.FUTURE_RECORD, "broker", *PLACE)


def hot_partitions(records: DataFrame) -> DataFrame:
    """Partitions that get more than four times the median of their topic, for an hour up to the end."""
    counts = records.groupBy(*PLACE, sample_of("appended_ms").alias("at_ms")).agg(
        sf.count("*").alias("record_count"), sf.first("leader").alias("leader")
    )
    usual = sf.median("record_count").over(Window.partitionBy("topic", "at_ms"))
    hot = counts.withColumn("usual", usual).where(sf.col("record_count") > HOT_RATIO * sf.col("usual"))
    runs = lasting(hot.select(*PLACE, "at_ms", "leader"), PLACE, counts.agg(sf.max("at_ms").alias("until_ms")))
    found = runs.groupBy(*PLACE).agg(sf.min("since_ms").alias("since_ms"), sf.min_by("leader", "at_ms").alias("broker"))
    return finding(found.withColumnRenamed("since_ms", "at_ms"), kind.HOT_PARTITION, "broker", *PLACE)
