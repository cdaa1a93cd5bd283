"""The same commits as writes to ZooKeeper and as requests to the offsets topic, second by second, and who falls behind.

The rule of `kafkalearn.zookeeper.commits.load`: a node is written for each partition whose offset has changed since the
consumer's last commit; a request takes all partitions that the consumer commits at one moment, changed or not.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sf

from kafkalearn.arguments import whole_number
from kafkalearn.spark.columns.checks import require
from kafkalearn.spark.data.datasets import SEED
from kafkalearn.spark.data.zipf import hash_of

_WHOLE = ("tinyint", "smallint", "int", "bigint")
_COLUMNS = (("group_id", ("string", *_WHOLE)), ("partition", _WHOLE), ("offset", _WHOLE), ("committed_ms", _WHOLE))


def offset_commits(
    spark: SparkSession,
    group_count: int,
    partition_count: int,
    commit_count: int,
    interval_ms: int = 10_000,
    idle_percent: int = 50,
    seed: int = SEED,
) -> DataFrame:
    """Commits of groups that all commit at the same interval, each from a moment of its own on.

    Parameters
    ----------
    spark : SparkSession
        Where the rows are made.
    group_count, partition_count : int
        Groups of one consumer each, which owns so many partitions.
    commit_count : int
        Commits of each consumer; there are as many rows as the three numbers multiplied.
    interval_ms : int
        ``auto.commit.interval.ms``, at least 1.
    idle_percent : int
        How many of 100 partitions get no record between two commits.
    seed : int
        Another one, other commits.

    Returns
    -------
    DataFrame
        ``group_id``, ``partition``, ``offset``, ``committed_ms``; the same rows in every run.

    Raises
    ------
    KafkaLearnError
        If a number is none, or out of its bounds.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> offset_commits(get_spark(), 20, 5, 10).count()
    1000
    """
    groups = whole_number("group_count", group_count, at_least=1)
    partitions = whole_number("partition_count", partition_count, at_least=1)
    rounds = whole_number("commit_count", commit_count, at_least=1)
    whole_number("interval_ms", interval_ms, at_least=1)
    whole_number("idle_percent", idle_percent, at_least=0, at_most=100)
    number = sf.col("id")
    group = sf.floor(number / (partitions * rounds)).cast("int")
    partition = (sf.floor(number / rounds) % partitions).cast("int")
    turn = (number % rounds).cast("int")
    is_idle = sf.pmod(hash_of(seed, "idle", number), sf.lit(100)) < idle_percent
    moved = sf.when(is_idle, 0).otherwise(1 + sf.pmod(hash_of(seed, "moved", number), sf.lit(100)))
    begin = sf.pmod(hash_of(seed, "begin", group), sf.lit(interval_ms))
    of_partition = Window.partitionBy("group_id", "partition").orderBy("committed_ms")
    return (
        spark.range(groups * partitions * rounds)
        .select(
            group.alias("group_id"),
            partition.alias("partition"),
            (begin + turn * sf.lit(interval_ms)).cast("bigint").alias("committed_ms"),
            moved.cast("bigint").alias("moved"),
        )
        .select("group_id", "partition", sf.sum("moved").over(of_partition).alias("offset"), "committed_ms")
    )


def writes_per_second(df: DataFrame) -> DataFrame:
    """What each store has to write in each second.

    Parameters
    ----------
    df : DataFrame
        Commits: ``group_id``, ``partition``, ``offset``, ``committed_ms``. What a consumer commits at one moment is one
        request; a group's first commit of a partition is a change.

    Returns
    -------
    DataFrame
        ``second``, without gaps from the first to the last; ``znode_writes``, ``requests``, ``records`` (of the topic).
        No Python runs on the workers.

    Raises
    ------
    KafkaLearnError
        If a column is missing or of another type.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = [("billing", 0, 5, 100), ("billing", 1, 7, 100), ("billing", 0, 5, 2100), ("billing", 1, 9, 2100)]
    >>> given = get_spark().createDataFrame(rows, "group_id string, partition int, offset int, committed_ms int")
    >>> given.transform(writes_per_second).show()
    +------+------------+--------+-------+
    |second|znode_writes|requests|records|
    +------+------------+--------+-------+
    |     0|           2|       1|      2|
    |     1|           0|       0|      0|
    |     2|           1|       1|      2|
    +------+------------+--------+-------+
    """
    for column, types in _COLUMNS:
        require(df, column, types, "group ids are text or numbers, all else whole numbers; times in milliseconds")
    of_partition = Window.partitionBy("group_id", "partition").orderBy("committed_ms")
    before = sf.lag("offset").over(of_partition)
    is_changed = before.isNull() | (before != sf.col("offset"))
    requests = (
        df.select("group_id", "committed_ms", is_changed.cast("int").alias("is_changed"))
        .groupBy("group_id", "committed_ms")
        .agg(sf.sum("is_changed").alias("znode_writes"), sf.count("*").alias("records"))
    )
    seconds = requests.groupBy(sf.floor(sf.col("committed_ms") / 1000).cast("bigint").alias("second")).agg(
        sf.sum("znode_writes").alias("znode_writes"),
        sf.count("*").alias("requests"),
        sf.sum("records").alias("records"),
    )
    span = seconds.agg(sf.min("second").alias("first"), sf.max("second").alias("last")).where("first IS NOT NULL")
    every = span.select(sf.explode(sf.sequence("first", "last")).alias("second"))
    counts = [sf.coalesce(name, sf.lit(0)).alias(name) for name in ("znode_writes", "requests", "records")]
    return every.join(seconds, "second", "left").select("second", *counts).orderBy("second")


def with_backlog(df: DataFrame, asked: str, done_per_second: int, output: str = "backlog") -> DataFrame:
    """The same seconds with how many writes wait at the end of each, when a store gets so many done.

    Parameters
    ----------
    df : DataFrame
        ``second``, without gaps, and how many writes come in it: what `writes_per_second` returns.
    asked : str
        The column of writes: ``"znode_writes"`` or ``"requests"``.
    done_per_second : int
        What the store gets done, as `kafkalearn.zookeeper.commits.load.Costs` has it.
    output : str
        The column that is added.

    Raises
    ------
    KafkaLearnError
        If a column is missing or of another type, or the number is none.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> given = get_spark().createDataFrame([(0, 10), (1, 50), (2, 0), (3, 10)], "second int, requests int")
    >>> [row.backlog for row in given.transform(with_backlog, "requests", 20).collect()]
    [0, 30, 10, 0]
    """
    require(df, "second", _WHOLE, "a second is a whole number")
    require(df, asked, _WHOLE, "writes are counted")
    whole_number("done_per_second", done_per_second, at_least=1)
    so_far = Window.orderBy("second").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    ahead = sf.sum(sf.col(asked) - done_per_second).over(so_far)
    return df.withColumn("_ahead", ahead).withColumn(output, _above_lowest(so_far)).drop("_ahead")


def _above_lowest(so_far: Window) -> Column:
    """What waits: how far what came, less what was done, stands above its lowest point so far, or above 0 if lower."""
    return (sf.col("_ahead") - sf.least(sf.lit(0), sf.min("_ahead").over(so_far))).cast("bigint")
