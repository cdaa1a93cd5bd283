"""Each step of the incident of the offsets topic, measured over millions of raw records of it.

*Records* are those of ``__consumer_offsets``, with the columns of Spark's Kafka source
(`kafkalearn.spark.data.offsets_records`).
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from kafkalearn.log.state import RUNNING, UNCLEANABLE
from kafkalearn.operations.incident import BACK, BROKERS, FULL, GROWING, Stage, topic_stages
from kafkalearn.operations.placement import Placement
from kafkalearn.spark.columns.checks import require
from kafkalearn.spark.compaction import compact
from kafkalearn.spark.coordinator import with_offsets_partition

HEADER_BYTES = 7  # a record's own fields, about; batches and compression are left out


def sizes(records: DataFrame, has_cleaner: bool = True) -> DataFrame:
    """How large each partition is, cleaned or not: ``partition``, ``record_count``, ``size_bytes``.

    Not cleaned it is what the dead cleaner leaves; cleaned, one pass over all of it.

    Examples
    --------
    >>> from kafkalearn.spark.data.offsets_records import offsets_records
    >>> from kafkalearn.spark.session import get_spark
    >>> records = offsets_records(get_spark(), "small")
    >>> left, grown = (sizes(records, has).agg({"record_count": "sum"}).first()[0] for has in (True, False))
    >>> left < grown == 100_000
    True
    """
    for column in ("key", "value"):
        require(records, column, ("binary",), "records have the columns of Spark's Kafka source")
    kept = compact(records) if has_cleaner else records
    length = sf.coalesce(sf.length("key"), sf.lit(0)) + sf.coalesce(sf.length("value"), sf.lit(0)) + HEADER_BYTES
    return kept.groupBy("partition").agg(
        sf.count("*").alias("record_count"), sf.sum(length.cast("bigint")).alias("size_bytes")
    )


def without_coordinator(groups: DataFrame, placement: Placement, dead: Sequence[int]) -> DataFrame:
    """The groups that no broker coordinates when these brokers are dead, each with its partition.

    Parameters
    ----------
    groups : DataFrame
        A string column ``group_id``.
    placement : sequence of sequence of int
        The replicas of each partition of the offsets topic, all in sync.
    dead : sequence of int
        Ids of brokers.

    Returns
    -------
    DataFrame
        ``group_id``, ``offsets_partition``.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> groups = get_spark().createDataFrame([("billing",), ("shipping",)], "group_id string")
    >>> without_coordinator(groups, [(1,), (2,), (3,)] * 16 + [(1,), (2,)], dead=[3]).show()
    +--------+-----------------+
    |group_id|offsets_partition|
    +--------+-----------------+
    |shipping|                8|
    +--------+-----------------+
    """
    gone = [partition for partition, replicas in enumerate(placement) if {*replicas} <= {*dead}]
    placed = groups.select("group_id").transform(with_offsets_partition, partition_count=len(placement))
    return placed.where(sf.col("offsets_partition").isin(gone))


def measure(records: DataFrame, groups: DataFrame) -> tuple[Stage, ...]:
    """The seven stages of `kafkalearn.operations.incident`, measured: all partitions of the topic, and all groups.

    Parameters
    ----------
    records : DataFrame
        Raw records of the offsets topic, with the columns of Spark's Kafka source.
    groups : DataFrame
        A string column ``group_id``.

    Returns
    -------
    tuple of Stage
        `record_count` and `size_bytes` are those of one replica of the whole topic. *Healthy* is what a cleaner that
        never stopped would have left of the same records.

    Examples
    --------
    >>> from kafkalearn.spark.data.datasets import group_ids
    >>> from kafkalearn.spark.data.offsets_records import offsets_records
    >>> from kafkalearn.spark.session import get_spark
    >>> stages = measure(offsets_records(get_spark(), "small"), group_ids(get_spark(), "small"))
    >>> [stage.record_count for stage in stages if stage.name in ("disk full, broker dead", "broker back")]
    [100000, 100000]
    """
    total = [sf.sum("record_count"), sf.sum("size_bytes")]
    grown, cleaned = (tuple(sizes(records, has).agg(*total).first()) for has in (False, True))
    states = {GROWING: UNCLEANABLE, FULL: UNCLEANABLE}
    stages = []
    for name, topic in topic_stages().items():
        dead = [each for each in BROKERS if each not in topic.live]
        lost = groups.transform(without_coordinator, topic.replicas, dead=dead).count() if topic.leaderless else 0
        record_count, size_bytes = grown if name in (GROWING, FULL, BACK) else cleaned
        cleaner = states.get(name, RUNNING)
        stages.append(Stage(name, record_count, size_bytes, cleaner, len(topic.replicas[0]), lost))
    return tuple(stages)


def bytes_to_copy(of_partitions: DataFrame, before: Placement, after: Placement) -> DataFrame:
    """What a reassignment copies to each broker: ``broker``, ``partition_count``, ``size_bytes``.

    Parameters
    ----------
    of_partitions : DataFrame
        ``partition`` and ``size_bytes``, as `sizes` makes them.
    before, after : sequence of sequence of int
        The replicas of each partition.
    """
    added = [
        (partition, broker)
        for partition, (old, new) in enumerate(zip(before, after, strict=True))
        for broker in new
        if broker not in old
    ]
    spark = of_partitions.sparkSession
    copies = spark.createDataFrame(added, "partition INT, broker INT")
    return (
        copies.join(of_partitions, "partition")
        .groupBy("broker")
        .agg(sf.count("*").alias("partition_count"), sf.sum("size_bytes").alias("size_bytes"))
    )
