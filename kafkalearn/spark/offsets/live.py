"""The state of every group, and its lag, while the offsets topic is written: a stream that can be killed at any moment.

A coordinator keeps what the last record of each key says, and so does `follow`: each micro-batch takes what was known
before it, puts the batch's records on top, and writes what is known now; a key whose last record is a tombstone goes.
So the state expires as the offsets do: the broker writes a tombstone when they expire, and no clock of ours is needed.
Records of other topics in the same stream say where these topics end.

Spark promises of a batch that was begun and not finished that it comes again, the same records under the same number.
Batch n reads what batch n - 1 wrote and overwrites what batch n - 3 wrote, so it may come as often as it likes: no
record is lost, none counts twice. That is what a checkpoint and three folders are enough for, on any file system that
Spark can write to; a table format with transactions does it with MERGE (``docs/spark.md`` has the statement).

Checkpoint and state belong together. Beside each batch that is done stand the stream it is of, how many rows were
written and which offsets it had, and each row has the batch's number. So a checkpoint or a state that was brought back
from elsewhere is found before anything is written on top of it, and refused.

Why not Spark's own state: an aggregation in a stream keeps a key until a watermark passes it, and a group that commits
once a day has no watermark; ``transformWithState`` can forget, but needs RocksDB and Python on the workers.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple, TypeAlias

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.streaming import StreamingQuery

from kafkalearn.base.errors import KafkaLearnError, listed
from kafkalearn.base.internal_topics import OFFSETS_TOPIC
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
        If the rows are no stream, or lack a column, or checkpoint and state in the folder do not belong together, or
        Spark would take the folder's name for a pattern. What is found only when a batch comes ends the stream with a
        ``StreamingQueryException`` that has the words.
    """
    if not stream.isStreaming:
        raise KafkaLearnError(
            "follow() is for a stream, these rows are all there is: "
            "rows.transform(decode_offsets).transform(latest_state) answers at once"
        )
    require(stream, "topic", ("string",), "the topic tells commits from the records that were read")
    require(stream, "offset", ("bigint",), "the offset of each record says which came last")
    _refuse_patterns(folder)
    _refuse_strangers(stream.sparkSession, folder)
    merge = partial(_merge, folder=folder, offsets_topic=offsets_topic)
    writer = stream.writeStream.foreachBatch(merge).option("checkpointLocation", f"{folder}/checkpoint")
    return (writer.trigger(**trigger) if trigger else writer).start()


# What belongs together: the checkpoint of Spark's, in `CHECKPOINT`, and what each batch that is done says of itself.

CURE = "name a new folder, so that the stream begins again, or bring back what belongs to it"
DONE = "id bigint, query string, row_count bigint, topic string, partition int, lowest bigint, highest bigint"
Range: TypeAlias = tuple[str, int, int, int]


class Done(NamedTuple):
    """A batch that is done."""

    id: int
    query: str | None  # the stream it is of, as its checkpoint names it
    row_count: int | None  # of the state that was written
    ranges: frozenset[Range]  # topic, partition, lowest and highest offset


def _refuse_patterns(folder: str) -> None:
    """Raise if Spark would read other folders than the one that it writes."""
    if found := sorted(set(folder) & set("*?[]{}")):
        raise KafkaLearnError(
            f"{folder!r} has {listed(found)}, for which Spark takes a path for a pattern: choose another name"
        )


def _refuse_strangers(spark: SparkSession, folder: str) -> None:
    """Raise if a folder's checkpoint is not that of its state, as far as it can be seen before a batch comes."""
    done = _newest(spark, folder)
    begun, committed = (_newest_number(spark, f"{folder}/checkpoint/{log}") for log in ("offsets", "commits"))
    if done is None:
        if committed >= 0:
            raise KafkaLearnError(f"{folder} has a checkpoint that is at batch {committed}, and no state: {CURE}")
        return
    query = _query_id(spark, folder)
    if query is None:
        raise KafkaLearnError(
            f"{folder} has the state of an earlier stream and no checkpoint that says how far it came: {CURE}"
        )
    if query != done.query:
        raise KafkaLearnError(f"{folder} has the state of stream {done.query} and the checkpoint of {query}: {CURE}")
    if not committed <= done.id <= min(committed + 1, begun):
        older = "checkpoint" if committed < done.id else "state"
        raise KafkaLearnError(
            f"{folder} has the state after batch {done.id}, and its checkpoint is at batch {committed}: the {older} is "
            f"older, from a backup perhaps; {CURE}"
        )


def _query_id(spark: SparkSession, folder: str) -> str | None:
    """The stream that a checkpoint is of; None: there is none."""
    try:
        row = spark.read.schema("id string").json(f"{folder}/checkpoint/metadata").first()
    except AnalysisException:
        return None
    return None if row is None else row["id"]


def _newest_number(spark: SparkSession, log: str) -> int:
    """The last batch that a log of the checkpoint has a file for; -1: none."""
    try:
        files = spark.read.format("binaryFile").option("pathGlobFilter", "[0-9]*").load(log)
        names = files.selectExpr("regexp_extract(path, '([0-9]+)$', 1) AS name").where("name <> ''")
        newest = names.agg(sf.max(sf.col("name").cast("bigint")).alias("number")).first()
    except AnalysisException:
        return -1
    return -1 if newest is None or newest["number"] is None else newest["number"]


