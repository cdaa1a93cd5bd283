"""LEO, HW and ISR from the fetch logs of a whole cluster, and one partition of them played again."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as sf

from kafkalearn.base.checks import whole_number
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.replication.events import (
    AlterPartitionAnswered,
    Fetch,
    IsrChecked,
    Produce,
    ReplicationEvent,
    TimePassed,
)
from kafkalearn.replication.settings import Settings
from kafkalearn.replication.simulator import step
from kafkalearn.replication.state import Partition, start
from kafkalearn.spark.columns import NUMBERS, TEXT, quotient, rule

__all__ = [
    "high_watermarks",
    "isr_changes",
    "lag_counts",
    "marks_at",
    "remote_ends",
    "replayed",
]


# LEO, HW and ISR from the logs of a whole cluster: what leaders knew, computed again from what they were asked.
#
# `kafkalearn.replication` steps one partition; these queries read the fetches and appends of thousands at once. Logs
# have the columns of `kafkalearn.spark.data.logs`: a row for each fetch as its leader handled it, and for each
# append. A partition is led by one broker all the time, all its replicas are in sync when the logs begin, and an answer
# brings a follower all that its leader has.

PARTITION = ("topic", "partition")
FOLLOWER = (*PARTITION, "broker")
LAG_TIME_MAX_MS = 30_000  # replica.lag.time.max.ms since 2.5

SHRINK, EXPAND = "shrink", "expand"

_AT = {"topic": TEXT, "partition": NUMBERS, "at_ms": NUMBERS, "leader_end": NUMBERS}
FETCHES = {**_AT, "broker": NUMBERS, "fetch_offset": NUMBERS}
APPENDS = {**_AT, "leader": NUMBERS}
CHANGES = {"topic": TEXT, "partition": NUMBERS, "broker": NUMBERS, "at_ms": NUMBERS, "change": TEXT}
AS_LOGGED = "see kafkalearn.spark.data.logs.fetches and appends for what a log looks like"


@rule(FETCHES, remedy=AS_LOGGED)
def remote_ends(fetches: DataFrame) -> DataFrame:
    """What each leader knows of each follower after all of the log: the offset of its last fetch, and when.

    Parameters
    ----------
    fetches : DataFrame
        As `kafkalearn.spark.data.logs.fetches`.

    Returns
    -------
    DataFrame
        ``topic``, ``partition``, ``broker``, ``remote_end`` (the remote LEO), ``fetched_ms``. Nothing is kept whole:
        one worker has the fetches of a follower in order, about 140 bytes each, on disk if need be.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> log = get_spark().createDataFrame(
    ...     [("orders", 3, 2, 100, 0, 5), ("orders", 3, 2, 400, 5, 7), ("orders", 3, 3, 300, 0, 5)],
    ...     "topic string, partition int, broker int, at_ms bigint, fetch_offset bigint, leader_end bigint",
    ... )
    >>> log.transform(remote_ends).orderBy("broker").show()
    +------+---------+------+----------+----------+
    | topic|partition|broker|remote_end|fetched_ms|
    +------+---------+------+----------+----------+
    |orders|        3|     2|         5|       400|
    |orders|        3|     3|         0|       300|
    +------+---------+------+----------+----------+
    """
    last = sf.max(sf.struct("at_ms", "fetch_offset")).alias("last")
    named = [sf.col("last.fetch_offset").alias("remote_end"), sf.col("last.at_ms").alias("fetched_ms")]
    return fetches.groupBy(*FOLLOWER).agg(last).select(*FOLLOWER, *named)


@rule(FETCHES, remedy=AS_LOGGED)
def with_caught_up(fetches: DataFrame) -> DataFrame:
    """The fetches with ``caught_up_ms``: when the follower was last caught up, as its leader saw it.

    To ask for the leader's end is to be caught up now; to ask for its end at the fetch before, as of that fetch.
    Nothing is kept whole: one worker has the fetches of a follower in order, about 120 bytes each, on disk if need be.

    Parameters
    ----------
    fetches : DataFrame
        As `kafkalearn.spark.data.logs.fetches`.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> log = get_spark().createDataFrame(
    ...     [("orders", 3, 2, 100, 0, 5), ("orders", 3, 2, 400, 5, 7), ("orders", 3, 2, 700, 6, 9)],
    ...     "topic string, partition int, broker int, at_ms bigint, fetch_offset bigint, leader_end bigint",
    ... )
    >>> [row.caught_up_ms for row in log.transform(with_caught_up).orderBy("at_ms").collect()]
    [0, 100, 100]

    References
    ----------
    Apache Kafka 0.10.2 to 4.3, ``Replica.updateFetchStateOrThrow``.
    """
    offset, before_end, before_ms = sf.col("fetch_offset"), _before("leader_end"), _before("at_ms")
    rows = fetches.withColumn(
        "as_of_ms", sf.when(offset >= sf.col("leader_end"), sf.col("at_ms")).when(offset >= before_end, before_ms)
    )
    caught_up_ms = sf.coalesce(sf.max("as_of_ms").over(_by_time()), sf.lit(0))
    return rows.withColumn("caught_up_ms", caught_up_ms).drop("as_of_ms")


@rule(FETCHES, remedy=AS_LOGGED)
def lag_counts(fetches: DataFrame) -> DataFrame:
    """How often followers were how far behind, by powers of two.

    Returns
    -------
    DataFrame
        ``broker``; ``step``: 0 for no lag, ``k`` for a lag from ``2 ** (k - 1)`` records to below ``2 ** k``;
        ``fetch_count``. What is kept is a row for each broker and step.
    """
    lag = sf.col("leader_end") - sf.col("fetch_offset")
    step = sf.when(lag <= 0, sf.lit(0)).otherwise(sf.length(sf.bin(lag)))
    return fetches.groupBy("broker", step.alias("step")).agg(sf.count("*").alias("fetch_count"))


@rule(FETCHES, APPENDS, remedy=AS_LOGGED)
def isr_changes(
    fetches: DataFrame, appends: DataFrame, until_ms: int, *, lag_time_max_ms: int = LAG_TIME_MAX_MS
) -> DataFrame:
    """Who left the ISR, and who came back, and when.

    The leader looks every half lag time. A follower that lacks something then, and was last caught up longer ago
    than the lag time, has to go. It is back with its first fetch from the high watermark or above; once it is caught
    up the high watermark waits for it, so it takes three fetches at most.

    Parameters
    ----------
    fetches, appends : DataFrame
        As `kafkalearn.spark.data.logs.fetches` and ``appends``.
    until_ms : int
        Where the logs end.
    lag_time_max_ms : int
        ``replica.lag.time.max.ms``; the controller answers at once.

    Returns
    -------
    DataFrame
        ``topic``, ``partition``, ``broker``, ``at_ms``, ``change``: ``"shrink"`` or ``"expand"``. Exact where at most
        one follower of a partition is out at a time. Nothing is kept whole: one worker has all fetches of a follower in
        order, about 100 bytes each, on disk if need be.

    References
    ----------
    Apache Kafka 2.1 to 4.3, ``Partition.maybeShrinkIsr``, ``isOutOfSync`` and ``maybeExpandIsr``.
    """
    whole_number("until_ms", until_ms, at_least=0)
    whole_number("lag_time_max_ms", lag_time_max_ms, at_least=2)
    outages = _outages(fetches, appends, until_ms, lag_time_max_ms)
    others = fetches.withColumnsRenamed({"broker": "other", "at_ms": "other_ms", "fetch_offset": "other_end"})
    others = others.select(*PARTITION, "other", "other_ms", "other_end")
    known = outages.join(others, list(PARTITION), "left")
    ends = known.groupBy(*outages.columns, "other").agg(*(_end_before(moment) for moment in ("first", "second")))
    marks = ends.groupBy(*outages.columns).agg(
        *(sf.min(f"end_at_{moment}").alias(f"mark_at_{moment}") for moment in ("first", "second"))
    )
    back = marks.withColumn("back_ms", _back_ms(lag_time_max_ms))
    return (
        back.select(
            *FOLLOWER, sf.explode(sf.array(_change("shrink_ms", SHRINK), _change("back_ms", EXPAND))).alias("one")
        )
        .select(*FOLLOWER, "one.at_ms", "one.change")
        .where("at_ms is not null")
    )


def _outages(fetches: DataFrame, appends: DataFrame, until_ms: int, lag_time_max_ms: int) -> DataFrame:
    """One row for each time a follower leaves the ISR, with the three fetches that come after."""
    fetch = sf.struct("at_ms", "fetch_offset", "leader_end")
    moments = enumerate(("first", "second", "third"), start=1)
    next_three = {moment: sf.lead(fetch, at).over(_by_time()) for at, moment in moments}
    rows = fetches.transform(with_caught_up).withColumns(next_three)  # in one step, which is one pass of the window
    end_ms = sf.coalesce(sf.col("first.at_ms"), sf.lit(until_ms + 1))
    lapses = rows.where(end_ms - sf.col("caught_up_ms") > lag_time_max_ms)
    newer = appends.select(*PARTITION, sf.col("at_ms").alias("append_ms"), sf.col("leader_end").alias("append_end"))
    missed = lapses.join(newer, list(PARTITION)).where("append_end > fetch_offset")
    missed = missed.groupBy(*lapses.columns).agg(sf.min("append_ms").alias("missing_ms"))
    due_ms = sf.greatest("at_ms", sf.col("caught_up_ms") + lag_time_max_ms + 1, "missing_ms")
    half_ms = lag_time_max_ms // 2
    check_ms = quotient(due_ms + (half_ms - 1), half_ms) * half_ms
    found = missed.withColumn("shrink_ms", check_ms).where(sf.col("shrink_ms") < end_ms)
    # Until it is caught up again, a follower can leave only once.
    first = sf.min_by(sf.struct("shrink_ms", "at_ms", "leader_end", "first", "second", "third"), "shrink_ms")
    return found.groupBy(*FOLLOWER, "caught_up_ms").agg(first.alias("row")).select(*FOLLOWER, "row.*")


def _end_before(moment: str) -> Column:
    """What the leader knew of another follower when the one that was out fetched again."""
    is_earlier = (sf.col("other_ms") < sf.col(f"{moment}.at_ms")) | (
        (sf.col("other_ms") == sf.col(f"{moment}.at_ms")) & (sf.col("other") < sf.col("broker"))
    )
    is_another = sf.col("other") != sf.col("broker")
    end = sf.max(sf.when(is_another & is_earlier, sf.col("other_end")))
    return end.alias(f"end_at_{moment}")


def _back_ms(lag_time_max_ms: int) -> Column:
    """With which of three fetches it joins: the HW is the others' smallest LEO, until it waits for this one too."""
    first, second = sf.col("first.fetch_offset"), sf.col("second.fetch_offset")
    is_at_once = (first >= sf.coalesce("mark_at_first", "first.leader_end")) & sf.col("first.at_ms").isNotNull()
    is_caught_up = (first >= sf.col("leader_end")) & (sf.col("first.at_ms") - sf.col("at_ms") <= lag_time_max_ms)
    is_next = is_caught_up | (second >= sf.coalesce("mark_at_second", "second.leader_end"))
    moments = [sf.col(f"{moment}.at_ms") for moment in ("first", "second", "third")]
    return sf.when(is_at_once, moments[0]).when(is_next, moments[1]).otherwise(moments[2])


