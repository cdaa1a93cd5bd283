"""The results of millions of records, and what crashes of consumers cost.

Of records two tables are enough, and a real cluster has both: what the callback of each got, and what a consumer finds
in the topic. `results_of` puts them together by the rule of `kafkalearn.delivery.record_results`.
A *run* is one life of one producer; it numbers its records from 1, and the number travels in the record. A record
that was put aside after an error and sent again has a row for each *attempt*, and the last one counts.

`crash_costs` has, for each strategy of `kafkalearn.commits`, which commits would have arrived before the crash, and so
what the successor skips or reads again, over millions of deliveries: losses, duplicates and commits.
`kafkalearn.commits.replay` does the same for one run, event by event.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sf

from kafkalearn.base.checks import whole_number
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.commits.model import PLAIN
from kafkalearn.commits.strategies import AUTO, BATCH, BEFORE, RECORD, STRATEGIES, Strategy, strategy_of
from kafkalearn.commits.sweep import COMMIT_MS
from kafkalearn.delivery.search import PRODUCERS
from kafkalearn.delivery.simulator import DOUBLED, LOST, OPEN, OUT_OF_ORDER, REJECTED, SAFE, WRITTEN
from kafkalearn.replication.events import NONE
from kafkalearn.spark.columns import INT_ARRAYS, TEXT, WHOLE_NUMBERS, require, rule
from kafkalearn.spark.data.cache import Recipe, kept
from kafkalearn.spark.data.datasets import SEED, rows_of
from kafkalearn.spark.data.generate import hash_of
from kafkalearn.spark.data.logs import COLUMNS
from kafkalearn.spark.session.interrupts import Update

VERSION = 3
RUN_LENGTH = 2000  # records of a producer

AN_HOUR = 400  # offsets

_RECORD = {"run": (*TEXT, *WHOLE_NUMBERS), "number": WHOLE_NUMBERS}


@rule(
    {**_RECORD, "callback": TEXT},
    {**_RECORD, "offset": WHOLE_NUMBERS},
    remedy="runs have names or numbers, records and offsets whole numbers",
    adds=("copy_count", "result"),
)
def results_of(sent: DataFrame, log: DataFrame) -> DataFrame:
    """The result of each record that was sent.

    Parameters
    ----------
    sent : DataFrame
        ``run``; ``number``, in the order sent; ``callback``: the error that the callback got, ``"NONE"`` if the record
        was acknowledged, null if it was not called. If records were sent again: ``attempt``, from 1. Other columns are
        kept.
    log : DataFrame
        ``run``, ``number`` and ``offset`` of every record in the log; records that nobody has sent are left out.

    Returns
    -------
    DataFrame
        A row for each record, its last attempt, with ``copy_count`` and ``result``, a name in
        `kafkalearn.delivery.RESULTS`. Nothing is kept whole: one worker has all records of a run in order, about 100
        bytes for each that was sent and each in the log, on disk if need be.

    Raises
    ------
    KafkaLearnError
        If a column is missing or of another type, or would be overwritten.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> spark = get_spark()
    >>> callbacks = [("a", 1, "NONE"), ("a", 2, "NONE"), ("a", 3, "TIMEOUT")]
    >>> sent = spark.createDataFrame(callbacks, "run string, number int, callback string")
    >>> log = spark.createDataFrame([("a", 2, 0), ("a", 2, 1)], "run string, number int, offset int")
    >>> [(row.number, row.result) for row in results_of(sent, log).orderBy("number").collect()]
    [(1, 'lost'), (2, 'doubled'), (3, 'rejected')]
    >>> again = [("a", 1, "TIMEOUT", 1), ("a", 1, "NONE", 2)]
    >>> again = spark.createDataFrame(again, "run string, number int, callback string, attempt int")
    >>> results_of(again, log).first().result
    'lost'
    """
    is_repeated = "attempt" in map(str.lower, sent.columns)
    if is_repeated:
        require(sent, "attempt", WHOLE_NUMBERS, "attempts are counted from 1")
    others = [name for name in sent.columns if name.lower() not in ("run", "number")]
    asked = sent.select("run", "number", sf.struct(*others).alias("sent"), sf.lit(None).cast("bigint").alias("offset"))
    last = sf.max_by("sent", "sent.attempt") if is_repeated else sf.first("sent", ignorenulls=True)
    found = log.select("run", "number", sf.lit(None).cast(asked.schema["sent"].dataType).alias("sent"), "offset")
    # One exchange, by run: what follows needs no other.
    records = (
        asked.unionByName(found)
        .repartition("run")
        .groupBy("run", "number")
        .agg(
            last.alias("sent"),
            sf.count("offset").alias("copy_count"),
            sf.min("offset").alias("first_offset"),
        )
        .where("sent IS NOT NULL")
    )
    later = Window.partitionBy("run").orderBy(sf.desc("number")).rowsBetween(Window.unboundedPreceding, -1)
    is_overtaken = sf.col("first_offset") > sf.min("first_offset").over(later)
    result = result_column(sf.col("sent.callback"), sf.col("copy_count"), sf.coalesce(is_overtaken, sf.lit(False)))
    return records.withColumn("result", result).select("run", "number", "sent.*", "copy_count", "result")


def result_column(callback: Column, copy_count: Column, is_overtaken: Column) -> Column:
    """`kafkalearn.delivery.simulator.result_of` as a column."""
    return (
        sf.when(copy_count > 1, DOUBLED)
        .when(callback.isNull(), OPEN)
        .when(callback != NONE, sf.when(copy_count > 0, WRITTEN).otherwise(REJECTED))
        .when(copy_count == 0, LOST)
        .when(is_overtaken, OUT_OF_ORDER)
        .otherwise(SAFE)
    )


@rule({"{by}": _RECORD["run"], "result": TEXT}, remedy="results_of() adds the result; name the column to group by")
def result_counts(df: DataFrame, by: str = "producer") -> DataFrame:
    """How many records have which result: a row for each value of `by`, a column for each result, 0 for none.

    What is kept is a row for each value of `by`.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> found = [("x", "safe"), ("x", "lost"), ("y", "safe")]
    >>> rows = get_spark().createDataFrame(found, "producer string, result string")
    >>> [tuple(row) for row in result_counts(rows).select("producer", "safe", "lost", "doubled").collect()]
    [('x', 1, 1, 0), ('y', 1, 0, 0)]
    """
    names: list[bool | float | int | str] = [SAFE, LOST, DOUBLED, OUT_OF_ORDER, REJECTED, WRITTEN, OPEN]
    return df.groupBy(by).pivot("result", names).count().na.fill(0).orderBy(by)


def sends(
    spark: SparkSession, size: str | int = "class", *, seed: int = SEED, update: Update | None = None
) -> DataFrame:
    """A day of producers, one row for each record sent: what its callbacks got, and where it is in the log.

    Runs of 2,000 records, a fifth of them with each of `kafkalearn.delivery.search.PRODUCERS`. At one moment
    of each run the leader dies, with some records that no follower has copied. Now and then a request or an answer is
    lost. For a while the ISR is too small: then acks=all is refused until the producer gives up, or written and not
    answered in time. Whoever puts such records aside sends them again an hour later.

    Parameters
    ----------
    spark, size, seed, update
        As in `kafkalearn.spark.data.datasets.group_ids`; rows are rounded up to whole runs.

    Returns
    -------
    DataFrame
        ``producer``, ``run``, ``number``, ``callbacks``: one for each attempt, and ``offsets``: none, one or two. The
        log is shared, so its offsets have gaps.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = sends(get_spark(), "small")
    >>> rows.count(), rows.where("size(offsets) = 2 AND producer = 'acks=all, idempotent'").count()
    (100000, 0)
    """
    run_count = -(-rows_of(size) // RUN_LENGTH)
    recipe = Recipe("sends", run_count * RUN_LENGTH, (("seed", seed), ("v", VERSION)), bytes_per_row=6)
    return kept(spark, recipe, lambda: generate_sends(spark, run_count, seed), update)


@rule({**_RECORD, "producer": TEXT, "callbacks": ("array<string>",)}, remedy="give the rows of sends")
def sent_of(df: DataFrame) -> DataFrame:
    """What the applications know of `sends`: a row for each attempt.

    Row by row: nothing is kept.
    """
    return df.select("producer", "run", "number", sf.posexplode("callbacks").alias("place", "callback")).select(
        "producer", "run", "number", "callback", (sf.col("place") + 1).alias("attempt")
    )


@rule({**_RECORD, "offsets": INT_ARRAYS}, remedy="give the rows of sends")
def log_of(df: DataFrame) -> DataFrame:
    """What a consumer finds in the topic: ``run``, ``number`` and ``offset`` of every record in the log.

    Row by row: nothing is kept.
    """
    return df.select("run", "number", sf.explode("offsets").alias("offset"))


def generate_sends(spark: SparkSession, run_count: int, seed: int) -> DataFrame:
    """The rows of `sends`. What an accident does to a record follows from the producer's settings, as in the matrix."""
    whole_number("run_count", run_count, at_least=1)
    run, number = sf.col("run"), sf.col("number")
    is_0, is_1 = sf.col("kind") == 0, sf.col("kind") == 1
    is_idempotent, puts_aside = sf.col("kind") >= 3, sf.col("kind") == 4
    chance = sf.pmod(hash_of(seed, "accident", sf.col("id")), sf.lit(1000))
    # The leader dies after record `failover`; the last `behind` of those before it are in its log alone.
    failover = 500 + sf.pmod(hash_of(seed, "failover", run), sf.lit(1000))
    behind = sf.pmod(hash_of(seed, "behind", run), sf.lit(12))
    is_uncopied = (number <= failover) & (number > failover - behind)
    is_refused = ~is_0 & ~is_1 & (number > failover + 50) & (number <= failover + 55) & (run % 16 >= 8)
    is_late = is_refused & (number == failover + 51)  # written before the ISR shrank, and answered too late
    place = number * 4
    once, twice = sf.array(place), sf.array(place, place + 9)
    request_lost, answer_lost = chance == 0, chance == 1
    nowhere = sf.array().cast("array<bigint>")
    offsets = (
        sf.when(is_late & puts_aside, sf.array(place, place + AN_HOUR))
        .when(is_late, once)
        .when(is_refused & puts_aside, sf.array(place + AN_HOUR))
        .when(is_refused, nowhere)
        .when(is_uncopied & (is_0 | is_1), nowhere)
        .when(request_lost & is_0, nowhere)
        .when(request_lost & ~is_idempotent, sf.array(place + 6))
        .when(answer_lost & ~is_0 & ~is_idempotent, twice)
        .otherwise(once)
    )
    failed, written = sf.lit("TIMEOUT"), sf.lit(NONE)
    callbacks = (
        sf.when(is_refused & puts_aside, sf.array(failed, written))
        .when(is_refused, sf.array(failed))
        .otherwise(sf.array(written))
    )
    kinds = sf.array(*map(sf.lit, PRODUCERS))
    return (
        spark.range(run_count * RUN_LENGTH)
        .withColumn("run", sf.floor(sf.col("id") / RUN_LENGTH))
        .withColumn("number", (sf.col("id") % RUN_LENGTH + 1).cast("int"))
        .withColumn("kind", (run % len(PRODUCERS)).cast("int"))
        .select(
            sf.element_at(kinds, sf.col("kind") + 1).alias("producer"),
            "run",
            "number",
            callbacks.alias("callbacks"),
            offsets.cast("array<bigint>").alias("offsets"),
        )
    )


