"""The lag of consumer groups, from records and from what the groups have committed.

*Records* have the columns of Spark's Kafka source. *Commits* are rows ``group_id``, ``topic``, ``partition``,
``offset`` (the next one to read), ``committed_at``: as many as there were; the last of each partition counts.
*Owners* are rows ``group_id``, ``member_id``, ``topic``, ``partition``. All is Spark's own expressions, no Python
runs on the workers.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sf

from kafkalearn.arguments import whole_number
from kafkalearn.assignor import Assignment
from kafkalearn.errors import KafkaLearnError
from kafkalearn.spark.columns.checks import require

NUMBERS = ("int", "bigint")
OWNER_SCHEMA = "group_id STRING, member_id STRING, topic STRING, partition INT"
PLACE = ["topic", "partition"]


def log_ends(records: DataFrame) -> DataFrame:
    """The log end of each partition: ``topic``, ``partition``, ``log_end``, one more than the largest offset.

    A partition without records is not in it; nor does a log lose its end when old records are deleted, but for the time
    in which it is quite empty.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = [("orders", 0, 0), ("orders", 0, 1), ("orders", 2, 0)]
    >>> records = get_spark().createDataFrame(rows, "topic string, partition int, offset bigint")
    >>> records.transform(log_ends).orderBy("partition").show()
    +------+---------+-------+
    | topic|partition|log_end|
    +------+---------+-------+
    |orders|        0|      2|
    |orders|        2|      1|
    +------+---------+-------+
    """
    _require_place(records, "offset")
    return records.groupBy(*PLACE).agg((sf.max("offset") + 1).alias("log_end"))


def last_commits(commits: DataFrame) -> DataFrame:
    """What counts of all commits: of each group and partition the last one, ``committed``.

    Of several at the same moment the largest offset counts. An offset that went back (somebody reset it) counts as the
    last one does: commits are not compared with earlier ones, by Kafka neither.
    """
    _require_commits(commits)
    last = sf.max_by("offset", sf.struct("committed_at", "offset"))
    return commits.groupBy("group_id", *PLACE).agg(last.alias("committed"))


def lag_by_partition(records: DataFrame, commits: DataFrame, owners: DataFrame | None = None) -> DataFrame:
    """The lag of every group in every partition in which it has committed something.

    Parameters
    ----------
    records : DataFrame
        ``topic``, ``partition``, ``offset``.
    commits : DataFrame
        ``group_id``, ``topic``, ``partition``, ``offset``, ``committed_at``.
    owners : DataFrame, optional
        As `owners_of` makes them; then there is a column ``member_id``, null where nobody owns the partition.

    Returns
    -------
    DataFrame
        ``group_id``, ``topic``, ``partition``, ``committed``, ``log_end``, ``lag`` (negative where a group committed
        past the end) and, with `owners`, ``member_id``.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> spark = get_spark()
    >>> records = spark.range(10).selectExpr("'orders' AS topic", "0 AS partition", "id AS offset")
    >>> commits = spark.createDataFrame(
    ...     [("billing", "orders", 0, 3, 1), ("billing", "orders", 0, 8, 2)],
    ...     "group_id string, topic string, partition int, offset bigint, committed_at int",
    ... )
    >>> lag_by_partition(records, commits).show()
    +--------+------+---------+---------+-------+---+
    |group_id| topic|partition|committed|log_end|lag|
    +--------+------+---------+---------+-------+---+
    | billing|orders|        0|        8|     10|  2|
    +--------+------+---------+---------+-------+---+

    References
    ----------
    Apache Kafka, ``ConsumerGroupCommand``: the column ``LAG``.
    """
    ends = sf.broadcast(log_ends(records))  # a row for each partition: small, however many records there are
    lag = sf.coalesce("log_end", sf.lit(0)) - sf.col("committed")
    found = (
        last_commits(commits)
        .join(ends, PLACE, "left")
        .select("group_id", *PLACE, "committed", sf.coalesce("log_end", sf.lit(0)).alias("log_end"), lag.alias("lag"))
    )
    if owners is None:
        return found
    for column in ("group_id", "member_id", *PLACE):
        require(owners, column, ("string", "int"), "see kafkalearn.spark.lag.owners_of")
    return found.join(sf.broadcast(owners), ["group_id", *PLACE], "left").select(*found.columns, "member_id")


def lag_by_member(lag: DataFrame) -> DataFrame:
    """Of `lag_by_partition` with owners a row for each member: ``partition_count``, ``lag``, ``largest_lag``."""
    require(lag, "member_id", ("string",), "give lag_by_partition the owners")
    return lag.groupBy("group_id", "member_id").agg(
        sf.count("*").alias("partition_count"), sf.sum("lag").alias("lag"), sf.max("lag").alias("largest_lag")
    )


def lag_by_group(lag: DataFrame) -> DataFrame:
    """Of `lag_by_partition` a row for each group: ``partition_count``, ``lag``, ``largest_lag``."""
    require(lag, "lag", NUMBERS, "give what lag_by_partition returns")
    return lag.groupBy("group_id").agg(
        sf.count("*").alias("partition_count"), sf.sum("lag").alias("lag"), sf.max("lag").alias("largest_lag")
    )


def lag_over_time(records: DataFrame, commits: DataFrame, interval_ms: int = 3_600_000) -> DataFrame:
    """The lag of each group at the end of every interval in which something was written or committed.

    Parameters
    ----------
    records : DataFrame
        ``topic``, ``partition``, ``offset``, ``timestamp``.
    commits : DataFrame
        As in `lag_by_partition`, ``committed_at`` a timestamp.
    interval_ms : int
        Length of the intervals, at least 1; an hour.

    Returns
    -------
    DataFrame
        ``group_id``, ``until`` (the end of the interval), ``lag`` over all partitions. A partition in which the group
        has not committed yet counts with all its records.
    """
    _require_place(records, "offset")
    require(records, "timestamp", ("timestamp",), "as Spark's Kafka source has it")
    _require_commits(commits)
    require(commits, "committed_at", ("timestamp",), "lag over time needs a moment for each commit")
    whole_number("interval_ms", interval_ms, at_least=1)

    def until(moment: str) -> Column:
        return ((sf.floor(sf.unix_millis(moment) / interval_ms) + 1) * interval_ms).alias("until_ms")

    written = records.groupBy(*PLACE, until("timestamp")).agg((sf.max("offset") + 1).alias("log_end"))
    last = sf.max_by("offset", sf.struct("committed_at", "offset")).alias("committed")
    committed = commits.groupBy("group_id", *PLACE, until("committed_at")).agg(last)
    # Both are small now, a row for each partition and interval. What they add to a group's lag, summed up over time:
    earlier = Window.partitionBy(*PLACE).orderBy("until_ms").rowsBetween(Window.unboundedPreceding, -1)
    grown = sf.greatest(sf.col("log_end") - sf.coalesce(sf.max("log_end").over(earlier), sf.lit(0)), sf.lit(0))
    one_before = Window.partitionBy("group_id", *PLACE).orderBy("until_ms")
    read = sf.col("committed") - sf.coalesce(sf.lag("committed").over(one_before), sf.lit(0))
    changes = (
        written.select("until_ms", grown.alias("change"))
        .crossJoin(commits.select("group_id").distinct())
        .unionByName(committed.select("group_id", "until_ms", (-read).alias("change")))
        .groupBy("group_id", "until_ms")
        .agg(sf.sum("change").alias("change"))
    )
    so_far = Window.partitionBy("group_id").orderBy("until_ms")
    until_moment = sf.timestamp_millis(sf.col("until_ms").cast("bigint")).alias("until")
    return changes.select("group_id", until_moment, sf.sum("change").over(so_far).alias("lag"))


def owners_of(spark: SparkSession, assignments: Mapping[str, Assignment]) -> DataFrame:
    """Who owns what, as rows: from the assignment of each group.

    >>> from kafkalearn.assignor import Member, assign
    >>> from kafkalearn.spark.session import get_spark
    >>> billing = assign("range", {"orders": 2}, [Member("b0", ["orders"])])
    >>> owners_of(get_spark(), {"billing": billing}).show()
    +--------+---------+------+---------+
    |group_id|member_id| topic|partition|
    +--------+---------+------+---------+
    | billing|       b0|orders|        0|
    | billing|       b0|orders|        1|
    +--------+---------+------+---------+
    """
    if not isinstance(assignments, Mapping) or not all(isinstance(each, Assignment) for each in assignments.values()):
        raise KafkaLearnError(f"assignments must map each group id to its Assignment, got {assignments!r}")
    rows = [
        (group_id, each["member"], each["topic"], each["partition"])
        for group_id, assignment in assignments.items()
        for each in assignment.rows()
    ]
    return spark.createDataFrame(rows, OWNER_SCHEMA)


def _require_place(df: DataFrame, *numbers: str) -> None:
    require(df, "topic", ("string",), "records have the columns of Spark's Kafka source")
    for column in ("partition", *numbers):
        require(df, column, NUMBERS, "records have the columns of Spark's Kafka source")


def _require_commits(commits: DataFrame) -> None:
    require(commits, "group_id", ("string",), "commits are rows group_id, topic, partition, offset, committed_at")
    _require_place(commits, "offset")
    require(commits, "committed_at", (*NUMBERS, "timestamp"), "a moment, or a number that rises with time")
