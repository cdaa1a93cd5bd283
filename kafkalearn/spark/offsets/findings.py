"""What fills the offsets topic, in words: who commits how often, who is dead but kept, what is left of those long gone.

The same counts as `kafkalearn.answers.xray` makes of files, for topics that one machine does not read.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from kafkalearn.offsets.records.record_types import RECORD_TYPES
from kafkalearn.spark.columns.checks import require_all_read, require_one_copy
from kafkalearn.spark.offsets.state import latest_state

MEMBER_TYPES = tuple(number for number, each in RECORD_TYPES.items() if each.name.endswith("_GROUP_MEMBER_METADATA"))
"""Record types of the newer protocols that say by being there that a group has a member."""

HOUR_MS, SHORTEST_MS = 3_600_000, 60_000  # a shorter time gives no rate


def group_findings(decoded: DataFrame) -> DataFrame:
    """A row for every group that has records in the topic, those with most bytes first to be asked for.

    Parameters
    ----------
    decoded : DataFrame
        From `kafkalearn.spark.offsets.decode.decode_offsets`, with ``key``, ``value`` and ``offset``. Leave out what
        aborted transactions wrote. Records that cannot be read do not count.

    Returns
    -------
    DataFrame
        ``group_id``, ``record_count``, ``size_bytes`` (of keys and values), ``share`` (of all such bytes),
        ``commit_count`` (records: one for each partition of a commit), ``commits_an_hour`` (null: too few, or too short
        a time), ``last_commit_ms``, ``has_members``, ``offset_count``, ``is_dead_but_kept`` (nobody is in it, its
        offsets are there), ``is_gone`` (nothing of it counts any more, and the cleaner has not been), ``words``.

    Notes
    -----
    Rates are those of the records that are there: where the cleaner has been, only the last commits are left.

    References
    ----------
    `kafkalearn.answers.xray`, of files.
    """
    require_one_copy(decoded)
    require_all_read(decoded)
    size = sf.length("key") + sf.coalesce(sf.length("value"), sf.lit(0))
    counted = (
        decoded.where("error IS NULL AND group_id IS NOT NULL")
        .groupBy("group_id")
        .agg(
            sf.count("*").alias("record_count"),
            sf.sum(size).alias("size_bytes"),
            sf.count("commit_ms").alias("commit_count"),
            sf.min("commit_ms").alias("first_ms"),
            sf.max("commit_ms").alias("last_commit_ms"),
        )
    )
    total = counted.agg(sf.sum("size_bytes").alias("total"))
    is_member = sf.col("record_type").isin(*MEMBER_TYPES) | (sf.coalesce("member_count", sf.lit(0)) > 0)
    living = (
        decoded.transform(latest_state)
        .where("NOT is_tombstone")
        .groupBy("group_id")
        .agg(sf.bool_or(is_member).alias("has_members"), sf.count("committed_offset").alias("offset_count"))
    )
    found = counted.join(living, "group_id", "left").crossJoin(sf.broadcast(total))
    span_ms = sf.col("last_commit_ms") - sf.col("first_ms")
    rate = sf.when(span_ms >= SHORTEST_MS, HOUR_MS * (sf.col("commit_count") - 1) / span_ms)
    found = found.select(
        "group_id",
        "record_count",
        "size_bytes",
        (sf.col("size_bytes") / sf.col("total")).alias("share"),
        "commit_count",
        rate.alias("commits_an_hour"),
        "last_commit_ms",
        sf.coalesce("has_members", sf.lit(False)).alias("has_members"),
        sf.coalesce("offset_count", sf.lit(0)).alias("offset_count"),
        sf.coalesce(~sf.col("has_members") & (sf.col("offset_count") > 0), sf.lit(False)).alias("is_dead_but_kept"),
        sf.isnull("has_members").alias("is_gone"),
    )
    return found.withColumn("words", _words())


def _words() -> Column:
    """A sentence about a group: what it is to the topic first, then what is to be known of it."""
    of_all = sf.format_string("%s: %.1f %% of all bytes, %d commits", "group_id", sf.col("share") * 100, "commit_count")
    an_hour = sf.when(sf.isnotnull("commits_an_hour"), sf.format_string(", %.0f an hour", "commits_an_hour"))
    dead = sf.when(
        sf.col("is_dead_but_kept"),
        sf.format_string("; nobody is in it, and its offsets of %d partitions are kept", "offset_count"),
    )
    gone = sf.when(sf.col("is_gone"), sf.lit("; nothing of it counts any more: the cleaner takes all of it"))
    return sf.concat(of_all, *(sf.coalesce(part, sf.lit("")) for part in (an_hour, dead, gone)))
