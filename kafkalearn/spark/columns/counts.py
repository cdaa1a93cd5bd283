"""Rows of each partition, as `kafkalearn.partitioning.skew` wants them: the empty partitions too."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from kafkalearn.arguments import whole_number
from kafkalearn.errors import KafkaLearnError
from kafkalearn.spark.columns.checks import require

WHOLE_NUMBERS = ("tinyint", "smallint", "int", "bigint")


def counts_by_partition(df: DataFrame, partition_count: int, partition: str = "partition") -> tuple[int, ...]:
    """How many rows each partition has; runs the query.

    Parameters
    ----------
    df : DataFrame
        Has a column of partition ids.
    partition_count : int
        Partitions of the topic, at least 1: a partition without rows has its 0 in the result.
    partition : str
        The column; rows where it is null (no key, no group) are not counted.

    Returns
    -------
    tuple of int
        ``counts[p]`` is the number of rows of partition ``p``; its length is `partition_count`.

    Raises
    ------
    KafkaLearnError
        If the column is missing or no whole number, or holds an id outside ``[0, partition_count)``.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> records = get_spark().createDataFrame([(0,), (2,), (2,), (None,)], "partition int")
    >>> counts_by_partition(records, 4)
    (1, 0, 2, 0)
    """
    whole_number("partition_count", partition_count, at_least=1)
    require(df, partition, WHOLE_NUMBERS, "a partition id is a whole number")
    grouped = df.groupBy(sf.col(partition).alias("id")).agg(sf.count("*").alias("count"))
    counts = {row["id"]: row["count"] for row in grouped.collect() if row["id"] is not None}
    outside = sorted(counts.keys() - set(range(partition_count)))
    if outside:
        raise KafkaLearnError(
            f"column {partition!r} holds ids outside 0 to {partition_count - 1}, the first is {outside[0]}; "
            "was partition_count another when it was computed?"
        )
    return tuple(counts.get(id_, 0) for id_ in range(partition_count))
