"""Generated data: each row from its number and a seed, so the same rows however Spark cuts them into partitions.

Nothing here reads or writes; `kafkalearn.spark.data.datasets` keeps the results. Change a rule, and `VERSION` rises.
"""

from __future__ import annotations

import math

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sf

from kafkalearn.base.checks import whole_number
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.spark.columns import RECORD_SCHEMA
from kafkalearn.spark.partitioning import with_partition

# Numbers that look random and are the same in every run: uniform ones, and ones that follow Zipf's law.
#
# A row's number is a hash of the row's place and the seed. It depends on nothing else: not on how Spark cuts the rows
# into partitions, not on the machine. Spark's ``pow`` is Java's StrictMath, the same everywhere.
#
# Zipf's law: the key of rank ``k`` gets a share proportional to ``k ** -exponent``. With exponent 0 all are equal;
# near 1 a few keys get much of everything, as words do in a text and customers in a shop.

HEAD_COUNT = 16


def hash_of(seed: int, purpose: str, number: Column) -> Column:
    """A bigint that depends on the seed, on what it is for, and on the number; each of its bits looks random."""
    return sf.xxhash64(sf.lit(seed), sf.lit(purpose), number)


def uniform(seed: int, purpose: str, number: Column) -> Column:
    """A double in [0, 1): the upper 53 bits of `hash_of`, as many as a double holds."""
    return sf.shiftrightunsigned(hash_of(seed, purpose, number), 11) / sf.lit(2.0**53)


def zipf_rank(chance: Column, key_count: int, exponent: float) -> Column:
    """The rank, bigint from 1 to `key_count`, of a key drawn by Zipf's law.

    Parameters
    ----------
    chance : Column
        A double in [0, 1), as from `uniform`.
    key_count : int
        How many keys there are, at least 1.
    exponent : float
        0 for equal shares; 0.5 to 1.5 in practice.

    Notes
    -----
    The rank is where the cumulative shares pass `chance`. For the first 16 ranks these sums stand in the query.
    From there on the sum is taken for an integral, the share of rank ``k`` being the area from ``k - 1/2`` to
    ``k + 1/2``; its inverse is one power, and a key's share is off by less than ``s * (s + 1) / 6936`` of itself
    (below 0.06% for exponents to 1.5).
    """
    whole_number("key_count", key_count, at_least=1)
    if not 0 <= exponent <= 10:
        raise KafkaLearnError(f"exponent must be from 0 (all keys alike) to 10, got {exponent!r}")
    shares = _head_shares(key_count, exponent)
    sums = [math.fsum(shares[: rank + 1]) for rank in range(len(shares))]
    if key_count <= HEAD_COUNT:
        sums, last = sums[:-1], sf.lit(key_count)
    else:
        last = _tail_rank((chance - sums[-1]) / (1 - sums[-1]), key_count, exponent)
    rank = last.cast("bigint")
    for index in reversed(range(len(sums))):
        rank = sf.when(chance < sums[index], sf.lit(index + 1)).otherwise(rank)
    return rank.cast("bigint")


def _head_shares(key_count: int, exponent: float) -> list[float]:
    total = math.fsum(rank**-exponent for rank in range(1, key_count + 1))
    return [rank**-exponent / total for rank in range(1, min(key_count, HEAD_COUNT) + 1)]


def _tail_rank(chance: Column, key_count: int, exponent: float) -> Column:
    low, high = HEAD_COUNT + 0.5, key_count + 0.5
    power = 1 - exponent
    if abs(power) < 1e-9:
        position = low * sf.pow(sf.lit(high / low), chance)
    else:
        position = sf.pow(low**power + chance * (high**power - low**power), sf.lit(1 / power))
    return sf.least(sf.greatest(sf.floor(position + 0.5), sf.lit(HEAD_COUNT + 1)), sf.lit(key_count))


VERSION = 1

SERVICES = [
    "billing",
    "shipping",
    "search",
    "cart",
    "catalog",
    "checkout",
    "fraud",
    "invoices",
    "loyalty",
    "mail",
    "prices",
    "returns",
    "stock",
    "tax",
]
ENVIRONMENTS = ["prod", "prod-eu-west-1", "prod-us-east-1", "staging", "test", "dev"]
CONNECTORS = ["jdbc-sink-orders", "s3-sink-orders", "elastic-search", "debezium-mysql-shop", "http-sink-mail"]
NOT_ASCII = ["заказы-доставка", "订单-计费", "注文-検索", "café-commandes", "größen-lager", "🛒-warenkorb"]
CLASSES = ["InvoiceWriter", "OrderListener", "StockProjector", "MailSender", "PriceCache", "FraudScorer"]

CONSOLE_IDS = 100_000  # kafka-console-consumer draws a number below this when it is given no group

FIRST_ORDER_MS = 1_767_225_600_000  # 2026-01-01T00:00:00Z
ORDER_INTERVAL_MS = 20
ORDER_STEPS = ("created", "paid", "packed", "shipped")


