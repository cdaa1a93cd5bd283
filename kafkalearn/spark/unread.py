"""How long partitions have no reader, over all changes of many groups, in two eras.

`old_stretches` is the rule of `kafkalearn.zookeeper.month` over what `kafkalearn.spark.agreement` says of each change;
`classic_stretches` has the same of the classic protocol, in which everybody stands still until the group is Stable, and
nobody gives up. `by_length` sums both up, `by_group` the first, and `by_range` its groups.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from kafkalearn.base.checks import whole_number
from kafkalearn.spark.columns import NUMBERS, TEXT, in_ranges, rule
from kafkalearn.zookeeper.month import MONTH_MS

HOUR_MS = 3_600_000
COLUMNS = ("era", "group_id", "at_ms", "ms", "partition_count")
LENGTHS = {
    "up to 1 s": 1_000,
    "1 to 10 s": 10_000,
    "10 s to 1 min": 60_000,
    "1 min to 1 h": 3_600_000,
    "1 h to 1 day": 86_400_000,
    "more than a day": MONTH_MS,
}
"""How long a partition has no reader at a stretch, each with the longest that belongs to it, in ms."""


_AT = {"group_id": TEXT, "at_ms": NUMBERS, "partition_count": NUMBERS}
_AGREED = {**_AT, "agreement_ms": ("bigint",), "unread": ("int",)}
_CHANGED = "see kafkalearn.spark.data.month.changes, and transform them with"


@rule(_AGREED, remedy=f"{_CHANGED} with_agreement first")
def old_stretches(agreed: DataFrame, era: str = "ZooKeeper", end_ms: int = MONTH_MS) -> DataFrame:
    """What old consumers do not read: until they agree, and what belongs to one that has given up.

    Parameters
    ----------
    agreed : DataFrame
        Changes of groups (``group_id``, ``at_ms``, ``partition_count``) with what
        `kafkalearn.spark.agreement.with_agreement` adds.
    era : str
        What the rows are to be called.
    end_ms : int
        When the month ends.

    Returns
    -------
    DataFrame
        ``era``, ``group_id``, ``at_ms``, ``ms``, ``partition_count``: for each change what
        `kafkalearn.zookeeper.month.stretches` gives. Nothing is kept whole: one worker has the changes of a group in
        order, about 70 bytes each, on disk if need be.

    Raises
    ------
    KafkaLearnError
        If a column is missing or has another type.

    Examples
    --------
    >>> from kafkalearn.spark.agreement import with_agreement
    >>> from kafkalearn.spark.data.month import changes
    >>> from kafkalearn.spark.session import get_spark
    >>> month = changes(get_spark(), 100).transform(with_agreement)
    >>> month.transform(old_stretches).where("ms > 86400000").count() > 0
    True
    """
    found = _until_the_next(agreed, end_ms)
    read, unread = sf.col("partition_count") - sf.col("unread"), sf.col("unread")
    both = sf.array(_stretch(sf.col("agreement_ms"), read), _stretch(sf.col("until") - sf.col("at_ms"), unread))
    each = found.select("group_id", "at_ms", "unread", sf.posexplode(both)).where("pos = 0 OR unread > 0")
    return each.select(sf.lit(era).alias("era"), "group_id", "at_ms", "col.*")


def _until_the_next(agreed: DataFrame, end_ms: int, *more: str) -> DataFrame:
    """The changes of each group with the moment of the next one, ``until``."""
    whole_number("end_ms", end_ms, at_least=0)
    rows = agreed.select("group_id", "at_ms", "partition_count", "agreement_ms", "unread", *more)
    until = sf.lead("at_ms", 1, end_ms).over(Window.partitionBy("group_id").orderBy("at_ms"))
    return rows.withColumn("until", until)


@rule({**_AT, "rebalance_ms": ("bigint",)}, remedy=f"{_CHANGED} with_classic_cost first")
def classic_stretches(costs: DataFrame, era: str = "classic") -> DataFrame:
    """What a classic group does not read: all of it, until its rebalance is over.

    Parameters
    ----------
    costs : DataFrame
        Changes of groups with what `kafkalearn.spark.rebalances.with_classic_cost` adds.
    era : str
        What the rows are to be called.

    Returns
    -------
    DataFrame
        As `old_stretches`. Row by row: nothing is kept.

    Raises
    ------
    KafkaLearnError
        If a column is missing or has another type.

    Examples
    --------
    >>> from kafkalearn.spark.data.month import changes
    >>> from kafkalearn.spark.rebalances import with_classic_cost
    >>> from kafkalearn.spark.session import get_spark
    >>> month = changes(get_spark(), 100).transform(with_classic_cost, 10_000)
    >>> month.transform(classic_stretches).where("ms > 10000").count()
    0
    """
    return costs.select(
        sf.lit(era).alias("era"), "group_id", "at_ms", sf.col("rebalance_ms").alias("ms"), "partition_count"
    )


def _stretch(ms: Column, partition_count: Column) -> Column:
    return sf.struct(ms.alias("ms"), partition_count.alias("partition_count"))


@rule({**_AGREED, "member_count": NUMBERS, "interval_ms": NUMBERS}, remedy=f"{_CHANGED} with_agreement first")
def by_group(agreed: DataFrame, end_ms: int = MONTH_MS) -> DataFrame:
    """What the month was for each group of old consumers.

    Parameters
    ----------
    agreed, end_ms
        As in `old_stretches`, with ``member_count`` and ``interval_ms``, which stay the same for a group.

    Returns
    -------
    DataFrame
        ``group_id``, ``member_count``, ``interval_ms``; ``change_count``; ``gave_up_count``, the changes in which
        somebody gave up; ``unread_hours``, for which its partitions had no reader because of that, all added up. What
        is kept is a row for each group, and what `old_stretches` keeps.

    Raises
    ------
    KafkaLearnError
        If a column is missing or has another type.

    Examples
    --------
    >>> from kafkalearn.spark.agreement import with_agreement
    >>> from kafkalearn.spark.data.month import changes
    >>> from kafkalearn.spark.session import get_spark
    >>> changes(get_spark(), 100).transform(with_agreement).transform(by_group).where("gave_up_count > 0").count() > 50
    True
    """
    found = _until_the_next(agreed, end_ms, "member_count", "interval_ms")
    hours = sf.sum((sf.col("until") - sf.col("at_ms")) * sf.col("unread")) / HOUR_MS
    sums = (sf.count("*").alias("change_count"), sf.count_if(sf.col("unread") > 0).alias("gave_up_count"))
    return found.groupBy("group_id", "member_count", "interval_ms").agg(*sums, hours.alias("unread_hours"))


@rule(
    {"{column}": NUMBERS, "change_count": NUMBERS, "gave_up_count": NUMBERS, "unread_hours": ("double",)},
    remedy="transform them with by_group first",
)
def by_range(groups: DataFrame, column: str, ranges: Mapping[str, int]) -> DataFrame:
    """What the month was for all groups of a range, from the smallest range to the largest.

    Parameters
    ----------
    groups : DataFrame
        From `by_group`.
    column : str
        The number that the ranges are of, such as ``interval_ms``.
    ranges : mapping of str to int
        As `kafkalearn.spark.columns.in_ranges` takes them.

    Returns
    -------
    DataFrame
        ``range``, ``groups``, ``changes``, ``somebody gave up`` (in so many changes), and ``hours unread, of a group``
        on average. What is kept is a row for each range.

    Raises
    ------
    KafkaLearnError
        If a column is missing or has another type.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = [("a", 3, 3_600_000, 720, 9, 20.0), ("b", 9, 7_200_000, 360, 5, 40.0), ("c", 2, 86_400_000, 30, 1, 33.5)]
    >>> schema = "group_id STRING, member_count INT, interval_ms INT, change_count INT, gave_up_count INT"
    >>> groups = get_spark().createDataFrame(rows, f"{schema}, unread_hours DOUBLE")
    >>> groups.transform(by_range, "interval_ms", {"hours": 36_000_000, "days": 864_000_000}).show()
    +-----+------+-------+----------------+------------------------+
    |range|groups|changes|somebody gave up|hours unread, of a group|
    +-----+------+-------+----------------+------------------------+
    |hours|     2|   1080|              14|                    30.0|
    | days|     1|     30|               1|                    33.5|
    +-----+------+-------+----------------+------------------------+
    """
    sums = (
        sf.max(column).alias("largest"),
        sf.count("*").alias("groups"),
        sf.sum("change_count").alias("changes"),
        sf.sum("gave_up_count").alias("somebody gave up"),
        sf.round(sf.avg("unread_hours"), 1).alias("hours unread, of a group"),
    )
    return groups.groupBy(in_ranges(column, ranges).alias("range")).agg(*sums).orderBy("largest").drop("largest")


@rule({"era": TEXT, "ms": NUMBERS, "partition_count": NUMBERS}, remedy="see old_stretches and classic_stretches")
def by_length(stretches: DataFrame) -> DataFrame:
    """How many partition-hours nobody read, by era and by how long at a stretch.

    Parameters
    ----------
    stretches : DataFrame
        From `old_stretches` and `classic_stretches`.

    Returns
    -------
    DataFrame
        ``length`` (of `LENGTHS`, in this order), ``era``, ``stretch_count``, ``partition_hours``. What is kept is a row
        for each era and length.

    Raises
    ------
    KafkaLearnError
        If a column is missing or has another type.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = [("ZooKeeper", "a", 0, 90_000_000, 4), ("ZooKeeper", "a", 0, 84, 6), ("classic", "a", 0, 3_600_000, 2)]
    >>> schema = "era STRING, group_id STRING, at_ms INT, ms BIGINT, partition_count INT"
    >>> given = get_spark().createDataFrame(rows, schema)
    >>> [(row.length, row.era, row.partition_hours) for row in given.transform(by_length).collect()][1:]
    [('1 min to 1 h', 'classic', 2.0), ('more than a day', 'ZooKeeper', 100.0)]
    """
    hours = sf.sum(sf.col("ms") * sf.col("partition_count")) / HOUR_MS
    found = stretches.groupBy(in_ranges("ms", LENGTHS).alias("length"), "era")
    sums = (sf.max("ms").alias("longest"), sf.count("*").alias("stretch_count"), hours.alias("partition_hours"))
    return found.agg(*sums).orderBy("longest", "era").drop("longest")