def _change(column: str, name: str) -> Column:
    return sf.struct(sf.col(column).alias("at_ms"), sf.lit(name).alias("change"))


@rule(FETCHES, APPENDS, CHANGES, remedy=AS_LOGGED)
def high_watermarks(
    fetches: DataFrame, appends: DataFrame, changes: DataFrame, until_ms: int, *, every_ms: int
) -> DataFrame:
    """LEO, ISR and high watermark of every partition at regular moments: the smallest LEO in the ISR, never falling.

    Parameters
    ----------
    fetches, appends : DataFrame
        As `kafkalearn.spark.data.logs.fetches` and ``appends``.
    changes : DataFrame
        As `isr_changes` gives them.
    until_ms, every_ms : int
        The moments: 0, `every_ms`, and so on up to `until_ms`; what happens at a moment is part of it.

    Returns
    -------
    DataFrame
        ``topic``, ``partition``, ``at_ms``, ``leader_end`` (the leader's LEO), ``isr`` (broker ids, rising),
        ``high_watermark``. Exact at moments when no follower is caught up again and not yet back in the ISR.
        The changes of a follower are in one row, some 40 bytes each; all else goes to disk if need be.

    References
    ----------
    Apache Kafka 0.8.2 to 4.3, ``Partition.maybeIncrementLeaderHW``.
    """
    whole_number("every_ms", every_ms, at_least=1)
    known = _at_moments(fetches, FOLLOWER, "fetch_offset", until_ms, every_ms).alias("known")
    outside = changes.groupBy(*FOLLOWER).agg(sf.array_sort(sf.collect_list(sf.struct("at_ms", "change"))).alias("log"))
    so_far = sf.filter("log", lambda one: one["at_ms"] <= sf.col("moment") * every_ms)
    is_member = sf.coalesce(sf.try_element_at(so_far, sf.lit(-1))["change"] == EXPAND, sf.lit(True))
    members = known.join(outside, list(FOLLOWER), "left").withColumn("is_member", is_member)
    lowest = members.groupBy(*PARTITION, "moment").agg(
        sf.min(sf.when(sf.col("is_member"), sf.col("value"))).alias("lowest"),
        sf.collect_list(sf.when(sf.col("is_member"), sf.col("broker"))).alias("followers"),
    )
    ends = _at_moments(appends, (*PARTITION, "leader"), "leader_end", until_ms, every_ms)
    end, by_time = sf.col("value"), Window.partitionBy(*PARTITION).orderBy("moment")
    high_watermark = sf.max(sf.least(end, sf.coalesce("lowest", end))).over(by_time)
    return ends.join(lowest, [*PARTITION, "moment"]).select(
        *PARTITION,
        (sf.col("moment") * every_ms).alias("at_ms"),
        end.alias("leader_end"),
        sf.array_sort(sf.array_append("followers", sf.col("leader"))).alias("isr"),
        high_watermark.alias("high_watermark"),
    )


