"""Raw records of ``__share_group_state`` on Spark: decoded in whole columns, the newest state of each share-partition.

Every field has a place that follows from the length of the group's name and the number of batches, so each column is a
compiled expression, as for `kafkalearn.spark.offsets.decode_offsets`. What is left, unusual or damaged records, goes
through the scalar `kafkalearn.formats.share_state_log` on the workers, and keeps its row, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from kafkalearn.formats import wire
from kafkalearn.formats.share_state_log import SNAPSHOT, UPDATE, decode_key, decode_value
from kafkalearn.formats.wire import INT16, Undecodable
from kafkalearn.spark.columns import (
    BYTES,
    NUMBERS,
    TEXT,
    WHOLE_NUMBERS,
    computed_once,
    int16_at,
    int32_at,
    int64_at,
    is_utf8,
    rule,
    topic_id_text,
    typed,
    uint16_at,
)
from kafkalearn.spark.offsets.decode import NO_KEY, packed, unpacked
from kafkalearn.spark.session.worker_code import arrow_function, for_workers

_BATCH = StructType(
    [
        StructField("first", LongType()),
        StructField("last", LongType()),
        StructField("state", IntegerType()),
        StructField("count", IntegerType()),
    ]
)
_NAMES_BY_TYPE = (
    (IntegerType(), ("record_type",)),
    (StringType(), ("group_id", "topic_id")),
    (IntegerType(), ("share_partition",)),
    (BooleanType(), ("is_tombstone",)),
    (IntegerType(), ("value_version", "snapshot_epoch", "state_epoch", "leader_epoch")),
    (LongType(), ("start_offset",)),
    (IntegerType(), ("complete_count",)),
    (LongType(), ("created_ms", "written_ms")),
    (ArrayType(_BATCH), ("batches",)),
    (StringType(), ("error",)),
)
DECODED_SCHEMA = StructType([StructField(name, kind) for kind, names in _NAMES_BY_TYPE for name in names])
"""What `decode_share_states` adds, in this order."""

_ARROW: Mapping[str, pa.DataType] = {
    "int": pa.int32(),
    "bigint": pa.int64(),
    "string": pa.string(),
    "boolean": pa.bool_(),
    _BATCH.simpleString(): pa.struct(
        [("first", pa.int64()), ("last", pa.int64()), ("state", pa.int32()), ("count", pa.int32())]
    ),
}
BATCH_BYTES = 20  # two offsets, a state, a count, and that no tagged field follows
MOST_PLAIN = 126  # batches whose number takes one byte


def decode_share_row(key: bytes | None, value: bytes | None) -> dict[str, object]:
    """What one record says, by column; columns that it has nothing for are left out.

    >>> decode_share_row(b"\\x00\\x07", None)
    {'is_tombstone': True, 'record_type': 7, 'error': 'key: record type 7 at byte 0 is unknown; known are 0 (snapshot) \
and 1 (update)'}
    """
    row: dict[str, object] = {"is_tombstone": value is None}
    if value is not None and len(value) >= 2:
        row["value_version"] = wire.NUMBERS[INT16].unpack_from(value)[0]
    if key is None:
        return row | {"error": NO_KEY}
    if len(key) >= 2:
        row["record_type"] = wire.NUMBERS[INT16].unpack_from(key)[0]
    try:
        kind, whose = decode_key(key)
        row |= {"group_id": whose.group_id, "topic_id": whose.topic_id, "share_partition": whose.partition}
        _, fields = decode_value(kind, value)
    except Undecodable as error:
        return row | {"error": str(error)}
    return row if fields is None else row | _of_fields(fields)


def _of_fields(fields: Mapping[str, Any]) -> dict[str, object]:
    return {
        "snapshot_epoch": fields["snapshotEpoch"],
        "state_epoch": fields.get("stateEpoch"),
        "leader_epoch": fields["leaderEpoch"],
        "start_offset": fields["startOffset"],
        "complete_count": fields.get("deliveryCompleteCount"),
        "created_ms": fields.get("createTimestamp"),
        "written_ms": fields.get("writeTimestamp"),
        "batches": [
            {
                "first": each["firstOffset"],
                "last": each["lastOffset"],
                "state": each["deliveryState"],
                "count": each["deliveryCount"],
            }
            for each in fields["stateBatches"]
        ],
    }


@rule(
    {"{key}": BYTES, "{value}": BYTES},
    remedy="records have bytes, as from Spark's Kafka source",
    adds=tuple(DECODED_SCHEMA.names),
)
def decode_share_states(df: DataFrame, key: str = "key", value: str = "value") -> DataFrame:
    """The same rows with what each record of ``__share_group_state`` says.

    Parameters
    ----------
    df : DataFrame
        With the columns of Spark's Kafka source, of which `key` and `value` are read, both binary.
    key, value : str
        Their names.

    Returns
    -------
    DataFrame
        For ``df.transform(decode_share_states)``. The columns of `df`, and ``record_type`` int (0: a snapshot, 1: an
        update), ``group_id``, ``topic_id`` (the 22 characters that Kafka prints), ``share_partition``,
        ``is_tombstone``, ``value_version``, ``snapshot_epoch``, ``leader_epoch``, ``start_offset``, ``complete_count``
        (null: not written); of a snapshot ``state_epoch``, ``created_ms`` and ``written_ms``; ``batches``, an array of
        (first, last, state, count); ``error``: null, or why the record cannot be read. Row by row: nothing is kept.

    Raises
    ------
    KafkaLearnError
        If a column is missing or not binary, or there is one already that would be added.

    Examples
    --------
    >>> from kafkalearn.formats.share_state_log import SharePartition, encode_key, encode_value
    >>> from kafkalearn.spark.session import get_spark
    >>> key = encode_key(UPDATE, SharePartition("billing", "A6AUkuaxQAm4bUDDQCKT_A", 2))
    >>> value = encode_value(UPDATE, {"snapshotEpoch": 0, "leaderEpoch": 1, "startOffset": 7, "stateBatches": []})
    >>> rows = get_spark().createDataFrame([(key, value)], "key binary, value binary")
    >>> rows.transform(decode_share_states).select("group_id", "share_partition", "start_offset", "error").show()
    +--------+---------------+------------+-----+
    |group_id|share_partition|start_offset|error|
    +--------+---------------+------------+-----+
    | billing|              2|           7| NULL|
    +--------+---------------+------------+-----+

    References
    ----------
    As `kafkalearn.formats.share_state_log.decode_value`.
    """
    decoder = _Decoder(df, key, value)
    rows = decoder.staged()
    said = decoder.columns()
    rest = sf.get(_rest(df, sf.when(~decoder.is_plain, packed(decoder.key, decoder.value))), sf.lit(0))
    rows = rows.withColumn("_decoding_rest", rest)
    read = {
        field.name: sf.when(decoder.is_plain, said.get(field.name, sf.lit(None)))
        .otherwise(sf.col("_decoding_rest")[field.name])
        .cast(field.dataType)
        for field in DECODED_SCHEMA.fields
    }
    own = [sf.col(f"`{name}`") for name in df.columns]
    return rows.select(*own, *(column.alias(name) for name, column in read.items()))


def _rest(df: DataFrame, unread: Column) -> Column:
    """What the records that no expression reads say: an array with one struct, empty where `unread` is null."""
    names = DECODED_SCHEMA.names
    types = [
        pa.list_(_ARROW[_BATCH.simpleString()]) if field.name == "batches" else _ARROW[field.dataType.simpleString()]
        for field in DECODED_SCHEMA.fields
    ]

    def read_rest(records: pa.Array) -> pa.Array:
        is_there = records.is_valid()
        rows = [decode_share_row(*unpacked(text)) for text in records.filter(is_there).to_pylist()]
        columns = [pa.array([row.get(name) for row in rows], kind) for name, kind in zip(names, types, strict=True)]
        ends = pc.cumulative_sum(is_there.cast(pa.int32()))
        begins_and_end = pa.concat_arrays([pa.array([0], pa.int32()), ends])
        return pa.ListArray.from_arrays(begins_and_end, pa.StructArray.from_arrays(columns, names))

    for_workers(df.sparkSession, unpacked)  # of another module, which the workers need not have
    return computed_once(arrow_function(for_workers(df.sparkSession, read_rest), ArrayType(DECODED_SCHEMA))(unread))


class _Decoder:
    """The expressions over one pair of columns, laid in stages: what a stage names is computed once."""

    def __init__(self, df: DataFrame, key: str, value: str) -> None:
        self.df = df
        self.key, self.value = sf.col(f"`{key}`"), sf.col(f"`{value}`")
        self.key_length, self.value_length = sf.octet_length(self.key), sf.octet_length(self.value)
        self.kind, self.version = sf.col("_decoding_type"), sf.col("_decoding_version")
        self.size, self.count_at = sf.col("_decoding_size"), sf.col("_decoding_count_at")
        self.count, self.end = sf.col("_decoding_count"), sf.col("_decoding_end")
        self.is_plain = sf.col("_decoding_is_plain")

    def staged(self) -> DataFrame:
        """The rows with the places of all fields, and whether that is all they need."""
        rows = self.df.withColumns(
            {
                "_decoding_type": int16_at(self.df, self.key, 0, self.key_length),
                "_decoding_size": int16_at(self.df, self.key, 2, self.key_length),
                "_decoding_version": int16_at(self.df, self.value, 0, self.value_length),
            }
        )
        # Behind the version: epochs and the start; of a snapshot one epoch and two times more.
        count_at = sf.when(self.kind == SNAPSHOT, 38).when(self.kind == UPDATE, 18)
        rows = rows.withColumns({"_decoding_count_at": count_at})
        rows = rows.withColumns({"_decoding_count": self._byte(self.count_at) - 1})
        rows = rows.withColumns({"_decoding_end": self.count_at + 1 + BATCH_BYTES * self.count})
        return rows.withColumns({"_decoding_is_plain": computed_once(self._has_key() & self._has_value())})

    def _byte(self, at: Column) -> Column:
        return uint16_at(self.df, self.value, at - 1, self.value_length).bitwiseAND(0xFF)

    def _int32(self, at: Column | int) -> Column:
        return int32_at(self.df, self.value, at, self.value_length)

    def _int64(self, at: Column | int) -> Column:
        return int64_at(self.df, self.value, at, self.value_length)

    def _has_key(self) -> Column:
        fits = self.kind.isin(SNAPSHOT, UPDATE) & (self.size >= 0) & (self.size + 24 == self.key_length)
        is_good = sf.when(fits, is_utf8(self.df, self.key, sf.lit(4), self.size))
        return sf.coalesce(is_good, sf.lit(False))

    def _has_value(self) -> Column:
        """Whether the value is a tombstone, or good to its last byte, with its batches and no unknown tagged field."""
        left, tags = self.value_length - self.end, self._byte(self.end)
        has_count = (tags == 1) & (self._byte(self.end + 1) == 0) & (self._byte(self.end + 2) == 4)
        fits = ((left == 1) & (tags == 0)) | ((left == 7) & has_count)
        in_bounds = (self.version == 0) & self.count.between(0, MOST_PLAIN) & (left >= 1)
        untagged = sf.forall(self._numbers(), lambda nth: self._byte(self._batch_at(nth) + BATCH_BYTES - 1) == 0)
        is_good = sf.when(in_bounds, fits & untagged)
        return self.value.isNull() | sf.coalesce(is_good, sf.lit(False))

    def _numbers(self) -> Column:
        """The batches' numbers from 0 on."""
        none = sf.array().cast("array<int>")
        return sf.when(self.count > 0, sf.sequence(sf.lit(0), self.count - 1)).otherwise(none)

    def _batch_at(self, nth: Column) -> Column:
        return self.count_at + 1 + BATCH_BYTES * nth

    def _batch(self, nth: Column) -> Column:
        at = self._batch_at(nth)
        state = sf.shiftright(sf.shiftleft(self._byte(at + 16), 24), 24)
        return sf.struct(
            self._int64(at).alias("first"),
            self._int64(at + 8).alias("last"),
            state.alias("state"),
            int16_at(self.df, self.value, at + 17, self.value_length).alias("count"),
        )

    def columns(self) -> dict[str, Column]:
        """What a plain row says, by name."""
        is_snapshot, is_there = self.kind == SNAPSHOT, self.value.isNotNull()
        after = sf.when(is_snapshot, 4).otherwise(0)  # the state epoch stands between the others
        return {
            "record_type": self.kind,
            "group_id": sf.substring(self.key, sf.lit(5), self.size).cast("string"),
            "topic_id": topic_id_text(sf.substring(self.key, self.size + 5, sf.lit(16))),
            "share_partition": int32_at(self.df, self.key, self.size + 20, self.key_length),
            "is_tombstone": ~is_there,
            "value_version": self.version,
            "snapshot_epoch": self._int32(2),
            "state_epoch": sf.when(is_snapshot, self._int32(6)),
            "leader_epoch": self._int32(after + 6),
            "start_offset": self._int64(after + 10),
            "complete_count": sf.when(self.value_length - self.end == 7, self._int32(self.end + 3)),
            "created_ms": sf.when(is_snapshot, self._int64(22)),
            "written_ms": sf.when(is_snapshot, self._int64(30)),
            "batches": sf.when(is_there, sf.transform(self._numbers(), self._batch)),
        }


