"""Raw records of ``__consumer_offsets`` decoded in whole columns, as `kafkalearn.offsets.decode` does one of them.

Nearly all records of the topic are committed offsets in one of five layouts. For them every field has a place that
follows from two or three lengths, so each column is a compiled expression; and so is what the key of any record says.
What is left, values of groups and anything unusual or damaged, goes through the scalar function in Arrow batches, on
the way of all rows: the others pass by as nulls, so the input is read once. A record that cannot be read keeps its row,
with the reason. On its way to Python and past it a row is copied several times, which is half of the cost: who asks
only what keys say does without, and who asks for commits alone can (``has_python=False``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import ArrayType, BooleanType, IntegerType, LongType, StringType, StructField, StructType

from kafkalearn.base.checks import flag
from kafkalearn.formats import wire
from kafkalearn.formats.wire import INT16, Undecodable
from kafkalearn.offsets import records as record_types
from kafkalearn.offsets.records import (
    GROUP_TYPE,
    OFFSET_TYPES,
    RECORD_TYPES,
    OffsetsRecord,
    decode,
    decode_key,
    decode_value,
)
from kafkalearn.offsets.replay import NO_KEY, classic_group, committed
from kafkalearn.spark.columns import (
    BYTES,
    UNREAD,
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
from kafkalearn.spark.session.worker_code import arrow_function, for_workers

# What no compiled expression reads is decoded one by one on the workers: records of groups, committed offsets in an
# unusual form, and what cannot be read, which gets its reason. Tables are named with their modules here: what goes to
# the workers takes its globals along, and a table that is read-only cannot be sent.

NULL = "null"
Row: TypeAlias = dict[str, object]


def decode_row(key: bytes | None, value: bytes | None) -> Row:
    """What one record says, by column; columns that it has nothing for are left out.

    >>> decode_row(bytes.fromhex("0002000a746573742d67726f7570"), b"")
    {'is_tombstone': False, 'record_type': 2, 'kind': 'group metadata', 'group_id': 'test-group', \
'error': 'GroupMetadataValue: version at byte 0 needs 2 bytes, 0 of 0 are left'}
    """
    row: Row = {"is_tombstone": value is None}
    if value is not None and len(value) >= 2:
        row["value_version"] = wire.NUMBERS[INT16].unpack_from(value)[0]
    if key is None:
        return row | {"error": NO_KEY}
    if len(key) >= 2:
        row |= _named(wire.NUMBERS[INT16].unpack_from(key)[0])
    try:
        row |= _key_columns(key)
        return row | _value_columns(decode(key, value))
    except Undecodable as error:
        return row | {"error": str(error)}


def _named(number: int) -> Row:
    known = record_types.RECORD_TYPES.get(number)
    row: Row = {"record_type": number}
    return row | {"kind": known.words} if known else row


def _key_columns(key: bytes) -> Row:
    kind, fields = decode_key(key)
    row: Row = {"group_id": OffsetsRecord(kind, fields, None, None).group}
    if kind.number in OFFSET_TYPES:
        row |= {"committed_topic": fields["topic"], "committed_partition": fields["partition"]}
    return row


def _value_columns(record: OffsetsRecord) -> Row:
    if record.is_tombstone:
        return {}
    if record.type.number in OFFSET_TYPES:
        offset = committed(record)
        return {
            "committed_offset": offset.offset,
            "leader_epoch": offset.leader_epoch,
            "metadata": offset.metadata,
            "commit_ms": offset.commit_ms,
            "expire_ms": offset.expire_ms,
            "topic_id": offset.topic_id,
        }
    if record.type.number == GROUP_TYPE:
        group = classic_group(record.group, record.fields)
        return {
            "protocol_type": group.protocol_type,
            "generation": group.epoch,
            "protocol": group.protocol,
            "leader": group.leader,
            "state_ms": group.state_ms,
            "member_count": len(group.members),
        }
    return {}


def packed(key: Column, value: Column) -> Column:
    """Key and value as one text in hexadecimal digits: Spark hands a column of texts to Python in half the time."""
    return sf.concat_ws(" ", *(sf.coalesce(sf.hex(each), sf.lit(NULL)) for each in (key, value)))


def unpacked(text: str) -> tuple[bytes | None, bytes | None]:
    """The key and the value.

    >>> unpacked("00FF null")
    (b'\\x00\\xff', None)
    """
    key, value = (None if each == NULL else bytes.fromhex(each) for each in text.split(" "))
    return key, value


def decode_columns(names: Sequence[str], records: Iterable[tuple[bytes | None, bytes | None]]) -> list[list]:
    """For each name the column of what some records, key and value, say."""
    rows = [decode_row(key, value) for key, value in records]
    return [[row.get(name) for row in rows] for name in names]


def rest_of(spark: SparkSession, unread: Column, added: StructType) -> Column:
    """What the records in `unread`, as `packed` makes them, say: a column of arrays with one struct `added` each.

    Where `unread` is null the arrays are empty; Python gets nulls there, which costs little.
    """
    names = added.names
    types = [_ARROW[field.dataType.simpleString()] for field in added.fields]

    def read_rest(records: pa.Array) -> pa.Array:
        is_there = records.is_valid()
        read = decode_columns(names, map(unpacked, records.filter(is_there).to_pylist()))
        columns = [pa.array(column, kind) for column, kind in zip(read, types, strict=True)]
        ends = pc.cumulative_sum(is_there.cast(pa.int32()))
        begins_and_end = pa.concat_arrays([pa.array([0], pa.int32()), ends])
        return pa.ListArray.from_arrays(begins_and_end, pa.StructArray.from_arrays(columns, names))

    return computed_once(arrow_function(for_workers(spark, read_rest), ArrayType(added))(unread))


def member_rows(value: bytes) -> list[Row]:
    """The members in a group's value, by column; see `kafkalearn.spark.offsets.state`."""
    _, values = decode_value(GROUP_TYPE, value)
    return [
        {
            "member_id": each.member_id,
            "instance_id": each.instance_id,
            "client_id": each.client_id,
            "client_host": each.client_host,
            "rebalance_timeout_ms": each.rebalance_timeout_ms,
            "session_timeout_ms": each.session_timeout_ms,
            "subscribed": None if each.subscribed is None else list(each.subscribed),
            "assigned": [{"topic": topic, "partition": partition} for topic, partition in each.assigned],
        }
        for each in classic_group("", values).members
    ]