OBSERVED = tuple(name for name, each in STRATEGIES.items() if each.sink == PLAIN and not each.hands_over)
"""Strategies that `crash_costs` knows: they process in the order of the log, into a plain sink."""


@rule(dict.fromkeys(COLUMNS, WHOLE_NUMBERS), remedy="times are whole milliseconds")
def crash_costs(
    df: DataFrame, strategies: Iterable[str | Strategy] = OBSERVED, commit_ms: int = COMMIT_MS
) -> DataFrame:
    """What each run's crash costs under each strategy.

    Parameters
    ----------
    df : DataFrame
        Deliveries, with the columns of `kafkalearn.spark.data.logs.deliveries`.
    strategies : iterable of str or Strategy
        Names in `OBSERVED`, or strategies of your own that process in order.
    commit_ms : int
        How long a commit is on its way; one that has not arrived when the crash comes is not stored. Auto commits
        count as stored at once.

    Returns
    -------
    DataFrame
        ``run``, ``strategy``, ``record_count`` (processed), ``lost_count``, ``doubled_count``, ``commit_count``. The
        polls of a run are in one row, some 64 bytes each; before that one takes about 160 in one worker, on disk if
        need be.

    Raises
    ------
    KafkaLearnError
        If a column is missing, or if deliveries do not say what a strategy costs.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> seen = [(0, 0, 0, 0, 10, 35), (0, 1, 0, 0, 20, 35), (0, 2, 1, 20, 30, 35), (0, 3, 1, 20, None, 35)]
    >>> names = "run int, offset int, poll int, polled_ms int, processed_ms int, crashed_ms int"
    >>> rows = get_spark().createDataFrame(seen, names)
    >>> rows.transform(crash_costs, ["each batch", "before the batch"]).show()
    +---+----------------+------------+----------+-------------+------------+
    |run|        strategy|record_count|lost_count|doubled_count|commit_count|
    +---+----------------+------------+----------+-------------+------------+
    |  0|      each batch|           3|         0|            1|           1|
    |  0|before the batch|           3|         1|            0|           2|
    +---+----------------+------------+----------+-------------+------------+
    """
    chosen = [_observed(each) for each in strategies]
    if not chosen:
        raise KafkaLearnError(f"strategies is empty: name some of {', '.join(map(repr, OBSERVED))}")
    whole_number("commit_ms", commit_ms, at_least=0)
    runs = (
        _polls(df, commit_ms)
        .groupBy("run")
        .agg(
            sf.array_sort(
                sf.collect_list(sf.struct("poll", "polled_ms", "finished_ms", "first", "next", "crashed_ms"))
            ).alias("polls"),
            sf.sum("processed_count").alias("record_count"),
            sf.sum("stored_count").alias("stored_count"),
        )
    )
    results = [
        sf.struct(sf.lit(each.name).alias("strategy"), _committed(each, commit_ms).alias("end")) for each in chosen
    ]
    each = runs.select("run", "record_count", sf.explode(sf.array(*results)).alias("of"))
    ahead = sf.col("of.end.committed") - sf.col("record_count")
    return each.select(
        "run",
        "of.strategy",
        "record_count",
        sf.greatest(ahead, sf.lit(0)).alias("lost_count"),
        sf.greatest(-ahead, sf.lit(0)).alias("doubled_count"),
        sf.col("of.end.commits").alias("commit_count"),
    )


