"""How long a rebalance of an eager group takes, for as many groups as there are: one expression over each row.

A rebalance is over when the last member has joined again. Each member learns of it with its next heartbeat, joins when
it is in ``poll()`` next, and who does not come back to ``poll()`` within ``max.poll.interval.ms`` leaves by itself. So
a group is as slow as its slowest member: the latest of all these moments.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafkalearn.arguments import whole_number
from kafkalearn.group.scenario.durations import NEWCOMER_MS, WORK_FROM_MS
from kafkalearn.spark.columns.checks import require
from kafkalearn.spark.data.zipf import hash_of, uniform

GROUP_SCHEMA = "group_id STRING, heartbeat_interval_ms INT, max_poll_interval_ms INT, work_ms ARRAY<INT>"
"""The columns of a group: ``work_ms`` has an entry for each member, see `with_rebalance_ms`."""

_LATENCY_MS, _POLL_MS = 2, 100  # the model's own: one way through the network, and the distance of ordinary polls
# The group of the scenario is formed at 0: the initial delay of 3 s is waited for twice, and a request takes 4 ms there
# and back.
_FIRST_HEARTBEATS_MS = 6000 + 4 * _LATENCY_MS  # their loop begins when JoinGroup is answered
_FIRST_POLL_MS = 6000 + 6 * _LATENCY_MS  # SyncGroup is answered
_BEGINS_MS = NEWCOMER_MS + 3 * _LATENCY_MS  # the newcomer's JoinGroup, with its member id, reaches the coordinator

SLOW_PER_THOUSAND = 10  # members that are in a long poll, of random groups
MOST_MEMBERS = 1000


def with_rebalance_ms(groups: DataFrame) -> DataFrame:
    """Each group with the time that the rebalance takes that one more consumer brings.

    Parameters
    ----------
    groups : DataFrame
        With the columns of `GROUP_SCHEMA`, and any others. ``work_ms`` says for each member how long the poll takes
        that it is working on, in ms; 0: its polls are short. The long ones began a second before the newcomer came.

    Returns
    -------
    DataFrame
        With ``rebalance_ms``, a bigint: what `kafkalearn.group.scenario.durations.newcomer_ms` gives for each row.

    Raises
    ------
    KafkaLearnError
        If a column is missing or has another type.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> groups = get_spark().createDataFrame(
    ...     [("a", 3000, 300_000, [0, 0, 0]), ("b", 3000, 300_000, [0, 20_000, 0])], GROUP_SCHEMA
    ... )
    >>> groups.transform(with_rebalance_ms).select("group_id", "rebalance_ms").show()
    +--------+------------+
    |group_id|rebalance_ms|
    +--------+------------+
    |       a|        2312|
    |       b|       19000|
    +--------+------------+
    """
    remedy = "groups have the columns of kafkalearn.spark.rebalances.durations.GROUP_SCHEMA"
    for column in ("heartbeat_interval_ms", "max_poll_interval_ms"):
        require(groups, column, ("int", "bigint"), remedy)
    require(groups, "work_ms", ("array<int>", "array<bigint>"), remedy)
    last_ms = sf.array_max(sf.transform("work_ms", _joined_ms))
    last_ms = sf.least(last_ms, _BEGINS_MS + sf.col("max_poll_interval_ms"))  # the coordinator waits no longer
    return groups.withColumn("rebalance_ms", (last_ms + 2 * _LATENCY_MS - _BEGINS_MS).cast("bigint"))


def _joined_ms(work_ms: Column, place: Column) -> Column:
    """When the JoinGroup of a member reaches the coordinator, or its LeaveGroup; times count from the scenario's 0."""
    interval_ms, limit_ms = sf.col("heartbeat_interval_ms"), sf.col("max_poll_interval_ms")
    first_ms = _FIRST_HEARTBEATS_MS + sf.floor(interval_ms * (place + 1) / (sf.size("work_ms") + 1))
    # The first heartbeat that arrives after the rebalance has begun is answered with it.
    since_ms = sf.greatest(_BEGINS_MS - _LATENCY_MS - first_ms + 1, sf.lit(0))
    heard_ms = first_ms + sf.ceil(since_ms / interval_ms) * interval_ms + 2 * _LATENCY_MS
    works_until_ms = WORK_FROM_MS + work_ms
    polls_from_ms = sf.when(work_ms > 0, works_until_ms).otherwise(_FIRST_POLL_MS)
    polls_ms = polls_from_ms + sf.greatest(sf.ceil((heard_ms - polls_from_ms) / _POLL_MS), sf.lit(0)) * _POLL_MS
    leaves_ms = sf.when(work_ms >= limit_ms, WORK_FROM_MS + limit_ms)
    return sf.least(polls_ms, leaves_ms) + _LATENCY_MS


