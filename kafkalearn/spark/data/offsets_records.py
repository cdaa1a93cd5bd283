"""Raw records of the offsets topic as a class needs them: to the byte what a broker writes, by the million.

Fourteen days of a shop. `billing`, `shipping` and `search` commit most; 550 other groups commit now and then for the
13 partitions of `orders`. Every tenth of these is shut down after 4.2 days; seven days later its tombstones come.
Another tenth goes on committing the same offset from the ninth day on. There are records of groups, commits in three
versions of the value, and now and then a record that is damaged.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafkalearn.arguments import whole_number
from kafkalearn.offsets.records.codec import encode_value
from kafkalearn.offsets.records.protocol import Assignment, Subscription, encode_assignment, encode_subscription
from kafkalearn.spark.coordinator import with_offsets_partition
from kafkalearn.spark.data.cache import Recipe, kept
from kafkalearn.spark.data.datasets import SEED, rows_of
from kafkalearn.spark.data.generate import SERVICES
from kafkalearn.spark.data.zipf import hash_of
from kafkalearn.spark.session.progress import Update

VERSION = 1
FIRST_MS = 1_763_337_600_000  # Monday, 17 November 2025, 00:00 UTC
FORTNIGHT_MS = 14 * 24 * 3600 * 1000
TOPIC, PARTITION_COUNT = "orders", 13
TOPIC_ID = "AAAAAAAAAAEAAAAAAAAAAQ"
SLOTS = 1000  # rows of one turn: 300 of billing, 100 of shipping, 50 of search, one of each other group
FIRST_OTHER = 450
STUCK_AFTER = 0.6
SHUT_DOWN_AFTER, EXPIRED_AFTER = 0.3, 0.8  # of the fortnight: seven days lie between


def offsets_records(
    spark: SparkSession, size: str | int = "class", *, seed: int = SEED, update: Update | None = None
) -> DataFrame:
    """Raw records of ``__consumer_offsets``, with the columns of Spark's Kafka source.

    Parameters
    ----------
    spark : SparkSession
        Where they are made and read.
    size : str or int
        A name in `kafkalearn.spark.data.datasets.SIZES`, or a number of rows.
    seed : int
        Another seed, other metadata and offsets.
    update : callable, optional
        ``update(done, total)`` while they are made.

    Returns
    -------
    DataFrame
        Offsets rise in each partition, with gaps as the cleaner leaves them.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> offsets_records(get_spark(), "small").where("value IS NULL").count()
    1100
    """
    row_count = rows_of(size)
    recipe = Recipe("offsets_records", row_count, (("seed", seed), ("v", VERSION)), bytes_per_row=20)
    return kept(spark, recipe, lambda: generate_offsets_records(spark, row_count, seed), update)


def generate_offsets_records(spark: SparkSession, row_count: int, seed: int) -> DataFrame:
    """The same, made anew by each query."""
    whole_number("row_count", row_count, at_least=1)
    row = sf.col("id")
    is_gone = sf.col("is_mortal") & (sf.col("age") >= SHUT_DOWN_AFTER)
    is_expired = is_gone & (sf.col("age") >= EXPIRED_AFTER)
    rows = spark.range(row_count).withColumns(
        {"slot": row % SLOTS, "turn": sf.floor(row / SLOTS), "age": row / row_count}
    )
    rows = rows.withColumn("is_mortal", (sf.col("slot") >= FIRST_OTHER) & (sf.col("slot") % 10 == 9))
    rows = rows.withColumns(
        {"is_expired": is_expired, "slot": sf.when(is_gone & ~is_expired, 0).otherwise(sf.col("slot"))}
    )
    turn, slot = sf.col("turn"), sf.col("slot")
    partition = sf.when(slot < FIRST_OTHER, row % PARTITION_COUNT).otherwise(turn % (PARTITION_COUNT + 1))
    is_of_group = (partition == PARTITION_COUNT) & (sf.col("is_expired") | ((slot % 5 == 0) & (turn % 56 == 13)))
    rows = rows.withColumns(
        {
            "group_id": _group_id(slot),
            "of_partition": (partition % PARTITION_COUNT).cast("int"),
            "is_of_group": is_of_group,
            "ms": row * (FORTNIGHT_MS / row_count),
        }
    )
    rows = rows.withColumn("ms", (sf.col("ms") + FIRST_MS).cast("bigint"))
    damage = row % 100_003
    key = sf.when(damage == 99, sf.lit("0018")).otherwise(_key_digits())
    value = sf.when(
        ~sf.col("is_expired"),
        sf.when(sf.col("is_of_group"), _group_digits()).otherwise(_offset_digits(row_count, seed)),
    )
    value = sf.when(damage == 77, sf.substring(value, 1, 40)).otherwise(value)
    return rows.transform(with_offsets_partition, output="partition").select(
        sf.unhex(key).alias("key"),
        sf.unhex(value).alias("value"),
        sf.lit("__consumer_offsets").alias("topic"),
        "partition",
        row.alias("offset"),
        sf.timestamp_millis("ms").alias("timestamp"),
        sf.lit(0).alias("timestampType"),
    )


def _group_id(slot: Column) -> Column:
    names = sf.array(*map(sf.lit, SERVICES))
    service = sf.element_at(names, (slot % len(SERVICES) + 1).cast("int"))
    return (
        sf.when(slot < 300, "billing")
        .when(slot < 400, "shipping")
        .when(slot < FIRST_OTHER, "search")
        .otherwise(sf.concat_ws("-", service, slot.cast("string")))
    )


def _digits(number: Column, width: int) -> Column:
    """A number in so many bytes, as hex digits."""
    return sf.lpad(sf.hex(number), 2 * width, "0")


def _key_digits() -> Column:
    group_id = sf.col("group_id")
    of_group = sf.concat(_digits(sf.octet_length(group_id), 2), sf.hex(group_id.cast("binary")))
    at_topic = f"{len(TOPIC):04X}{TOPIC.encode().hex()}"
    of_offset = sf.concat(sf.lit("0001"), of_group, sf.lit(at_topic), _digits(sf.col("of_partition"), 4))
    return sf.when(sf.col("is_of_group"), sf.concat(sf.lit("0002"), of_group)).otherwise(of_offset)


def _offset_digits(row_count: int, seed: int) -> Column:
    """A commit: version 4 as brokers write it since 4.1; 3 and, with a retention of its own, 1 by a few groups."""
    slot, ms = sf.col("slot"), _digits(sf.col("ms"), 8)
    last_turn = int(STUCK_AFTER * row_count / SLOTS)
    is_stuck = (slot >= FIRST_OTHER) & (slot % 10 == 4)
    turn = sf.when(is_stuck, sf.least(sf.col("turn"), sf.lit(last_turn))).otherwise(sf.col("turn"))
    jitter = sf.pmod(hash_of(seed, "read", sf.col("group_id")), sf.lit(10))
    offset = _digits(turn * 10 + jitter, 8)
    topic_id = (
        "010010"
        + encode_value(1, 4, {"offset": 0, "metadata": "", "commitTimestamp": 0, "topicId": TOPIC_ID})[-16:].hex()
    )
    metadata = sf.when(slot < 400, sf.lit("01")).otherwise(sf.lit("0461636B"))
    return (
        sf.when(
            slot % 31 == 30,
            sf.concat(sf.lit("0001"), offset, sf.lit("0000"), ms, _digits(sf.col("ms") + 86_400_000, 8)),
        )
        .when(slot % 7 == 6, sf.concat(sf.lit("0003"), offset, sf.lit("000000050000"), ms))
        .otherwise(sf.concat(sf.lit("0004"), offset, sf.lit("00000005"), metadata, ms, sf.lit(topic_id)))
    )


def _group_digits() -> Column:
    """A rebalance: two members, the same in every record but for the generation."""
    members = [
        {
            "memberId": f"consumer-{number}-6f1e",
            "groupInstanceId": None,
            "clientId": f"consumer-{number}",
            "clientHost": "/127.0.0.1",
            "rebalanceTimeout": 300_000,
            "sessionTimeout": 45_000,
            "subscription": encode_subscription(Subscription((TOPIC,), version=0)),
            "assignment": encode_assignment(Assignment(((TOPIC, number),), version=0)),
        }
        for number in (1, 2)
    ]
    fields = {
        "protocolType": "consumer",
        "generation": 0x01020304,
        "protocol": "range",
        "leader": members[0]["memberId"],
    }
    whole = encode_value(2, 3, fields | {"currentStateTimestamp": FIRST_MS, "members": members}).hex()
    before, after = whole.split("01020304")
    return sf.concat(sf.lit(before), _digits(sf.col("turn"), 4), sf.lit(after))