def members_of_rest(df: DataFrame, value: str, added: StructType) -> DataFrame:
    """The rows without `value`, one for each member, with the columns `added`; record by record in Python.

    Row by row: nothing is kept.
    """
    own = [field for field in df.schema.fields if field.name != value]
    names = [field.name for field in own]
    types = {field.name: _MEMBER_ARROW.get(field.name) or _ARROW[field.dataType.simpleString()] for field in added}

    def batches(those: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for each in those:
            rows = [member_rows(one) for one in each.column(each.schema.names.index(value)).to_pylist()]
            index = pa.array([at for at, members in enumerate(rows) for _ in members], pa.int64())
            kept = [each.column(each.schema.names.index(name)).take(index) for name in names]
            members = [one for members in rows for one in members]
            new = [pa.array([one[name] for one in members], kind) for name, kind in types.items()]
            yield pa.RecordBatch.from_arrays([*kept, *new], names=[*names, *types])

    return df.mapInArrow(for_workers(df.sparkSession, batches), StructType(own + added.fields))


_MEMBER_ARROW = {
    "subscribed": pa.list_(pa.string()),
    "assigned": pa.list_(pa.struct([("topic", pa.string()), ("partition", pa.int32())])),
}
_ARROW = {"int": pa.int32(), "bigint": pa.int64(), "string": pa.string(), "boolean": pa.bool_()}

_NAMES_BY_TYPE = (
    (IntegerType(), ("record_type",)),
    (StringType(), ("kind", "group_id", "committed_topic")),
    (IntegerType(), ("committed_partition",)),
    (BooleanType(), ("is_tombstone",)),
    (IntegerType(), ("value_version",)),
    (LongType(), ("committed_offset",)),
    (IntegerType(), ("leader_epoch",)),
    (StringType(), ("metadata",)),
    (LongType(), ("commit_ms", "expire_ms")),
    (StringType(), ("topic_id", "protocol_type")),
    (IntegerType(), ("generation",)),
    (StringType(), ("protocol", "leader")),
    (LongType(), ("state_ms",)),
    (IntegerType(), ("member_count",)),
    (StringType(), ("error",)),
)
DECODED_SCHEMA = StructType([StructField(name, kind) for kind, names in _NAMES_BY_TYPE for name in names])
"""What `decode_offsets` adds, in this order."""

DECODED_COLUMNS = tuple(DECODED_SCHEMA.names)
OF_THE_KEY = ("group_id", "committed_topic", "committed_partition")
OF_EVERY_RECORD = ("record_type", "kind", *OF_THE_KEY, "is_tombstone", "value_version")
"""What no record needs Python for: a query that asks for these alone starts none."""
NOT_READ = "not read: this record needs Python on the workers, and has_python=False was given"

WORDS_BY_TYPE = [RECORD_TYPES[at].words if at in RECORD_TYPES else None for at in range(max(RECORD_TYPES) + 1)]
# A key is its record type and one text, the group, or two; those of offsets have a number behind.
TWO_TEXTS = tuple(number for number, each in RECORD_TYPES.items() if len(each.key.body.plain(version=0)) > 1)
NEEDS_ALL = (
    "the rows were decoded with has_python=False, which leaves the records of groups and unusual ones unread; here all "
    "count: decode them without it"
)
AS_MANY_AS_THERE_ARE = 2**31 - 1  # partitions: coalesce only takes some together if there are more
REST_SCHEMA = StructType([field for field in DECODED_SCHEMA if field.name not in OF_EVERY_RECORD])


def of_decoded(*names: str) -> dict[str, tuple[str, ...]]:
    """Some of these columns as a rule declares that it needs them.

    >>> of_decoded("group_id", "is_tombstone")
    {'group_id': ('string',), 'is_tombstone': ('boolean',)}
    """
    return typed(DECODED_SCHEMA, *names)


@rule(
    {"{key}": BYTES, "{value}": BYTES},
    remedy="records have bytes, as from Spark's Kafka source",
    adds=tuple(DECODED_COLUMNS),
)
def decode_offsets(df: DataFrame, key: str = "key", value: str = "value", *, has_python: bool = True) -> DataFrame:
    """The same rows with what each record of the offsets topic says.

    Parameters
    ----------
    df : DataFrame
        With the columns of Spark's Kafka source, of which `key` and `value` are read, both binary.
    key, value : str
        Their names.
    has_python : bool
        False: nothing is handed to Python on the workers, which is several times as fast. The few records that need it
        (values of groups, anything unusual or damaged) have `NOT_READ` as their `error`, and of the other columns only
        those that come from the key. Helpers that need every record refuse such rows.

        It makes no difference where `record_type`, `kind`, `group_id`, `committed_topic`, `committed_partition`,
        `is_tombstone` and `value_version` are all that is asked for: these columns are the same both ways, and Spark
        leaves out what nobody asks for, Python too.

    Returns
    -------
    DataFrame
        For ``df.transform(decode_offsets)``. The columns of `df`, and

        - ``record_type`` int, ``kind``, its name in words, and ``group_id``; of a committed offset also
          ``committed_topic`` and ``committed_partition``
        - ``is_tombstone``: the value is null; ``value_version`` int
        - of a committed offset ``committed_offset``, ``leader_epoch`` (null: none), ``metadata``, ``commit_ms``,
          ``expire_ms`` (null: the group's rule decides), ``topic_id`` (since 4.1, the 22 characters Kafka prints)
        - of a classic group ``protocol_type``, ``generation``, ``protocol``, ``leader``, ``state_ms``,
          ``member_count``
        - ``error``: null, or why the record cannot be read, with field and byte. What its key says is there if
          the key could be read; nothing of its value is.

        Of the other record types (3 to 23) only kind, group and the value's version are there. `df` is read once; what
        a value says, and `error`, needs Python on the workers for a few rows (PyArrow there, not kafkalearn). Row by
        row: nothing is kept.

    Raises
    ------
    KafkaLearnError
        If a column is missing or not binary, or there is one already that would be added, or `has_python` is neither
        True nor False.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> record = ("0001000a746573742d67726f757000047465737400000000", "000200000000000000640000000001610db7ba00")
    >>> rows = get_spark().createDataFrame([record], "key string, value string").selectExpr(
    ...     "unhex(key) AS key", "unhex(value) AS value"
    ... )
    >>> rows.transform(decode_offsets).select("group_id", "committed_topic", "committed_offset", "error").show()
    +----------+---------------+----------------+-----+
    |  group_id|committed_topic|committed_offset|error|
    +----------+---------------+----------------+-----+
    |test-group|           test|             100| NULL|
    +----------+---------------+----------------+-----+

    References
    ----------
    Apache Kafka 4.3, ``GroupCoordinatorRecordSerde``; value version 4 and its topic id came with 4.1.
    """
    decoder = _Decoder(df, key, value)
    # A node apart from the others stands in the middle, Python's or the other one: compiled into one function together
    # with all columns of the rows, what is in front and what is behind would be too large for Java.
    # With Python is the default, since without it the answer is another: of a thousand records two, groups and damaged
    # ones, are read by the scalar function alone. It costs 7.7 times counting the bytes instead of 2.9, for all columns
    # 12.9 instead of 8.0 (processor time, benchmarks/decode_offsets.py, which has the other ways that were tried).
    if flag("has_python", has_python):
        rows = decoder.staged().withColumn("_decoding_rest", rest_of(df.sparkSession, decoder.unread(), REST_SCHEMA))
        otherwise = {name: sf.get("_decoding_rest", sf.lit(0))[name] for name in REST_SCHEMA.names}
    else:
        rows, otherwise = decoder.staged().coalesce(AS_MANY_AS_THERE_ARE), {"error": sf.lit(NOT_READ)}
    said = decoder.columns()
    said |= {name: sf.when(decoder.is_plain, said[name]).otherwise(otherwise.get(name)) for name in REST_SCHEMA.names}
    own = [sf.col(f"`{name}`") for name in df.columns]
    metadata = {} if has_python else {"error": {UNREAD: NEEDS_ALL}}
    return rows.select(*own, *(said[name].alias(name, metadata=metadata.get(name)) for name in DECODED_COLUMNS))


class _Decoder:
    """The expressions over one pair of columns.

    They are laid in stages: what a stage names is computed once, however often the later ones use it. Its name begins
    with ``_decoding_``, as no column of the rows does.
    """

    def __init__(self, df: DataFrame, key: str, value: str) -> None:
        self.df = df
        self.key, self.value = sf.col(f"`{key}`"), sf.col(f"`{value}`")
        self.key_length, self.value_length = sf.octet_length(self.key), sf.octet_length(self.value)
        self.kind, self.version = sf.col("_decoding_type"), sf.col("_decoding_version")
        self.group_end, self.second_end = sf.col("_decoding_group_end"), sf.col("_decoding_second_end")
        self.text_at, self.text_end = sf.col("_decoding_text_at"), sf.col("_decoding_text_end")
        self.is_offset = self.kind.isin(*OFFSET_TYPES)
        self.has_key, self.is_plain = sf.col("_decoding_has_key"), sf.col("_decoding_is_plain")

    def staged(self) -> DataFrame:
        """The rows with the places of all fields and whether that is all they need."""
        rows = self.df.withColumns(
            {
                "_decoding_type": self._int16(self.key, 0, self.key_length),
                "_decoding_group_end": self._sized_end(self.key, sf.lit(2), self.key_length),
                "_decoding_version": self._int16(self.value, 0, self.value_length),
            }
        )
        second_end = self._sized_end(self.key, self.group_end, self.key_length)
        second_end = sf.when(self.kind.isin(*TWO_TEXTS), second_end)
        rows = rows.withColumns({"_decoding_second_end": second_end, "_decoding_text_at": self._metadata_at()})
        rows = rows.withColumns({"_decoding_text_end": self._metadata_end(), "_decoding_has_key": self._has_key()})
        return rows.withColumns({"_decoding_is_plain": computed_once(self.has_key & self._has_value())})

    def unread(self) -> Column:
        """The records that are not plain, as `rest_of` takes them."""
        return sf.when(~self.is_plain, packed(self.key, self.value))

    def columns(self) -> dict[str, Column]:
        """What a plain row says, by name; of `OF_EVERY_RECORD` what any does."""
        there = self._key_columns() | self._value_columns()
        return {field.name: there.get(field.name, sf.lit(None)).cast(field.dataType) for field in DECODED_SCHEMA}

    # Numbers at a place; null where they would reach beyond the bytes.

    def _int16(self, data: Column, at: Column | int, length: Column) -> Column:
        return int16_at(self.df, data, at, length)

    def _int32(self, data: Column, at: Column | int, length: Column) -> Column:
        return int32_at(self.df, data, at, length)

    def _int64(self, at: Column | int) -> Column:
        return int64_at(self.df, self.value, at, self.value_length)

    def _byte(self, at: Column | int) -> Column:
        """A byte of the value, read together with the one before it."""
        return uint16_at(self.df, self.value, at - 1, self.value_length).bitwiseAND(0xFF)

    def _sized_end(self, data: Column, at: Column, length: Column) -> Column:
        """Where a text with its length in front ends, if it begins at a place; null if it does not fit."""
        size = self._int16(data, at, length)
        return sf.when((size >= 0) & (at + 2 + size <= length), at + 2 + size)

    def _is_text(self, data: Column, start: Column, end: Column) -> Column:
        """Whether the bytes from a place to another, both of them within, are UTF-8."""
        return is_utf8(self.df, data, start, end - start)

    # The key.

    def _has_key(self) -> Column:
        """Whether the key is of a known type and good to its last byte."""
        has_group = self._is_text(self.key, sf.lit(4), self.group_end)
        has_second = self._is_text(self.key, self.group_end + 2, self.second_end)
        end = sf.when(self.is_offset, self.second_end + 4).otherwise(self.second_end)
        is_good = sf.when(self.kind.isin(*TWO_TEXTS), has_group & has_second & (end == self.key_length))
        one_text = [number for number in RECORD_TYPES if number not in TWO_TEXTS]
        is_good = is_good.when(self.kind.isin(*one_text), has_group & (self.group_end == self.key_length))
        return sf.coalesce(is_good, sf.lit(False))

    def _key_columns(self) -> dict[str, Column]:
        is_commit = self.has_key & self.is_offset
        partition = self._int32(self.key, self.second_end, self.key_length)
        return {
            "record_type": self.kind,
            "kind": sf.get(sf.lit(WORDS_BY_TYPE), self.kind),
            "group_id": sf.when(self.has_key, _text(self.key, sf.lit(4), self.group_end)),
            "committed_topic": sf.when(is_commit, _text(self.key, self.group_end + 2, self.second_end)),
            "committed_partition": sf.when(is_commit, partition),
            "is_tombstone": self.value.isNull(),
            "value_version": self.version,
        }

    # The value of a committed offset.

    def _metadata_at(self) -> Column:
        place = sf.when(self.version == 4, 15).when(self.version == 3, 16).when(self.version.between(0, 2), 12)
        return sf.when(self.is_offset, place)

    def _metadata_end(self) -> Column:
        """Where they end; null too if version 4 needs more than one byte for their length, which is rare."""
        at, is_flexible = self.text_at, self.version == 4
        size = sf.when(is_flexible, self._byte(14) - 1).otherwise(self._int16(self.value, at - 2, self.value_length))
        return sf.when(size.between(0, sf.when(is_flexible, 126).otherwise(0x7FFF)), at + size)

    def _has_value(self) -> Column:
        """Whether the value is a tombstone, or a committed offset that is good to its last byte and as usual."""
        end = self.text_end
        left, tag_count = self.value_length - end, self._byte(end + 8)
        has_topic_id = (tag_count == 1) & (self._int16(self.value, end + 9, self.value_length) == 16)
        fits = (
            sf.when(self.version == 4, ((left == 9) & (tag_count == 0)) | ((left == 27) & has_topic_id))
            .when(self.version == 1, left == 16)
            .otherwise(left == 8)
        )
        is_good = self.is_offset & sf.when(fits, self._is_text(self.value, self.text_at, end))
        return self.value.isNull() | sf.coalesce(is_good, sf.lit(False))

    def _value_columns(self) -> dict[str, Column]:
        end = self.text_end
        topic_id = sf.when(self.value_length - end == 27, sf.substring(self.value, end + 12, sf.lit(16)))
        leader_epoch = sf.when(self.version >= 3, self._int32(self.value, 10, self.value_length))
        return {
            "committed_offset": self._int64(2),
            "leader_epoch": _unless_minus_one(leader_epoch),
            "metadata": _text(self.value, self.text_at, end),
            "commit_ms": self._int64(end),
            "expire_ms": _unless_minus_one(sf.when(self.version == 1, self._int64(end + 8))),
            "topic_id": topic_id_text(topic_id),
        }


def _text(data: Column, start: Column, end: Column) -> Column:
    return sf.substring(data, start + 1, end - start).cast("string")


def _unless_minus_one(number: Column) -> Column:
    """Null for Kafka's "none"."""
    return sf.nullif(number, sf.lit(-1))


# Subscriptions and assignments of classic consumers, the bytes inside a group's record, as columns.
#
# As `kafkalearn.offsets.decode_subscription` and `decode_assignment` read one: a newer version as the newest known,
# bytes that follow passed over; what cannot be read is null.

STRING_BYTES = 2  # the least that a text takes
_TOPICS = "struct<at:int,topics:array<string>>"
_PARTITIONS = "struct<at:int,assigned:array<struct<topic:string,partition:int>>>"


def subscribed_in(df: DataFrame, blob: Column) -> Column:
    """The topics in a subscription, an array of texts; null if it cannot be read."""
    blobs = _Blob(df, blob)
    version = blobs.int16(sf.lit(0))

    def whole(read: Column) -> Column:
        """The topics, if all that follows them in the version fits too."""
        after = blobs.bytes_end(read["at"])
        owned = sf.when(version >= 1, blobs.topic_partitions(after)["at"]).otherwise(after)
        return sf.when(_of(owned, lambda at: _rest_fits(blobs, version, at)), read["topics"])

    return sf.when(version >= 0, _of(blobs.topics(sf.lit(2)), whole))


def _rest_fits(blobs: _Blob, version: Column, at: Column) -> Column:
    """Whether generation (since version 2) and rack (since 3) fit behind a place."""
    generation_end = sf.when(version >= 2, at + 4).otherwise(at)
    rack_end = sf.when(version >= 3, blobs.text_end(generation_end, is_nullable=True)).otherwise(generation_end)
    return sf.coalesce(rack_end <= blobs.length, sf.lit(False))


def assigned_in(df: DataFrame, blob: Column) -> Column:
    """The partitions in an assignment, an array of (topic, partition); empty of no bytes, null if it cannot be read."""
    blobs = _Blob(df, blob)

    def whole(read: Column) -> Column:
        return sf.when(blobs.bytes_end(read["at"]).isNotNull(), read["assigned"])

    return sf.when(blobs.int16(sf.lit(0)) >= 0, _of(blobs.topic_partitions(sf.lit(2)), whole))


def _of(column: Column, use: Callable[[Column], Column]) -> Column:
    """What `use` makes of a column that is computed once, however often it is used."""
    return sf.get(sf.transform(sf.array(column), use), sf.lit(0))


class _Blob:
    """Places in the bytes of one column; each is null if what should be there does not fit."""

    def __init__(self, df: DataFrame, blob: Column) -> None:
        self.df, self.blob, self.length = df, blob, sf.octet_length(blob)

    def int16(self, at: Column) -> Column:
        return int16_at(self.df, self.blob, at, self.length)

    def int32(self, at: Column) -> Column:
        return int32_at(self.df, self.blob, at, self.length)

    def text_end(self, at: Column, is_nullable: bool = False) -> Column:
        """Where a text that begins at a place ends."""
        least = -1 if is_nullable else 0
        return _of(self.int16(at), lambda size: self._end(at + 2, size, least))

    def bytes_end(self, at: Column) -> Column:
        """Where nullable bytes that begin at a place end."""
        return _of(self.int32(at), lambda size: self._end(at + 4, size, -1))

    def _end(self, start: Column, size: Column, least: int) -> Column:
        end = start + sf.greatest(size, sf.lit(0))
        return sf.when((size >= least) & (size <= self.length - start) & (end <= self.length), end)

    def counted(self, at: Column, least_bytes: int) -> Column:
        """The numbers from 1 to a count at a place, empty for 0; null if so many elements cannot follow."""
        return _of(
            self.int32(at),
            lambda count: sf.when((count >= 0) & (count <= (self.length - at - 4) / least_bytes), _up_to(count)),
        )

    def text(self, at: Column, end: Column) -> Column:
        return sf.substring(self.blob, at + 3, end - at - 2)

    def topics(self, at: Column) -> Column:
        """Place and topics behind an array of texts."""

        def add(read: Column, number: Column) -> Column:
            place = read["at"]

            def added(end: Column) -> Column:
                topic = self.text(place, end)
                grown = sf.concat(read["topics"], sf.array(topic.cast("string")))
                fits = end.isNotNull() & sf.is_valid_utf8(topic.cast("string"))
                return sf.when(fits, sf.struct(end.alias("at"), grown.alias("topics"))).cast(_TOPICS)

            return _of(self.text_end(place), added)

        first = sf.struct((at + 4).alias("at"), sf.array().alias("topics")).cast(_TOPICS)
        return sf.aggregate(self.counted(at, STRING_BYTES), first, add)

    def topic_partitions(self, at: Column) -> Column:
        """Place and partitions behind an array of topics, each with an array of partitions."""

        def add(read: Column, number: Column) -> Column:
            place = read["at"]
            return _of(self.text_end(place), lambda end: _of(self.counted(end, 4), lambda numbers: grown(
                read, self.text(place, end).cast("string"), end, numbers
            )))  # fmt: skip

        def grown(read: Column, topic: Column, end: Column, numbers: Column) -> Column:
            partitions = sf.transform(
                numbers, lambda nth: sf.struct(topic.alias("topic"), self.int32(end + nth * 4).alias("partition"))
            )
            place = (end + 4 + 4 * sf.size(numbers)).alias("at")
            fits = numbers.isNotNull() & sf.is_valid_utf8(topic)
            both = sf.concat(read["assigned"], partitions).alias("assigned")
            return sf.when(fits, sf.struct(place, both)).cast(_PARTITIONS)

        first = sf.struct((at + 4).alias("at"), sf.array().alias("assigned")).cast(_PARTITIONS)
        return sf.aggregate(self.counted(at, STRING_BYTES + 4), first, add)


def _up_to(count: Column) -> Column:
    return sf.when(count == 0, sf.array().cast("array<int>")).otherwise(sf.sequence(sf.lit(1), count))
