"""A company's month of old groups: each time a consumer of one is started, and who stands still just then; made up.

Most groups are small. Some change every hour, as every deployment starts consumers again, others once in two weeks: the
time between two changes is drawn evenly on a logarithmic scale. Ten thousand groups have a million changes.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafkalearn.base.checks import whole_number
from kafkalearn.spark.data.datasets import SEED
from kafkalearn.spark.data.generate import hash_of, uniform
from kafkalearn.zookeeper.eras import LONGEST_PAUSE_MS, MOST_MEMBERS
from kafkalearn.zookeeper.month import MONTH_MS

INTERVAL_MS = (3_600_000, MONTH_MS // 2)  # between two changes of a group, at least and at most
SLOW_PER_THOUSAND = 20  # members that stand still at a change
SHORTEST_PAUSE_MS = LONGEST_PAUSE_MS // 100
MOST_CHANGES = MONTH_MS // INTERVAL_MS[0]
PIECE_COUNT = 16


def changes(spark: SparkSession, group_count: int, *, seed: int = SEED) -> DataFrame:
    """Every change of all groups in 30 days, a row each: one consumer is started, and the others share with it.

    Parameters
    ----------
    spark : SparkSession
        Where they are made; the same rows in every run.
    group_count : int
        How many groups, at least 1.
    seed : int
        Another seed, other groups.

    Returns
    -------
    DataFrame
        ``group_id``, ``at_ms`` (from the start of the month), ``interval_ms`` (between two changes of this group),
        ``member_count`` (those that are there already, 2 to 99), ``partition_count`` (one or two for each consumer),
        and for each member ``pause_ms``: 0, or for one in fifty 0.2 to 20 s; ``work_ms``, the same under the name that
        `kafkalearn.spark.rebalances.with_classic_cost` reads; ``uncommitted``.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> changes(get_spark(), 100).count() > 8_000
    True
    """
    whole_number("group_count", group_count, at_least=1)
    group, change = sf.col("id"), sf.col("id") * MOST_CHANGES + sf.col("turn")
    # By Pareto's law: the number of members that a share u of all groups exceeds is 2 / u ** 0.8.
    size = sf.least(sf.floor(2 / sf.pow(1 - uniform(seed, "members", group), sf.lit(0.8))), sf.lit(MOST_MEMBERS))
    least, most = INTERVAL_MS
    interval = least * sf.pow(sf.lit(most / least), uniform(seed, "interval", group))
    groups = spark.range(0, group_count, 1, PIECE_COUNT).select(
        "id",
        size.cast("int").alias("member_count"),
        (1 + sf.pmod(hash_of(seed, "partitions", group), sf.lit(2))).cast("int").alias("per_member"),
        sf.ceil(interval).alias("interval_ms"),
    )
    last = sf.floor(sf.lit(MONTH_MS) / sf.col("interval_ms")) - 1
    each = groups.select("*", sf.explode(sf.sequence(sf.lit(0).cast("bigint"), last)).alias("turn"))

    def member(place: Column) -> Column:
        return change * MOST_MEMBERS + place

    def pause(place: Column) -> Column:
        is_slow = sf.pmod(hash_of(seed, "slow", member(place)), sf.lit(1000)) < SLOW_PER_THOUSAND
        share = uniform(seed, "pause", member(place))
        long_ms = SHORTEST_PAUSE_MS * sf.pow(sf.lit(LONGEST_PAUSE_MS / SHORTEST_PAUSE_MS), share)
        return sf.when(is_slow, long_ms.cast("int")).otherwise(0)

    def records(place: Column) -> Column:
        return sf.pmod(hash_of(seed, "records", member(place)), sf.lit(1000)).cast("int")

    places = sf.sequence(sf.lit(0), sf.col("member_count") - 1)
    jitter = sf.floor(uniform(seed, "at", change) * sf.col("interval_ms"))
    return each.select(
        sf.concat(sf.lit("group-"), group).alias("group_id"),
        (sf.col("turn") * sf.col("interval_ms") + jitter).alias("at_ms"),
        "interval_ms",
        "member_count",
        (sf.col("per_member") * (sf.col("member_count") + 1)).alias("partition_count"),
        sf.transform(places, pause).alias("pause_ms"),
        sf.transform(places, records).alias("uncommitted"),
    ).withColumn("work_ms", sf.col("pause_ms"))