def _polls(df: DataFrame, commit_ms: int) -> DataFrame:
    """One row for each poll: what it returned, when, and how far its records had come at the crash."""
    is_stored = sf.col("processed_ms") + commit_ms < sf.col("crashed_ms")
    is_whole = sf.count("processed_ms") == sf.count("*")
    return df.groupBy("run", "poll").agg(
        sf.min("polled_ms").cast("bigint").alias("polled_ms"),
        sf.when(is_whole, sf.max("processed_ms")).cast("bigint").alias("finished_ms"),
        sf.min("offset").cast("bigint").alias("first"),
        (sf.max("offset") + 1).cast("bigint").alias("next"),
        sf.max("crashed_ms").cast("bigint").alias("crashed_ms"),
        sf.count("processed_ms").alias("processed_count"),
        sf.count_if(is_stored).alias("stored_count"),
    )


def _observed(strategy: str | Strategy) -> Strategy:
    strategy = strategy_of(strategy)
    if strategy.sink != PLAIN or strategy.hands_over or strategy.when not in (BEFORE, RECORD, BATCH, AUTO):
        raise KafkaLearnError(
            f"deliveries in order do not say what the strategy {strategy.name!r} costs; "
            f"known are {', '.join(map(repr, OBSERVED))}"
        )
    return strategy


