"""What decoded records of the offsets topic say of every group: the last record of each key counts, and no other.

`latest_state` finds these last records, in one pass; the rest are questions to them: the groups and their states,
their lag, which of them are dead. `commits_per_second` looks at all records.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from kafkalearn.group_states import EMPTY, STABLE
from kafkalearn.offsets.records.record_types import GROUP_TYPE, OFFSET_TYPES
from kafkalearn.spark.columns.checks import require, require_all_read, require_one_copy

WHOLE_NUMBERS = ("int", "bigint")
KEY_COLUMNS = ("group_id", "committed_topic", "committed_partition", "record_type", "key")
VALUE_COLUMNS = ("committed_offset", "leader_epoch", "commit_ms", "expire_ms", "generation", "state_ms", "member_count")
TEXT_COLUMNS = ("metadata", "topic_id")
LEGACY, COMMIT = OFFSET_TYPES


def latest_state(decoded: DataFrame) -> DataFrame:
    """The last record of every key, tombstones too.

    Parameters
    ----------
    decoded : DataFrame
        From `kafkalearn.spark.offsets.decode.decode_offsets`, with the columns ``key`` and ``offset`` of the records.
        Leave out what aborted transactions wrote. Records that cannot be read do not count. A commit of record type 0
        counts as one of type 1: for a coordinator the two are one offset.

    Returns
    -------
    DataFrame
        ``group_id``, ``committed_topic``, ``committed_partition``, ``record_type`` and ``key`` (those of type 1, if it
        was 0), ``offset`` (of the record), ``is_tombstone``, ``committed_offset``, ``leader_epoch``, ``commit_ms``,
        ``expire_ms``, ``generation``, ``state_ms``, ``member_count``, ``metadata``, ``topic_id``.

    References
    ----------
    Apache Kafka 4.3, ``CoordinatorLoaderImpl`` and ``GroupCoordinatorShard.replay``: what a broker does when it
    becomes coordinator.
    """
    require_one_copy(decoded)
    require(decoded, "offset", WHOLE_NUMBERS, "the offset of each record says which came last")
    require(decoded, "error", ("string",), "decode the records first, with decode_offsets")
    require_all_read(decoded)
    numbers = ("is_tombstone", *VALUE_COLUMNS)
    # Spark counts in a hash table only if every result has a fixed width; with a text it would sort all rows. So the
    # texts, which hardly change for a key, are part of the key at first, and the few rows that are left are counted
    # again.
    by_text = _last(decoded.where("error IS NULL").withColumns(_state_key()), (*KEY_COLUMNS, *TEXT_COLUMNS), numbers)
    return _last(by_text, KEY_COLUMNS, (*numbers, *TEXT_COLUMNS))


def _state_key() -> dict[str, Column]:
    """Record type and key as the coordinator keeps them: `kafkalearn.offsets.records.record_types.state_key`."""
    is_legacy = sf.col("record_type") == LEGACY
    key = sf.concat(sf.unhex(sf.lit(f"{COMMIT:04x}")), sf.expr("substring(key, 3)"))
    return {
        "record_type": sf.when(is_legacy, COMMIT).otherwise(sf.col("record_type")),
        "key": sf.when(is_legacy, key).otherwise(sf.col("key")),
    }


def _last(rows: DataFrame, keys: Sequence[str], values: Sequence[str]) -> DataFrame:
    """For each key the values of the row with the highest offset."""
    last = [sf.max_by(name, "offset").alias(name) for name in values]
    return rows.groupBy(*keys).agg(sf.max("offset").alias("offset"), *last)


def group_states(latest: DataFrame) -> DataFrame:
    """A row for every living group: how many offsets it has, when it last committed, its state if it is a classic one.

    Parameters
    ----------
    latest : DataFrame
        From `latest_state`.

    Returns
    -------
    DataFrame
        ``group_id``, ``state`` (Stable with members, Empty without; null in a group of a newer protocol, whose state
        is spread over several records), ``generation``, ``member_count``, ``offset_count``, ``last_commit_ms``.
        A group with committed offsets alone is Empty, with generation 0.
    """
    is_newer = sf.max(~sf.col("record_type").isin(*OFFSET_TYPES, GROUP_TYPE))
    members = sf.coalesce(sf.max("member_count"), sf.lit(0))
    return (
        latest.where("NOT is_tombstone")
        .groupBy("group_id")
        .agg(
            sf.when(~is_newer, sf.when(members > 0, STABLE).otherwise(EMPTY)).alias("state"),
            sf.when(~is_newer, sf.coalesce(sf.max("generation"), sf.lit(0))).alias("generation"),
            sf.when(~is_newer, members).alias("member_count"),
            sf.count("committed_offset").cast("int").alias("offset_count"),
            sf.max("commit_ms").alias("last_commit_ms"),
        )
    )


def lag_of(latest: DataFrame, log_ends: DataFrame) -> DataFrame:
    """How far each committed offset is behind the log end of its partition.

    Parameters
    ----------
    latest : DataFrame
        From `latest_state`.
    log_ends : DataFrame
        ``topic``, ``partition``, ``log_end``, as from `kafkalearn.spark.lag.log_ends`.

    Returns
    -------
    DataFrame
        ``group_id``, ``topic``, ``partition``, ``committed_offset``, ``log_end``, ``lag``; the last two are null
        where `log_ends` does not have the partition.
    """
    require(log_ends, "log_end", WHOLE_NUMBERS, "a log end is the offset that the next record gets")
    committed = latest.where("NOT is_tombstone AND committed_offset IS NOT NULL").select(
        "group_id",
        sf.col("committed_topic").alias("topic"),
        sf.col("committed_partition").alias("partition"),
        "committed_offset",
    )
    ends = log_ends.select("topic", "partition", "log_end")
    with_end = committed.join(sf.broadcast(ends), ["topic", "partition"], "left")
    lag = (sf.col("log_end") - sf.col("committed_offset")).alias("lag")
    return with_end.select("group_id", "topic", "partition", "committed_offset", "log_end", lag)


def dead_groups(latest: DataFrame) -> DataFrame:
    """The groups of which nothing is left but tombstones.

    Once the cleaner has removed these too, no record of such a group is left.

    Parameters
    ----------
    latest : DataFrame
        From `latest_state`.

    Returns
    -------
    DataFrame
        ``group_id``, ``tombstone_count``, ``last_offset`` of the tombstones in the log.
    """
    by_group = latest.groupBy("group_id").agg(
        sf.every("is_tombstone").alias("is_dead"),
        sf.count("*").cast("int").alias("tombstone_count"),
        sf.max("offset").alias("last_offset"),
    )
    return by_group.where("is_dead").drop("is_dead")


def commits_per_second(decoded: DataFrame) -> DataFrame:
    """How often each group commits, between its first commit and its last.

    Parameters
    ----------
    decoded : DataFrame
        From `kafkalearn.spark.offsets.decode.decode_offsets`.

    Returns
    -------
    DataFrame
        ``group_id``, ``commit_count``, ``first_ms``, ``last_ms``, ``commits_per_second``: null if all came in one
        millisecond. Every partition of a commit request is a record, so it counts once for each.
    """
    require_one_copy(decoded)
    require_all_read(decoded)
    commits = (
        decoded.where("commit_ms IS NOT NULL")
        .groupBy("group_id")
        .agg(
            sf.count("*").alias("commit_count"),
            sf.min("commit_ms").alias("first_ms"),
            sf.max("commit_ms").alias("last_ms"),
        )
    )
    seconds = sf.nullif((sf.col("last_ms") - sf.col("first_ms")) / 1000, sf.lit(0.0))
    return commits.withColumn("commits_per_second", (sf.col("commit_count") - 1) / seconds)
