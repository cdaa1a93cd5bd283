"""Faults of brokers and replicas: cleaners that stopped, leadership on one broker, followers that do not fetch."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from kafkalearn.operations.faults import findings as kind
from kafkalearn.operations.faults.rules import LASTING_MS, LEADER_RATIO
from kafkalearn.spark.operations.lasting import lasting
from kafkalearn.spark.operations.rows import finding

REPLICA = ["broker", "topic", "partition"]


def stopped_cleaners(replicas: DataFrame) -> DataFrame:
    """Brokers none of whose compacted logs is cleaned for an hour, though they grow; else the single logs.

    As `kafkalearn.operations.faults.rules.stopped_cleaners`.
    """
    cleaned = replicas.where("cleaner_offset is not null")
    until = cleaned.agg(sf.max("at_ms").alias("until_ms"))
    furthest = sf.min(sf.struct((-sf.col("cleaner_offset")).alias("offset"), sf.col("at_ms")))
    logs = (
        cleaned.groupBy(*REPLICA)
        .agg(furthest.alias("moved"), sf.max_by("log_end_offset", "at_ms").alias("log_end_offset"))
        .crossJoin(sf.broadcast(until))
        .select(
            *REPLICA,
            sf.col("moved.at_ms").alias("at_ms"),
            (
                (sf.col("until_ms") - sf.col("moved.at_ms") >= LASTING_MS)
                & (sf.col("log_end_offset") > -sf.col("moved.offset"))
            ).alias("is_stopped"),
        )
    )
    dead = (
        logs.groupBy("broker")
        .agg(
            sf.bool_and("is_stopped").alias("is_dead"), sf.count("*").alias("log_count"), sf.max("at_ms").alias("at_ms")
        )
        .where("is_dead and log_count > 1")
    )
    single = logs.where("is_stopped").join(sf.broadcast(dead.select("broker")), "broker", "left_anti")
    return finding(dead, kind.DEAD_CLEANER, "broker").unionByName(finding(single, kind.UNCLEANABLE, *REPLICA))


def leaders_on_one_broker(replicas: DataFrame) -> DataFrame:
    """Brokers that lead more than twice their fair share, for an hour up to the end."""
    led = replicas.select("at_ms", "leader", "topic", "partition").distinct().groupBy("at_ms", "leader").count()
    whole = replicas.select("at_ms", "topic", "partition").distinct().groupBy("at_ms").agg(sf.count("*").alias("whole"))
    brokers = replicas.agg(sf.count_distinct("broker").alias("broker_count"), sf.max("at_ms").alias("until_ms"))
    above = (
        led.join(sf.broadcast(whole), "at_ms")
        .crossJoin(sf.broadcast(brokers.select("broker_count")))
        .where(sf.col("count") * sf.col("broker_count") > LEADER_RATIO * sf.col("whole"))
        .select("at_ms", sf.col("leader").alias("broker"))
    )
    runs = lasting(above, ["broker"], brokers.select("until_ms"))
    return finding(runs.groupBy("broker").agg(sf.min("since_ms").alias("at_ms")), kind.ONE_LEADER, "broker")


def frozen_followers(replicas: DataFrame) -> DataFrame:
    """Replicas that are out of sync for an hour up to the end, their log's end standing still."""
    until = replicas.agg(sf.max("at_ms").alias("until_ms"))
    out = replicas.where(~sf.col("is_in_sync")).select(*REPLICA, "at_ms", "log_end_offset")
    runs = (
        lasting(out, REPLICA, until)
        .groupBy(*REPLICA)
        .agg(
            sf.min("since_ms").alias("at_ms"),
            sf.min_by("log_end_offset", "at_ms").alias("first"),
            sf.max_by("log_end_offset", "at_ms").alias("last"),
        )
    )
    return finding(runs.where("first = last"), kind.FROZEN_FOLLOWER, *REPLICA)