def _committed(strategy: Strategy, commit_ms: int) -> Column:
    """The committed offset at the crash, and how many commits were stored, as a struct."""
    if strategy.when == RECORD:
        commits = sf.floor(sf.col("stored_count") / strategy.every)
        return _end(sf.lit(0), commits * strategy.every, commits, strategy.off_by)

    def fold(end: Column, poll: Column) -> Column:
        return _after_poll(strategy, commit_ms, end, poll)

    start = _end(sf.lit(0), sf.lit(0), sf.lit(0), 0)
    return sf.aggregate("polls", start, fold)


def _end(asked_ms: Column, committed: Column, commits: Column, off_by: int) -> Column:
    committed = sf.when(commits > 0, committed + off_by).otherwise(committed)
    return sf.struct(
        asked_ms.cast("bigint").alias("asked_ms"),
        committed.cast("bigint").alias("committed"),
        commits.cast("bigint").alias("commits"),
    )


def _after_poll(strategy: Strategy, commit_ms: int, end: Column, poll: Column) -> Column:
    """How far the commits are after one more poll: sent at its begin or its end, stored if the crash is later."""
    sent_ms = poll["finished_ms"] if strategy.when == BATCH else poll["polled_ms"]
    offset = poll["first"] if strategy.when == AUTO else poll["next"] + strategy.off_by
    travels_ms = 0 if strategy.when == AUTO else commit_ms
    is_due = sent_ms - end["asked_ms"] >= (0 if strategy.when == BEFORE else strategy.interval_ms)
    is_sent = sf.coalesce(is_due, sf.lit(False))  # a poll that was not finished has no time
    is_stored = is_sent & (sent_ms + travels_ms < poll["crashed_ms"])
    return sf.struct(
        sf.when(is_sent, sent_ms).otherwise(end["asked_ms"]).alias("asked_ms"),
        sf.when(is_stored, offset).otherwise(end["committed"]).alias("committed"),
        (end["commits"] + is_stored.cast("bigint")).alias("commits"),
    )
