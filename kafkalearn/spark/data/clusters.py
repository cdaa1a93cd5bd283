"""The clusters of a company and all their partitions, on the day on which brokers come or go; made up, none kept.

Each of 200 clusters has 6 to 30 brokers and some thousand partitions with three replicas each: a million together. In a
third of them three brokers are *added*, in a third one is *drained*, and in a third, whose brokers are in two racks, a
third *rack* is added. Half of the clusters with three racks were created before ``broker.rack`` was set: their replicas
were placed as `kafkalearn.operations.placement.place_shifted` does it for brokers without racks.

A partition's size is what is written into it during its cluster's retention: so a cluster that keeps half a day has
much more written than one of the same size that keeps a week.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafkalearn.base.checks import whole_number
from kafkalearn.spark.data.datasets import SEED
from kafkalearn.spark.data.generate import hash_of, uniform

CHANGES = ("brokers added", "a broker drained", "a rack added")
BROKERS_EACH, MOST_SIXES = 6, 5  # brokers come by six: in two racks or in three, each holds as many
ADDED = 3
PER_BROKER = (200, 700)  # partitions for each broker, at least and at most
RETENTION_HOURS = (12, 24, 72, 168)
MEAN_BYTES = (250_000_000, 4_000_000_000)  # of a cluster's partitions, at least and at most
PIECE_COUNT = 8
MOST_PARTITIONS = BROKERS_EACH * MOST_SIXES * PER_BROKER[1]


def clusters(spark: SparkSession, cluster_count: int, *, seed: int = SEED) -> DataFrame:
    """Clusters, a row each, with the brokers they have and those they are to have.

    Parameters
    ----------
    spark : SparkSession
        Where they are made; the same rows in every run.
    cluster_count : int
        How many, at least 1; 200 have about a million partitions.
    seed : int
        Another seed, other clusters.

    Returns
    -------
    DataFrame
        ``cluster`` (int), ``change`` (one of `CHANGES`), ``brokers``: an array of ``broker_id``, ``rack``, ``was`` (it
        holds replicas today) and ``stays`` (it is to hold some); ``broker_count`` (today), ``partition_count``,
        ``knew_racks`` (when the replicas were placed), ``retention_hours``, ``mean_bytes``.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> clusters(get_spark(), 200).groupBy("change").sum("partition_count").orderBy("change").show()
    +----------------+--------------------+
    |          change|sum(partition_count)|
    +----------------+--------------------+
    |a broker drained|              297894|
    |    a rack added|              361800|
    |   brokers added|              309012|
    +----------------+--------------------+
    """
    whole_number("cluster_count", cluster_count, at_least=1)
    cluster = sf.col("id")
    number = sf.pmod(cluster, sf.lit(len(CHANGES)))  # of its change
    # By Pareto's law, as the groups of a company: most clusters are small.
    sixes = sf.least(sf.floor(1 / sf.pow(1 - uniform(seed, "brokers", cluster), sf.lit(0.7))), sf.lit(MOST_SIXES))
    low, high = PER_BROKER
    per_broker = low + sf.pmod(hash_of(seed, "partitions", cluster), sf.lit(high - low + 1))
    hours = sf.get(sf.array(*map(sf.lit, RETENTION_HOURS)), _one_of(seed, "retention", len(RETENTION_HOURS)))
    least, most = MEAN_BYTES
    mean_bytes = least * sf.pow(sf.lit(most / least), uniform(seed, "bytes", cluster))
    rows = (
        spark.range(cluster_count)
        .withColumn("broker_count", (BROKERS_EACH * sixes).cast("int"))
        .withColumn("number", number.cast("int"))
    )
    return rows.select(
        cluster.cast("int").alias("cluster"),
        sf.get(sf.array(*map(sf.lit, CHANGES)), sf.col("number")).alias("change"),
        _brokers().alias("brokers"),
        "broker_count",
        (sf.col("broker_count") * per_broker).cast("int").alias("partition_count"),
        (_one_of(seed, "racks", 2) == 0).alias("knew_racks"),
        hours.alias("retention_hours"),
        mean_bytes.cast("bigint").alias("mean_bytes"),
    )


def _one_of(seed: int, purpose: str, count: int) -> Column:
    return sf.pmod(hash_of(seed, purpose, sf.col("id")), sf.lit(count)).cast("int")


def _brokers() -> Column:
    """Of a cluster with three racks broker n is in rack n % 3; of one that gets a third rack, n % 2."""
    is_rack, is_drain, count = sf.col("number") == 2, sf.col("number") == 1, sf.col("broker_count")
    added = sf.when(is_rack, sf.floor(count / 2)).when(is_drain, 0).otherwise(ADDED)

    def broker(place: Column) -> Column:
        old_rack = sf.pmod(place, sf.when(is_rack, 2).otherwise(3))
        rack = sf.when(is_rack & (place >= count), 2).otherwise(old_rack)
        return sf.struct(
            place.cast("int").alias("broker_id"),
            sf.get(sf.array(sf.lit("a"), sf.lit("b"), sf.lit("c")), rack.cast("int")).alias("rack"),
            (place < count).alias("was"),
            (~is_drain | (place < count - 1)).alias("stays"),
        )

    return sf.transform(sf.sequence(sf.lit(0), (count + added - 1).cast("int")), broker)


def partitions_of(clusters: DataFrame, *, seed: int = SEED) -> DataFrame:
    """The partitions of `clusters`, a row each.

    Returns
    -------
    DataFrame
        ``cluster``, ``topic`` (one in each cluster), ``partition``, ``replicas`` (the leader first), ``isr`` (all of
        them), ``leader``, ``size_bytes``, ``bytes_per_s`` (written). Row by row: nothing is kept.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = partitions_of(clusters(get_spark(), 3)).orderBy("cluster", "partition").limit(3)
    >>> rows.select("cluster", "replicas").show()
    +-------+---------+
    |cluster| replicas|
    +-------+---------+
    |      0|[0, 1, 2]|
    |      0|[1, 2, 3]|
    |      0|[2, 3, 4]|
    +-------+---------+
    """
    number = sf.col("cluster") * sf.lit(MOST_PARTITIONS).cast("bigint") + sf.col("partition")
    size = -sf.log(1 - uniform(seed, "size", number)) * sf.col("mean_bytes")  # exponential: some are much larger
    each = clusters.repartition(PIECE_COUNT, "cluster").select(
        "*", sf.explode(sf.sequence(sf.lit(0), sf.col("partition_count") - 1)).alias("partition")
    )
    placed = each.select(
        "cluster",
        sf.lit("events").alias("topic"),
        "partition",
        _replicas().alias("replicas"),
        size.cast("bigint").alias("size_bytes"),
        "retention_hours",
    )
    return placed.select(
        *("cluster", "topic", "partition", "replicas", sf.col("replicas").alias("isr")),
        sf.get("replicas", sf.lit(0)).alias("leader"),
        "size_bytes",
        sf.expr("size_bytes div (3600 * retention_hours)").alias("bytes_per_s"),
    )


def _replicas() -> Column:
    """Shifted as Kafka shifts them where it knows of no racks; else each follower in the next of three racks.

    Who knows three racks shifts by three, so that the rack stays; two racks cannot hold three replicas apart.
    """
    count, place = sf.col("broker_count"), sf.col("partition")
    turn = sf.floor(place / count)

    def apart(step: int) -> Column:
        return sf.pmod(place + step + 3 * sf.pmod(turn * step, (count / 3).cast("int")), count).cast("int")

    def shifted(step: int) -> Column:
        return sf.pmod(place + 1 + sf.pmod(turn + step, count - 1), count).cast("int")

    first = sf.pmod(place, count).cast("int")
    blind = sf.array(first, shifted(0), shifted(1))
    return sf.when(sf.col("knew_racks"), sf.array(first, apart(1), apart(2))).otherwise(blind)
