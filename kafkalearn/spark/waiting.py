"""Requests that wait, from the logs of a whole cluster: producers with acks=all, and consumers that want more bytes.

`kafkalearn.purgatory.requests` steps one partition with those who wait for it; these queries read the appends and the
followers' fetches of thousands at once (`kafkalearn.spark.data.logs`). A write is committed when every follower in
the ISR has fetched from behind it. For each follower that is a running minimum: the earliest of its fetches from that
offset or above.

`round_trips` and what follows it say how long millions of records wait for their acknowledgement, by acks and number
of replicas: the rule of `kafkalearn.delivery.cost` as columns, in microseconds. `with_wheel_moves` says what timing
wheels do for each timer of a broker: `kafkalearn.purgatory.wheel` written as arithmetic. A timer first goes into the
finest wheel that reaches it; from there it falls once for every digit, base 20, of what is left of its time. No row
needs to see another.
"""

from __future__ import annotations

from itertools import pairwise

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sf

from kafkalearn.base.checks import whole_number
from kafkalearn.delivery.cost import MOST_REPLICAS
from kafkalearn.purgatory.requests import RECORD_BYTES
from kafkalearn.purgatory.wheel import TICK_MS, WHEEL_SIZE, Settings
from kafkalearn.replication.events import refuse_unknown_acks
from kafkalearn.spark.columns import NUMBERS, TEXT, WHOLE_NUMBERS, require, rule
from kafkalearn.spark.data.cache import Recipe, kept
from kafkalearn.spark.data.datasets import SEED, rows_of
from kafkalearn.spark.data.generate import hash_of, uniform
from kafkalearn.spark.replication import APPENDS, AS_LOGGED, CHANGES, EXPAND, FETCHES, FOLLOWER, PARTITION, SHRINK
from kafkalearn.spark.session.interrupts import Update

NEVER_MS = 2**62
TIMED_OUT = "REQUEST_TIMED_OUT"


@rule(FETCHES, APPENDS, CHANGES, remedy=AS_LOGGED)
def acks_all_waits(
    fetches: DataFrame, appends: DataFrame, changes: DataFrame, until_ms: int, *, timeout_ms: int = 30_000
) -> DataFrame:
    """How long each write would have waited with acks=all.

    Parameters
    ----------
    fetches, appends : DataFrame
        As `kafkalearn.spark.data.logs.fetches` and ``appends``.
    changes : DataFrame
        Of the ISR, as `kafkalearn.spark.replication.isr_changes` gives them.
    until_ms : int
        Where the logs end.
    timeout_ms : int
        The producer's ``request.timeout.ms``.

    Returns
    -------
    DataFrame
        The appends with ``committed_ms``, when the high watermark passed them (null: not in these logs); ``waited_ms``,
        for the answer (null: it came after these logs); ``error``, ``"REQUEST_TIMED_OUT"`` or null. Exact where at most
        one follower of a partition is out of the ISR at a time. The changes of a follower are in one row, some 40 bytes
        each; all else goes to disk if need be, about 110 bytes for each fetch, and for each write and follower.

    References
    ----------
    Apache Kafka 4.3, ``kafka.server.DelayedProduce``, ``Partition.maybeIncrementLeaderHW``.
    """
    whole_number("until_ms", until_ms, at_least=0)
    whole_number("timeout_ms", timeout_ms, at_least=1)
    followers = fetches.select(*FOLLOWER).distinct()
    asked = appends.join(followers, list(PARTITION))
    membership = changes.groupBy(*FOLLOWER).agg(
        sf.array_sort(sf.collect_list(sf.struct("at_ms", "change"))).alias("log")
    )
    known = _with_reached(fetches, asked).join(membership, list(FOLLOWER), "left")
    blocked = known.select(*appends.columns, *_blocked())
    # Few come back into the ISR while a write waits, and only these are collected.
    comes_back = sf.when(sf.col("back_ms") < sf.col("reached_ms"), sf.struct("back_ms", "reached_ms"))
    ends = blocked.groupBy(*appends.columns).agg(
        sf.max("free_ms").alias("free_ms"), sf.collect_list(comes_back).alias("again")
    )
    # A follower that came back into the ISR meanwhile holds the write up once more.
    holding = sf.filter(
        "again", lambda one: (one["back_ms"] <= sf.col("free_ms")) & (one["reached_ms"] > sf.col("free_ms"))
    )
    committed = sf.array_max(sf.concat(sf.array("free_ms"), sf.transform(holding, lambda one: one["reached_ms"])))
    done = ends.withColumn("committed_ms", committed)
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
    reads = fetches.select(*FOLLOWER, sf.col("fetch_offset").alias("leader_end"), sf.col("at_ms").alias("fetch_ms"))
    both = asked.unionByName(reads, allowMissingColumns=True)
    # A partition in one place: what follows counts its writes there, without moving them again.
    both = both.repartition(*PARTITION)
    is_fetch = sf.col("fetch_ms").isNotNull()
    behind = Window.partitionBy(*FOLLOWER).orderBy(sf.desc("leader_end"), sf.desc(is_fetch))
    behind = behind.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    reached = sf.coalesce(sf.min("fetch_ms").over(behind), sf.lit(NEVER_MS))
    return both.withColumn("reached_ms", reached).where(~is_fetch).drop("fetch_ms")


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


