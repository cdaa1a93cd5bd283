"""What happens to keys when a topic gets more partitions: who moves, and whose order breaks.

The partition of a key is a remainder, so another partition count sends most keys elsewhere. Records that were
written before stay where they are: a key that moves has its older records in one partition and its newer ones in
another, read by two consumers, and their order is gone.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from kafkalearn.arguments import whole_number
from kafkalearn.errors import KafkaLearnError
from kafkalearn.spark.partitioning.keyed import key_number


def moves_by_key(df: DataFrame, before: int, after: int, partitioner: str = "murmur2", key: str = "key") -> DataFrame:
    """One row for each key: how many records it has, its partition before and after, and whether it moves.

    Parameters
    ----------
    df : DataFrame
        Records with a key column as in `kafkalearn.spark.partitioning.keyed.with_partition`; null keys are left out.
    before, after : int
        The topic's partition counts, each at least 1.
    partitioner : str
        A name in `kafkalearn.partitioning.keyed.PARTITIONERS`.
    key : str
        The column of keys.

    Returns
    -------
    DataFrame
        ``key``, ``record_count``, ``partition_before``, ``partition_after``, ``moves``.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> records = get_spark().createDataFrame([("user-42",), ("user-42",), ("user-7",)], "key string")
    >>> records.transform(moves_by_key, 6, 7).orderBy("key").show()
    +-------+------------+----------------+---------------+-----+
    |    key|record_count|partition_before|partition_after|moves|
    +-------+------------+----------------+---------------+-----+
    |user-42|           2|               4|              1| true|
    | user-7|           1|               2|              2|false|
    +-------+------------+----------------+---------------+-----+
    """
    whole_number("before", before, at_least=1)
    whole_number("after", after, at_least=1)
    number = key_number(df, partitioner, key)
    keys = df.where(sf.col(key).isNotNull()).groupBy(key).agg(sf.count("*").alias("record_count"))
    return keys.select(
        key,
        "record_count",
        sf.pmod(number, sf.lit(before)).cast("int").alias("partition_before"),
        sf.pmod(number, sf.lit(after)).cast("int").alias("partition_after"),
    ).withColumn("moves", sf.col("partition_before") != sf.col("partition_after"))


def moved_share(moves: DataFrame) -> DataFrame:
    """One row that sums up `moves_by_key`: keys and records, and the shares of them that a move concerns.

    Returns
    -------
    DataFrame
        ``key_count``, ``moved_key_count``, ``moved_key_share``, and for the records of these keys
        ``record_count``, ``moved_record_count``, ``moved_record_share``: the records whose order against later
        ones of their key is no longer kept.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> records = get_spark().createDataFrame([("user-42",), ("user-42",), ("user-7",)], "key string")
    >>> moved_share(records.transform(moves_by_key, 6, 7)).first().asDict()
    {'key_count': 2, 'moved_key_count': 1, 'moved_key_share': 0.5,
     'record_count': 3, 'moved_record_count': 2, 'moved_record_share': 0.6666666666666666}
    """
    moved = sf.col("moves").cast("bigint")
    counts = moves.agg(
        sf.count("*").alias("key_count"),
        sf.coalesce(sf.sum(moved), sf.lit(0)).alias("moved_key_count"),
        sf.coalesce(sf.sum("record_count"), sf.lit(0)).alias("record_count"),
        sf.coalesce(sf.sum(moved * sf.col("record_count")), sf.lit(0)).alias("moved_record_count"),
    )
    return counts.select(
        "key_count",
        "moved_key_count",
        sf.try_divide("moved_key_count", "key_count").alias("moved_key_share"),
        "record_count",
        "moved_record_count",
        sf.try_divide("moved_record_count", "record_count").alias("moved_record_share"),
    )


def moved_share_by_count(
    df: DataFrame, partition_counts: Iterable[int], partitioner: str = "murmur2", key: str = "key"
) -> DataFrame:
    """For each partition count the share of keys that move when one partition is added, in one pass.

    Parameters
    ----------
    df : DataFrame
        As in `moves_by_key`; each distinct key counts once.
    partition_counts : iterable of int
        The counts before, each at least 1: ``range(1, 31)``.

    Returns
    -------
    DataFrame
        ``partition_count``, ``key_count``, ``moved_key_count``, ``moved_key_share``, by rising count. For a fair
        hash the share is near ``n / (n + 1)``: nearly all.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> from pyspark.sql import functions as sf
    >>> users = get_spark().range(1000).select(sf.concat(sf.lit("user-"), "id").alias("key"))
    >>> users.transform(moved_share_by_count, [1, 6, 50]).show()
    +---------------+---------+---------------+---------------+
    |partition_count|key_count|moved_key_count|moved_key_share|
    +---------------+---------+---------------+---------------+
    |              1|     1000|            507|          0.507|
    |              6|     1000|            860|           0.86|
    |             50|     1000|            983|          0.983|
    +---------------+---------+---------------+---------------+
    """
    counts = [whole_number("partition_count", count, at_least=1) for count in partition_counts]
    if not counts:
        raise KafkaLearnError("partition_counts is empty: name the partition counts before, for example range(1, 31)")
    number = key_number(df, partitioner, key).alias("number")
    numbers = df.where(sf.col(key).isNotNull()).select(key).distinct().select(number)
    n = sf.col("partition_count")
    moves = sf.pmod("number", n) != sf.pmod("number", n + 1)
    return (
        numbers.select("number", sf.explode(sf.array(*map(sf.lit, counts))).alias("partition_count"))
        .groupBy("partition_count")
        .agg(sf.count("*").alias("key_count"), sf.sum(moves.cast("bigint")).alias("moved_key_count"))
        .withColumn("moved_key_share", sf.col("moved_key_count") / sf.col("key_count"))
        .orderBy("partition_count")
    )