def _refuse_gaps(newest: Done | None, batch_id: int, query: str | None, ranges: frozenset[Range], folder: str) -> bool:
    """Whether a batch is done already; raises if it is neither that nor the one that follows."""
    if newest is None:
        if batch_id == 0:
            return False
        raise KafkaLearnError(f"{folder} has no state, and the stream goes on with batch {batch_id}: {CURE}")
    if newest.query != query:
        raise KafkaLearnError(f"{folder} has the state of stream {newest.query}, and this is stream {query}: {CURE}")
    if newest.id == batch_id and newest.ranges == ranges:
        return True
    if newest.id == batch_id - 1:
        return False
    comes = "comes again with other records" if newest.id == batch_id else f"is followed by batch {batch_id}"
    raise KafkaLearnError(f"batch {newest.id}, after which the state in {folder} was written, {comes}: {CURE}")


def _ranges(batch: DataFrame) -> frozenset[Range]:
    found = batch.groupBy("topic", "partition").agg(sf.min("offset").alias("low"), sf.max("offset").alias("high"))
    return frozenset((row["topic"], row["partition"], row["low"], row["high"]) for row in found.collect())


# A batch, and what is known after it.


def _merge(batch: DataFrame, batch_id: int, *, folder: str, offsets_topic: str) -> None:
    """Write what is known after a batch, from what was known before it; one that is done and comes again is known."""
    spark = batch.sparkSession
    batch.persist()
    newest, query, ranges = _newest(spark, folder), _query_id(spark, folder), _ranges(batch)
    if not _refuse_gaps(newest, batch_id, query, ranges, folder):
        after = _after(batch, newest, folder, offsets_topic)
        state = f"{folder}/state/{batch_id % SLOT_COUNT}"
        after.withColumn("batch", sf.lit(batch_id)).write.mode("overwrite").parquet(state)
        row_count = spark.read.parquet(state).count()
        facts = [(batch_id, query, row_count, *each) for each in ranges or [(None, None, None, None)]]
        done = spark.createDataFrame(facts, DONE).coalesce(1)
        done.write.mode("overwrite").parquet(f"{folder}/done/{batch_id % SLOT_COUNT}")  # one file: there, or not there
    batch.unpersist()


def _after(batch: DataFrame, before: Done | None, folder: str, offsets_topic: str) -> DataFrame:
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
    if before is not None:
        known = known.unionByName(_known(batch.sparkSession, folder, before))
    return last(known, KEY_COLUMNS, ("is_tombstone", *VALUE_COLUMNS, *TEXT_COLUMNS)).where("NOT is_tombstone")


def _known(spark: SparkSession, folder: str, done: Done) -> DataFrame:
    """What a batch that is done wrote, if it is all there and nothing else."""
    place = f"{folder}/state/{done.id % SLOT_COUNT}"
    try:
        rows = spark.read.parquet(place)
        counts = {row["batch"]: row["count"] for row in rows.groupBy("batch").count().collect()}
    except PySparkException as error:
        raise KafkaLearnError(f"{place}, the state after batch {done.id}, cannot be read ({error}): {CURE}") from None
    if counts != ({done.id: done.row_count} if done.row_count else {}):
        has = listed(f"{count} rows after batch {batch}" for batch, count in sorted(counts.items())) or "no row"
        raise KafkaLearnError(f"{place} should have {done.row_count} rows after batch {done.id}, and has {has}: {CURE}")
    return rows.drop("batch")


def followed(spark: SparkSession, folder: str) -> DataFrame:
    """What `follow` knows now: rows like those of `latest_state`, without tombstones, for the same questions to them.

    Raises
    ------
    KafkaLearnError
        If no batch is done yet.
    """
    return _newest_rows(spark, folder).where(f"record_type <> {LOG_END}")


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
    rows = _newest_rows(spark, folder)
    seen = rows.where(f"record_type = {LOG_END}").selectExpr(
        "committed_topic AS topic", "committed_partition AS partition", "offset + 1 AS log_end"
    )
    return lag_of(rows.where(f"record_type <> {LOG_END}"), seen if log_ends is None else log_ends)


def _newest(spark: SparkSession, folder: str) -> Done | None:
    """The last batch that is done, of the three that say so; the folder that is being written now is passed over."""
    marks = spark.read.schema(DONE).option("recursiveFileLookup", "true").option("ignoreMissingFiles", "true")
    try:
        rows = marks.parquet(f"{folder}/done").collect()
    except AnalysisException:  # no such folder
        return None
    if not rows:
        return None
    newest = max(row.id for row in rows)
    of_newest = [row for row in rows if row.id == newest]
    ranges = frozenset(
        (row.topic, row.partition, row.lowest, row.highest) for row in of_newest if row.topic is not None
    )
    return Done(newest, of_newest[0].query, of_newest[0].row_count, ranges)


def _newest_rows(spark: SparkSession, folder: str) -> DataFrame:
    """What the last batch that is done wrote."""
    newest = _newest(spark, folder)
    if newest is None:
        raise KafkaLearnError(f"no batch is done yet in {folder}; start follow(stream, folder) and wait for its first")
    return _known(spark, folder, newest)
