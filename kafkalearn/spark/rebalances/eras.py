"""The same groups in two eras: what a newcomer costs old consumers, and what it costs the classic protocol, eager.

The groups are those of `kafkalearn.spark.zookeeper.random_groups`: what is a pause for the old consumer is one long
poll for the classic one, equally long. Both rules are arithmetic over the columns of a row.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from kafkalearn.arguments import whole_number
from kafkalearn.spark.columns.checks import require
from kafkalearn.spark.rebalances.durations import with_rebalance_ms
from kafkalearn.spark.zookeeper import size_range, total

HEARTBEAT_INTERVAL_MS = 3000


def with_classic_cost(groups: DataFrame, max_poll_interval_ms: int = 300_000) -> DataFrame:
    """Each group with what the newcomer costs it under the classic protocol, eager.

    Parameters
    ----------
    groups : DataFrame
        With ``work_ms`` (how long the poll takes that each member is working on) and ``uncommitted`` (the records that
        each has read since its last commit), and any other columns.
    max_poll_interval_ms : int
        ``max.poll.interval.ms``: whose poll takes longer leaves the group.

    Returns
    -------
    DataFrame
        With ``rebalance_ms`` (bigint), ``thrown_out`` (int), the members that have left by then, and
        ``read_twice_classic`` (bigint), the records that are read again although everybody commits before it gives its
        partitions up (``enable.auto.commit=true``): those of members that were thrown out, which could not. It is what
        `kafkalearn.zookeeper.eras.durations.classic_newcomer` gives for each row.

    Raises
    ------
    KafkaLearnError
        If a column is missing or has another type, or the number is too small.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = [("a", [0, 0], [5, 7]), ("b", [0, 20_000], [5, 7])]
    >>> groups = get_spark().createDataFrame(rows, "group_id STRING, work_ms ARRAY<INT>, uncommitted ARRAY<INT>")
    >>> groups.transform(with_classic_cost, 10_000).drop("work_ms", "uncommitted").show()
    +--------+------------+----------+------------------+
    |group_id|rebalance_ms|thrown_out|read_twice_classic|
    +--------+------------+----------+------------------+
    |       a|        2012|         0|                 0|
    |       b|        9000|         1|                 7|
    +--------+------------+----------+------------------+
    """
    whole_number("max_poll_interval_ms", max_poll_interval_ms, at_least=1)
    require(groups, "uncommitted", ("array<int>", "array<bigint>"), "how many records each member has not committed")
    kept = groups.columns
    timed = groups.selectExpr(
        "*",
        f"{HEARTBEAT_INTERVAL_MS} AS heartbeat_interval_ms",
        f"{max_poll_interval_ms} AS max_poll_interval_ms",
    ).transform(with_rebalance_ms)

    def of_thrown_out(records: Column, work_ms: Column) -> Column:
        return sf.when(work_ms >= max_poll_interval_ms, records).otherwise(0).cast("bigint")

    again = sf.zip_with("uncommitted", "work_ms", of_thrown_out)
    out = sf.filter("work_ms", lambda work_ms: work_ms >= max_poll_interval_ms)
    return timed.select(
        *kept, "rebalance_ms", sf.size(out).alias("thrown_out"), total(again).alias("read_twice_classic")
    )


def by_era(groups: DataFrame) -> DataFrame:
    """What a newcomer costs, by size of the group and by era.

    Parameters
    ----------
    groups : DataFrame
        With ``member_count``, and what `kafkalearn.spark.zookeeper.with_agreement` and `with_classic_cost` add.

    Returns
    -------
    DataFrame
        ``members``, ``era``, ``groups``, the time to agreement as ``median, s`` and ``99 %, s``, ``somebody is out, %``
        (who gave up, or was thrown out), and how many records a group reads twice on average, without and with auto
        commit.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> from kafkalearn.spark.zookeeper import random_groups, with_agreement
    >>> groups = random_groups(get_spark(), 300).transform(with_agreement).transform(with_classic_cost)
    >>> [(row["members"], row["era"]) for row in groups.transform(by_era).collect()][:2]
    [('2 to 4', 'ZooKeeper'), ('2 to 4', 'classic')]
    """
    require(groups, "agreement_ms", ("bigint",), "transform them with with_agreement first")
    require(groups, "rebalance_ms", ("bigint",), "transform them with with_classic_cost first")
    order, members = size_range()

    def era(name: str, place: int, ms: str, out: str, again: Column) -> Column:
        fields = {"place": sf.lit(place), "era": sf.lit(name), "ms": sf.col(ms), "out": sf.col(out), "again": again}
        return sf.struct(*(column.alias(each) for each, column in fields.items()))

    both = sf.array(
        era("ZooKeeper", 0, "agreement_ms", "given_up", sf.lit(0).cast("bigint")),
        era("classic", 1, "rebalance_ms", "thrown_out", sf.col("read_twice_classic")),
    )
    rows = groups.select(order.alias("order"), members.alias("members"), "read_twice", sf.explode(both).alias("cost"))
    return (
        rows.select("order", "members", "read_twice", "cost.*")
        .groupBy("order", "members", "place", "era")
        .agg(
            sf.count("*").alias("groups"),
            sf.round(sf.percentile("ms", sf.lit(0.5)) / 1000, 3).alias("median, s"),
            sf.round(sf.percentile("ms", sf.lit(0.99)) / 1000, 1).alias("99 %, s"),
            sf.round(100 * sf.avg((sf.col("out") > 0).cast("int")), 1).alias("somebody is out, %"),
            sf.round(sf.avg("read_twice")).cast("bigint").alias("read twice, no auto commit"),
            sf.round(sf.avg("again"), 1).alias("read twice, auto commit"),
        )
        .orderBy("order", "place")
        .drop("order", "place")
    )
