"""Retention over the segments of many partitions at once: which files a broker deletes, and by which rule.

The rule is that of `kafkalearn.log.retention`. Each of its parts takes segments from the old end of a partition up to
the first one that it may not take, and the next part looks at those that are left. On Spark a partition's segments are
a window in the order of their base offsets, and "up to the first one" is a running minimum.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from kafkalearn.arguments import whole_number
from kafkalearn.errors import KafkaLearnError
from kafkalearn.log.retention import BELOW_LOG_START, TOO_MANY_BYTES, TOO_OLD, rules_in_order
from kafkalearn.log.settings import Settings
from kafkalearn.spark.columns.checks import refuse_overwrite, require

SEGMENT_SCHEMA = "partition INT, base_offset BIGINT, end_offset BIGINT, size_bytes BIGINT, largest_timestamp_ms BIGINT"
LOG_START, HIGH_WATERMARK = "log_start_offset", "high_watermark"


def with_retention(
    segments: DataFrame, settings: Settings, now_ms: int, *, output: str = "deleted_because"
) -> DataFrame:
    """Which segments a broker deletes when it looks at `now_ms`: the string column `output`, null for those that stay.

    Parameters
    ----------
    segments : DataFrame
        A row a segment, as `SEGMENT_SCHEMA` has it: ``end_offset`` is the one behind its last record, and the last
        segment of a partition is the active one. A column ``topic`` tells topics apart; ``log_start_offset`` and
        ``high_watermark`` (bigint, the same in all rows of a partition) count if they are there, else the log starts
        with its first segment and all of it is replicated.
    settings : kafkalearn.log.Settings
        The policy, ``retention.ms``, ``retention.bytes`` and the release, from 0.10.1 on.
    now_ms : int
        The broker's clock.
    output : str
        The column to add; it holds one of `kafkalearn.log.retention.REASONS`.

    Raises
    ------
    KafkaLearnError
        If a column is missing or of another type, `output` is there already, or the release is older than records'
        timestamps.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = [(0, 0, 10, 500, 1_000), (0, 10, 20, 500, 9_000), (0, 20, 20, 0, 9_000)]
    >>> segments = get_spark().createDataFrame(rows, SEGMENT_SCHEMA)
    >>> kept = segments.transform(with_retention, Settings(retention_ms=5_000), now_ms=10_000)
    >>> [row.deleted_because for row in kept.orderBy("base_offset").collect()]
    ['older than retention.ms', None, None]

    References
    ----------
    Apache Kafka, ``UnifiedLog.deleteOldSegments``; the order of the rules is this since 3.0.
    """
    _check(segments, settings, now_ms)
    refuse_overwrite(segments, output)
    names = [name for name in ("topic", "partition") if name in segments.columns]
    log = Window.partitionBy(*names).orderBy("base_offset")
    whole = Window.partitionBy(*names)
    next_base = sf.lead("base_offset").over(log)
    replicated = sf.col(HIGH_WATERMARK) if HIGH_WATERMARK in segments.columns else sf.max("end_offset").over(whole)
    log_start = sf.col(LOG_START) if LOG_START in segments.columns else sf.min("base_offset").over(whole)
    is_closed_or_filled = next_base.isNotNull() | (sf.col("size_bytes") > 0)
    may_go = (sf.col("end_offset") <= replicated) & is_closed_or_filled

    judged = segments.withColumn(output, sf.lit(None).cast("string"))
    for reason in rules_in_order(settings):
        left_bytes = sf.when(sf.col(output).isNull(), sf.col("size_bytes")).otherwise(0)
        spare_bytes = sf.sum(left_bytes).over(whole) - settings.retention_bytes
        takes: dict[str, Column] = {
            BELOW_LOG_START: sf.coalesce(next_base <= sf.least(log_start, replicated), sf.lit(False)),
            TOO_MANY_BYTES: may_go
            & sf.lit(settings.retention_bytes >= 0)
            & (sf.sum(left_bytes).over(log) <= spare_bytes),
            TOO_OLD: may_go
            & sf.lit(settings.retention_ms >= 0)
            & (sf.lit(now_ms) - sf.col("largest_timestamp_ms") > settings.retention_ms),
        }
        reaches = sf.min(sf.col(output).isNotNull() | takes[reason]).over(log)
        judged = judged.withColumn(output, sf.when(reaches, sf.coalesce(output, sf.lit(reason))))
    return judged


def _check(segments: DataFrame, settings: Settings, now_ms: int) -> None:
    require(segments, "partition", ("int",), "cast it: .withColumn('partition', col('partition').cast('int'))")
    for column in ("base_offset", "end_offset", "size_bytes", "largest_timestamp_ms"):
        require(segments, column, ("bigint",), f"cast it: .withColumn('{column}', col('{column}').cast('bigint'))")
    for column in (LOG_START, HIGH_WATERMARK):
        if column in segments.columns:
            require(segments, column, ("bigint",), f"cast it: .withColumn('{column}', col('{column}').cast('bigint'))")
    whole_number("now_ms", now_ms, at_least=0)
    if not settings.has("0.10.1"):
        raise KafkaLearnError(
            f"before Kafka 0.10.1 the age of a segment was that of its file, the release is {settings.release}: give a "
            "later release"
        )
