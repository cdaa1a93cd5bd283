"""The state of every group, and its lag, while the offsets topic is written: a stream that can be killed at any moment.

A coordinator keeps what the last record of each key says, and so does `follow`: each micro-batch takes what was known
before it, puts the batch's records on top, and writes what is known now; a key whose last record is a tombstone goes.
So the state expires as the offsets do: the broker writes a tombstone when they expire, and no clock of ours is needed.
Records of other topics in the same stream say where these topics end.

Spark promises of a batch that was begun and not finished that it comes again, the same records under the same number.
Batch n reads what batch n - 1 wrote and overwrites what batch n - 3 wrote, so it may come as often as it likes: no
record is lost, none counts twice. That is what a checkpoint and three folders are enough for, on any file system that
Spark can write to; a table format with transactions does it with MERGE (``docs/spark.md`` has the statement).

Why not Spark's own state: an aggregation in a stream keeps a key until a watermark passes it, and a group that commits
once a day has no watermark; ``transformWithState`` can forget, but needs RocksDB and Python on the workers.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.streaming import StreamingQuery

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.spark.columns import require
from kafkalearn.spark.offsets.decode import decode_offsets
from kafkalearn.spark.offsets.state import (
    KEY_COLUMNS,
    TEXT_COLUMNS,
    VALUE_COLUMNS,
    group_states,
    lag_of,
    last,
    latest_state,
)

OFFSETS_TOPIC = "__consumer_offsets"
SLOT_COUNT = 3  # the batch that is written, the one before, and one for whoever is reading
LOG_END = -1  # in place of a record type: not a key of the offsets topic but a partition of another


def follow(
    stream: DataFrame,
    folder: str,
    *,
    offsets_topic: str = OFFSETS_TOPIC,
    **trigger: Any,
) -> StreamingQuery:
    """A stream that keeps the last record of every key of the offsets topic in a folder, living keys only.

    Parameters
    ----------
    stream : DataFrame
        The offsets topic from its first offset on, with the columns of Spark's Kafka source, streaming:
        `kafkalearn.spark.real_topic.KafkaTopics.stream`. With the option ``kafka.isolation.level`` set to
        ``read_committed`` it has no records of aborted transactions. Records of other topics, from a union with their
        streams, count for the ends of their logs.
    folder : str
        Of this stream alone, on any file system of Spark's: its checkpoint and its state. With the same folder it goes
        on where it was, however it ended.
    offsets_topic : str
        Its name, where it is a copy.
    **trigger
        As for ``DataStreamWriter.trigger``: ``processingTime="10 seconds"``, ``availableNow=True``. Without it a batch
        follows the other.

    Returns
    -------
    StreamingQuery
        Started. Every batch rewrites the state, which has a row for each living key, so give a large cluster a trigger
        of some seconds.

    Raises
    ------
    KafkaLearnError
        If the rows are no stream, or lack a column, or the folder has a state and has lost its checkpoint.
    """
    if not stream.isStreaming:
        raise KafkaLearnError(
            "follow() is for a stream, these rows are all there is: "
            "rows.transform(decode_offsets).transform(latest_state) answers at once"
        )
    require(stream, "topic", ("string",), "the topic tells commits from the records that were read")
    require(stream, "offset", ("bigint",), "the offset of each record says which came last")
    spark = stream.sparkSession
    if _newest_id(spark, folder) >= 0 and not _is_there(spark, f"{folder}/checkpoint/metadata"):
        raise KafkaLearnError(
            f"{folder} has the state of an earlier stream and no checkpoint that says how far it came: name a new "
            "folder, or bring the checkpoint back"
        )
    merge = partial(_merge, folder=folder, offsets_topic=offsets_topic)
    writer = stream.writeStream.foreachBatch(merge).option("checkpointLocation", f"{folder}/checkpoint")
    return (writer.trigger(**trigger) if trigger else writer).start()


def _merge(batch: DataFrame, batch_id: int, *, folder: str, offsets_topic: str) -> None:
    """Write what is known after a batch, from what was known before it; one that is done and comes again is known."""
    spark = batch.sparkSession
    if _done(spark, folder, batch_id % SLOT_COUNT) == batch_id:
        return
    batch.persist()
    commits = batch.where(sf.col("topic") == offsets_topic).transform(decode_offsets)
    ends = batch.where(sf.col("topic") != offsets_topic).groupBy("topic", "partition").agg(sf.max("offset").alias("at"))
    known = latest_state(commits).unionByName(
        ends.select(
            sf.col("topic").alias("committed_topic"),
            sf.col("partition").alias("committed_partition"),
            sf.lit(LOG_END).alias("record_type"),
            sf.col("at").alias("offset"),
            sf.lit(False).alias("is_tombstone"),
        ),
        allowMissingColumns=True,
    )
    if batch_id > 0:
        known = known.unionByName(_known(spark, folder, batch_id - 1))
    after = last(known, KEY_COLUMNS, ("is_tombstone", *VALUE_COLUMNS, *TEXT_COLUMNS)).where("NOT is_tombstone")
    after.write.mode("overwrite").parquet(f"{folder}/state/{batch_id % SLOT_COUNT}")
    number = spark.range(batch_id, batch_id + 1, 1, 1)
    number.write.mode("overwrite").parquet(f"{folder}/done/{batch_id % SLOT_COUNT}")  # one file: there, or not there
    batch.unpersist()


def _known(spark: SparkSession, folder: str, batch_id: int) -> DataFrame:
    return spark.read.parquet(f"{folder}/state/{batch_id % SLOT_COUNT}")


def _done(spark: SparkSession, folder: str, slot: int) -> int:
    """The batch that has been written into a slot, or -1."""
    try:
        written = spark.read.schema("id bigint").parquet(f"{folder}/done/{slot}").first()
    except PySparkException:  # no such folder
        return -1
    return -1 if written is None else written["id"]


def followed(spark: SparkSession, folder: str) -> DataFrame:
    """What `follow` knows now: rows like those of `latest_state`, without tombstones, for the same questions to them.

    Raises
    ------
    KafkaLearnError
        If no batch is done yet.
    """
    return _newest(spark, folder).where(f"record_type <> {LOG_END}")


def groups_now(spark: SparkSession, folder: str) -> DataFrame:
    """The groups that live now, as `kafkalearn.spark.offsets.state.group_states` has them."""
    return group_states(followed(spark, folder))


def lag_now(spark: SparkSession, folder: str, log_ends: DataFrame | None = None) -> DataFrame:
    """The lag of every group now, as `kafkalearn.spark.offsets.state.lag_of` has it.

    Parameters
    ----------
    spark : SparkSession
        Any that reads the folder.
    folder : str
        Of `follow`.
    log_ends : DataFrame, optional
        ``topic``, ``partition``, ``log_end``; without it those that the stream has seen, as of the same batch.
    """
    rows = _newest(spark, folder)
    seen = rows.where(f"record_type = {LOG_END}").selectExpr(
        "committed_topic AS topic", "committed_partition AS partition", "offset + 1 AS log_end"
    )
    return lag_of(rows.where(f"record_type <> {LOG_END}"), seen if log_ends is None else log_ends)


def _is_there(spark: SparkSession, path: str) -> bool:
    try:
        return bool(spark.read.text(path).take(1))
    except PySparkException:
        return False


def _newest_id(spark: SparkSession, folder: str) -> int:
    return max(_done(spark, folder, slot) for slot in range(SLOT_COUNT))


def _newest(spark: SparkSession, folder: str) -> DataFrame:
    """What the last batch that is done wrote; the folder that is being written now is passed over."""
    newest = _newest_id(spark, folder)
    if newest < 0:
        raise KafkaLearnError(f"no batch is done yet in {folder}; start follow(stream, folder) and wait for its first")
    return _known(spark, folder, newest)
