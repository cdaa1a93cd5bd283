"""Thousands of rebalances on Spark: what each assignor moves, and how long a group stands still.

`rebalance_costs` says what is moved, what is revoked, and how even the group ends. The assignors run in Python, a batch
of groups at a time: Spark hands the groups over as Arrow and gets numbers back, and its workers get the rules
themselves with the query (`kafkalearn.spark.session.worker_code`).

`with_rebalance_ms` says how long a rebalance of an eager group takes, in one expression over each row. It is over when
the last member has joined again. Each member learns of it with its next heartbeat, joins when it is in ``poll()`` next,
and who does not come back to ``poll()`` within ``max.poll.interval.ms`` leaves by itself. So a group is as slow as its
slowest member: the latest of all these moments.

`with_classic_cost` says the same of groups whose members stood still, as `kafkalearn.spark.agreement` has them: what is
a pause for the old consumer is one long poll for the classic one, equally long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema

from kafkalearn.assignors import Member, compare
from kafkalearn.assignors.judging import random_rebalance
from kafkalearn.assignors.registry import find_assignor
from kafkalearn.base.checks import whole_number
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.scenarios.durations import NEWCOMER_MS, WORK_FROM_MS
from kafkalearn.spark.agreement import total
from kafkalearn.spark.columns import INT_ARRAYS, NUMBERS, in_ranges, rule, typed
from kafkalearn.spark.data.generate import hash_of, uniform
from kafkalearn.spark.session.worker_code import for_workers

__all__ = [
    "COMPARED",
    "random_rebalances",
    "rebalance_costs",
]

Batches = Iterator[pa.RecordBatch]

MEMBERS = pa.list_(pa.struct([("member", pa.string()), ("topics", pa.list_(pa.string()))]))
REBALANCE = pa.schema(
    [
        ("rebalance", pa.int64()),
        ("what", pa.string()),
        ("who", pa.string()),
        ("is_alike", pa.bool_()),
        ("topics", pa.list_(pa.struct([("topic", pa.string()), ("partitions", pa.int32())]))),
        ("before", MEMBERS),
        ("after", MEMBERS),
    ]
)
"""A rebalance as a row."""

_COUNTS = ("member_count", "partition_count", "moved", "fewest", "revoked_eager", "revoked_cooperative", "spread")
COST = pa.schema([("rebalance", pa.int64()), ("assignor", pa.string()), *((name, pa.int32()) for name in _COUNTS)])
"""What it costs by one assignor, as a row."""


def drawing(settings: dict[str, Any]) -> Callable[[Batches], Batches]:
    """From rows with an ``id`` to the rebalances of these numbers."""

    def draw(batches: Batches) -> Batches:
        for batch in batches:
            numbers = batch.column("id").to_pylist()
            yield pa.RecordBatch.from_pylist([rebalance_row(number, settings) for number in numbers], REBALANCE)

    return draw


def costs(assignors: list[str]) -> Callable[[Batches], Batches]:
    """From rebalances to a row for each of them and each assignor."""

    def measure(batches: Batches) -> Batches:
        for batch in batches:
            rows = [cost for row in batch.to_pylist() for cost in cost_rows(row, assignors)]
            yield pa.RecordBatch.from_pylist(rows, COST)

    return measure


def rebalance_row(number: int, settings: dict[str, Any]) -> dict[str, Any]:
    """One drawn rebalance."""
    drawn = random_rebalance(number, **settings)
    return {
        "rebalance": number,
        "what": drawn.what,
        "who": drawn.who,
        "is_alike": drawn.is_alike,
        "topics": [{"topic": topic, "partitions": count} for topic, count in drawn.partition_counts.items()],
        "before": _member_rows(drawn.before),
        "after": _member_rows(drawn.after),
    }


def cost_rows(row: dict[str, Any], assignors: list[str]) -> list[dict[str, Any]]:
    """What one rebalance costs by each assignor."""
    counts = {each["topic"]: each["partitions"] for each in row["topics"]}
    before, after = _members(row["before"]), _members(row["after"])
    subscribed = {topic for member in after for topic in member.topics}
    size = {
        "rebalance": row["rebalance"],
        "member_count": len(after),
        "partition_count": sum(count for topic, count in counts.items() if topic in subscribed),
    }
    return [
        {
            **size,
            "assignor": each["assignor"],
            "moved": each["moved"],
            "fewest": each["fewest"],
            "revoked_eager": each["revoked, eager"],
            "revoked_cooperative": each["revoked, cooperative"],
            "spread": each["spread"],
        }
        for each in compare(assignors, counts, before, after)
    ]


def _member_rows(members: tuple[Member, ...]) -> list[dict[str, Any]]:
    return [{"member": member.member_id, "topics": list(member.topics)} for member in members]


def _members(rows: list[dict[str, Any]]) -> list[Member]:
    return [Member(each["member"], each["topics"]) for each in rows]


REBALANCE_SCHEMA = from_arrow_schema(REBALANCE)
COST_SCHEMA = from_arrow_schema(COST)
_NEEDED = ("rebalance", "topics", "before", "after")

COMPARED = ("range", "roundrobin", "sticky", "cooperative-sticky", "uniform")
PIECE_COUNT = 16  # groups are unequal work: small pieces end at about the same time


def random_rebalances(spark: SparkSession, rebalance_count: int, seed: int = 0, **limits: Any) -> DataFrame:
    """Random rebalances, one a row.

    Parameters
    ----------
    spark : SparkSession
        Where they are made.
    rebalance_count : int
        How many; number n is ``random_rebalance(n, seed=seed, **limits)`` of
        `kafkalearn.assignors.judging`.
    seed, **limits
        As there.

    Returns
    -------
    DataFrame
        ``rebalance`` (its number), ``what`` happened and ``who`` did it, ``is_alike``, ``topics``, and the members
        ``before`` and ``after``.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rebalances = random_rebalances(get_spark(), 3).orderBy("rebalance")
    >>> rebalances.selectExpr("rebalance", "what", "who", "size(before) AS before", "size(after) AS after").show()
    +---------+------+---+------+-----+
    |rebalance|  what|who|before|after|
    +---------+------+---+------+-----+
    |        0|leaves|m02|     9|    8|
    |        1|leaves|m04|    12|   11|
    |        2|leaves|m05|     9|    8|
    +---------+------+---+------+-----+
    """
    whole_number("rebalance_count", rebalance_count, at_least=0)
    random_rebalance(0, seed=seed, **limits)  # what it refuses is refused here, not in a worker
    draw = for_workers(spark, drawing({"seed": seed, **limits}))
    return spark.range(0, rebalance_count, 1, PIECE_COUNT).mapInArrow(draw, REBALANCE_SCHEMA)


@rule(
    typed(REBALANCE_SCHEMA, *_NEEDED),
    remedy="see kafkalearn.spark.rebalances.random_rebalances",
)
def rebalance_costs(df: DataFrame, assignors: Sequence[str] = COMPARED) -> DataFrame:
    """What each rebalance costs by each assignor: a row for each pair.

    Parameters
    ----------
    df : DataFrame
        Has the columns ``rebalance``, ``topics``, ``before`` and ``after`` of `random_rebalances`; they may as well
        be those of a real cluster.
    assignors : sequence of str
        Names of assignors as `kafkalearn.assignors.assign` takes them.

    Returns
    -------
    DataFrame
        ``rebalance``, ``assignor``; of the group afterwards ``member_count`` and ``partition_count``; ``moved``,
        ``fewest`` (that must move for the best balance), ``revoked_eager``, ``revoked_cooperative``, ``spread``: the
        numbers of `kafkalearn.assignors.compare`. Row by row: a worker's Python has one batch of them
        at a time, 10,000 at most.

    Raises
    ------
    KafkaLearnError
        If an assignor is not known, or a column is missing or of another type.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> costs = random_rebalances(get_spark(), 1).transform(rebalance_costs, ["range", "sticky"])
    >>> costs.select("assignor", "partition_count", "moved", "fewest", "spread").orderBy("assignor").show()
    +--------+---------------+-----+------+------+
    |assignor|partition_count|moved|fewest|spread|
    +--------+---------------+-----+------+------+
    |   range|             42|   21|     7|     2|
    |  sticky|             42|    5|     5|     1|
    +--------+---------------+-----+------+------+
    """
    for name in assignors:
        find_assignor(name)  # what it refuses is refused here, not in a worker
    if not assignors:
        raise KafkaLearnError("assignors is empty: name at least one")
    judge = for_workers(df.sparkSession, costs(list(assignors)))
    return df.select(*_NEEDED).mapInArrow(judge, COST_SCHEMA)


GROUP_SCHEMA = "group_id STRING, heartbeat_interval_ms INT, max_poll_interval_ms INT, work_ms ARRAY<INT>"
"""The columns of a group: ``work_ms`` has an entry for each member, see `with_rebalance_ms`."""

_LATENCY_MS, _POLL_MS = 2, 100  # the model's own: one way through the network, and the distance of ordinary polls
# The group of the scenario is formed at 0: the initial delay of 3 s is waited for twice, and a request takes 4 ms there
# and back.
_FIRST_HEARTBEATS_MS = 6000 + 4 * _LATENCY_MS  # their loop begins when JoinGroup is answered
_FIRST_POLL_MS = 6000 + 6 * _LATENCY_MS  # SyncGroup is answered
_BEGINS_MS = NEWCOMER_MS + 3 * _LATENCY_MS  # the newcomer's JoinGroup, with its member id, reaches the coordinator

SLOW_PER_THOUSAND = 10  # members that are in a long poll, of random groups
MOST_MEMBERS = 1000


@rule(
    {"heartbeat_interval_ms": NUMBERS, "max_poll_interval_ms": NUMBERS, "work_ms": INT_ARRAYS},
    remedy="groups have the columns of kafkalearn.spark.rebalances.GROUP_SCHEMA",
)
def with_rebalance_ms(groups: DataFrame) -> DataFrame:
    """Each group with the time that the rebalance takes that one more consumer brings.

    Parameters
    ----------
    groups : DataFrame
        With the columns of `GROUP_SCHEMA`, and any others. ``work_ms`` says for each member how long the poll takes
        that it is working on, in ms; 0: its polls are short. The long ones began a second before the newcomer came.

    Returns
    -------
    DataFrame
        With ``rebalance_ms``, a bigint: what `kafkalearn.scenarios.durations.newcomer_ms` gives for each row. Row by
        row: nothing is kept.

    Raises
    ------
    KafkaLearnError
        If a column is missing or has another type.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> groups = get_spark().createDataFrame(
    ...     [("a", 3000, 300_000, [0, 0, 0]), ("b", 3000, 300_000, [0, 20_000, 0])], GROUP_SCHEMA
    ... )
    >>> groups.transform(with_rebalance_ms).select("group_id", "rebalance_ms").show()
    +--------+------------+
    |group_id|rebalance_ms|
    +--------+------------+
    |       a|        2312|
    |       b|       19000|
    +--------+------------+
    """
    last_ms = sf.array_max(sf.transform("work_ms", _joined_ms))
    last_ms = sf.least(last_ms, _BEGINS_MS + sf.col("max_poll_interval_ms"))  # the coordinator waits no longer
    return groups.withColumn("rebalance_ms", (last_ms + 2 * _LATENCY_MS - _BEGINS_MS).cast("bigint"))


def _joined_ms(work_ms: Column, place: Column) -> Column:
    """When the JoinGroup of a member reaches the coordinator, or its LeaveGroup; times count from the scenario's 0."""
    interval_ms, limit_ms = sf.col("heartbeat_interval_ms"), sf.col("max_poll_interval_ms")
    first_ms = _FIRST_HEARTBEATS_MS + sf.floor(interval_ms * (place + 1) / (sf.size("work_ms") + 1))
    # The first heartbeat that arrives after the rebalance has begun is answered with it.
    since_ms = sf.greatest(_BEGINS_MS - _LATENCY_MS - first_ms + 1, sf.lit(0))
    heard_ms = first_ms + sf.ceil(since_ms / interval_ms) * interval_ms + 2 * _LATENCY_MS
    works_until_ms = WORK_FROM_MS + work_ms
    polls_from_ms = sf.when(work_ms > 0, works_until_ms).otherwise(_FIRST_POLL_MS)
    polls_ms = polls_from_ms + sf.greatest(sf.ceil((heard_ms - polls_from_ms) / _POLL_MS), sf.lit(0)) * _POLL_MS
    leaves_ms = sf.when(work_ms >= limit_ms, WORK_FROM_MS + limit_ms)
    return sf.least(polls_ms, leaves_ms) + _LATENCY_MS


