"""What leaders of a cluster would log of five minutes: every follower's fetch, and every append.

Six brokers, a leader and two followers for each partition; the followers of one broker fetch all partitions that
another leads in one request, round after round, so no fetch waits: somewhere there is always something new. A fetch
asks for the end that the answer before has left the follower with.

Not all is well in these five minutes. The fetchers of broker 5 stand still for 52 s, those of broker 2 for 22 s. In
about one partition of 90 the first follower fetches only every 6 s, and in as many it stops for good. Of a partition at
most one follower is in trouble.

Of size ``"class"`` it takes 6 s to make on two cores.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafkalearn.arguments import whole_number
from kafkalearn.spark.columns.division import quotient
from kafkalearn.spark.data.cache import Recipe, kept
from kafkalearn.spark.data.datasets import SEED, rows_of
from kafkalearn.spark.data.zipf import hash_of
from kafkalearn.spark.session.progress import Update

VERSION = 1

BROKER_COUNT = 6
FOLLOWER_COUNT = 2
PARTITIONS_PER_TOPIC = 50
ROWS_PER_PARTITION = 5000  # of a size by name: 2,000 partitions make a lesson
FEWEST_PARTITIONS = 100  # of a size by name: with fewer, some broker has no partition in trouble

ROUND_MS = 300
ROUND_COUNT = 1000
UNTIL_MS = ROUND_MS * ROUND_COUNT

STALLS = ((5, 334, 507), (2, 667, 741))  # broker, first round that it misses, first that it makes again
ROUNDS_OF_A_LAGGARD = 20


def fetches(
    spark: SparkSession, size: str | int = "class", *, seed: int = SEED, update: Update | None = None
) -> DataFrame:
    """Every follower's fetch as its leader handled it: nearly 2,000 of each partition.

    Parameters
    ----------
    spark : SparkSession
        Where it is made and read.
    size : str or int
        ``"small"``, 100 partitions; ``"class"``, 2,000 with 3.8 million fetches; ``"big"``, 10,000 with 19 million; or
        a number of partitions.
    seed : int
        Another seed, other logs.
    update : callable, optional
        As in `kafkalearn.spark.data.datasets.group_ids`.

    Returns
    -------
    DataFrame
        ``topic``, ``partition``, ``leader``; ``broker``, the follower; ``at_ms`` from 0; ``fetch_offset``, the
        follower's LEO; ``leader_end``, the leader's LEO at that moment, which the answer takes the follower to.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> orders_3 = fetches(get_spark(), "small").where("topic = 'orders' and partition = 3")
    >>> orders_3.where("at_ms between 9600 and 10300").orderBy("at_ms").show()
    +------+---------+------+------+-----+------------+----------+
    | topic|partition|leader|broker|at_ms|fetch_offset|leader_end|
    +------+---------+------+------+-----+------------+----------+
    |orders|        3|     4|     5| 9799|           3|         4|
    |orders|        3|     4|     6| 9842|           3|         4|
    |orders|        3|     4|     5|10004|           4|         4|
    |orders|        3|     4|     6|10009|           4|         4|
    +------+---------+------+------+-----+------------+----------+
    """
    partition_count = partition_count_of(size)
    row_count = partition_count * FOLLOWER_COUNT * ROUND_COUNT
    recipe = Recipe("fetches", row_count, (("seed", seed), ("v", VERSION)), bytes_per_row=5)
    return kept(spark, recipe, lambda: generate_fetches(spark, partition_count, seed), update)


def appends(
    spark: SparkSession, size: str | int = "class", *, seed: int = SEED, update: Update | None = None
) -> DataFrame:
    """Every append to the partitions of `fetches`: an eighth as many rows.

    Returns
    -------
    DataFrame
        ``topic``, ``partition``, ``leader``, ``at_ms``, ``base_offset`` of the batch, ``leader_end`` after it.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> appends(get_spark(), "small").where("topic = 'orders' and partition = 3").orderBy("at_ms").limit(2).show()
    +------+---------+------+-----+-----------+----------+
    | topic|partition|leader|at_ms|base_offset|leader_end|
    +------+---------+------+-----+-----------+----------+
    |orders|        3|     4| 3392|          0|         3|
    |orders|        3|     4| 9792|          3|         4|
    +------+---------+------+-----+-----------+----------+
    """
    partition_count = partition_count_of(size)
    recipe = Recipe("appends", 246 * partition_count, (("seed", seed), ("v", VERSION)), bytes_per_row=10)
    return kept(spark, recipe, lambda: generate_appends(spark, partition_count, seed), update)


def partition_count_of(size: str | int) -> int:
    """How many partitions the logs of a size are about.

    >>> partition_count_of("small"), partition_count_of(7)
    (100, 7)
    """
    rows = rows_of(size)
    return max(rows // ROWS_PER_PARTITION, FEWEST_PARTITIONS) if isinstance(size, str) else rows


def generate_fetches(spark: SparkSession, partition_count: int, seed: int) -> DataFrame:
    """The rows of `fetches`: one for each round in which the follower did fetch."""
    whole_number("partition_count", partition_count, at_least=1)
    slot = sf.col("id") % FOLLOWER_COUNT
    followers = (
        spark.range(partition_count * FOLLOWER_COUNT)
        .withColumn("number", quotient(sf.col("id"), FOLLOWER_COUNT))
        .select("*", *_partition_columns(seed), _broker_after(slot + 1).alias("broker"))
        .withColumn("pair", hash_of(seed, "rounds", sf.col("leader") * 100 + sf.col("broker")))
        .withColumn("trouble", sf.when(slot == 0, _trouble(seed)))
        .withColumn("round", sf.explode(sf.sequence(sf.lit(0).cast("bigint"), sf.lit(ROUND_COUNT - 1).cast("bigint"))))
        .where(_is_fetching())
    )
    before = _fetch_ms(_round_before())
    asked = sf.when(sf.col("round") == 0, sf.lit(0)).otherwise(_end_at(before))
    return followers.select(
        "topic",
        "partition",
        "leader",
        "broker",
        _fetch_ms(sf.col("round")).alias("at_ms"),
        asked.alias("fetch_offset"),
        _end_at(_fetch_ms(sf.col("round"))).alias("leader_end"),
    )


def generate_appends(spark: SparkSession, partition_count: int, seed: int) -> DataFrame:
    """The rows of `appends`."""
    whole_number("partition_count", partition_count, at_least=1)
    partitions = spark.range(partition_count).withColumn("number", sf.col("id")).select("*", *_partition_columns(seed))
    last = quotient(sf.lit(UNTIL_MS) + sf.col("phase_ms"), sf.col("interval_ms"))
    batches = partitions.withColumn("batch", sf.explode(sf.sequence(sf.lit(1).cast("bigint"), last)))
    return batches.select(
        "topic",
        "partition",
        "leader",
        (sf.col("batch") * sf.col("interval_ms") - sf.col("phase_ms")).alias("at_ms"),
        _end_of(sf.col("batch") - 1).alias("base_offset"),
        _end_of(sf.col("batch")).alias("leader_end"),
    )


def _partition_columns(seed: int) -> list[Column]:
    """Name and leader of the partition `number`; a batch of about `batch_size` records every `interval_ms`."""
    number = sf.col("number")
    index = quotient(number, PARTITIONS_PER_TOPIC)
    topic = sf.when(index == 0, sf.lit("orders")).otherwise(sf.format_string("topic-%03d", index))
    interval_ms = sf.lit(400) * sf.pow(sf.lit(2.0), sf.pmod(hash_of(seed, "interval", number), sf.lit(6)))
    chance = sf.pmod(hash_of(seed, "phase", number), sf.lit(400))
    return [
        topic.alias("topic"),
        (number % PARTITIONS_PER_TOPIC).cast("int").alias("partition"),
        _broker_after(sf.lit(0)).alias("leader"),
        interval_ms.cast("bigint").alias("interval_ms"),
        (chance * interval_ms / 400).cast("bigint").alias("phase_ms"),
        (1 + sf.pmod(hash_of(seed, "size", number), sf.lit(8))).alias("batch_size"),
        hash_of(seed, "batches", number).alias("first_batch"),
    ]


def _broker_after(steps: Column) -> Column:
    """The broker so many steps after the partition's first: replicas are dealt out in turn."""
    return ((sf.col("number") + steps) % BROKER_COUNT + 1).cast("int")


