"""What groups read, over many of them: their lag, partitions that change hands, consumers that are pulled or pushed to.

*Records* have the columns of Spark's Kafka source. *Commits* are rows ``group_id``, ``topic``, ``partition``,
``offset`` (the next one to read), ``committed_at``: as many as there were; the last of each partition counts.
*Owners* are rows ``group_id``, ``member_id``, ``topic``, ``partition``. All is Spark's own expressions, no Python
runs on the workers.

`backlogs` is for many consumers of one topic, pulled from its log or pushed to from queues: what the broker holds for
each. `kafkalearn.consuming.push` does the same record by record, for a few consumers; there a slow one can also make
the broker refuse the producer, which is not known here: queues that are full drop their oldest record.

`handovers` asks what a member's own offset would be worth when a partition goes to another one.
`kafkalearn.consuming.handovers` does the same for one run, event by event.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sf

from kafkalearn.assignors import Assignment
from kafkalearn.base.checks import LARGEST_LONG, iterable, text, whole_number
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.spark.columns import NUMBERS, TEXT, rule

__all__ = [
    "backlogs",
    "handovers",
    "owners_over_time",
]

OWNER_SCHEMA = "group_id STRING, member_id STRING, topic STRING, partition INT"
PLACE = ["topic", "partition"]
_RECORDS = {"topic": TEXT, "partition": NUMBERS, "offset": NUMBERS}
_COMMITS = {"group_id": TEXT, **_RECORDS, "committed_at": (*NUMBERS, "timestamp")}
_FROM_SOURCE = "records have the columns of Spark's Kafka source"
_IN_TIME = (
    "commits are rows group_id, topic, partition, offset, committed_at; a moment, or a number that rises with time"
)


@rule(_RECORDS, remedy=_FROM_SOURCE, needs_all=True)
def log_ends(records: DataFrame) -> DataFrame:
    """The log end of each partition: ``topic``, ``partition``, ``log_end``, one more than the largest offset.

    A partition without records is not in it; nor does a log lose its end when old records are deleted, but for the time
    in which it is quite empty. Nothing is kept whole: a partition takes about 120 bytes in one worker, on disk if need
    be.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = [("orders", 0, 0), ("orders", 0, 1), ("orders", 2, 0)]
    >>> records = get_spark().createDataFrame(rows, "topic string, partition int, offset bigint")
    >>> records.transform(log_ends).orderBy("partition").show()
    +------+---------+-------+
    | topic|partition|log_end|
    +------+---------+-------+
    |orders|        0|      2|
    |orders|        2|      1|
    +------+---------+-------+
    """
    return records.groupBy(*PLACE).agg((sf.max("offset") + 1).alias("log_end"))


@rule(_COMMITS, remedy=_IN_TIME, needs_all=True)
def last_commits(commits: DataFrame) -> DataFrame:
    """What counts of all commits: of each group and partition the last one, ``committed``.

    Of several at the same moment the largest offset counts. An offset that went back (somebody reset it) counts as the
    last one does: commits are not compared with earlier ones, by Kafka neither. Nothing is kept whole: one worker has
    the commits of a group and partition in order, about 150 bytes each, on disk if need be.
    """
    last = sf.max_by("offset", sf.struct("committed_at", "offset"))
    return commits.groupBy("group_id", *PLACE).agg(last.alias("committed"))


@rule(
    _RECORDS,
    _COMMITS,
    dict.fromkeys(("group_id", "member_id", *PLACE), ("string", "int")),
    remedy=f"{_FROM_SOURCE}; {_IN_TIME}; owners are those of owners_of",
)
def lag_by_partition(records: DataFrame, commits: DataFrame, owners: DataFrame | None = None) -> DataFrame:
    """The lag of every group in every partition in which it has committed something.

    Parameters
    ----------
    records : DataFrame
        ``topic``, ``partition``, ``offset``.
    commits : DataFrame
        ``group_id``, ``topic``, ``partition``, ``offset``, ``committed_at``.
    owners : DataFrame, optional
        As `owners_of` makes them; then there is a column ``member_id``, null where nobody owns the partition.

    Returns
    -------
    DataFrame
        ``group_id``, ``topic``, ``partition``, ``committed``, ``log_end``, ``lag`` (negative where a group committed
        past the end) and, with `owners`, ``member_id``. Nothing is kept whole: a group and partition, and a partition
        that is written, take about 130 bytes each in one worker, their names among them, on disk if need be.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> spark = get_spark()
    >>> records = spark.range(10).selectExpr("'orders' AS topic", "0 AS partition", "id AS offset")
    >>> commits = spark.createDataFrame(
    ...     [("billing", "orders", 0, 3, 1), ("billing", "orders", 0, 8, 2)],
    ...     "group_id string, topic string, partition int, offset bigint, committed_at int",
    ... )
    >>> lag_by_partition(records, commits).show()
    +--------+------+---------+---------+-------+---+
    |group_id| topic|partition|committed|log_end|lag|
    +--------+------+---------+---------+-------+---+
    | billing|orders|        0|        8|     10|  2|
    +--------+------+---------+---------+-------+---+

    References
    ----------
    Apache Kafka, ``ConsumerGroupCommand``: the column ``LAG``.
    """
    lag = sf.coalesce("log_end", sf.lit(0)) - sf.col("committed")
    found = (
        last_commits(commits)
        .join(log_ends(records), PLACE, "left")
        .select("group_id", *PLACE, "committed", sf.coalesce("log_end", sf.lit(0)).alias("log_end"), lag.alias("lag"))
    )
    if owners is None:
        return found
    return found.join(owners, ["group_id", *PLACE], "left").select(*found.columns, "member_id")


_LAG = {"group_id": TEXT, "lag": NUMBERS}


@rule({**_LAG, "member_id": TEXT}, remedy="give what lag_by_partition returns, with owners")
def lag_by_member(lag: DataFrame) -> DataFrame:
    """Of `lag_by_partition` with owners a row for each member: ``partition_count``, ``lag``, ``largest_lag``.

    What is kept is a row for each member, on disk if need be.
    """
    return lag.groupBy("group_id", "member_id").agg(
        sf.count("*").alias("partition_count"), sf.sum("lag").alias("lag"), sf.max("lag").alias("largest_lag")
    )


@rule(_LAG, remedy="give what lag_by_partition returns")
def lag_by_group(lag: DataFrame) -> DataFrame:
    """Of `lag_by_partition` a row for each group: ``partition_count``, ``lag``, ``largest_lag``.

    What is kept is a row for each group, on disk if need be.
    """
    return lag.groupBy("group_id").agg(
        sf.count("*").alias("partition_count"), sf.sum("lag").alias("lag"), sf.max("lag").alias("largest_lag")
    )


@rule(
    {**_RECORDS, "timestamp": ("timestamp",)},
    {**_COMMITS, "committed_at": ("timestamp",)},
    remedy="records have the columns of Spark's Kafka source; lag over time needs a moment for each commit",
)
def lag_over_time(records: DataFrame, commits: DataFrame, interval_ms: int = 3_600_000) -> DataFrame:
    """The lag of each group at the end of every interval in which something was written or committed.

    Parameters
    ----------
    records : DataFrame
        ``topic``, ``partition``, ``offset``, ``timestamp``.
    commits : DataFrame
        As in `lag_by_partition`, ``committed_at`` a timestamp.
    interval_ms : int
        Length of the intervals, at least 1; an hour.

    Returns
    -------
    DataFrame
        ``group_id``, ``until`` (the end of the interval), ``lag`` over all partitions. A partition in which the group
        has not committed yet counts with all its records. Nothing is kept whole: an interval of a partition, and of a
        group and partition, takes about 160 bytes in one worker, on disk if need be; each interval of a partition is a
        row for every group.
    """
    whole_number("interval_ms", interval_ms, at_least=1)

    def until(moment: str) -> Column:
        return ((sf.floor(sf.unix_millis(moment) / interval_ms) + 1) * interval_ms).alias("until_ms")

    written = records.groupBy(*PLACE, until("timestamp")).agg((sf.max("offset") + 1).alias("log_end"))
    last = sf.max_by("offset", sf.struct("committed_at", "offset")).alias("committed")
    committed = commits.groupBy("group_id", *PLACE, until("committed_at")).agg(last)
    # Both are small now, a row for each partition and interval. What they add to a group's lag, summed up over time:
    earlier = Window.partitionBy(*PLACE).orderBy("until_ms").rowsBetween(Window.unboundedPreceding, -1)
    grown = sf.greatest(sf.col("log_end") - sf.coalesce(sf.max("log_end").over(earlier), sf.lit(0)), sf.lit(0))
    one_before = Window.partitionBy("group_id", *PLACE).orderBy("until_ms")
    read = sf.col("committed") - sf.coalesce(sf.lag("committed").over(one_before), sf.lit(0))
    changes = (
        written.select("until_ms", grown.alias("change"))
        .crossJoin(commits.select("group_id").distinct())
        .unionByName(committed.select("group_id", "until_ms", (-read).alias("change")))
        .groupBy("group_id", "until_ms")
        .agg(sf.sum("change").alias("change"))
    )
    so_far = Window.partitionBy("group_id").orderBy("until_ms")
    until_moment = sf.timestamp_millis(sf.col("until_ms").cast("bigint")).alias("until")
    return changes.select("group_id", until_moment, sf.sum("change").over(so_far).alias("lag"))


def owners_of(spark: SparkSession, assignments: Mapping[str, Assignment]) -> DataFrame:
    """Who owns what, as rows: from the assignment of each group.

    >>> from kafkalearn.assignors import Member, assign
    >>> from kafkalearn.spark.session import get_spark
    >>> billing = assign("range", {"orders": 2}, [Member("b0", ["orders"])])
    >>> owners_of(get_spark(), {"billing": billing}).show()
    +--------+---------+------+---------+
    |group_id|member_id| topic|partition|
    +--------+---------+------+---------+
    | billing|       b0|orders|        0|
    | billing|       b0|orders|        1|
    +--------+---------+------+---------+
    """
    if not isinstance(assignments, Mapping) or not all(isinstance(each, Assignment) for each in assignments.values()):
        raise KafkaLearnError(f"assignments must map each group id to its Assignment, got {assignments!r}")
    rows = [
        (group_id, each["member"], each["topic"], each["partition"])
        for group_id, assignment in assignments.items()
        for each in assignment.rows()
    ]
    return spark.createDataFrame(rows, OWNER_SCHEMA)


_FIELDS = ("held", "most_held", "dropped", "pushed", "end", "position", "missed", "pulled")


@rule(
    {"consumer": (*TEXT, *NUMBERS), "rate": NUMBERS},
    {"interval": NUMBERS, "record_count": NUMBERS},
    remedy="a rate and a count are records in an interval, which is a number that rises with time",
)
def backlogs(
    consumers: DataFrame, arrivals: DataFrame, queue_limit: int = LARGEST_LONG, retention: int = LARGEST_LONG
) -> DataFrame:
    """How far each consumer has come, and what is held for it, after the last interval.

    In each interval the records arrive first, then each consumer processes as many as it can.

    Parameters
    ----------
    consumers : DataFrame
        ``consumer`` and ``rate``, the records that it can process in an interval.
    arrivals : DataFrame
        ``interval``, a number that rises, and ``record_count``. All of it, 8 bytes an interval, is one row that
        every worker has: some ten thousand intervals at most.
    queue_limit, retention : int
        Records that the queue of a consumer and the log hold; by default, as many as come.

    Returns
    -------
    DataFrame
        The columns of `consumers`, and ``held``, ``most_held``, ``dropped``, ``pushed`` (processed) of the queue;
        ``lag`` (log end minus committed offset, as the tools count it), ``missed``, ``pulled`` (processed) of the log.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> spark = get_spark()
    >>> arrivals = spark.range(5).selectExpr("id AS interval", "4 AS record_count")
    >>> consumers = spark.createDataFrame([("billing", 4), ("search", 1)], "consumer string, rate int")
    >>> found = backlogs(consumers, arrivals, queue_limit=10)
    >>> found.select("consumer", "held", "dropped", "pushed", "lag", "missed", "pulled").orderBy("consumer").show()
    +--------+----+-------+------+---+------+------+
    |consumer|held|dropped|pushed|lag|missed|pulled|
    +--------+----+-------+------+---+------+------+
    | billing|   0|      0|    20|  0|     0|    20|
    |  search|   9|      6|     5| 15|     0|     5|
    +--------+----+-------+------+---+------+------+
    """
    whole_number("queue_limit", queue_limit, at_least=1)
    whole_number("retention", retention, at_least=1)
    in_order = sf.array_sort(
        sf.collect_list(sf.struct("interval", sf.col("record_count").cast("bigint").alias("record_count")))
    )
    stream = arrivals.agg(sf.transform(in_order, lambda each: each["record_count"]).alias("arriving"))
    start = sf.struct(*(sf.lit(0).cast("bigint").alias(name) for name in _FIELDS))

    def after(state: Column, arriving: Column) -> Column:
        return _after_interval(state, arriving, sf.col("rate").cast("bigint"), queue_limit, retention)

    ended = consumers.crossJoin(sf.broadcast(stream)).withColumn("ended", sf.aggregate("arriving", start, after))
    unread = sf.col("ended.end") - sf.col("ended.position")
    deleted = sf.greatest(unread - sf.lit(retention), sf.lit(0))  # since it has read last
    return ended.select(
        *consumers.columns,
        *(f"ended.{name}" for name in ("held", "most_held", "dropped", "pushed")),
        unread.alias("lag"),
        (sf.col("ended.missed") + deleted).alias("missed"),
        "ended.pulled",
    )


def _after_interval(state: Column, arriving: Column, rate: Column, queue_limit: int, retention: int) -> Column:
    """Both ways after one more interval: records came, the consumer has done what it could."""
    come = state["held"] + arriving
    kept = sf.least(come, sf.lit(queue_limit))
    acknowledged = sf.least(kept, rate)
    end = state["end"] + arriving
    first = sf.greatest(state["position"], end - sf.lit(retention))
    read = sf.least(end - first, rate)
    values = {
        "held": kept - acknowledged,
        "most_held": sf.greatest(state["most_held"], kept),
        "dropped": state["dropped"] + come - kept,
        "pushed": state["pushed"] + acknowledged,
        "end": end,
        "position": sf.when(read > 0, first + read).otherwise(state["position"]),
        "missed": state["missed"] + sf.when(read > 0, first - state["position"]).otherwise(0),
        "pulled": state["pulled"] + read,
    }
    return sf.struct(*(values[name].cast("bigint").alias(name) for name in _FIELDS))


PLACE_OF_GROUP = ["group_id", *PLACE]


@rule(
    _COMMITS,
    {"group_id": TEXT, "topic": TEXT, "partition": NUMBERS, "member_id": (*TEXT, *NUMBERS)}
    | {"assigned_at": _COMMITS["committed_at"]},
    remedy=_IN_TIME,
)
def handovers(commits: DataFrame, owners: DataFrame) -> DataFrame:
    """Every partition that went to another member, if its group has committed something there.

    Parameters
    ----------
    commits : DataFrame
        ``group_id``, ``topic``, ``partition``, ``offset`` (the next one to read), ``committed_at``.
    owners : DataFrame
        ``group_id``, ``member_id``, ``topic``, ``partition``, ``assigned_at``, a row for each partition of each
        assignment; see `owners_over_time`. A commit at the same moment came before the assignment.

    Returns
    -------
    DataFrame
        ``group_id``, ``topic``, ``partition``, ``member_id`` (the new owner), ``assigned_at``; ``committed``, where it
        reads on; ``own``, what it has committed there itself, null if nothing; ``set_back``, the records that it would
        read again if it knew only its own offsets (with ``earliest``). Nothing is kept whole: one worker has the
        commits and assignments of a group and partition in order, about 160 bytes each, on disk if need be.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> spark = get_spark()
    >>> commits = spark.createDataFrame(
    ...     [("billing", "orders", 0, 40, 2), ("billing", "orders", 0, 70, 4)],
    ...     "group_id string, topic string, partition int, offset bigint, committed_at int",
    ... )
    >>> owners = spark.createDataFrame(
    ...     [("billing", "b0", "orders", 0, 1), ("billing", "b1", "orders", 0, 3), ("billing", "b0", "orders", 0, 5)],
    ...     "group_id string, member_id string, topic string, partition int, assigned_at int",
    ... )
    >>> handovers(commits, owners).drop("group_id", "topic").orderBy("assigned_at").show()
    +---------+---------+-----------+---------+----+--------+
    |partition|member_id|assigned_at|committed| own|set_back|
    +---------+---------+-----------+---------+----+--------+
    |        0|       b1|          3|       40|NULL|      40|
    |        0|       b0|          5|       70|  40|      30|
    +---------+---------+-----------+---------+----+--------+
    """
    committed_at = [
        *PLACE_OF_GROUP,
        sf.col("committed_at").alias("at"),
        sf.lit(None).cast("string").alias("new"),
        "offset",
    ]
    assigned_at = [*PLACE_OF_GROUP, sf.col("assigned_at").alias("at"), sf.col("member_id").alias("new")]
    events = commits.select(*committed_at, sf.lit(0).alias("kind")).unionByName(
        owners.select(*assigned_at, sf.lit(None).cast("bigint").alias("offset"), sf.lit(1).alias("kind"))
    )
    so_far = Window.partitionBy(*PLACE_OF_GROUP).orderBy("at", "kind").rowsBetween(Window.unboundedPreceding, 0)
    earlier = so_far.rowsBetween(Window.unboundedPreceding, -1)
    owned = events.select(
        "*",
        _last("new").over(so_far).alias("member_id"),
        _last("new").over(earlier).alias("before"),
        _last("offset").over(so_far).alias("committed"),
    )
    by_member = Window.partitionBy(*PLACE_OF_GROUP, "member_id").orderBy("at", "kind")
    own = _last("offset").over(by_member.rowsBetween(Window.unboundedPreceding, 0)).alias("own")
    return (
        owned.select("*", own)
        .where("kind = 1 AND committed IS NOT NULL AND NOT before <=> member_id")
        .select(
            *PLACE_OF_GROUP,
            "member_id",
            sf.col("at").alias("assigned_at"),
            "committed",
            "own",
            (sf.col("committed") - sf.coalesce("own", sf.lit(0))).alias("set_back"),
        )
    )


def owners_over_time(
    spark: SparkSession, group_id: str, assignments: Iterable[tuple[datetime, Assignment]]
) -> DataFrame:
    """A group's assignments as rows for `handovers`: each with the moment from which it holds.

    Examples
    --------
    >>> from kafkalearn.assignors import Member, assign
    >>> from kafkalearn.spark.session import get_spark
    >>> at_nine = (datetime(2026, 1, 1, 9), assign("range", {"orders": 2}, [Member("b0", ["orders"])]))
    >>> owners_over_time(get_spark(), "billing", [at_nine]).show()
    +--------+---------+------+---------+-------------------+
    |group_id|member_id| topic|partition|        assigned_at|
    +--------+---------+------+---------+-------------------+
    | billing|       b0|orders|        0|2026-01-01 09:00:00|
    | billing|       b0|orders|        1|2026-01-01 09:00:00|
    +--------+---------+------+---------+-------------------+
    """
    text("group_id", group_id)
    rows = []
    for each in iterable("assignments", assignments, of="pairs of a moment and an Assignment"):
        match each:
            case (datetime() as moment, Assignment() as assignment):
                rows += [(group_id, row["member"], row["topic"], row["partition"], moment) for row in assignment.rows()]
            case _:
                raise KafkaLearnError(f"an assignment comes with its moment: (datetime, Assignment), got {each!r}")
    return spark.createDataFrame(rows, f"{OWNER_SCHEMA}, assigned_at TIMESTAMP")


def _last(column: str) -> Column:
    return sf.last(column, ignorenulls=True)
