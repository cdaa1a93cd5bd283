"""Group id -> partition of ``__consumer_offsets`` -> coordinating broker, for whole columns.

The rule of `kafkalearn.coordinator`, with the real Java function: ``java.util.Objects.hashCode`` of a text is its
``String.hashCode``. Spark's integers and its ``%`` are Java's too; only overflow is an error in Spark 4 (ANSI mode),
so what Java lets wrap is written here in 64 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import lcm
from types import MappingProxyType

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from kafkalearn.base.checks import LARGEST_INT, one_of, sequence, whole_number
from kafkalearn.coordinator.leaders import OFFSETS_PARTITION_COUNT, leaders_of
from kafkalearn.spark.columns import NUMBERS, TEXT, rule, static_call


def _kafka_abs(group_hash: Column) -> Column:
    # Only -2**31 has a 64-bit absolute value with the 32nd bit set; without that bit it is 0, Kafka's answer.
    return sf.abs(group_hash).bitwiseAND(0x7FFFFFFF)


def _java_abs(group_hash: Column) -> Column:
    # Up and down by 32 bits: what the 64-bit absolute value is as a Java int, so -2**31 for itself.
    return sf.shiftright(sf.shiftleft(sf.abs(group_hash), 32), 32)


FORMULAS: MappingProxyType[str, Callable[[Column, int], Column]] = MappingProxyType(
    {
        "kafka": lambda group_hash, partition_count: _kafka_abs(group_hash) % partition_count,
        "Math.abs(h) % n": lambda group_hash, partition_count: _java_abs(group_hash) % partition_count,
        "Math.abs(h % n)": lambda group_hash, partition_count: sf.abs(group_hash % partition_count),
        "(h & 0x7fffffff) % n": lambda group_hash, partition_count: group_hash.bitwiseAND(0x7FFFFFFF) % partition_count,
    }
)
"""`kafkalearn.coordinator.FORMULAS` as expressions over the hash, a signed int held in 64 bits."""


_GROUP, _IS_TEXT = {"{group}": TEXT}, "a group id is text: cast it"


@rule(_GROUP, remedy=_IS_TEXT, adds=("{output}",))
def with_offsets_partition(
    df: DataFrame,
    partition_count: int = OFFSETS_PARTITION_COUNT,
    group: str = "group_id",
    output: str = "offsets_partition",
    formula: str = "kafka",
) -> DataFrame:
    """The same rows with the partition of ``__consumer_offsets`` that holds each row's group.

    Parameters
    ----------
    df : DataFrame
        Has the group id in a string column; null gives null.
    partition_count : int
        Partitions of the offsets topic, at least 1.
    group : str
        The column of group ids.
    output : str
        The int column that is added.
    formula : str
        A name in `FORMULAS`. Only ``"kafka"`` is what brokers do.

    Returns
    -------
    DataFrame
        For ``df.transform(with_offsets_partition, 50)``. No Python runs on the workers. Row by row: nothing is kept.

    Raises
    ------
    KafkaLearnError
        If an argument or a column is not as described, or there is a column `output` already.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> groups = get_spark().createDataFrame([("test-group",), ("console-consumer-77682",), (None,)], "group_id string")
    >>> groups.transform(with_offsets_partition).show()
    +--------------------+-----------------+
    |            group_id|offsets_partition|
    +--------------------+-----------------+
    |          test-group|               12|
    |console-consumer-...|               41|
    |                NULL|             NULL|
    +--------------------+-----------------+

    References
    ----------
    Apache Kafka 0.8.2 to 4.3, ``GroupCoordinatorService.partitionFor``.
    """
    whole_number("partition_count", partition_count, 1, LARGEST_INT)
    place = FORMULAS[one_of("formula", formula, FORMULAS)]
    partition = place(hash_of_group(df, sf.col(group)).cast("bigint"), partition_count)
    return df.withColumn(output, partition.cast("int"))


@rule(_GROUP, remedy=_IS_TEXT, adds=("{output}",))
def with_group_hash(df: DataFrame, group: str = "group_id", output: str = "group_hash") -> DataFrame:
    """The same rows with the signed ``String.hashCode()`` of each group id, an int column.

    Row by row: nothing is kept.

    >>> from kafkalearn.spark.session import get_spark
    >>> groups = get_spark().createDataFrame([("test-group",)], "group_id string")
    >>> groups.transform(with_group_hash).first().group_hash
    627841412
    """
    return df.withColumn(output, hash_of_group(df, sf.col(group)))


@rule(_GROUP, remedy=_IS_TEXT, adds=("{output}",))
def with_coordinator(
    df: DataFrame,
    leaders: Sequence[int | None] | None = None,
    group: str = "group_id",
    output: str = "broker_id",
    *,
    partition_count: int | None = None,
    brokers: Sequence[int] | int | None = None,
    describe: str | None = None,
) -> DataFrame:
    """The same rows with the broker that coordinates each row's group.

    Row by row: nothing is kept.

    Parameters
    ----------
    df : DataFrame
        Has the group id in a string column; null gives null.
    leaders, partition_count, brokers, describe
        As in `kafkalearn.coordinator.find_coordinator`: the leader of each partition of the offsets topic, or the
        brokers of an undisturbed cluster, or the text of ``kafka-topics.sh --describe``.
    group : str
        The column of group ids.
    output : str
        The int column that is added; null where Kafka answers COORDINATOR_NOT_AVAILABLE.

    Raises
    ------
    KafkaLearnError
        As `with_offsets_partition` and `kafkalearn.coordinator.find_coordinator`.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> groups = get_spark().createDataFrame([("billing",), ("shipping",)], "group_id string")
    >>> groups.transform(with_coordinator, brokers=[1, 2, 3]).show()
    +--------+---------+
    |group_id|broker_id|
    +--------+---------+
    | billing|        1|
    |shipping|        3|
    +--------+---------+
    """
    leaders = leaders_of(leaders, partition_count, brokers=brokers, describe=describe)
    partition = FORMULAS["kafka"](hash_of_group(df, sf.col(group)).cast("bigint"), len(leaders))
    broker_ids = sf.array(*(sf.lit(leader).cast("int") for leader in leaders))
    return df.withColumn(output, sf.get(broker_ids, partition.cast("int")))


@rule(
    {"{cluster}": (*TEXT, *NUMBERS), "{load}": ("double", *NUMBERS), "{partition}": NUMBERS},
    remedy="clusters have a name or a number, a load is a number, a partition a whole one",
)
def busiest_broker_shares(
    df: DataFrame,
    broker_counts: Sequence[int],
    *,
    cluster: str = "cluster",
    load: str = "load",
    partition: str = "offsets_partition",
) -> DataFrame:
    """How much of the work of its cluster the busiest coordinator has, by the number of brokers.

    Parameters
    ----------
    df : DataFrame
        Groups with the cluster, a number or text, the load, a number of at least 0, and the partition, as
        `with_offsets_partition` adds it. Each cluster has work.
    broker_counts : sequence of int
        Sizes of clusters to be tried. Partition p is led by broker p modulo the size, as on an undisturbed cluster.
    cluster, load, partition : str
        The columns.

    Returns
    -------
    DataFrame
        A row for each size: ``brokers``, and over all clusters the ``average`` share of the busiest broker and that of
        the unluckiest ``one_in_twenty``. `df` is read once. No Python runs on the workers. Nothing is kept whole: a
        cluster and leader take a row in one worker, on disk if need be; but the different shares of all clusters are in
        one task's memory.

    Raises
    ------
    KafkaLearnError
        If a column is missing or of another type, or a size is not a number of brokers.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> groups = get_spark().createDataFrame(
    ...     [("a", 0, 3.0), ("a", 1, 1.0), ("b", 5, 2.0)], "cluster string, offsets_partition int, load double"
    ... )
    >>> groups.transform(busiest_broker_shares, [1, 2]).show()
    +-------+-------+-------------+
    |brokers|average|one_in_twenty|
    +-------+-------+-------------+
    |      1|    1.0|          1.0|
    |      2|  0.875|       0.9875|
    +-------+-------+-------------+

    """
    counts = [
        whole_number("a number of brokers", each, 1, LARGEST_INT) for each in sequence("broker_counts", broker_counts)
    ]
    of_cluster, work = sf.col(cluster).alias("cluster"), sf.sum(load).alias("work")
    # Partitions that are equal by the least common multiple of all sizes have the same leader by each of them.
    merged = df.groupBy(of_cluster, (sf.col(partition) % lcm(*counts)).alias("leader")).agg(work)
    sizes = merged.select("*", sf.explode(sf.array(*map(sf.lit, counts))).alias("brokers"))
    by_broker = sizes.groupBy("brokers", "cluster", (sf.col("leader") % sf.col("brokers")).alias("broker"))
    by_cluster = by_broker.agg(sf.sum("work").alias("work")).groupBy("brokers", "cluster")
    of_size = by_cluster.agg((sf.max("work") / sf.sum("work")).alias("share")).groupBy("brokers")
    shares = of_size.agg(sf.avg("share").alias("average"), sf.percentile("share", 0.95).alias("one_in_twenty"))
    return shares.orderBy("brokers")


def hash_of_group(df: DataFrame, group_id: Column) -> Column:
    """The ``String.hashCode()`` of a column of texts, int; `df` are the rows it is meant for, as for `static_call`."""
    text = static_call(df, "java.lang.String", "valueOf", "java.lang.String", group_id)
    group_hash = static_call(df, "java.util.Objects", "hashCode", "int", text)
    if group_hash is not None:
        return group_hash
    # The public way to the same function; it would hash null to 0.
    by_reflection = sf.reflect(sf.lit("java.util.Objects"), sf.lit("hashCode"), group_id)
    return sf.when(group_id.isNotNull(), by_reflection.cast("int"))