def _trouble(seed: int) -> Column:
    """What is wrong with the first follower: in one partition of 90 it lags, in as many it stops in some round."""
    chance = sf.pmod(hash_of(seed, "trouble", sf.col("number")), sf.lit(30))
    is_spared = (sf.col("number") % BROKER_COUNT).isin(1, 4)  # neither follower is on a broker that stalls
    stops = 200 + sf.pmod(hash_of(seed, "stop", sf.col("number")), sf.lit(600))
    return sf.when(is_spared & (chance == 0), sf.lit(-1)).when(is_spared & (chance == 1), stops)


def _is_fetching() -> Column:
    """Whether the follower fetches in a round."""
    trouble, number = sf.coalesce(sf.col("trouble"), sf.lit(ROUND_COUNT)), sf.col("round")
    is_up = sf.lit(True)
    for broker, first, end in STALLS:
        is_up = is_up & ~((sf.col("broker") == broker) & number.between(first, end - 1))
    is_willing = sf.when(trouble == -1, number % ROUNDS_OF_A_LAGGARD == 0).otherwise(number < trouble)
    return is_up & is_willing


def _round_before() -> Column:
    """The round of the follower's fetch before this one."""
    number = sf.col("round")
    before = sf.when(sf.col("trouble") == -1, number - ROUNDS_OF_A_LAGGARD)
    for broker, first, end in STALLS:
        before = before.when((sf.col("broker") == broker) & (number == end), sf.lit(first - 1))
    return before.otherwise(number - 1)


def _fetch_ms(number: Column) -> Column:
    """When a round takes place: the same for all partitions that a broker fetches from another."""
    return number * ROUND_MS + sf.pmod(sf.xxhash64(sf.col("pair").bitwiseXOR(number)), sf.lit(ROUND_MS))


def _end_at(at_ms: Column) -> Column:
    return _end_of(quotient(at_ms + sf.col("phase_ms"), sf.col("interval_ms")))


def _end_of(batch: Column) -> Column:
    """The leader's LEO after so many batches, each of 1 to twice `batch_size` records."""
    size = sf.col("batch_size")
    extra = sf.pmod(sf.xxhash64(sf.col("first_batch").bitwiseXOR(batch)), size)
    return sf.when(batch == 0, sf.lit(0)).otherwise(batch * size + extra)