def generate_group_ids(spark: SparkSession, row_count: int, seed: int) -> DataFrame:
    """Distinct group ids like those of real clusters: the column ``group_id``.

    Of a hundred, 46 are services with an environment and a tenant, 28 end in a UUID (another at each start), 18
    are Kafka Connect's, 4 Java class names, 3 not ASCII, and 1 is of kafka-console-consumer.
    """
    whole_number("row_count", row_count, at_least=1)
    row, hundred = sf.col("id"), sf.col("id") % 100
    number = (row * 2_654_435_761) % 2**32  # odd, so each row below 2**32 has a number of its own
    choose = _chooser(seed, row)
    console = (sf.floor(row / 100) * 7919 + seed) % CONSOLE_IDS  # 7919 shares no factor with it: none comes twice
    group_id = (
        sf.when((hundred == 0) & (row < 100 * CONSOLE_IDS), sf.concat(sf.lit("console-consumer-"), console))
        .when(hundred < 47, sf.concat_ws("-", choose("service", SERVICES), choose("env", ENVIRONMENTS), number))
        .when(hundred < 75, sf.concat_ws("-", choose("service", SERVICES), _uuid(seed, row)))
        .when(hundred < 93, sf.concat_ws("-", sf.lit("connect"), choose("connector", CONNECTORS), number))
        .when(
            hundred < 97,
            sf.concat(
                sf.lit("com.shop."),
                choose("service", SERVICES),
                sf.lit("."),
                choose("class", CLASSES),
                sf.lit("$v"),
                number,
            ),
        )
        .otherwise(sf.concat_ws("-", choose("word", NOT_ASCII), number))
    )
    return spark.range(row_count).select(group_id.alias("group_id"))


def generate_keys(spark: SparkSession, row_count: int, key_count: int, exponent: float, seed: int) -> DataFrame:
    """Keys of records by Zipf's law: ``key`` as binary, ``user_id`` the same as text; user-1 is the most frequent."""
    whole_number("row_count", row_count, at_least=1)
    rank = zipf_rank(uniform(seed, "key", sf.col("id")), key_count, exponent)
    user_id = sf.concat(sf.lit("user-"), rank)
    return spark.range(row_count).select(user_id.cast("binary").alias("key"), user_id.alias("user_id"))


def generate_orders(
    spark: SparkSession, row_count: int, partition_count: int, customer_count: int, exponent: float, seed: int
) -> DataFrame:
    """Records of the topic ``orders`` with the columns of Spark's Kafka source; the key is the customer.

    Each order is four records, 20 ms apart, that a Java producer has put on the customer's partition; offsets
    count from 0 in each partition, timestamps rise with them. The value is JSON.
    """
    whole_number("row_count", row_count, at_least=1)
    row = sf.col("id")
    order = sf.floor(row / len(ORDER_STEPS))
    customer = zipf_rank(uniform(seed, "customer", order), customer_count, exponent)
    step = sf.element_at(sf.array(*map(sf.lit, ORDER_STEPS)), (row % len(ORDER_STEPS) + 1).cast("int"))
    cents = sf.pmod(hash_of(seed, "cents", order), sf.lit(20_000)) + 100
    value = sf.to_json(sf.struct(order.alias("order"), step.alias("step"), cents.alias("cents")))
    jitter = sf.pmod(hash_of(seed, "jitter", row), sf.lit(ORDER_INTERVAL_MS))
    records = spark.range(row_count).select(
        "id",
        sf.concat(sf.lit("user-"), customer).cast("binary").alias("key"),
        value.cast("binary").alias("value"),
        sf.lit("orders").alias("topic"),
        sf.timestamp_millis(row * ORDER_INTERVAL_MS + FIRST_ORDER_MS + jitter).alias("timestamp"),
        sf.lit(0).alias("timestampType"),  # CreateTime
    )
    offset = sf.row_number().over(Window.partitionBy("partition").orderBy("id")) - 1
    placed = records.transform(with_partition, partition_count).withColumn("offset", offset.cast("bigint"))
    return placed.select(*(column.split()[0] for column in RECORD_SCHEMA.split(", ")))


def _chooser(seed: int, row: Column):
    def choose(purpose: str, names: list[str]) -> Column:
        index = sf.pmod(hash_of(seed, purpose, row), sf.lit(len(names))) + 1
        return sf.element_at(sf.array(*map(sf.lit, names)), index.cast("int"))

    return choose


def _uuid(seed: int, row: Column) -> Column:
    """Two hashes in the form of a random UUID, version 4."""
    digits = sf.lower(sf.concat(*(sf.lpad(sf.hex(hash_of(seed, half, row)), 16, "0") for half in ("high", "low"))))
    return sf.regexp_replace(digits, r"^(.{8})(.{4}).(.{3}).(.{3})(.{12})$", "$1-$2-4$3-a$4-$5")