@rule(
    {"topic": TEXT} | dict.fromkeys(("partition", "leader_end", "committed_ms"), NUMBERS),
    remedy="give the rows of acks_all_waits",
)
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
        ``is_enough``: whether it has as many as asked for, or time ended the wait. Nothing is kept whole: one worker
        has the moments of a partition in order, on disk if need be.

    References
    ----------
    Apache Kafka 4.3, ``kafka.server.DelayedFetch``.
    """
    whole_number("min_bytes", min_bytes, at_least=1)
    whole_number("max_wait_ms", max_wait_ms, at_least=1)
    whole_number("record_bytes", record_bytes, at_least=1)
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


FOLLOWERS = tuple(f"follower_{number}_us" for number in range(1, MOST_REPLICAS))
BUCKET_US = 100
_TRIP, _IN_US = {"there_us": NUMBERS, "back_us": NUMBERS}, "times are whole microseconds, as round_trips() has them"
CASES = ((1, 3), *(("all", replicas) for replicas in range(1, MOST_REPLICAS + 1)))


def round_trips(spark: SparkSession, size: str | int = "class", *, seed: int = SEED) -> DataFrame:
    """How long each part of each record's way took, in a cluster that works; one time in 2,000 a part is held up.

    Parameters
    ----------
    spark, size, seed
        As in `kafkalearn.spark.data.datasets.group_ids`; nothing is kept, the rows are made when they are read.

    Returns
    -------
    DataFrame
        ``there_us`` and ``back_us``, and of each of four followers the time until the leader has its next fetch.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> round_trips(get_spark(), 1000).columns[:3]
    ['there_us', 'back_us', 'follower_1_us']
    """
    names = {"there_us": 150, "back_us": 100, **dict.fromkeys(FOLLOWERS, 400)}
    return spark.range(rows_of(size)).select(*(_part(seed, name, least).alias(name) for name, least in names.items()))


def _part(seed: int, name: str, least_us: int) -> Column:
    """At least so long, as a rule little more; one time in 2,000 a disk or the garbage collector stops it for long."""
    random = sf.pmod(hash_of(seed, name, sf.col("id")), sf.lit(2_000_000))
    usual = least_us + sf.floor(-sf.log((random % 1000 + 0.5) / 1000) * least_us / 2)
    held_up = sf.when(random < 1000, 10_000 + random * 50).otherwise(0)
    return (usual + held_up).cast("bigint")


@rule(_TRIP, remedy=_IN_US, adds=("{name}",))
def with_latency(df: DataFrame, acks: int | str = "all", replica_count: int = 3, name: str = "latency_us") -> DataFrame:
    """The rows with the time from the send to the callback.

    Row by row: nothing is kept.

    Parameters
    ----------
    df : DataFrame
        The columns of `round_trips`.
    acks : 0, 1 or "all"
        The producer's setting.
    replica_count : int
        From 1 to 5; all of them are in the ISR.
    name : str
        Of the new column.

    Raises
    ------
    KafkaLearnError
        If a column is missing or of another type, or an argument is not as described.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> columns = "there_us long, back_us long, " + ", ".join(f"{name} long" for name in FOLLOWERS)
    >>> one = get_spark().createDataFrame([(200, 100, 400, 900, 500, 600)], columns)
    >>> [one.transform(with_latency, "all", replicas).first().latency_us for replicas in (1, 2, 3)]
    [300, 700, 1200]
    """
    return df.withColumn(name, _latency(df, acks, replica_count))


def _latency(df: DataFrame, acks: int | str, replica_count: int) -> Column:
    refuse_unknown_acks(acks)
    followers = FOLLOWERS[: whole_number("replica_count", replica_count, 1, MOST_REPLICAS) - 1]
    for column in followers:
        require(df, column, NUMBERS, _IN_US)
    if acks == 0:
        return sf.lit(0).cast("bigint")
    own = sf.col("there_us") + sf.col("back_us")
    if acks == 1 or not followers:
        return own
    return own + (sf.greatest(*followers) if len(followers) > 1 else sf.col(followers[0]))


@rule(_TRIP | dict.fromkeys(FOLLOWERS, NUMBERS), remedy=_IN_US)
def latency_counts(df: DataFrame) -> DataFrame:
    """How many records waited how long: acks=1 of three replicas, acks=all of one to five.

    Returns
    -------
    DataFrame
        ``acks``, ``replicas``, ``latency_us`` rounded down to 100, ``records``; all cases in one pass. What is kept is
        a row for each case and 100 us.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = latency_counts(round_trips(get_spark(), 1000)).groupBy("acks", "replicas").sum("records").collect()
    >>> len(rows), {row["sum(records)"] for row in rows}
    (6, {1000})
    """
    cases = [
        sf.struct(
            sf.lit(str(acks)).alias("acks"),
            sf.lit(replicas).alias("replicas"),
            (sf.floor(_latency(df, acks, replicas) / BUCKET_US) * BUCKET_US).alias("latency_us"),
        )
        for acks, replicas in CASES
    ]
    each = df.select(sf.explode(sf.array(*cases)).alias("case")).select("case.*")
    return each.groupBy("acks", "replicas", "latency_us").agg(sf.count("*").alias("records"))


def latency_table(df: DataFrame, shares: tuple[float, ...] = (0.5, 0.99, 0.999)) -> list[dict[str, float | int | str]]:
    """Rows for a table: after how many milliseconds a share of the records had their callback; runs the query.

    The rows of `latency_counts` come to this Python.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = latency_table(round_trips(get_spark(), 1000))
    >>> [(row["acks"], row["replicas"]) for row in rows][:3]
    [('1', 3), ('all', 1), ('all', 2)]
    """
    counted: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for row in latency_counts(df).orderBy("acks", "replicas", "latency_us").collect():
        counted.setdefault((row.acks, row.replicas), []).append((row.latency_us, row.records))
    return [
        {"acks": acks, "replicas": replicas}
        | {f"{100 * share:g} % within, ms": _within(counts, share) / 1000 for share in shares}
        for (acks, replicas), counts in counted.items()
    ]


def _within(counts: list[tuple[int, int]], share: float) -> int:
    """The end of the first bucket with which so large a share is reached."""
    total, seen = sum(records for _, records in counts), 0
    for latency_us, records in counts:
        seen += records
        if seen >= share * total:
            return latency_us + BUCKET_US
    return 0


VERSION = 1
HOUR_MS = 3_600_000
LONGEST_MS = 2**40  # 35 years: wheels beyond that are never made

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


@rule(
    dict.fromkeys(("{added}", "{timeout}", "{done}"), WHOLE_NUMBERS),
    remedy="times are whole milliseconds",
    adds=("{output}",),
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

    Every timer costs two more steps, one to put it in and one to take it out. Row by row: nothing is kept.

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
