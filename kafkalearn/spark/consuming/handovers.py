"""Partitions that go to another member, from commits and assignments: what would a member's own offset be worth?

`kafkalearn.consuming.handovers` does the same for one run, event by event.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sf

from kafkalearn.arguments import iterable, text
from kafkalearn.assignor import Assignment
from kafkalearn.errors import KafkaLearnError
from kafkalearn.spark.columns.checks import require

PLACE = ["group_id", "topic", "partition"]
OWNER_SCHEMA = "group_id STRING, member_id STRING, topic STRING, partition INT, assigned_at TIMESTAMP"
_MOMENTS = ("timestamp", "int", "bigint")


def handovers(commits: DataFrame, owners: DataFrame) -> DataFrame:
    """Every partition that went to another member, if its group has committed something there.

    Parameters
    ----------
    commits : DataFrame
        ``group_id``, ``topic``, ``partition``, ``offset`` (the next one to read), ``committed_at``.
    owners : DataFrame
        ``group_id``, ``member_id``, ``topic``, ``partition``, ``assigned_at``, a row for each partition of each
        assignment; see `owners_over_time`. A commit at the same moment came before the assignment.

    Returns
    -------
    DataFrame
        ``group_id``, ``topic``, ``partition``, ``member_id`` (the new owner), ``assigned_at``; ``committed``, where it
        reads on; ``own``, what it has committed there itself, null if nothing; ``set_back``, the records that it would
        read again if it knew only its own offsets (with ``earliest``).

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> spark = get_spark()
    >>> commits = spark.createDataFrame(
    ...     [("billing", "orders", 0, 40, 2), ("billing", "orders", 0, 70, 4)],
    ...     "group_id string, topic string, partition int, offset bigint, committed_at int",
    ... )
    >>> owners = spark.createDataFrame(
    ...     [("billing", "b0", "orders", 0, 1), ("billing", "b1", "orders", 0, 3), ("billing", "b0", "orders", 0, 5)],
    ...     "group_id string, member_id string, topic string, partition int, assigned_at int",
    ... )
    >>> handovers(commits, owners).drop("group_id", "topic").orderBy("assigned_at").show()
    +---------+---------+-----------+---------+----+--------+
    |partition|member_id|assigned_at|committed| own|set_back|
    +---------+---------+-----------+---------+----+--------+
    |        0|       b1|          3|       40|NULL|      40|
    |        0|       b0|          5|       70|  40|      30|
    +---------+---------+-----------+---------+----+--------+
    """
    for df, moment, own in ((commits, "committed_at", "offset"), (owners, "assigned_at", "member_id")):
        for column, types in (("group_id", ("string",)), ("topic", ("string",)), ("partition", ("int", "bigint"))):
            require(df, column, types, "commits and assignments name group, topic and partition")
        require(df, own, ("string", "int", "bigint"), "commits have an offset, assignments a member_id")
        require(df, moment, _MOMENTS, "a moment, or a number that rises with time")
    committed_at = [*PLACE, sf.col("committed_at").alias("at"), sf.lit(None).cast("string").alias("new"), "offset"]
    assigned_at = [*PLACE, sf.col("assigned_at").alias("at"), sf.col("member_id").alias("new")]
    events = commits.select(*committed_at, sf.lit(0).alias("kind")).unionByName(
        owners.select(*assigned_at, sf.lit(None).cast("bigint").alias("offset"), sf.lit(1).alias("kind"))
    )
    so_far = Window.partitionBy(*PLACE).orderBy("at", "kind").rowsBetween(Window.unboundedPreceding, 0)
    earlier = so_far.rowsBetween(Window.unboundedPreceding, -1)
    owned = events.select(
        "*",
        _last("new").over(so_far).alias("member_id"),
        _last("new").over(earlier).alias("before"),
        _last("offset").over(so_far).alias("committed"),
    )
    by_member = Window.partitionBy(*PLACE, "member_id").orderBy("at", "kind")
    own = _last("offset").over(by_member.rowsBetween(Window.unboundedPreceding, 0)).alias("own")
    return (
        owned.select("*", own)
        .where("kind = 1 AND committed IS NOT NULL AND NOT before <=> member_id")
        .select(
            *PLACE,
            "member_id",
            sf.col("at").alias("assigned_at"),
            "committed",
            "own",
            (sf.col("committed") - sf.coalesce("own", sf.lit(0))).alias("set_back"),
        )
    )


def owners_over_time(
    spark: SparkSession, group_id: str, assignments: Iterable[tuple[datetime, Assignment]]
) -> DataFrame:
    """A group's assignments as rows for `handovers`: each with the moment from which it holds.

    Examples
    --------
    >>> from kafkalearn.assignor import Member, assign
    >>> from kafkalearn.spark.session import get_spark
    >>> at_nine = (datetime(2026, 1, 1, 9), assign("range", {"orders": 2}, [Member("b0", ["orders"])]))
    >>> owners_over_time(get_spark(), "billing", [at_nine]).show()
    +--------+---------+------+---------+-------------------+
    |group_id|member_id| topic|partition|        assigned_at|
    +--------+---------+------+---------+-------------------+
    | billing|       b0|orders|        0|2026-01-01 09:00:00|
    | billing|       b0|orders|        1|2026-01-01 09:00:00|
    +--------+---------+------+---------+-------------------+
    """
    text("group_id", group_id)
    rows = []
    for each in iterable("assignments", assignments, of="pairs of a moment and an Assignment"):
        match each:
            case (datetime() as moment, Assignment() as assignment):
                rows += [(group_id, row["member"], row["topic"], row["partition"], moment) for row in assignment.rows()]
            case _:
                raise KafkaLearnError(f"an assignment comes with its moment: (datetime, Assignment), got {each!r}")
    return spark.createDataFrame(rows, OWNER_SCHEMA)


def _last(column: str) -> Column:
    return sf.last(column, ignorenulls=True)
