"""Data as a class needs it: group ids, keys and orders, from a hundred thousand rows to a hundred million.

Spark makes them from a seed, the same rows in every run and on every machine, and keeps them as Parquet
(`kafkalearn.spark.data.cache`). Sizes by name: ``"small"`` for tests, ``"class"`` for a lesson, ``"big"`` to see a
difference.

========  ===========  ===========================================
size      rows         to make, on two cores
========  ===========  ===========================================
small     100,000      a second
class     10,000,000   6 s keys, 11 s group ids, 25 s orders
big       50,000,000   half a minute, one minute, two minutes
========  ===========  ===========================================
"""

from __future__ import annotations

import os
from types import MappingProxyType

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafkalearn.base.checks import whole_number
from kafkalearn.base.errors import unknown_name
from kafkalearn.spark.columns import RECORD_SCHEMA
from kafkalearn.spark.data import generate
from kafkalearn.spark.data.cache import Recipe, kept
from kafkalearn.spark.data.generate import (
    FIRST_ORDER_MS,
    generate_group_ids,
    generate_keys,
    generate_orders,
    hash_of,
    uniform,
    zipf_rank,
)
from kafkalearn.spark.session.interrupts import Update

SIZES: MappingProxyType[str, int] = MappingProxyType({"small": 100_000, "class": 10_000_000, "big": 50_000_000})
"""Rows of each size."""

SEED = 42

LESSON_SIZE = "KAFKALEARN_LESSON_SIZE"
"""Environment variable: the size that chapters get for ``"class"``, ``small`` where the machine is weak."""


def group_ids(
    spark: SparkSession, size: str | int = "class", *, seed: int = SEED, update: Update | None = None
) -> DataFrame:
    """Distinct group ids like those of real clusters: the string column ``group_id``.

    Parameters
    ----------
    spark : SparkSession
        Where it is made and read.
    size : str or int
        A name in `SIZES`, or a number of rows.
    seed : int
        Another seed, other ids.
    update : callable, optional
        ``update(done, total)`` while it is made; `kafkalearn.drawing.widgets` has one that draws a bar.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> group_ids(get_spark(), "small").where("group_id like 'console%'").count()
    1000
    """
    row_count = rows_of(size)
    recipe = Recipe("group_ids", row_count, (("seed", seed), ("v", generate.VERSION)), bytes_per_row=24)
    return kept(spark, recipe, lambda: generate_group_ids(spark, row_count, seed), update)


