"""Timers of a broker by the million, and what timing wheels do for each, as a native expression.

The rule is `kafkalearn.purgatory.wheel.placing` written as arithmetic: a timer first goes into the finest wheel that
reaches it; from there it falls once for every digit, base 20, of what is left of its time. No row needs to see another.
"""

from __future__ import annotations

from itertools import pairwise

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafkalearn.arguments import whole_number
from kafkalearn.purgatory.wheel.settings import TICK_MS, WHEEL_SIZE, Settings
from kafkalearn.spark.columns.checks import refuse_overwrite, require
from kafkalearn.spark.data.cache import Recipe, kept
from kafkalearn.spark.data.datasets import SEED, rows_of
from kafkalearn.spark.data.zipf import hash_of, uniform
from kafkalearn.spark.session.progress import Update

VERSION = 1
HOUR_MS = 3_600_000
LONGEST_MS = 2**40  # 35 years: wheels beyond that are never made
WHOLE = ("tinyint", "smallint", "int", "bigint")

# Of a thousand requests: the kind, its timeout, when it is done as a rule, and how many of a million are never done.
KINDS = (
    (800, "fetch", 500, (0, 499), 150_000),
    (150, "produce", 30_000, (2, 60), 100),
    (49, "heartbeat", 45_000, (2_900, 3_100), 1_000),
    (1, "join", 300_000, (500, 8_000), 2_000),
)


def request_timers(
    spark: SparkSession, size: str | int = "class", *, seed: int = SEED, update: Update | None = None
) -> DataFrame:
    """An hour of a broker's timers: fetches, produce requests, heartbeats and joins that had to wait.

    Heartbeats and joins wait in purgatories up to 3.9; since then their timeouts are timers of the group coordinator's
    event loop, in wheels of the same kind.

    Columns: ``timer`` bigint, ``kind`` string, ``added_ms`` bigint from the start of the hour, ``timeout_ms`` int,
    ``done_ms`` bigint: when it was done before its time, null if its time ran out.

    Parameters
    ----------
    spark, size, seed, update
        As in `kafkalearn.spark.data.datasets.group_ids`.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> request_timers(get_spark(), "small").where("kind = 'join'").count()
    100
    """
    row_count = rows_of(size)
    recipe = Recipe("request_timers", row_count, (("seed", seed), ("v", VERSION)), bytes_per_row=16)
    return kept(spark, recipe, lambda: generate_request_timers(spark, row_count, seed), update)


def generate_request_timers(spark: SparkSession, row_count: int, seed: int) -> DataFrame:
    """The rows of `request_timers`, made now."""
    whole_number("row_count", row_count, at_least=1)
    row = sf.col("id")
    rank = (row * 7) % 1000  # 7 shares no factor with 1000: every thousand rows hold each rank once
    added_ms = sf.floor(row * (HOUR_MS / row_count)).cast("bigint")

    def of_kind(value_of) -> Column:
        """For each row, what the function gives for the entry of its kind."""
        limit, chosen = 0, sf.when(sf.lit(False), value_of(*KINDS[0]))
        for share, *entry in KINDS:
            limit += share
            chosen = chosen.when(rank < limit, value_of(share, *entry))
        return chosen

    def done_after(_share, kind, _timeout_ms, usual_ms, _never) -> Column:
        least, most = usual_ms
        return least + sf.pmod(hash_of(seed, kind, row), sf.lit(most - least + 1))

    never_done = of_kind(lambda *entry: uniform(seed, f"{entry[1]} never", row) < entry[4] / 1_000_000)
    return spark.range(row_count).select(
        row.alias("timer"),
        of_kind(lambda *entry: sf.lit(entry[1])).alias("kind"),
        added_ms.alias("added_ms"),
        of_kind(lambda *entry: sf.lit(entry[2])).alias("timeout_ms"),
        sf.when(~never_done, added_ms + of_kind(done_after)).alias("done_ms"),
    )


def with_wheel_moves(
    df: DataFrame,
    tick_ms: int = TICK_MS,
    wheel_size: int = WHEEL_SIZE,
    *,
    added: str = "added_ms",
    timeout: str = "timeout_ms",
    done: str = "done_ms",
    output: str = "moves",
) -> DataFrame:
    """How often each timer falls into a finer wheel before it runs or is cancelled: the int column `output`.

    Every timer costs two more steps, one to put it in and one to take it out.

    Parameters
    ----------
    df : DataFrame
        One row a timer.
    tick_ms, wheel_size : int
        As in `kafkalearn.purgatory.wheel.Settings`.
    added, timeout, done : str
        Its columns, whole numbers in milliseconds; `done` is null for a timer that runs.
    output : str
        The column to add.

    Raises
    ------
    KafkaLearnError
        If a column is missing or no whole number, `output` is there already, or there is no such wheel.

    Notes
    -----
    The wheels' clock is taken to be the real time when a timer is added, as it is on a broker so busy that some
    bucket is due in every millisecond.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = [(0, 445, None), (0, 445, 410)]
    >>> timers = get_spark().createDataFrame(rows, "added_ms long, timeout_ms int, done_ms long")
    >>> timers.transform(with_wheel_moves).collect()
    [Row(added_ms=0, timeout_ms=445, done_ms=None, moves=2), Row(added_ms=0, timeout_ms=445, done_ms=410, moves=1)]

    References
    ----------
    Apache Kafka 4.3, ``org.apache.kafka.server.util.timer.TimingWheel``.
    """
    wheels = Settings(tick_ms, wheel_size)
    for column in (added, timeout, done):
        require(df, column, WHOLE, "times are whole milliseconds")
    refuse_overwrite(df, output)
    due = sf.col(added).cast("bigint") + sf.col(timeout)
    end = sf.least(sf.coalesce(sf.col(done).cast("bigint"), due), due)
    ticks = [wheels.tick_ms]
    while ticks[-1] < LONGEST_MS:
        ticks.append(ticks[-1] * wheels.wheel_size)
    moves = sf.lit(0)
    for fine, coarse in pairwise(ticks):
        # It falls from the coarser wheel to a finer one when its bucket there is emptied: at the start of its range,
        # if that wheel held it at all, and its time is not over by then.
        start_of = _floor(due, coarse)
        was_beyond = due >= _floor(sf.col(added), fine) + fine * wheel_size
        has_digit = _floor(due, fine) != start_of
        moves = moves + (was_beyond & has_digit & (start_of <= end)).cast("int")
    return df.withColumn(output, moves)


def _floor(time: Column, tick_ms: int) -> Column:
    """A time rounded down to a tick; none is negative."""
    return time - time % tick_ms
