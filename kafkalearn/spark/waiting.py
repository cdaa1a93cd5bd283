"""Requests that wait, from the logs of a whole cluster: producers with acks=all, and consumers that want more bytes.

`kafkalearn.purgatory.requests` steps one partition with those who wait for it; these queries read the appends and the
followers' fetches of thousands at once (`kafkalearn.spark.data.fetch_log`). A write is committed when every follower in
the ISR has fetched from behind it. For each follower that is a running minimum: the earliest of its fetches from that
offset or above.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from kafkalearn.arguments import whole_number
from kafkalearn.purgatory.requests.events import RECORD_BYTES
from kafkalearn.spark.columns.checks import require
from kafkalearn.spark.replication.marks import EXPAND, FOLLOWER, PARTITION, SHRINK

NEVER_MS = 2**62
TIMED_OUT = "REQUEST_TIMED_OUT"


def acks_all_waits(
    fetches: DataFrame, appends: DataFrame, changes: DataFrame, until_ms: int, *, timeout_ms: int = 30_000
) -> DataFrame:
    """How long each write would have waited with acks=all.

    Parameters
    ----------
    fetches, appends : DataFrame
        As `kafkalearn.spark.data.fetch_log.fetches` and ``appends``.
    changes : DataFrame
        Of the ISR, as `kafkalearn.spark.replication.marks.isr_changes` gives them.
    until_ms : int
        Where the logs end.
    timeout_ms : int
        The producer's ``request.timeout.ms``.

    Returns
    -------
    DataFrame
        The appends with ``committed_ms``, when the high watermark passed them (null: not in these logs); ``waited_ms``,
        for the answer (null: it came after these logs); ``error``, ``"REQUEST_TIMED_OUT"`` or null. Exact where at most
        one follower of a partition is out of the ISR at a time.

    References
    ----------
    Apache Kafka 4.3, ``kafka.server.DelayedProduce``, ``Partition.maybeIncrementLeaderHW``.
    """
    whole_number("until_ms", until_ms, at_least=0)
    whole_number("timeout_ms", timeout_ms, at_least=1)
    followers = sf.broadcast(fetches.select(*FOLLOWER).distinct())
    asked = appends.select(*PARTITION, "at_ms", "leader_end").join(followers, list(PARTITION))
    reached = _with_reached(fetches, asked)
    membership = changes.groupBy(*FOLLOWER).agg(
        sf.array_sort(sf.collect_list(sf.struct("at_ms", "change"))).alias("log")
    )
    known = reached.join(sf.broadcast(membership), list(FOLLOWER), "left")
    blocked = known.select(*PARTITION, "at_ms", "leader_end", *_blocked())
    ends = blocked.groupBy(*PARTITION, "at_ms", "leader_end").agg(
        sf.max("free_ms").alias("free_ms"), sf.collect_list(sf.struct("back_ms", "reached_ms")).alias("again")
    )
    # A follower that came back into the ISR meanwhile holds the write up once more.
    holding = sf.filter(
        "again", lambda one: (one["back_ms"] <= sf.col("free_ms")) & (one["reached_ms"] > sf.col("free_ms"))
    )
    committed = sf.array_max(sf.concat(sf.array("free_ms"), sf.transform(holding, lambda one: one["reached_ms"])))
    done = appends.join(
        ends.select(*PARTITION, "at_ms", "leader_end", committed.alias("committed_ms")),
        [*PARTITION, "at_ms", "leader_end"],
    )
    deadline = sf.col("at_ms") + timeout_ms
    answered = sf.least("committed_ms", deadline)
    return done.select(
        *appends.columns,
        sf.when(sf.col("committed_ms") < NEVER_MS, sf.col("committed_ms")).alias("committed_ms"),
        sf.when(answered <= until_ms, answered - sf.col("at_ms")).alias("waited_ms"),
        sf.when((sf.col("committed_ms") >= deadline) & (deadline <= until_ms), sf.lit(TIMED_OUT)).alias("error"),
    )


def _with_reached(fetches: DataFrame, asked: DataFrame) -> DataFrame:
    """For each write and follower ``reached_ms``: its first fetch from behind the write."""
    none = sf.lit(None).cast("bigint")
    writes = asked.select(*FOLLOWER, "at_ms", "leader_end", sf.lit(0).alias("is_fetch"), none.alias("fetch_ms"))
    reads = fetches.select(
        *FOLLOWER,
        none.alias("at_ms"),
        sf.col("fetch_offset").alias("leader_end"),
        sf.lit(1).alias("is_fetch"),
        sf.col("at_ms").alias("fetch_ms"),
    )
    behind = Window.partitionBy(*FOLLOWER).orderBy(sf.desc("leader_end"), sf.desc("is_fetch"))
    behind = behind.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    both = writes.unionByName(reads)
    reached = sf.coalesce(sf.min("fetch_ms").over(behind), sf.lit(NEVER_MS))
    return both.withColumn("reached_ms", reached).where("is_fetch = 0").drop("is_fetch", "fetch_ms")


def _blocked() -> list[Column]:
    """Until when a follower holds a write up: while it is in the ISR and has not fetched from behind it."""
    log = sf.coalesce("log", sf.array().cast("array<struct<at_ms: bigint, change: string>>"))
    earlier = sf.filter(log, lambda one: one["at_ms"] < sf.col("at_ms"))
    is_out = sf.coalesce(sf.try_element_at(earlier, sf.lit(-1))["change"] == SHRINK, sf.lit(False))

    def first(change: str, since: Column) -> Column:
        later = sf.filter(log, lambda one: (one["change"] == change) & (one["at_ms"] >= since))
        return sf.coalesce(sf.array_min(sf.transform(later, lambda one: one["at_ms"])), sf.lit(NEVER_MS))

    left = sf.when(is_out, sf.col("at_ms")).otherwise(first(SHRINK, sf.col("at_ms")))
    back = first(EXPAND, left)
    return [sf.least("reached_ms", left).alias("free_ms"), back.alias("back_ms"), sf.col("reached_ms")]


def fetch_waits(
    writes: DataFrame, *, min_bytes: int, max_wait_ms: int = 500, record_bytes: int = RECORD_BYTES
) -> DataFrame:
    """How long a consumer waits that has read everything and asks again, each time when the high watermark has risen.

    Parameters
    ----------
    writes : DataFrame
        As `acks_all_waits` gives them: ``topic``, ``partition``, ``leader_end``, ``committed_ms``.
    min_bytes, max_wait_ms : int
        ``fetch.min.bytes`` and ``fetch.max.wait.ms``.
    record_bytes : int
        Of each record.

    Returns
    -------
    DataFrame
        ``topic``, ``partition``, ``fetch_offset``, ``asked_ms``, ``waited_ms``, ``bytes`` of the answer, and
        ``is_enough``: whether it has as many as asked for, or time ended the wait.

    References
    ----------
    Apache Kafka 4.3, ``kafka.server.DelayedFetch``.
    """
    whole_number("min_bytes", min_bytes, at_least=1)
    whole_number("max_wait_ms", max_wait_ms, at_least=1)
    whole_number("record_bytes", record_bytes, at_least=1)
    for column in ("partition", "leader_end", "committed_ms"):
        require(writes, column, ("int", "bigint"), "give the rows of acks_all_waits")
    needed = -(-min_bytes // record_bytes)
    committed = writes.where("committed_ms IS NOT NULL")
    marks = committed.groupBy(*PARTITION, sf.col("committed_ms").alias("asked_ms"))
    marks = marks.agg(sf.max("leader_end").alias("fetch_offset"))
    by_offset = Window.partitionBy(*PARTITION).orderBy(sf.desc("fetch_offset"))
    by_time = Window.partitionBy(*PARTITION).orderBy("asked_ms")
    # In falling order what comes before is larger: the marks that are high enough.
    high_enough = by_offset.rangeBetween(Window.unboundedPreceding, -needed)
    enough = sf.min(sf.struct("asked_ms", "fetch_offset")).over(high_enough)
    in_time = sf.max("fetch_offset").over(by_time.rangeBetween(0, max_wait_ms - 1))
    deadline = sf.col("asked_ms") + max_wait_ms
    is_enough = sf.coalesce(sf.col("enough.asked_ms") < deadline, sf.lit(False))
    found = marks.withColumn("enough", enough).withColumn("in_time", in_time)
    end = sf.when(is_enough, sf.col("enough.fetch_offset")).otherwise(sf.col("in_time"))
    return found.select(
        *PARTITION,
        "fetch_offset",
        "asked_ms",
        sf.when(is_enough, sf.col("enough.asked_ms") - sf.col("asked_ms")).otherwise(max_wait_ms).alias("waited_ms"),
        ((end - sf.col("fetch_offset")) * record_bytes).alias("bytes"),
        is_enough.alias("is_enough"),
    )
