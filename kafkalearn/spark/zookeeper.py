"""Old consumers over whole columns: their fetchers, and their commits to both stores.

*Fetchers*: which one of the old consumer, or of a follower, serves which partition, by the rule of
`kafkalearn.zookeeper.fetching.fetcher_id`; the hash is Java's own function.

*Commits*: the same ones as writes to ZooKeeper and as requests to the offsets topic, second by second, and who falls
behind, by the rule of `kafkalearn.zookeeper.commits.simulator`. A node is written for each partition whose offset has
changed since the consumer's last commit; a request takes all partitions that the consumer commits at one moment,
changed or not.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sf

from kafkalearn.base.checks import LARGEST_INT, whole_number
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.spark.columns import TEXT, WHOLE_NUMBERS, rule
from kafkalearn.spark.coordinator import with_group_hash
from kafkalearn.spark.data.datasets import SEED
from kafkalearn.spark.data.generate import hash_of

_HASH = "_topic_hash"


@rule(
    {"{topic}": TEXT, "{partition}": WHOLE_NUMBERS},
    remedy="a topic has a name, a partition is a whole number",
    adds=("{output}",),
)
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
        For ``df.transform(with_fetcher, 4)``. No Python runs on the workers. Row by row: nothing is kept.

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
    hashed = with_group_hash(df, topic, _HASH)
    number = _kafka_abs(sf.col(_HASH).cast("bigint") * 31 + sf.col(partition)) % num_consumer_fetchers
    return hashed.withColumn(output, number.cast("int")).drop(_HASH)


def _kafka_abs(value: Column) -> Column:
    """The absolute value of the lowest 32 bits as a Java int has it; 0 for -2**31, which has none."""
    as_int = sf.shiftright(sf.shiftleft(value, 32), 32)  # up and down: the 32nd bit becomes the sign
    return sf.abs(as_int).bitwiseAND(0x7FFFFFFF)


@rule(
    {"{load}": (*WHOLE_NUMBERS, "float", "double"), "{leader}": WHOLE_NUMBERS, "{fetcher}": WHOLE_NUMBERS},
    remedy="brokers and fetchers have numbers, a load is one; take the column that with_fetcher adds",
)
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
        ``leader``, ``fetcher_id``, ``partition_count``, ``load``, and ``share``: how much of its broker's load. What is
        kept is a row for each fetcher; one for each broker goes to every worker.

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


@rule(
    {"group_id": (*TEXT, *WHOLE_NUMBERS), **dict.fromkeys(("partition", "offset", "committed_ms"), WHOLE_NUMBERS)},
    remedy="group ids are text or numbers, all else whole numbers; times in milliseconds",
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
        No Python runs on the workers. Nothing is kept whole: a request takes about 120 bytes in one worker, and one has
        the commits of a group and partition in order, about 90 each, on disk if need be.

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


@rule({"second": WHOLE_NUMBERS, "{asked}": WHOLE_NUMBERS}, remedy="seconds and writes are whole numbers")
def with_backlog(df: DataFrame, asked: str, done_per_second: int, output: str = "backlog") -> DataFrame:
    """The same seconds with how many writes wait at the end of each, when a store gets so many done.

    Parameters
    ----------
    df : DataFrame
        ``second``, without gaps, and how many writes come in it: what `writes_per_second` returns. One task reads them
        all, in order: a row of some 50 bytes each second, so a year is 32 million; what does not fit goes to its disk.
    asked : str
        The column of writes: ``"znode_writes"`` or ``"requests"``.
    done_per_second : int
        What the store gets done, as `kafkalearn.zookeeper.commits.simulator.Costs` has it.
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
    whole_number("done_per_second", done_per_second, at_least=1)
    so_far = Window.orderBy("second").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    ahead = sf.sum(sf.col(asked) - done_per_second).over(so_far)
    # What waits is how far what came, less what was done, stands above its lowest point so far, or above 0 if lower.
    waits = sf.col("_ahead") - sf.least(sf.lit(0), sf.min("_ahead").over(so_far))
    return df.withColumn("_ahead", ahead).withColumn(output, waits.cast("bigint")).drop("_ahead")