def random_groups(spark: SparkSession, group_count: int, seed: int = 42) -> DataFrame:
    """Groups like those of a company: most are small, a few have hundreds of members; one member in a hundred is slow.

    Parameters
    ----------
    spark : SparkSession
        Where they are made; the same rows in every run.
    group_count : int
        How many.
    seed : int
        Another seed, other groups.

    Returns
    -------
    DataFrame
        With the columns of `GROUP_SCHEMA` and ``member_count`` (2 to 1,000). A slow member is in a poll of 10 s to 20
        minutes; nine groups of ten have the default of ``max.poll.interval.ms``, the others an hour.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> random_groups(get_spark(), 1000).where("member_count <= 10").count() > 500
    True
    """
    whole_number("group_count", group_count, at_least=1)
    row = sf.col("id")
    # By Pareto's law: the number of members that a share u of all groups exceeds is 2 / u ** 0.8.
    size = sf.least(sf.floor(2 / sf.pow(1 - uniform(seed, "members", row), sf.lit(0.8))), sf.lit(MOST_MEMBERS))
    member = row * MOST_MEMBERS + sf.col("member")
    is_slow = sf.pmod(hash_of(seed, "slow", member), sf.lit(1000)) < SLOW_PER_THOUSAND
    long_ms = (10_000 * sf.pow(sf.lit(120.0), uniform(seed, "work", member))).cast("int")
    members = (
        spark.range(group_count)
        .select("id", size.cast("int").alias("member_count"))
        .select("*", sf.explode(sf.sequence(sf.lit(0), sf.col("member_count") - 1)).alias("member"))
    )
    works = members.select("id", "member_count", "member", sf.when(is_slow, long_ms).otherwise(0).alias("ms"))
    return (
        works.groupBy("id", "member_count")
        .agg(
            sf.transform(sf.sort_array(sf.collect_list(sf.struct("member", "ms"))), lambda each: each["ms"]).alias(
                "work_ms"
            )
        )
        .select(
            sf.concat(sf.lit("group-"), row).alias("group_id"),
            "member_count",
            sf.lit(3000).alias("heartbeat_interval_ms"),
            sf.when(sf.pmod(hash_of(seed, "limit", row), sf.lit(10)) == 0, 3_600_000)
            .otherwise(300_000)
            .alias("max_poll_interval_ms"),
            "work_ms",
        )
    )