def random_groups(spark: SparkSession, group_count: int, seed: int = 42) -> DataFrame:
    """Groups like those of a company: most are small, a few have hundreds of members; one member in a hundred is slow.

    Parameters
    ----------
    spark : SparkSession
        Where they are made; the same rows in every run.
    group_count : int
        How many.
    seed : int
        Another seed, other groups.

    Returns
    -------
    DataFrame
        With the columns of `GROUP_SCHEMA` and ``member_count`` (2 to 1,000). A slow member is in a poll of 10 s to 20
        minutes; nine groups of ten have the default of ``max.poll.interval.ms``, the others an hour.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> random_groups(get_spark(), 1000).where("member_count <= 10").count() > 500
    True
    """
    whole_number("group_count", group_count, at_least=1)
    row = sf.col("id")
    # By Pareto's law: the number of members that a share u of all groups exceeds is 2 / u ** 0.8.
    size = sf.least(sf.floor(2 / sf.pow(1 - uniform(seed, "members", row), sf.lit(0.8))), sf.lit(MOST_MEMBERS))
    member = row * MOST_MEMBERS + sf.col("member")
    is_slow = sf.pmod(hash_of(seed, "slow", member), sf.lit(1000)) < SLOW_PER_THOUSAND
    long_ms = (10_000 * sf.pow(sf.lit(120.0), uniform(seed, "work", member))).cast("int")
    members = (
        spark.range(group_count)
        .select("id", size.cast("int").alias("member_count"))
        .select("*", sf.explode(sf.sequence(sf.lit(0), sf.col("member_count") - 1)).alias("member"))
    )
    works = members.select("id", "member_count", "member", sf.when(is_slow, long_ms).otherwise(0).alias("ms"))
    return (
        works.groupBy("id", "member_count")
        .agg(
            sf.transform(sf.sort_array(sf.collect_list(sf.struct("member", "ms"))), lambda each: each["ms"]).alias(
                "work_ms"
            )
        )
        .select(
            sf.concat(sf.lit("group-"), row).alias("group_id"),
            "member_count",
            sf.lit(3000).alias("heartbeat_interval_ms"),
            sf.when(sf.pmod(hash_of(seed, "limit", row), sf.lit(10)) == 0, 3_600_000)
            .otherwise(300_000)
            .alias("max_poll_interval_ms"),
            "work_ms",
        )
    )


SIZES = {"2 to 9": 10, "10 to 99": 100, "100 and more": MOST_MEMBERS + 1}


def by_member_count(groups: DataFrame) -> DataFrame:
    """How long the rebalances of small and of large groups take.

    Parameters
    ----------
    groups : DataFrame
        From `with_rebalance_ms`, with ``member_count``.

    Returns
    -------
    DataFrame
        ``members`` (2 to 9, 10 to 99, 100 and more), ``groups``, ``with a slow member, %``, and in seconds the
        ``median, s``, the time that 95 of 100 keep within, and the ``longest, s``; the small groups first.
    """
    require(groups, "rebalance_ms", ("bigint",), "transform them with with_rebalance_ms first")
    seconds = sf.col("rebalance_ms") / 1000
    size = sf.lit(None)
    for name, below in reversed(SIZES.items()):
        size = sf.when(sf.col("member_count") < below, name).otherwise(size)
    is_slow = sf.exists("work_ms", lambda ms: ms > 0)
    found = groups.groupBy(size.alias("members")).agg(
        sf.max("member_count").alias("largest"),
        sf.count("*").alias("groups"),
        sf.round(100 * sf.avg(is_slow.cast("int"))).cast("int").alias("with a slow member, %"),
        sf.round(sf.percentile(seconds, sf.lit(0.5)), 1).alias("median, s"),
        sf.round(sf.percentile(seconds, sf.lit(0.95)), 1).alias("95 % within, s"),
        sf.round(sf.max(seconds), 1).alias("longest, s"),
    )
    return found.orderBy("largest").drop("largest")
