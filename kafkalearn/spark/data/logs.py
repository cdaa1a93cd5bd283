"""Four hours of a cluster's logs with faults in them, as tables: the same cluster for the same seed, large or small.

What happens is decided by `kafkalearn.operations.faults`; here each batch becomes as many records as it has. Of size
``"class"``, 10 million records, it takes 10 s to make on two cores.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import NamedTuple

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafkalearn.base.checks import whole_number
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.commits.sweep import COMMIT_MS, Delivery
from kafkalearn.operations.faults import ClusterLogs, Finding, cluster_logs, plant
from kafkalearn.operations.faults.findings import SAMPLE_COUNT, SAMPLE_MS, TOPICS
from kafkalearn.operations.faults.planting import YEAR_2100_MS
from kafkalearn.spark.columns import quotient
from kafkalearn.spark.data.cache import Recipe, kept
from kafkalearn.spark.data.datasets import SEED, rows_of
from kafkalearn.spark.data.generate import hash_of
from kafkalearn.spark.session.interrupts import Update

VERSION = 1
CELL_COUNT = SAMPLE_COUNT * sum(TOPICS.values())

PIECE_COUNT = 16  # a few batches become many records: so all cores share them

PLACE = "topic STRING, partition INT"
BATCH_SCHEMA = f"{PLACE}, leader INT, appended_ms BIGINT, base_offset BIGINT, record_count INT, max_timestamp_ms BIGINT"
REPLICA_SCHEMA = (
    f"at_ms BIGINT, {PLACE}, leader INT, broker INT, is_in_sync BOOLEAN, log_end_offset BIGINT, "
    "cleaner_offset BIGINT, size_bytes BIGINT"
)
COMMIT_SCHEMA = f"group_id STRING, {PLACE}, offset BIGINT, committed_ms BIGINT"
MEMBER_SCHEMA = f"at_ms BIGINT, group_id STRING, member_id STRING, {PLACE}"


class ClusterTables(NamedTuple):
    """The logs of a cluster as DataFrames.

    Attributes
    ----------
    records : DataFrame
        ``topic``, ``partition``, ``leader``, ``offset``, ``appended_ms``, ``timestamp_ms`` (the producer's).
    replicas : DataFrame
        A row for each replica and sample, every five minutes: ``at_ms``, ``topic``, ``partition``, ``leader``,
        ``broker``, ``is_in_sync``, ``log_end_offset``, ``cleaner_offset`` (its line in cleaner-offset-checkpoint; null
        where nothing is compacted), ``size_bytes``.
    commits : DataFrame
        ``group_id``, ``topic``, ``partition``, ``offset``, ``committed_ms``.
    members : DataFrame
        What each member owned at a sample: ``at_ms``, ``group_id``, ``member_id``, ``topic``, ``partition``.
    """

    records: DataFrame
    replicas: DataFrame
    commits: DataFrame
    members: DataFrame


def cluster_tables(
    spark: SparkSession,
    size: str | int = "class",
    *,
    seed: int = SEED,
    faults: Sequence[Finding] | None = None,
    update: Update | None = None,
) -> ClusterTables:
    """The logs of the cluster that a seed draws, its faults in them.

    Parameters
    ----------
    spark : SparkSession
        Where they are made and read.
    size : str or int
        ``"small"``, ``"class"``, ``"big"``, or about how many records. The other tables have 15,000 rows in any case.
    seed : int
        Another seed, another cluster and other faults.
    faults : sequence of Finding or None
        None: what `kafkalearn.operations.faults.plant` draws for the seed; empty: none.
    update : callable, optional
        As in `kafkalearn.spark.data.datasets.group_ids`.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> tables = cluster_tables(get_spark(), "small", seed=1)
    >>> tables.replicas.select("broker").distinct().count(), tables.members.columns
    (6, ['at_ms', 'group_id', 'member_id', 'topic', 'partition'])
    """
    rows = rows_of(size)
    planted = tuple(plant(seed) if faults is None else faults)
    logs = cluster_logs(seed, planted, records_per_batch=max(rows // CELL_COUNT, 10))
    what = sha256(repr(planted).encode()).hexdigest()[:12]
    parameters = (("seed", seed), ("faults", what), ("v", VERSION))
    recipe = Recipe("cluster_records", rows, parameters, bytes_per_row=9)
    return tables_of(spark, logs, kept(spark, recipe, lambda: generate_records(spark, logs, seed), update))


def tables_of(spark: SparkSession, logs: ClusterLogs, records: DataFrame | None = None) -> ClusterTables:
    """The tables of logs that are there already; without `records` these are made anew in each query."""
    return ClusterTables(
        generate_records(spark, logs, SEED) if records is None else records,
        _frame(spark, logs.replicas, REPLICA_SCHEMA),
        _frame(spark, logs.commits, COMMIT_SCHEMA),
        _frame(spark, logs.members, MEMBER_SCHEMA),
    )


def generate_records(spark: SparkSession, logs: ClusterLogs, seed: int) -> DataFrame:
    """The records of all batches: appended one after the other until the next sample.

    A batch's largest timestamp is that of its last record, even if it is from the future.
    """
    batches = _frame(spark, logs.batches, BATCH_SCHEMA).repartition(PIECE_COUNT, "topic", "partition")
    number = sf.col("number")
    records = batches.withColumn("number", sf.explode(sf.sequence(sf.lit(0), sf.col("record_count") - 1)))
    appended = sf.col("appended_ms") + quotient(number.cast("bigint") * sf.lit(SAMPLE_MS), sf.col("record_count"))
    return records.select(
        "topic",
        "partition",
        "leader",
        (sf.col("base_offset") + number).alias("offset"),
        appended.alias("appended_ms"),
        _timestamp(appended, number, seed).alias("timestamp_ms"),
    )


def _timestamp(appended: Column, number: Column, seed: int) -> Column:
    """When the producer made the record: up to five minutes before, by its own clock."""
    usual = appended - sf.pmod(hash_of(seed, "timestamp", sf.col("base_offset") + number), sf.lit(SAMPLE_MS))
    is_last = number == sf.col("record_count") - 1
    return sf.when(is_last & (sf.col("max_timestamp_ms") >= YEAR_2100_MS), sf.col("max_timestamp_ms")).otherwise(usual)


def _frame(spark: SparkSession, rows: Iterable[tuple], schema: str) -> DataFrame:
    return spark.createDataFrame([tuple(row) for row in rows], schema)


# Deliveries by the million: what consumers got from poll, when they processed it, and when each crashed.
#
# A *run* is the life of one consumer on one partition, from its start to its crash: its *deliveries* are the records
# that poll returned, each with the time at which it was processed. When the application commits is not in them:
# `kafkalearn.spark.delivery` works that out for any strategy, `kafkalearn.commits.replay` for one run, event by event.

RECORDS_PER_PAIR = 4000  # of runs: the longer one is, the shorter the other, so that both end anywhere
POLL_SIZES = (20, 25, 40, 50, 80, 100, 125, 160, 200, 250, 400, 500)  # records of a poll; each divides a pair
WORK_MS = (2, 20)  # to process a record, at least and at most on average

COLUMNS = ("run", "offset", "poll", "polled_ms", "processed_ms", "crashed_ms")


def deliveries(
    spark: SparkSession, size: str | int = "class", *, seed: int = SEED, update: Update | None = None
) -> DataFrame:
    """Records as consumers got them, up to the crash of each: one row for each record that a poll returned.

    Parameters
    ----------
    spark, size, seed, update
        As in `kafkalearn.spark.data.datasets.group_ids`; rows are rounded up to whole pairs of runs, 4,000.

    Returns
    -------
    DataFrame
        ``run``; ``offset`` from 0 in each run; ``poll``, its number, and ``polled_ms``, when it returned;
        ``processed_ms``, null if the crash came first; ``crashed_ms``. Times count from the start of the run.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = deliveries(get_spark(), "small")
    >>> rows.count(), rows.where("processed_ms IS NULL").count()
    (100000, 5281)
    """
    pair_count = -(-rows_of(size) // RECORDS_PER_PAIR)
    recipe = Recipe("deliveries", pair_count * RECORDS_PER_PAIR, (("seed", seed), ("v", VERSION)), bytes_per_row=4)
    return kept(spark, recipe, lambda: generate_deliveries(spark, pair_count, seed), update)


def generate_deliveries(spark: SparkSession, pair_count: int, seed: int) -> DataFrame:
    """The rows of `deliveries`: runs of so many polls, polls of one size in a run, a crash in the last of them."""
    whole_number("pair_count", pair_count, at_least=1)
    pair, place, size = sf.col("pair"), sf.col("place"), sf.col("size")
    low, high = WORK_MS
    sizes = sf.array(*map(sf.lit, POLL_SIZES))
    polls = sf.pmod(hash_of(seed, "polls", pair), RECORDS_PER_PAIR / size - 1).cast("int") + 1
    rows = (
        spark.range(pair_count * RECORDS_PER_PAIR)
        .select(
            sf.floor(sf.col("id") / RECORDS_PER_PAIR).alias("pair"), (sf.col("id") % RECORDS_PER_PAIR).alias("place")
        )
        .withColumn("size", sf.element_at(sizes, _pick(seed, "size", pair, len(POLL_SIZES)) + 1))
        .withColumn("split", polls * size)
        .withColumn("run", 2 * pair + (place >= sf.col("split")).cast("int"))
        .selectExpr(
            "run",
            "size",
            "int(if(run % 2 = 0, place, place - split)) AS offset",
            f"int(if(run % 2 = 0, split, {RECORDS_PER_PAIR} - split)) AS length",
        )
        .withColumn("work_ms", _pick(seed, "work", sf.col("run"), high - low + 1) + low)
        .withColumn("poll", sf.floor(sf.col("offset") / size).cast("int"))
        .withColumn("done_ms", _done_ms(seed, sf.col("offset")))
        .withColumn("polled_ms", _polled_ms(seed, sf.col("poll")))
        .withColumn("last_polled_ms", _polled_ms(seed, sf.col("length") / size - 1))
    )
    to_go_ms = _done_ms(seed, sf.col("length") - 1) - sf.col("last_polled_ms")
    crashed_ms = sf.col("last_polled_ms") + 1 + sf.pmod(hash_of(seed, "crash", sf.col("run")), to_go_ms + COMMIT_MS)
    return rows.withColumn("crashed_ms", crashed_ms).selectExpr(
        "run", "offset", "poll", "polled_ms", "if(done_ms < crashed_ms, done_ms, null) AS processed_ms", "crashed_ms"
    )


def _pick(seed: int, purpose: str, number: Column, count: int) -> Column:
    return sf.pmod(hash_of(seed, purpose, number), sf.lit(count)).cast("int")


def _done_ms(seed: int, offset: Column) -> Column:
    """When the record at an offset is processed: work_ms for each, give or take, and never before the one before it."""
    place = (sf.col("run") * RECORDS_PER_PAIR + offset).cast("bigint")
    jitter_ms = sf.pmod(hash_of(seed, "jitter", place), sf.col("work_ms"))
    return ((offset + 1) * sf.col("work_ms") + jitter_ms).cast("bigint")


def _polled_ms(seed: int, poll: Column) -> Column:
    """When a poll returns: as soon as the last record of the poll before it is processed."""
    return sf.when(poll < 1, sf.lit(0).cast("bigint")).otherwise(_done_ms(seed, poll * sf.col("size") - 1))


def one_run(df: DataFrame, run: int) -> tuple[tuple[Delivery, ...], int]:
    """A run's deliveries as `kafkalearn.commits.replay` takes them, by offset, and when it crashed; runs the query.

    The run comes to this Python, about 650 bytes a delivery.

    Raises
    ------
    KafkaLearnError
        If there is no such run.

    Examples
    --------
    >>> from kafkalearn.commits import replay
    >>> from kafkalearn.spark.session import get_spark
    >>> seen, crashed_ms = one_run(deliveries(get_spark(), "small"), 3)
    >>> len(seen), crashed_ms, replay("each batch", seen, crashed_ms)[1]
    (650, 6255, CrashCost(lost_count=0, doubled_count=0, commit_count=25))
    """
    found = df.where(sf.col("run") == run).select(*COLUMNS).orderBy("offset").collect()
    if not found:
        raise KafkaLearnError(f"there is no run {run!r} among the deliveries; df.select('run').distinct() has them all")
    seen = tuple(Delivery(row.offset, row.poll, row.polled_ms, row.processed_ms) for row in found)
    return seen, found[0].crashed_ms


# What leaders of a cluster would log of five minutes: every follower's fetch, and every append.
#
# Six brokers, a leader and two followers for each partition; the followers of one broker fetch all partitions that
# another leads in one request, round after round, so no fetch waits: somewhere there is always something new. A fetch
# asks for the end that the answer before has left the follower with.
#
# Not all is well in these five minutes. The fetchers of broker 5 stand still for 52 s, those of broker 2 for 22 s. In
# about one partition of 90 the first follower fetches only every 6 s, and in as many it stops for good. Of a partition
# at most one follower is in trouble.
#
# Of size ``"class"`` it takes 6 s to make on two cores.

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
