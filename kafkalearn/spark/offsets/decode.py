"""Raw records of ``__consumer_offsets`` decoded in whole columns, as `kafkalearn.offsets.decode` does one of them.

Nearly all records of the topic are committed offsets in one of five layouts. For them every field has a place that
follows from two or three lengths, so each column is a compiled expression. What is left, records of groups and
anything unusual or damaged, goes through the scalar function in Arrow batches (`kafkalearn.spark.offsets.rest`), on the
way of all rows: the others pass by as nulls, so the input is read once. A record that cannot be read keeps its row,
with the reason. On its way to Python and past it a row is copied several times, which is half of the cost: who asks
for commits alone can do without (``has_python=False``).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import BooleanType, IntegerType, LongType, StringType, StructField, StructType

from kafkalearn.arguments import flag
from kafkalearn.offsets.records.record_types import GROUP_TYPE, OFFSET_TYPES, RECORD_TYPES
from kafkalearn.spark.columns.big_endian import int16_at, int32_at, int64_at, uint16_at
from kafkalearn.spark.columns.checks import UNREAD, refuse_overwrite, require
from kafkalearn.spark.columns.texts import is_utf8
from kafkalearn.spark.offsets.rest import packed, rest_of

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
OF_EVERY_RECORD = ("record_type", "kind", "is_tombstone", "value_version")  # what no record needs Python for
NOT_READ = "not read: this record needs Python on the workers, and has_python=False was given"

WORDS_BY_TYPE = [RECORD_TYPES[at].words if at in RECORD_TYPES else None for at in range(max(RECORD_TYPES) + 1)]
NEEDS_ALL = (
    "the rows were decoded with has_python=False, which leaves the records of groups and unusual ones unread; here all "
    "count: decode them without it"
)
AS_MANY_AS_THERE_ARE = 2**31 - 1  # partitions: coalesce only takes some together if there are more
REST_SCHEMA = StructType([field for field in DECODED_SCHEMA if field.name not in OF_EVERY_RECORD])


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
        (those of groups, anything unusual or damaged) have `NOT_READ` as their `error`, and of the other columns only
        `record_type`, `kind`, `is_tombstone` and `value_version`. Helpers that need every record refuse such rows.

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

        Of the other record types (3 to 23) only kind, group and the value's version are there. `df` is read once; a
        few rows need Python on the workers (PyArrow there, not kafkalearn).

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
    for column in (key, value):
        require(df, column, ("binary",), "records have bytes, as from Spark's Kafka source")
    for column in DECODED_COLUMNS:
        refuse_overwrite(df, column)
    decoder = _Decoder(df, key, value)
    # A node apart from the others stands in the middle, Python's or the other one: compiled into one function together
    # with all columns of the rows, what is in front and what is behind would be too large for Java.
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
        self.group_end, self.topic_end = sf.col("_decoding_group_end"), sf.col("_decoding_topic_end")
        self.text_at, self.text_end = sf.col("_decoding_text_at"), sf.col("_decoding_text_end")
        self.is_offset = self.kind.isin(*OFFSET_TYPES)
        self.is_plain = sf.col("_decoding_is_plain")

    def staged(self) -> DataFrame:
        """The rows with the places of all fields and whether that is all they need."""
        rows = self.df.withColumns(
            {
                "_decoding_type": self._int16(self.key, 0, self.key_length),
                "_decoding_group_end": self._sized_end(self.key, sf.lit(2), self.key_length),
                "_decoding_version": self._int16(self.value, 0, self.value_length),
            }
        )
        topic_end = sf.when(self.is_offset, self._sized_end(self.key, self.group_end, self.key_length))
        rows = rows.withColumns({"_decoding_topic_end": topic_end, "_decoding_text_at": self._metadata_at()})
        rows = rows.withColumns({"_decoding_text_end": self._metadata_end()})
        # Always true, and not deterministic to Spark's planner, which would else put every stage into the filters.
        stay_apart = sf.spark_partition_id() >= 0
        return rows.withColumns({"_decoding_is_plain": self._has_key() & self._has_value() & stay_apart})

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

    def _group_text(self) -> Column:
        return _text(self.key, sf.lit(4), self.group_end)

    def _topic_text(self) -> Column:
        return _text(self.key, self.group_end + 2, self.topic_end)

    def _has_key(self) -> Column:
        """Whether the key is good to its last byte; of the types that hold no offsets, only of a tombstone."""
        has_group = self.group_end.isNotNull() & self._is_text(self.key, sf.lit(4), self.group_end)
        has_topic = self._is_text(self.key, self.group_end + 2, self.topic_end)
        has_topic = (self.topic_end + 4 == self.key_length) & has_topic
        is_good = sf.when(self.is_offset, has_group & has_topic)
        is_good = is_good.when(self.kind == GROUP_TYPE, has_group & (self.group_end == self.key_length))
        return sf.coalesce(is_good, sf.lit(False))

    def _key_columns(self) -> dict[str, Column]:
        return {
            "record_type": self.kind,
            "kind": sf.get(sf.lit(WORDS_BY_TYPE), self.kind),
            "group_id": self._group_text(),
            "committed_topic": sf.when(self.is_offset, self._topic_text()),
            "committed_partition": sf.when(self.is_offset, self._int32(self.key, self.topic_end, self.key_length)),
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
        encoded = sf.translate(sf.base64(topic_id), "+/", "-_")
        leader_epoch = sf.when(self.version >= 3, self._int32(self.value, 10, self.value_length))
        return {
            "committed_offset": self._int64(2),
            "leader_epoch": _unless_minus_one(leader_epoch),
            "metadata": _text(self.value, self.text_at, end),
            "commit_ms": self._int64(end),
            "expire_ms": _unless_minus_one(sf.when(self.version == 1, self._int64(end + 8))),
            "topic_id": sf.substring(encoded, 1, 22),  # 16 bytes; the rest is padding
        }


def _text(data: Column, start: Column, end: Column) -> Column:
    return sf.substring(data, start + 1, end - start).cast("string")


def _unless_minus_one(number: Column) -> Column:
    """Null for Kafka's "none"."""
    return sf.nullif(number, sf.lit(-1))
