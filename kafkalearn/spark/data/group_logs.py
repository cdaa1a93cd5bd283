"""Logs of many clusters' coordinators over one day, made up: a few events a group, ten million in all.

Each group has its own trouble, by its number: most are only deployed once a day, some lose pods, some pause for
garbage collection, some are scaled up and down, and a few are too slow for their poll interval. A trouble comes
again and again, and each time takes a member away and brings it back: two rebalances. How long one takes follows
from when the members notice: each at its next heartbeat, and not before its poll thread is free.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafkalearn.arguments import whole_number
from kafkalearn.group_states import COMPLETING, PREPARING, STABLE
from kafkalearn.spark.data.cache import Recipe, kept
from kafkalearn.spark.data.datasets import SEED, rows_of
from kafkalearn.spark.data.generate import ENVIRONMENTS, SERVICES
from kafkalearn.spark.data.zipf import hash_of, uniform
from kafkalearn.spark.group_logs.standstill import (
    CLOSED,
    EVENT_SCHEMA,
    MEMBER_FAILED,
    MEMBER_JOINED,
    MEMBER_LEFT,
    POLL_EXPIRED,
)
from kafkalearn.spark.session.progress import Update

VERSION = 1
ROWS_PER_GROUP = 50  # about; what a group has depends on its trouble
DAY_START_MS = 1_772_323_200_000  # 2026-03-01T00:00:00Z
DAY_MS = 86_400_000
HEARTBEAT_MS, REBALANCE_TIMEOUT_MS = 3_000, 300_000
CLUSTERS = ("eu-1", "eu-2", "us-1", "us-2", "asia-1")

# kind: (of a hundred groups, troubles a day, how the member goes, away for at most, poll threads busy for at most)
KINDS = {
    "deployed": (60, 3, "closed", 40_000, 500),
    "losing pods": (14, 4, "failed", 60_000, 500),
    "collecting garbage": (10, 8, "failed", 5_000, 500),
    "scaled": (12, 12, "closed", 1_800_000, 2_000),
    "slow": (4, 30, "expired", 120_000, 60_000),
}
BILLING = ("shop", "billing", 205, 3)  # group 0: one of its three members is too slow, every seven minutes


def group_logs(
    spark: SparkSession, size: str | int = "class", *, seed: int = SEED, update: Update | None = None
) -> DataFrame:
    """A day of coordinators' logs, as `kafkalearn.spark.group_logs.rebalances` reads them; ``billing`` is among them.

    Parameters
    ----------
    spark : SparkSession
        Where it is made and read.
    size : str or int
        A name in `kafkalearn.spark.data.datasets.SIZES`, or about how many rows; there are 50 for each group, about.
    seed : int
        Another seed, other logs.
    update : callable, optional
        ``update(done, total)`` while it is made.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> logs = group_logs(get_spark(), 1000)
    >>> logs.select("group_id").distinct().count()
    20
    """
    row_count = rows_of(size)
    recipe = Recipe("group_logs", row_count, (("seed", seed), ("v", VERSION)), bytes_per_row=10)
    return kept(spark, recipe, lambda: generate_group_logs(spark, max(row_count // ROWS_PER_GROUP, 1), seed), update)


def generate_group_logs(spark: SparkSession, group_count: int, seed: int) -> DataFrame:
    """The logs of so many groups: each row from the number of its group and of its trouble, and the seed."""
    whole_number("group_count", group_count, at_least=1)
    groups = _groups(spark, group_count, seed)
    troubles = groups.select("*", sf.explode(sf.sequence(sf.lit(0), sf.col("trouble_count") - 1)).alias("trouble"))
    rows = _rebalances(troubles, seed).select(sf.col("cluster"), sf.col("group_id"), sf.inline("events"))
    return rows.select(
        "cluster",
        "group_id",
        sf.timestamp_millis(sf.col("at_ms")).alias("timestamp"),
        *(sf.col(column.split()[0]) for column in EVENT_SCHEMA.split(", ")[3:]),
    )


def _groups(spark: SparkSession, group_count: int, seed: int) -> DataFrame:
    row = sf.col("id")
    hundred = sf.pmod(hash_of(seed, "kind", row), sf.lit(100))
    limits, end = {}, 0
    for kind, (share, *_) in KINDS.items():
        limits[kind] = end = end + share

    def by_kind(place: int) -> Column:
        value = sf.lit(None)
        for kind in reversed(KINDS):
            value = sf.when(hundred < limits[kind], KINDS[kind][place]).otherwise(value)
        return sf.when(row == 0, KINDS["slow"][place]).otherwise(value)

    cluster, group_id, trouble_count, member_count = BILLING
    choose = {
        purpose: sf.element_at(sf.array(*map(sf.lit, names)), _draw(seed, purpose, row, len(names)))
        for purpose, names in (("cluster", CLUSTERS), ("service", SERVICES), ("environment", ENVIRONMENTS))
    }
    named = sf.concat_ws("-", choose["service"], choose["environment"], row)
    return spark.range(group_count).select(
        "id",
        sf.when(row == 0, cluster).otherwise(choose["cluster"]).alias("cluster"),
        sf.when(row == 0, group_id).otherwise(named).alias("group_id"),
        sf.when(row == 0, trouble_count).otherwise(by_kind(1)).alias("trouble_count"),
        by_kind(2).alias("goes"),
        by_kind(3).alias("away_ms"),
        sf.when(row == 0, KINDS["deployed"][4]).otherwise(by_kind(4)).alias("busy_ms"),  # its others are quick
        sf.when(row == 0, member_count).otherwise(_draw(seed, "members", row, 5) + 1).alias("member_count"),
    )


def _draw(seed: int, purpose: str, row: Column, count: int) -> Column:
    """A whole number from 1 to `count`."""
    return (sf.pmod(hash_of(seed, purpose, row), sf.lit(count)) + 1).cast("int")


def _rebalances(troubles: DataFrame, seed: int) -> DataFrame:
    """Each trouble with the events of its two rebalances; each of the two ends before the next begins."""
    number = sf.col("id") * 1_000 + sf.col("trouble")
    slot_ms = sf.floor(DAY_MS / sf.col("trouble_count"))
    # The two rebalances and the time away all fit into a trouble's share of the day.
    most_ms = sf.floor(slot_ms / 4)
    went_ms = DAY_START_MS + slot_ms * sf.col("trouble") + sf.floor(most_ms / 4 * uniform(seed, "at", number))
    down_ms = sf.least(_joining_ms(seed, "down", number), most_ms)
    up_ms = sf.least(_joining_ms(seed, "up", number), most_ms)
    away_ms = sf.floor(sf.least(sf.col("away_ms"), most_ms) * uniform(seed, "away", number))
    back_ms = went_ms + down_ms + 1_000 + away_ms
    generation = (2 * sf.col("trouble") + 1).cast("int")
    member = sf.concat(sf.lit("consumer-"), sf.pmod(sf.col("trouble"), sf.col("member_count")) + 1)
    goes = sf.col("goes")
    left = sf.when(goes == "failed", _event(went_ms, MEMBER_FAILED, member, generation)).otherwise(
        _event(went_ms, MEMBER_LEFT, member, generation, sf.when(goes == "expired", POLL_EXPIRED).otherwise(CLOSED))
    )
    why = sf.when(
        goes == "failed", sf.concat(sf.lit("removing member "), member, sf.lit(" on heartbeat expiration."))
    ).otherwise(sf.concat(sf.lit("explicit `LeaveGroup` request for ("), member, sf.lit(") members.")))
    added = sf.concat(
        sf.lit("Adding new member "), member, sf.lit(" with group instance id null; client reason: not provided")
    )
    events = sf.array(
        left,
        *_rebalance(went_ms, down_ms, why, member, generation, seed, number),
        _event(back_ms, MEMBER_JOINED, member, generation + 1),
        *_rebalance(back_ms, up_ms, added, member, generation + 1, seed, number + 1),
    )
    return troubles.select("cluster", "group_id", events.alias("events"))


def _joining_ms(seed: int, purpose: str, number: Column) -> Column:
    """How long the join phase lasts: the latest of so many members, each within a heartbeat and its own work.

    Of chances in [0, 1) the largest of n is distributed as one chance to the power 1/n. Of slow groups one in
    fifty has a member that does not come back at all, and the coordinator waits for the rebalance timeout.
    """
    latest = sf.pow(uniform(seed, purpose, number), sf.lit(1.0) / sf.col("member_count"))
    within_ms = sf.col("busy_ms") + HEARTBEAT_MS
    is_stuck = (sf.col("busy_ms") == KINDS["slow"][4]) & (_draw(seed, f"stuck {purpose}", number, 50) == 1)
    return sf.when(is_stuck, REBALANCE_TIMEOUT_MS).otherwise(sf.floor(latest * within_ms) + 1)


def _rebalance(
    at_ms: Column, joining_ms: Column, why: Column, member: Column, generation: Column, seed: int, number: Column
) -> list[Column]:
    sync_ms = _draw(seed, "sync", number, 100)
    return [
        _event(at_ms, PREPARING, member, generation, why),
        _event(at_ms + joining_ms, COMPLETING, sf.lit(None), generation + 1),
        _event(at_ms + joining_ms + sync_ms, STABLE, sf.lit(None), generation + 1),
    ]


def _event(at_ms: Column, event: str, member: Column, generation: Column, reason: Column | None = None) -> Column:
    return sf.struct(
        at_ms.cast("bigint").alias("at_ms"),
        sf.lit(event).alias("event"),
        member.cast("string").alias("member"),
        generation.cast("int").alias("generation"),
        (sf.lit(None) if reason is None else reason).cast("string").alias("reason"),
    )
