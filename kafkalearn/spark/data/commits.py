"""A day of commits by a company's groups: to busy partitions and to quiet ones, every five seconds.

Partitions take turns in nine paces, from a record an hour to a million a day, most of them by daylight. Of a thousand
commits one is answered with an error that a retry can fix. Most groups let it be: the next one will do. In every fifth
the callback puts it aside and sends it again, behind the next one.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.spark.data.cache import Recipe, kept
from kafkalearn.spark.data.datasets import SEED, rows_of
from kafkalearn.spark.data.generate import hash_of
from kafkalearn.spark.session.interrupts import Update

INTERVAL_MS = 5000
TIMES = 86_400_000 // INTERVAL_MS  # commits of a partition in a day
NIGHT = 6 * 3_600_000 // INTERVAL_MS  # the first of them, in which little comes
DAY_WEIGHT = 9  # so many times as much comes in five seconds of the day
WHOLE_DAY = NIGHT + DAY_WEIGHT * (TIMES - NIGHT)
PER_DAY = (24, 96, 384, 1_536, 6_144, 17_280, 69_120, 276_480, 1_105_920)
"""Records that come to a partition in a day, by turns."""

GROUP_COUNT, RETRIES_EVERY, REFUSED_EVERY = 25, 5, 500
VERSION = 1


def day_of_commits(
    spark: SparkSession, size: str | int = "class", *, seed: int = SEED, update: Update | None = None
) -> DataFrame:
    """The commits of a day, as decoded records of the offsets topic.

    Parameters
    ----------
    spark, size, seed, update
        As in `kafkalearn.spark.data.datasets.group_ids`; rows are rounded up to a whole number of partitions of each
        pace, 17,280 a partition, and those that were refused for good are missing.

    Returns
    -------
    DataFrame
        ``group_id``, ``committed_topic``, ``committed_partition``, ``committed_offset``, ``offset`` (of the record) and
        ``commit_ms`` (from midnight), as `kafkalearn.spark.offsets.decode.decode_offsets` names them; and
        ``records_per_day``, how many records come to the partition, and ``is_retried``, what the group's callback does.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = day_of_commits(get_spark(), "small")
    >>> [rows.where(which).select("group_id").distinct().count() for which in ("true", "is_retried")]
    [9, 2]
    """
    partition_count = -(-rows_of(size) // (TIMES * len(PER_DAY))) * len(PER_DAY)
    recipe = Recipe("day-of-commits", partition_count * TIMES, (("seed", seed), ("v", VERSION)), bytes_per_row=5)
    return kept(spark, recipe, lambda: generate_day_of_commits(spark, partition_count, seed), update)


def generate_day_of_commits(spark: SparkSession, partition_count: int, seed: int) -> DataFrame:
    """The rows of `day_of_commits`: one for each time of a partition; a late retry changes places with the next."""
    number, partition, time = sf.col("id"), sf.col("committed_partition"), sf.col("time")
    group = sf.pmod(partition, sf.lit(GROUP_COUNT))
    is_first = time % 2 == 0  # of two commits; only a first one may be refused, so that no two are at once
    chance = sf.pmod(hash_of(seed, "refused", number - time % 2), sf.lit(REFUSED_EVERY))
    is_refused, is_retried = chance == 0, sf.col("is_retried")
    written = sf.when(is_refused & is_retried, sf.when(is_first, time + 1).otherwise(time - 1)).otherwise(time)
    paces = sf.array(*map(sf.lit, PER_DAY))
    return (
        spark.range(partition_count * TIMES)
        .withColumn("committed_partition", sf.floor(number / TIMES).cast("int"))
        .withColumn("time", number % TIMES)
        .withColumn("records_per_day", sf.element_at(paces, (sf.pmod(partition, len(PER_DAY)) + 1).cast("int")))
        .withColumn("is_retried", sf.pmod(group, sf.lit(RETRIES_EVERY)) == 0)
        .where(~(is_refused & is_first & ~is_retried))
        .select(
            sf.concat(sf.lit("group-"), sf.lpad(group.cast("string"), 2, "0")).alias("group_id"),
            sf.lit("orders").alias("committed_topic"),
            "committed_partition",
            _end(seed, written).alias("committed_offset"),
            (time * partition_count + partition).alias("offset"),
            (sf.greatest(time, written) * INTERVAL_MS).alias("commit_ms"),  # one that changed places came late
            "records_per_day",
            "is_retried",
        )
    )


def one_partition(day: DataFrame, partition: int, hour: int) -> tuple[list[int], list[int], list[int]]:
    """An hour of a partition as `kafkalearn.commits.changes.committed_at` takes it, and what was committed in it.

    Runs the query; the 720 commits of the hour come to this Python.

    Parameters
    ----------
    day : DataFrame
        From `day_of_commits`.
    partition, hour : int
        Which one, and from which hour of the day.

    Returns
    -------
    tuple of three lists of int
        The log end at each time; the times, counted from 0, whose commit was refused; the committed offsets in the
        order of the log.

    Raises
    ------
    KafkaLearnError
        If there is no such partition or hour.

    Examples
    --------
    >>> from kafkalearn.commits.changes import committed_at
    >>> from kafkalearn.spark.session import get_spark
    >>> ends, refused, committed = one_partition(day_of_commits(get_spark(), "small"), 5, 12)
    >>> len(ends), committed_at(ends, refused=refused, is_retried=True) == committed
    (720, True)
    """
    first_ms, count = hour * 3_600_000, 3_600_000 // INTERVAL_MS
    is_asked = (sf.col("committed_partition") == partition) & (sf.floor(sf.col("commit_ms") / 3_600_000) == hour)
    rows = day.where(is_asked).orderBy("offset").collect()
    if not rows:
        raise KafkaLearnError(f"no commit of partition {partition!r} in hour {hour!r}; there are the hours 0 to 23")
    by_time: dict[int, list[int]] = {}
    for row in rows:
        by_time.setdefault((row.commit_ms - first_ms) // INTERVAL_MS, []).append(row.committed_offset)
    late = {time - 1: min(offsets) for time, offsets in by_time.items() if len(offsets) > 1}
    refused = sorted(set(range(count)) - {time for time in by_time if time not in late})
    ends, end = [], rows[0].committed_offset
    for time in range(count):  # of a refused commit that nobody sent again only its time is known
        end = late[time] if time in late else max(by_time.get(time, [end]))
        ends.append(end)
    return ends, refused, [row.committed_offset for row in rows]


def _end(seed: int, time: Column) -> Column:
    """The log end of a partition at one of the day's times; each partition begins at another moment of its pace."""
    passed = sf.least(time, sf.lit(NIGHT)) + DAY_WEIGHT * sf.greatest(time - NIGHT, sf.lit(0))
    phase = sf.pmod(hash_of(seed, "phase", sf.col("committed_partition").cast("bigint")), sf.lit(WHOLE_DAY))
    return sf.floor((sf.col("records_per_day") * passed + phase) / WHOLE_DAY).cast("bigint")