SIZES = {"2 to 9": 9, "10 to 99": 99, "100 and more": MOST_MEMBERS}


@rule(
    {"rebalance_ms": ("bigint",), "member_count": NUMBERS, "work_ms": INT_ARRAYS},
    remedy="transform them with with_rebalance_ms first",
)
def by_member_count(groups: DataFrame) -> DataFrame:
    """How long the rebalances of small and of large groups take.

    Parameters
    ----------
    groups : DataFrame
        From `with_rebalance_ms`, with ``member_count``.

    Returns
    -------
    DataFrame
        ``members`` (2 to 9, 10 to 99, 100 and more), ``groups``, ``with a slow member, %``, and in seconds the
        ``median, s``, the time that 95 of 100 keep within, and the ``longest, s``; the small groups first.
        Each different time of a range of sizes is kept in one task's memory, not on disk.
    """
    seconds = sf.col("rebalance_ms") / 1000
    is_slow = sf.exists("work_ms", lambda ms: ms > 0)
    found = groups.groupBy(in_ranges("member_count", SIZES).alias("members")).agg(
        sf.max("member_count").alias("largest"),
        sf.count("*").alias("groups"),
        sf.round(100 * sf.avg(is_slow.cast("int"))).cast("int").alias("with a slow member, %"),
        sf.round(sf.percentile(seconds, sf.lit(0.5)), 1).alias("median, s"),
        sf.round(sf.percentile(seconds, sf.lit(0.95)), 1).alias("95 % within, s"),
        sf.round(sf.max(seconds), 1).alias("longest, s"),
    )
    return found.orderBy("largest").drop("largest")


