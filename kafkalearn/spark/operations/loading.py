"""What the load of each partition of the offsets topic reads and keeps, before and after cleaning, by the million.

*Records* are those of ``__consumer_offsets``, with the columns of Spark's Kafka source
(`kafkalearn.spark.data.offsets_records`).
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from kafkalearn.arguments import sequence, whole_number
from kafkalearn.coordinator.rule import OFFSETS_PARTITION_COUNT
from kafkalearn.operations.loading.size import MEASURED, Rate
from kafkalearn.spark.columns.checks import require
from kafkalearn.spark.compaction import compact
from kafkalearn.spark.coordinator import with_offsets_partition
from kafkalearn.spark.offsets.decode import decode_offsets
from kafkalearn.spark.offsets.state import latest_state


def load_sizes(
    records: DataFrame, *, partition_count: int = OFFSETS_PARTITION_COUNT, rate: Rate = MEASURED
) -> DataFrame:
    """What each partition's coordinator has to load, cleaned or not.

    Parameters
    ----------
    records : DataFrame
        ``key``, ``value``, ``partition``, ``offset``.
    partition_count : int
        Of the offsets topic.
    rate : kafkalearn.operations.loading.Rate
        How fast a broker loads.

    Returns
    -------
    DataFrame
        For each partition that has records: ``partition``; read without the cleaner ``record_count``, ``byte_count``,
        ``seconds``; read after one pass of it over all of the log ``cleaned_record_count``, ``cleaned_byte_count``,
        ``cleaned_seconds``; and kept in memory in both cases ``offset_count``, ``group_count``. Bytes are those of
        keys and values.

    Examples
    --------
    >>> from kafkalearn.spark.data.offsets_records import offsets_records
    >>> from kafkalearn.spark.session import get_spark
    >>> sizes = load_sizes(offsets_records(get_spark(), "small"))
    >>> sizes.agg({"record_count": "sum", "group_count": "sum"}).first().asDict()["sum(record_count)"]
    100000

    References
    ----------
    Apache Kafka 4.3, ``CoordinatorLoaderImpl``; `kafkalearn.operations.loading.load_size` for one partition.
    """
    for column in ("key", "value"):
        require(records, column, ("binary",), "records have the columns of Spark's Kafka source")
    whole_number("partition_count", partition_count, at_least=1)
    cleaned = compact(records)
    return (
        _read(records, "")
        .join(_read(cleaned, "cleaned_"), "partition", "left")
        .join(_kept(cleaned, partition_count), "partition", "left")
        .fillna(0)
        .withColumns({f"{state}seconds": _seconds(state, rate) for state in ("", "cleaned_")})
    )


def _read(records: DataFrame, state: str) -> DataFrame:
    length = sf.coalesce(sf.length("key"), sf.lit(0)) + sf.coalesce(sf.length("value"), sf.lit(0))
    return records.groupBy("partition").agg(
        sf.count("*").alias(f"{state}record_count"), sf.sum(length.cast("bigint")).alias(f"{state}byte_count")
    )


def _kept(cleaned: DataFrame, partition_count: int) -> DataFrame:
    """Groups and offsets in memory: what is left of the log after the cleaner says it, with far fewer records."""
    living = cleaned.transform(decode_offsets).transform(latest_state).where("NOT is_tombstone")
    by_group = living.groupBy("group_id").agg(sf.count("committed_offset").alias("offset_count"))
    placed = by_group.transform(with_offsets_partition, partition_count=partition_count, output="partition")
    return placed.groupBy("partition").agg(
        sf.sum("offset_count").alias("offset_count"), sf.count("*").alias("group_count")
    )


def _seconds(state: str, rate: Rate) -> Column:
    return sf.col(f"{state}record_count") / rate.records_per_s


def load_of_brokers(sizes: DataFrame, leaders: Sequence[int]) -> DataFrame:
    """What a broker's coordinator would load if it had just become the leader of all that it leads, one by one.

    Parameters
    ----------
    sizes : DataFrame
        From `load_sizes`.
    leaders : sequence of int
        ``leaders[p]`` leads partition p.

    Returns
    -------
    DataFrame
        ``broker``, ``record_count``, ``seconds``, ``cleaned_record_count``, ``cleaned_seconds``, ``group_count``.
        Loads of one broker share a thread, in each release: the last partition waits for all others.
    """
    given = sequence("leaders", leaders, of="broker ids")
    rows = [(p, whole_number(f"leaders[{p}]", each, at_least=0)) for p, each in enumerate(given)]
    led = sizes.sparkSession.createDataFrame(rows, "partition INT, broker INT")
    names = ("record_count", "seconds", "cleaned_record_count", "cleaned_seconds", "group_count")
    return sizes.join(sf.broadcast(led), "partition").groupBy("broker").agg(*(sf.sum(n).alias(n) for n in names))