def _at_moments(rows: DataFrame, keys: tuple[str, ...], column: str, until_ms: int, every_ms: int) -> DataFrame:
    """The last value of a column at each moment, 0 before the first: one row for each key and moment."""
    moment = quotient(sf.col("at_ms") + (every_ms - 1), every_ms).alias("moment")
    last = rows.groupBy(*keys, moment).agg(sf.max_by(column, "at_ms").alias("new"))
    count = until_ms // every_ms
    grid = last.select(*keys).distinct().select("*", sf.explode(sf.sequence(sf.lit(0), sf.lit(count))).alias("moment"))
    filled = grid.join(last, [*keys, "moment"], "left")
    value = sf.last("new", ignorenulls=True).over(Window.partitionBy(*keys).orderBy("moment"))
    return filled.select(*keys, "moment", sf.coalesce(value, sf.lit(0)).alias("value"))


def _before(column: str) -> Column:
    return sf.lag(column).over(_by_time())


def _by_time() -> WindowSpec:
    """The fetches of one follower as they came."""
    return Window.partitionBy(*FOLLOWER).orderBy("at_ms")


# One partition of a cluster's logs, played again by the simulator: what the queries must equal.
#
# The simulator gets the same appends and fetches at the same moments, looks for laggards every half lag time, and its
# controller answers at once. Its followers are asked where their logs end, and must say what the log says.