HEARTBEAT_INTERVAL_MS = 3000


@rule(
    {"work_ms": INT_ARRAYS, "uncommitted": INT_ARRAYS},
    remedy="for each member the poll that it works on, and how many records it has not committed",
)
def with_classic_cost(groups: DataFrame, max_poll_interval_ms: int = 300_000) -> DataFrame:
    """Each group with what the newcomer costs it under the classic protocol, eager.

    Parameters
    ----------
    groups : DataFrame
        With ``work_ms`` (how long the poll takes that each member is working on) and ``uncommitted`` (the records that
        each has read since its last commit), and any other columns.
    max_poll_interval_ms : int
        ``max.poll.interval.ms``: whose poll takes longer leaves the group.

    Returns
    -------
    DataFrame
        With ``rebalance_ms`` (bigint), ``thrown_out`` (int), the members that have left by then, and
        ``read_twice_classic`` (bigint), the records that are read again although everybody commits before it gives its
        partitions up (``enable.auto.commit=true``): those of members that were thrown out, which could not. It is what
        `kafkalearn.zookeeper.eras.classic_newcomer` gives for each row. Row by row: nothing is kept.

    Raises
    ------
    KafkaLearnError
        If a column is missing or has another type, or the number is too small.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = [("a", [0, 0], [5, 7]), ("b", [0, 20_000], [5, 7])]
    >>> groups = get_spark().createDataFrame(rows, "group_id STRING, work_ms ARRAY<INT>, uncommitted ARRAY<INT>")
    >>> groups.transform(with_classic_cost, 10_000).drop("work_ms", "uncommitted").show()
    +--------+------------+----------+------------------+
    |group_id|rebalance_ms|thrown_out|read_twice_classic|
    +--------+------------+----------+------------------+
    |       a|        2012|         0|                 0|
    |       b|        9000|         1|                 7|
    +--------+------------+----------+------------------+
    """
    whole_number("max_poll_interval_ms", max_poll_interval_ms, at_least=1)
    kept = groups.columns
    timed = groups.selectExpr(
        "*",
        f"{HEARTBEAT_INTERVAL_MS} AS heartbeat_interval_ms",
        f"{max_poll_interval_ms} AS max_poll_interval_ms",
    ).transform(with_rebalance_ms)

    def of_thrown_out(records: Column, work_ms: Column) -> Column:
        return sf.when(work_ms >= max_poll_interval_ms, records).otherwise(0).cast("bigint")

    again = sf.zip_with("uncommitted", "work_ms", of_thrown_out)
    out = sf.filter("work_ms", lambda work_ms: work_ms >= max_poll_interval_ms)
    return timed.select(
        *kept, "rebalance_ms", sf.size(out).alias("thrown_out"), total(again).alias("read_twice_classic")
    )
