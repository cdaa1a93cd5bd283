"""What a crash costs, over millions of deliveries: losses, duplicates and commits by strategy.

For each strategy of `kafkalearn.commits`: which commits would have arrived before the crash, and so what the successor
skips or reads again. `kafkalearn.commits.replay` does the same for one run, event by event.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from kafkalearn.arguments import whole_number
from kafkalearn.commits.replay import COMMIT_MS
from kafkalearn.commits.sinks import PLAIN
from kafkalearn.commits.strategies import AUTO, BATCH, BEFORE, RECORD, STRATEGIES, Strategy, strategy_of
from kafkalearn.errors import KafkaLearnError
from kafkalearn.spark.columns.checks import require
from kafkalearn.spark.data.deliveries import COLUMNS

OBSERVED = tuple(name for name, each in STRATEGIES.items() if each.sink == PLAIN and not each.hands_over)
"""Strategies that `crash_costs` knows: they process in the order of the log, into a plain sink."""

_WHOLE = ("tinyint", "smallint", "int", "bigint")


def crash_costs(
    df: DataFrame, strategies: Iterable[str | Strategy] = OBSERVED, commit_ms: int = COMMIT_MS
) -> DataFrame:
    """What each run's crash costs under each strategy.

    Parameters
    ----------
    df : DataFrame
        Deliveries, with the columns of `kafkalearn.spark.data.deliveries.deliveries`.
    strategies : iterable of str or Strategy
        Names in `OBSERVED`, or strategies of your own that process in order.
    commit_ms : int
        How long a commit is on its way; one that has not arrived when the crash comes is not stored. Auto commits
        count as stored at once.

    Returns
    -------
    DataFrame
        ``run``, ``strategy``, ``record_count`` (processed), ``lost_count``, ``doubled_count``, ``commit_count``.

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
    for column in COLUMNS:
        require(df, column, _WHOLE, "times are whole milliseconds")
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
