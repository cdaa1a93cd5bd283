"""The topic ``customers`` as a class needs it: a changelog of profiles, with tombstones, to be compacted.

A record is a customer's profile as it now is; a tombstone says that the customer is gone. Few customers change
often, most rarely (Zipf's law). The shop's own partitioner places customer ``n`` on partition ``n % partitions``.
The rows lie partition by partition, each in the order of its offsets, as on a broker's disk; so a row's place follows
from its number alone, and nothing has to be sorted.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafkalearn.arguments import whole_number
from kafkalearn.spark.columns.checks import RECORD_SCHEMA
from kafkalearn.spark.data.cache import Recipe, kept
from kafkalearn.spark.data.datasets import SEED, rows_of
from kafkalearn.spark.data.generate import FIRST_ORDER_MS
from kafkalearn.spark.data.zipf import hash_of, uniform, zipf_rank
from kafkalearn.spark.session.progress import Update

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
