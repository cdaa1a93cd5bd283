"""Which fetcher of the old consumer, or of a follower, serves which partition, for whole columns.

The rule of `kafkalearn.zookeeper.fetching.fetcher_id`; the hash is Java's own function.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from kafkalearn.arguments import LARGEST_INT, whole_number
from kafkalearn.errors import KafkaLearnError
from kafkalearn.spark.columns.checks import refuse_overwrite, require
from kafkalearn.spark.coordinator import with_group_hash

_WHOLE = ("tinyint", "smallint", "int", "bigint")
_HASH = "_topic_hash"


def with_fetcher(
    df: DataFrame,
    num_consumer_fetchers: int = 1,
    topic: str = "topic",
    partition: str = "partition",
    output: str = "fetcher_id",
) -> DataFrame:
    """The same rows with the number of the fetcher that serves each row's partition.

    Parameters
    ----------
    df : DataFrame
        Partitions: the topic's name in a string column, the partition's number in a whole one; null gives null.
    num_consumer_fetchers : int
        ``num.consumer.fetchers``, or ``num.replica.fetchers`` of followers.
    topic, partition : str
        The columns.
    output : str
        The int column that is added.

    Returns
    -------
    DataFrame
        For ``df.transform(with_fetcher, 4)``. No Python runs on the workers.

    Raises
    ------
    KafkaLearnError
        If an argument or a column is not as described, or there is a column `output` already.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = get_spark().createDataFrame([("orders", 0), ("orders", 1), ("clicks", 0)], "topic string, partition int")
    >>> [row.fetcher_id for row in rows.transform(with_fetcher, 3).collect()]
    [2, 1, 0]

    References
    ----------
    Apache Kafka 0.8.2 to 4.3, ``AbstractFetcherManager.getFetcherId``.
    """
    whole_number("num_consumer_fetchers", num_consumer_fetchers, 1, LARGEST_INT)
    require(df, topic, ("string",), "a topic has a name")
    require(df, partition, _WHOLE, "a partition is a whole number")
    refuse_overwrite(df, output)
    hashed = with_group_hash(df, topic, _HASH)
    number = _kafka_abs(sf.col(_HASH).cast("bigint") * 31 + sf.col(partition)) % num_consumer_fetchers
    return hashed.withColumn(output, number.cast("int")).drop(_HASH)


def _kafka_abs(value: Column) -> Column:
    """The absolute value of the lowest 32 bits as a Java int has it; 0 for -2**31, which has none."""
    as_int = sf.shiftright(sf.shiftleft(value, 32), 32)  # up and down: the 32nd bit becomes the sign
    return sf.abs(as_int).bitwiseAND(0x7FFFFFFF)


def fetcher_loads(df: DataFrame, load: str, leader: str = "leader", fetcher: str = "fetcher_id") -> DataFrame:
    """How much each fetcher thread has to do, the busiest first.

    Parameters
    ----------
    df : DataFrame
        Partitions, with the fetcher that `with_fetcher` adds.
    load : str
        A column of numbers: bytes a second, or how many.
    leader, fetcher : str
        The columns of the leading broker and of the fetcher; a partition without a leader (null) has no fetcher.

    Returns
    -------
    DataFrame
        ``leader``, ``fetcher_id``, ``partition_count``, ``load``, and ``share``: how much of its broker's load.

    Raises
    ------
    KafkaLearnError
        If a column is missing or of another type.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = [("orders", 0, 1, 30.0), ("orders", 1, 1, 10.0), ("clicks", 0, 1, 60.0), ("mail", 0, None, 5.0)]
    >>> given = get_spark().createDataFrame(rows, "topic string, partition int, leader int, bytes double")
    >>> given.transform(with_fetcher, 2).transform(fetcher_loads, "bytes").show()
    +------+----------+---------------+----+-----+
    |leader|fetcher_id|partition_count|load|share|
    +------+----------+---------------+----+-----+
    |     1|         1|              2|90.0|  0.9|
    |     1|         0|              1|10.0|  0.1|
    +------+----------+---------------+----+-----+
    """
    require(df, load, (*_WHOLE, "float", "double"), "a load is a number")
    require(df, leader, _WHOLE, "a broker has a number")
    require(df, fetcher, _WHOLE, "take the column that with_fetcher adds")
    if len({leader.lower(), fetcher.lower(), load.lower()}) < 3:
        raise KafkaLearnError(f"leader, fetcher and load are three columns, got {leader!r}, {fetcher!r} and {load!r}")
    threads = (
        df.where(sf.col(leader).isNotNull())
        .groupBy(sf.col(leader).alias("leader"), sf.col(fetcher).alias("fetcher_id"))
        .agg(sf.count("*").alias("partition_count"), sf.sum(load).alias("load"))
    )
    of_broker = threads.groupBy("leader").agg(sf.sum("load").alias("of_broker"))
    with_share = threads.join(sf.broadcast(of_broker), "leader").withColumn("share", sf.try_divide("load", "of_broker"))
    return with_share.drop("of_broker").orderBy(sf.desc("load"), "leader", "fetcher_id")
