"""The members in the records of classic groups, a row each: who they are, what they subscribe to, what they read.

A group's record holds all members one after the other, each with eight fields of its own length. Where each field
begins is found by a running sum over the fields (`aggregate`), inside Spark's own expressions; subscriptions and
assignments, the bytes that consumers write, are walked through in the same way. Only values of version 4, which
brokers can read and do not write, go through the scalar function.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import ArrayType, IntegerType, StringType, StructField, StructType

from kafkalearn.offsets.records.members import CONSUMER_PROTOCOL
from kafkalearn.offsets.records.record_types import GROUP_TYPE
from kafkalearn.spark.columns.big_endian import int16_at, int32_at
from kafkalearn.spark.columns.checks import require, require_all_read
from kafkalearn.spark.offsets.consumer_protocol import assigned_in, subscribed_in
from kafkalearn.spark.offsets.rest import members_of_rest

ID, INSTANCE, CLIENT, HOST, REBALANCE, SESSION, SUBSCRIPTION, ASSIGNMENT = range(8)
FIELD_COUNT = 8

TOPIC_PARTITION = StructType([StructField("topic", StringType()), StructField("partition", IntegerType())])
MEMBER_SCHEMA = StructType(
    [
        *(StructField(name, StringType()) for name in ("member_id", "instance_id", "client_id", "client_host")),
        *(StructField(name, IntegerType()) for name in ("rebalance_timeout_ms", "session_timeout_ms")),
        StructField("subscribed", ArrayType(StringType())),
        StructField("assigned", ArrayType(TOPIC_PARTITION)),
    ]
)
"""What `group_members` adds, in this order."""


def group_members(decoded: DataFrame, value: str = "value") -> DataFrame:
    """A row for each member in each record of a classic group.

    Parameters
    ----------
    decoded : DataFrame
        From `kafkalearn.spark.offsets.decode.decode_offsets`; or only those of its rows that are asked for, such as
        the last of each group.
    value : str
        The column with the records' values.

    Returns
    -------
    DataFrame
        The columns of `decoded`, a row for each member, and

        - ``member_id``, ``instance_id`` (null: not a static member), ``client_id``, ``client_host``
        - ``rebalance_timeout_ms`` (in a value of version 0 the session timeout), ``session_timeout_ms``
        - ``subscribed``, array of topics; null in a group whose members are no consumers, or if it cannot be read
        - ``assigned``, array of (topic, partition)

        Groups without members, tombstones, other records and those that cannot be read have no row. The bytes of the
        value are not kept. `decoded` is read twice: for most rows, and for values of version 4, which need Python on
        the workers; where reading takes long, keep what was read first.

    Raises
    ------
    KafkaLearnError
        If a column is missing.

    References
    ----------
    Apache Kafka 4.3, ``GroupMetadataValue``, ``ConsumerProtocol``.
    """
    require(decoded, value, ("binary",), "the values of the records, as from Spark's Kafka source")
    require(decoded, "error", ("string",), "decode the records first, with decode_offsets")
    require_all_read(decoded)
    data = sf.col(f"`{value}`")
    of_groups = decoded.where((sf.col("record_type") == GROUP_TYPE) & sf.col("error").isNull() & data.isNotNull())
    of_groups = of_groups.where("member_count > 0")
    own = [sf.col(f"`{name}`") for name in decoded.columns if name != value]
    plain = of_groups.where("value_version <= 3").transform(_placed, value)
    plain = plain.select(*own, data, "_places", sf.explode(sf.sequence(sf.lit(0), sf.col("_count") - 1)).alias("_nth"))
    plain = plain.withColumns(_blobs(plain, data)).select(*own, *_columns(plain, data))
    rest = members_of_rest(of_groups.where("value_version > 3"), value, MEMBER_SCHEMA)
    return plain.unionByName(rest)


def _placed(rows: DataFrame, value: str) -> DataFrame:
    """The rows with the number of members, and where each field of each of them begins."""
    data, length = sf.col(f"`{value}`"), sf.octet_length(f"`{value}`")
    version = sf.col("value_version")

    def text_end(at: Column) -> Column:
        return at + 2 + sf.greatest(int16_at(rows, data, at, length), sf.lit(0))

    rows = rows.withColumn("_type_end", text_end(sf.lit(2)))
    rows = rows.withColumn("_protocol_end", text_end(sf.col("_type_end") + 4))  # the generation lies between
    rows = rows.withColumn("_leader_end", text_end(sf.col("_protocol_end")))
    rows = rows.withColumn("_count_at", sf.col("_leader_end") + sf.when(version >= 2, 8).otherwise(0))
    rows = rows.withColumn("_count", int32_at(rows, data, sf.col("_count_at"), length))

    def next_field(places: Column, number: Column) -> Column:
        at, field = sf.element_at(places, -1), number % FIELD_COUNT
        width = (
            sf.when((field == INSTANCE) & (version < 3) | (field == REBALANCE) & (version < 1), 0)
            .when(field <= HOST, 2 + sf.greatest(int16_at(rows, data, at, length), sf.lit(0)))
            .when(field <= SESSION, 4)
            .otherwise(4 + sf.greatest(int32_at(rows, data, at, length), sf.lit(0)))
        )
        return sf.concat(places, sf.array((at + width).cast("int")))

    fields = sf.sequence(sf.lit(0), sf.col("_count") * FIELD_COUNT - 1)
    first = sf.array((sf.col("_count_at") + 4).cast("int"))
    return rows.withColumn("_places", sf.aggregate(fields, first, next_field))


def _at(field: int) -> tuple[Column, Column]:
    """Where a field of the row's member begins and ends."""
    begin = sf.col("_nth") * FIELD_COUNT + field
    return sf.get("_places", begin), sf.get("_places", begin + 1)


def _blobs(rows: DataFrame, data: Column) -> dict[str, Column]:
    """The bytes that consumers wrote, and their lengths."""
    blobs = {}
    for name, field in (("_subscription", SUBSCRIPTION), ("_assignment", ASSIGNMENT)):
        start, end = _at(field)
        blobs[name] = sf.substring(data, start + 5, end - start - 4)
    return blobs


def _columns(rows: DataFrame, data: Column) -> list[Column]:
    length = sf.octet_length(data)

    def words(field: int) -> Column:
        start, end = _at(field)
        return sf.when(end - start >= 2, sf.substring(data, start + 3, end - start - 2).cast("string"))

    def number(field: int) -> Column:
        start, end = _at(field)
        return sf.when(end > start, int32_at(rows, data, start, length))

    instance_at = _at(INSTANCE)[0]
    has_instance = (sf.col("value_version") >= 3) & (int16_at(rows, data, instance_at, length) >= 0)
    is_consumer = sf.col("protocol_type") == CONSUMER_PROTOCOL
    nothing = sf.array().cast(ArrayType(TOPIC_PARTITION))
    return [
        words(ID).alias("member_id"),
        sf.when(has_instance, words(INSTANCE)).alias("instance_id"),
        words(CLIENT).alias("client_id"),
        words(HOST).alias("client_host"),
        sf.coalesce(number(REBALANCE), number(SESSION)).alias("rebalance_timeout_ms"),
        number(SESSION).alias("session_timeout_ms"),
        sf.when(is_consumer, subscribed_in(rows, sf.col("_subscription"))).alias("subscribed"),
        sf.coalesce(sf.when(is_consumer, assigned_in(rows, sf.col("_assignment"))), nothing).alias("assigned"),
    ]
