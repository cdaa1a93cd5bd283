"""Deliveries by the million: what consumers got from poll, when they processed it, and when each crashed.

A *run* is the life of one consumer on one partition, from its start to its crash: its *deliveries* are the records
that poll returned, each with the time at which it was processed. When the application commits is not in them:
`kafkalearn.spark.crash_cost` works that out for any strategy, `kafkalearn.commits.replay` for one run, event by event.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafkalearn.arguments import whole_number
from kafkalearn.commits.replay import COMMIT_MS, Delivery
from kafkalearn.errors import KafkaLearnError
from kafkalearn.spark.data.cache import Recipe, kept
from kafkalearn.spark.data.datasets import SEED, rows_of
from kafkalearn.spark.data.zipf import hash_of
from kafkalearn.spark.session.progress import Update

VERSION = 1
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