def keys(
    spark: SparkSession,
    size: str | int = "class",
    *,
    key_count: int | None = None,
    exponent: float = 0.0,
    seed: int = SEED,
    update: Update | None = None,
) -> DataFrame:
    """Keys of records, users' ids: ``key`` as binary, as Kafka has it, and ``user_id``, the same as text.

    Parameters
    ----------
    spark, size, seed, update
        As in `group_ids`.
    key_count : int, optional
        How many users there are, not all of whom need occur; without it a tenth of the rows.
    exponent : float
        Zipf's: 0 for users who all do the same share, 1 for a few who do much. user-1 does most.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> keys(get_spark(), "small", key_count=1000, exponent=1.0).where("user_id = 'user-1'").count()
    13470
    """
    row_count = rows_of(size)
    key_count = whole_number("key_count", row_count // 10 or 1 if key_count is None else key_count, at_least=1)
    parameters = (("key_count", key_count), ("exponent", float(exponent)), ("seed", seed), ("v", generate.VERSION))
    recipe = Recipe("keys", row_count, parameters, bytes_per_row=24)
    return kept(spark, recipe, lambda: generate_keys(spark, row_count, key_count, exponent, seed), update)


def orders(
    spark: SparkSession,
    size: str | int = "small",
    *,
    partition_count: int = 12,
    customer_count: int | None = None,
    exponent: float = 1.0,
    seed: int = SEED,
    update: Update | None = None,
) -> DataFrame:
    """Records of the shop's topic ``orders``, with the columns of Spark's Kafka source.

    The key is the customer, the value JSON; each order is four records. A Java producer has chosen the
    partitions; offsets count from 0 in each, without gaps.

    Parameters
    ----------
    spark, size, seed, update
        As in `group_ids`.
    partition_count : int
        Partitions of the topic.
    customer_count : int, optional
        How many customers there are; without it a hundredth of the rows.
    exponent : float
        Zipf's, for how the orders fall on the customers.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> orders(get_spark(), "small").columns
    ['key', 'value', 'topic', 'partition', 'offset', 'timestamp', 'timestampType']
    """
    row_count = rows_of(size)
    customer_count = row_count // 100 or 1 if customer_count is None else customer_count
    settings = (partition_count, customer_count, float(exponent), seed)
    names = ("partition_count", "customer_count", "exponent", "seed")
    parameters = (*zip(names, settings, strict=True), ("v", generate.VERSION))
    recipe = Recipe("orders", row_count, parameters, bytes_per_row=26, sorted_bytes_per_row=60)
    return kept(spark, recipe, lambda: generate_orders(spark, row_count, *settings), update)


def rows_of(size: str | int) -> int:
    """The rows of a size: of its name, or the number itself.

    >>> rows_of("class"), rows_of(5000)
    (10000000, 5000)
    """
    if not isinstance(size, str):
        return whole_number("size", size, at_least=1)
    size = os.environ.get(LESSON_SIZE, size) if size == "class" else size
    if size not in SIZES:
        raise unknown_name("size", size, SIZES)
    return SIZES[size]


# The topic ``customers`` as a class needs it: a changelog of profiles, with tombstones, to be compacted.
#
# A record is a customer's profile as it now is; a tombstone says that the customer is gone. Few customers change
# often, most rarely (Zipf's law). The shop's own partitioner places customer ``n`` on partition ``n % partitions``.
# The rows lie partition by partition, each in the order of its offsets, as on a broker's disk; so a row's place follows
# from its number alone, and nothing has to be sorted.

VERSION = 1
INTERVAL_MS = 40
TOMBSTONE_EVERY = 40  # one record in so many deletes its customer
CITIES = ["Lyon", "Graz", "Turku", "Gdańsk", "Porto", "Leeds", "Ghent", "Malmö"]


def customers(
    spark: SparkSession,
    size: str | int = "class",
    *,
    partition_count: int = 12,
    customer_count: int | None = None,
    exponent: float = 0.8,
    seed: int = SEED,
    update: Update | None = None,
) -> DataFrame:
    """Records of the shop's topic ``customers``, with the columns of Spark's Kafka source.

    The key is the customer, the value JSON, null in one record of forty. Offsets count from 0 in each partition.

    Parameters
    ----------
    spark, size, seed, update
        As in `kafkalearn.spark.data.datasets.group_ids`.
    partition_count : int
        Partitions of the topic.
    customer_count : int, optional
        How many customers there are, not all of whom need occur; without it a tenth of the rows.
    exponent : float
        Zipf's, for how the changes fall on the customers.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> customers(get_spark(), "small").where("value is null").count()
    2481
    """
    row_count = rows_of(size)
    whole_number("partition_count", partition_count, at_least=1)
    if customer_count is None:
        customer_count = max(partition_count, row_count // 10)
    whole_number("customer_count", customer_count, at_least=partition_count)
    settings = (partition_count, customer_count, float(exponent), seed)
    names = ("partition_count", "customer_count", "exponent", "seed")
    recipe = Recipe("customers", row_count, (*zip(names, settings, strict=True), ("v", VERSION)), bytes_per_row=40)
    return kept(spark, recipe, lambda: generate_customers(spark, row_count, *settings), update)


def generate_customers(
    spark: SparkSession, row_count: int, partition_count: int, customer_count: int, exponent: float, seed: int
) -> DataFrame:
    """The records, each from its number and the seed."""
    row = sf.col("id")
    partition = sf.expr(f"id * {partition_count} div {row_count}")
    first_row = sf.ceil(partition * row_count / partition_count)
    offset = row - first_row
    rank = zipf_rank(uniform(seed, "customer", row), customer_count // partition_count, exponent)
    chance = hash_of(seed, "profile", row)
    city = sf.element_at(sf.array(*map(sf.lit, CITIES)), (sf.pmod(chance, sf.lit(len(CITIES))) + 1).cast("int"))
    points = sf.pmod(sf.shiftrightunsigned(chance, 8), sf.lit(5_000))
    profile = sf.concat(sf.lit('{"city": "'), city, sf.lit('", "mails": true, "points": '), points, sf.lit("}"))
    is_gone = sf.pmod(hash_of(seed, "gone", row), sf.lit(TOMBSTONE_EVERY)) == 0
    records = spark.range(0, row_count, 1, partition_count).select(
        sf.concat(sf.lit("user-"), rank * partition_count + partition).cast("binary").alias("key"),
        sf.when(is_gone, None).otherwise(profile).cast("binary").alias("value"),
        sf.lit("customers").alias("topic"),
        partition.cast("int").alias("partition"),
        offset.alias("offset"),
        sf.timestamp_millis((offset * partition_count + partition) * INTERVAL_MS + FIRST_ORDER_MS).alias("timestamp"),
        sf.lit(0).alias("timestampType"),  # CreateTime
    )
    return records.select(*(column.split()[0] for column in RECORD_SCHEMA.split(", ")))