class Marks(NamedTuple):
    """A partition at one moment."""

    at_ms: int
    leader_end: int
    isr: tuple[int, ...]
    high_watermark: int


def replayed(
    fetches: DataFrame,
    appends: DataFrame,
    topic: str,
    partition: int,
    until_ms: int,
    *,
    lag_time_max_ms: int = LAG_TIME_MAX_MS,
) -> list[Marks]:
    """LEO, ISR and high watermark of one partition, as `kafkalearn.replication` has them.

    Its fetches and appends come to this Python, about 450 bytes each, and a state for each moment is kept.

    Parameters
    ----------
    fetches, appends, until_ms, lag_time_max_ms
        As for the queries of `kafkalearn.spark.replication`.
    topic, partition
        Of which partition.

    Returns
    -------
    list of Marks
        One for each moment when something happens, from 0 on; brokers under their own ids.

    Raises
    ------
    KafkaLearnError
        If the logs have nothing of that partition, or a fetch asks for another offset than a follower would.
    """
    is_it = (sf.col("topic") == topic) & (sf.col("partition") == partition)
    asked = fetches.where(is_it).select("at_ms", "leader", "broker", "fetch_offset").collect()
    written = appends.where(is_it).select("at_ms", (sf.col("leader_end") - sf.col("base_offset")).alias("count"))
    if not asked:
        raise KafkaLearnError(f"the logs have no fetch of {topic}-{partition}; name a topic and a partition of theirs")
    brokers = [asked[0].leader, *sorted({row.broker for row in asked})]
    settings = Settings(len(brokers), replica_lag_time_max_ms=lag_time_max_ms, fetch_wait_max_ms=0)
    moments: dict[int, list[tuple[int, int, Produce | Fetch]]] = {
        at_ms: [] for at_ms in range(0, until_ms + 1, lag_time_max_ms // 2)
    }
    for row in written.collect():
        moments.setdefault(row.at_ms, []).append((0, 0, Produce(row["count"], acks=0)))
    for row in asked:
        moments.setdefault(row.at_ms, []).append((1, row.fetch_offset, Fetch(brokers.index(row.broker) + 1)))
    return [_marks(at_ms, state, brokers) for at_ms, state in _run(settings, moments, lag_time_max_ms // 2)]


def marks_at(marks: list[Marks], at_ms: int) -> Marks:
    """How a partition stands at a moment: the last marks of `replayed` that are not later.

    >>> marks_at([Marks(0, 0, (1, 2), 0), Marks(700, 5, (1, 2), 3)], 699).high_watermark
    0
    """
    return marks[bisect_right([each.at_ms for each in marks], at_ms) - 1]


def _run(settings: Settings, moments: dict[int, list], check_ms: int) -> Iterator[tuple[int, Partition]]:
    state = start(settings)
    for at_ms in sorted(moments):
        state = step(settings, state, TimePassed(at_ms - state.now_ms))
        for _, offset, event in sorted(moments[at_ms], key=lambda each: (each[0], getattr(each[2], "broker_id", 0))):
            if isinstance(event, Fetch) and state.replica(event.broker_id).log_end_offset != offset:
                end = state.replica(event.broker_id).log_end_offset
                raise KafkaLearnError(f"at {at_ms} ms the log has a fetch from {offset}; this follower's LEO is {end}")
            state = _answered(settings, state, event)
        if at_ms and at_ms % check_ms == 0:
            state = _answered(settings, state, IsrChecked())
        yield at_ms, state


def _answered(settings: Settings, state: Partition, event: ReplicationEvent) -> Partition:
    """The state after an event, and after the controller's answer if the event led to a question."""
    state = step(settings, state, event)
    leading = None if state.leader is None else state.leader.leading
    is_asked = leading is not None and leading.proposal is not None
    return step(settings, state, AlterPartitionAnswered()) if is_asked else state


def _marks(at_ms: int, state: Partition, brokers: list[int]) -> Marks:
    isr = tuple(sorted(brokers[broker_id - 1] for broker_id in state.controller.isr))
    assert state.leader is not None, "nobody stops"
    return Marks(at_ms, state.leader.log_end_offset, isr, state.leader.high_watermark)