# The newest state of each share-partition, and its lag.

_WHOSE = ("group_id", "topic_id", "share_partition")


_SNAPSHOT = ("is_tombstone", "snapshot_epoch", "state_epoch", "written_ms")
_READ = ("error", "record_type", *_WHOSE, *_SNAPSHOT, "start_offset", "leader_epoch", "complete_count")


@rule(
    {"{offset}": WHOLE_NUMBERS, **typed(DECODED_SCHEMA, *_READ)},
    remedy="decode the records first, with decode_share_states; the offset of each says which came last",
    needs_all=True,
)
def latest_share_states(decoded: DataFrame, offset: str = "offset") -> DataFrame:
    """What each share-partition's records say at their end: epochs, start and what is done, without the batches.

    Parameters
    ----------
    decoded : DataFrame
        From `decode_share_states`, with the records' offsets. All records of a share-partition are in one partition of
        the topic, so that their offsets are their order.
    offset : str
        The name of that column.

    Returns
    -------
    DataFrame
        ``group_id``, ``topic_id``, ``share_partition``, ``snapshot_epoch``, ``state_epoch``, ``leader_epoch``,
        ``start_offset`` (-1: nobody has acknowledged anything yet), ``complete_count`` (null: not known),
        ``written_ms`` of the last snapshot. Deleted states, and updates without a snapshot, have none. One pass: Spark
        keeps one row for each share-partition.

    References
    ----------
    As `kafkalearn.formats.share_state_log.replay`.
    """
    at = sf.col(f"`{offset}`")
    is_snapshot = sf.col("record_type") == SNAPSHOT
    is_value = ~sf.col("is_tombstone")
    rows = decoded.where("error IS NULL AND (record_type = 0 OR NOT is_tombstone)").groupBy(*_WHOSE)

    def last(column: str, where: Column) -> Column:
        return sf.max_by(column, sf.when(where, at)).alias(column)

    # Numbers alone: with a struct among them Spark would sort all records by their texts.
    found = rows.agg(
        *(last(column, is_snapshot) for column in _SNAPSHOT),
        *(
            last(column, is_value & (is_snapshot | (sf.col(column) != -1)))
            for column in ("start_offset", "leader_epoch")
        ),
        sf.max_by("complete_count", at).alias("complete_count"),
    )
    return found.where("NOT is_tombstone").select(
        *_WHOSE, "snapshot_epoch", "state_epoch", "leader_epoch", "start_offset", "complete_count", "written_ms"
    )


@rule(
    {"topic_id": TEXT, "share_partition": NUMBERS, "start_offset": NUMBERS, "complete_count": NUMBERS},
    {"topic_id": TEXT, "share_partition": NUMBERS, "log_end": NUMBERS},
    remedy="give what latest_share_states returns; a log end is the offset that the next record gets",
    needs_all=True,
)
def share_lag_of(latest: DataFrame, log_ends: DataFrame) -> DataFrame:
    """How much each share group has left to do, partition by partition.

    Parameters
    ----------
    latest : DataFrame
        From `latest_share_states`.
    log_ends : DataFrame
        ``topic_id``, ``share_partition`` and ``log_end``, the offset that the next record gets.

    Returns
    -------
    DataFrame
        The columns of `latest`, ``log_end`` and ``lag``: the log end minus the start minus what is done from there on;
        null where nothing was acknowledged yet, or the log end is not known. Nothing is kept whole:
        Spark joins by size.

    References
    ----------
    As `kafkalearn.formats.share_state_log.ShareState.lag`.
    """
    ends = log_ends.select("topic_id", "share_partition", "log_end")
    with_end = latest.join(ends, ["topic_id", "share_partition"], "left")
    lag = sf.col("log_end") - sf.col("start_offset") - sf.nullif(sf.col("complete_count"), sf.lit(-1))
    return with_end.withColumn("lag", sf.when(sf.col("start_offset") != -1, lag)).select(
        *latest.columns, "log_end", "lag"
    )
