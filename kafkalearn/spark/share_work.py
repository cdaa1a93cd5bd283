"""Ten million records that a share group works off, or a consumer group: what is delivered again, and who waits.

`work` draws the records: when each comes, and what each try at it would be. `with_deliveries` follows a record alone:
how often it is delivered under a lock of some length, whether somebody processes it, how long members are busy with it.
That is an expression over columns, row by row. Who waits for whom depends on all that came before in a partition:
`worked_off` goes through each partition's records delivery by delivery, in numpy, a thousand partitions side by side.
`kafkalearn.sharing.shifts` has the same as a run of the simulator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema

from kafkalearn.base.checks import whole_number
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.sharing.shifts import ACCEPTED, CRASHED, DIES, DONE, FAILED, FAILS, LATE, Job, Try
from kafkalearn.spark.columns import NUMBERS, require, rule
from kafkalearn.spark.data.datasets import SEED, rows_of
from kafkalearn.spark.data.generate import hash_of, uniform
from kafkalearn.spark.session.worker_code import for_workers

Batches = Iterator[pa.RecordBatch]

RUSH = 1200
"""Records of a rush: they come within a minute, and are worked off before the next rush comes."""

INTERVAL_MS = 50
TRIES = 5
PIECE_COUNT = 16
SIDE_BY_SIDE = 100  # rushes that a worker has in memory at a time
NEVER_MS = 2**62
SESSION_MS = 45_000
"""After which the partitions of a dead member of a consumer group go to another."""

ENDS = (DONE, FAILS, DIES)
OUTCOMES = (ACCEPTED, LATE, FAILED, CRASHED)
PROTOCOLS = ("share", "consumer")

_SCHEMA = pa.schema(
    [
        ("rush", pa.int64()),
        ("place", pa.int32()),
        ("delivery_count", pa.int32()),
        ("arrived_ms", pa.int64()),
        ("began_ms", pa.int64()),
        ("ended_ms", pa.int64()),
        ("outcome", pa.int32()),
    ]
)


# The records.


def work(spark: SparkSession, size: str | int = "class", *, seed: int = SEED) -> DataFrame:
    """Records in rushes of 1,200 a minute, and what each try at them would be; made when they are read.

    Most work takes a second. One record in 400 is heavy: every try at it takes 20 to 50 s. One try in 400 hangs as
    long, one in 1,000 ends with the member's death, one in 200 fails and is good the next time; one record in 5,000
    cannot be processed by anybody.

    Parameters
    ----------
    spark, size, seed
        As in `kafkalearn.spark.data.datasets.group_ids`; rows are rounded up to whole rushes.

    Returns
    -------
    DataFrame
        ``rush``, ``place`` from 0 in it, ``arrived_ms`` from its beginning, and ``tries``, an array of five structs:
        ``work_ms``, and ``end`` (0: done, 1: fails, 2: the member dies). The rows of a rush lie together.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = work(get_spark(), 2000)
    >>> rows.count(), rows.where("arrived_ms >= 60000").count()
    (2400, 0)
    """
    rushes = spark.range(0, -(-rows_of(size) // RUSH), 1, PIECE_COUNT)
    places = sf.explode(sf.sequence(sf.lit(0), sf.lit(RUSH - 1)))
    number = sf.col("rush") * RUSH + sf.col("place")
    late_ms = sf.pmod(hash_of(seed, "arrives", number), sf.lit(INTERVAL_MS))
    return rushes.select(sf.col("id").alias("rush"), places.alias("place")).select(
        "rush",
        "place",
        (sf.col("place").cast("bigint") * INTERVAL_MS + late_ms).alias("arrived_ms"),
        sf.array(*(_try(seed, number, nth) for nth in range(TRIES))).alias("tries"),
    )


def _try(seed: int, number: Column, nth: int) -> Column:
    record, of_try = uniform(seed, "record", number), number * TRIES + nth
    chance, part = uniform(seed, "try", of_try), uniform(seed, "part", of_try)
    is_long = (record < 1 / 400) | (chance < 1 / 400)
    dies = chance.between(0.1, 0.1 + 1 / 1000)
    fails = (record > 1 - 1 / 5000) | chance.between(0.2, 0.2 + 1 / 200)
    took_ms = sf.when(is_long, 20_000 + 30_000 * part).otherwise(200 + 3_000 * part * part * part)
    end = sf.when(dies, 2).when(fails, 1).otherwise(0)
    return sf.struct(took_ms.cast("int").alias("work_ms"), end.alias("end"))


def jobs_of(rows: list[Any]) -> list[Job]:
    """Collected rows of `work`, by place, as `kafkalearn.sharing.shifts` takes them."""
    return [
        Job(row["arrived_ms"], tuple(Try(each["work_ms"], ENDS[each["end"]]) for each in row["tries"]))
        for row in sorted(rows, key=lambda row: row["place"])
    ]


# A record alone.


_TRIES = {"tries": ("array<struct<work_ms:int,end:int>>",)}


@rule(_TRIES, remedy="give the rows of work")
def with_deliveries(records: DataFrame, *, lock_ms: int | str, delivery_limit: int = TRIES) -> DataFrame:
    """How often each record is delivered in a share group, and what becomes of it.

    Parameters
    ----------
    records : DataFrame
        With ``tries``, as `work` makes them.
    lock_ms : int or str
        ``share.record.lock.duration.ms``, or the name of a column that has it.
    delivery_limit : int
        ``share.delivery.count.limit``, at most 5, as there are tries.

    Returns
    -------
    DataFrame
        The columns of `records`, and ``delivery_count``; ``is_given_up``: no delivery ended well; ``processed_count``,
        how many members came to its end, whether their word counted or not; ``busy_ms``, how long members were busy
        with it, together. Row by row: nothing is kept.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> spark = get_spark()
    >>> heavy = spark.sql("SELECT array_repeat(named_struct('work_ms', 20000, 'end', 0), 5) AS tries")
    >>> heavy.transform(with_deliveries, lock_ms=15_000).drop("tries").show()
    +--------------+-----------+---------------+-------+
    |delivery_count|is_given_up|processed_count|busy_ms|
    +--------------+-----------+---------------+-------+
    |             5|       true|              5| 100000|
    +--------------+-----------+---------------+-------+

    References
    ----------
    As `kafkalearn.sharing.shifts.work_off`.
    """
    _checked(1 if isinstance(lock_ms, str) else lock_ms, delivery_limit)
    if isinstance(lock_ms, str):
        require(records, lock_ms, NUMBERS, "a lock is as long as so many milliseconds")
    lock = sf.col(lock_ms) if isinstance(lock_ms, str) else sf.lit(lock_ms)
    tries = [sf.get("tries", sf.lit(nth)) for nth in range(delivery_limit)]
    is_good = [(each["end"] == 0) & (each["work_ms"] < lock) for each in tries]
    count = sf.coalesce(*(sf.when(good, nth) for nth, good in enumerate(is_good, start=1)), sf.lit(delivery_limit))
    rows = records.withColumn("delivery_count", count.cast("int"))
    had = [(sf.col("delivery_count") > nth, each) for nth, each in enumerate(tries)]
    processed = reduce(add, (sf.when(was & (each["end"] == 0), 1).otherwise(0) for was, each in had))
    busy_ms = reduce(add, (sf.when(was, each["work_ms"].cast("bigint")).otherwise(0) for was, each in had))
    return rows.withColumns(
        {
            "is_given_up": ~reduce(Column.__or__, is_good),
            "processed_count": processed.cast("int"),
            "busy_ms": busy_ms,
        }
    )


def _checked(lock_ms: int, delivery_limit: int) -> None:
    whole_number("lock_ms", lock_ms, at_least=1)
    whole_number("delivery_limit", delivery_limit, at_least=1, at_most=TRIES)


# A partition with its members.


@rule({**_TRIES, "rush": NUMBERS, "place": NUMBERS, "arrived_ms": NUMBERS}, remedy="give the rows of work")
def worked_off(
    records: DataFrame,
    *,
    members: int,
    partition_count: int,
    lock_ms: int = 30_000,
    delivery_limit: int = TRIES,
    away_ms: int = 10_000,
    protocol: str = "share",
) -> DataFrame:
    """Every delivery of each rush: who waited for how long, and until when it went on.

    Parameters
    ----------
    records : DataFrame
        As `work` makes them, or whole rushes of it. Record number *n* of a rush is in partition *n* mod
        `partition_count`, which divides 1,200.
    members, partition_count : int
        Of the group, and of the topic; at least a member for each partition.
    lock_ms, delivery_limit : int
        Of a share group.
    away_ms : int
        How long a member that died is away.
    protocol : str
        ``"share"``: the members of a partition take its records one by one, and what was given back goes first. Each
        member sits at one partition; partitions have as many each, or one more. ``"consumer"``: one member works at a
        partition, in order; it tries a record again itself, `delivery_limit` times, and then skips it. If it dies,
        another has the partition after 45 s. Members beyond `partition_count` are idle.

    Returns
    -------
    DataFrame
        ``rush``, ``place``, ``delivery_count`` (from 1 on), ``arrived_ms``, ``began_ms``, ``ended_ms`` and ``outcome``
        (0: accepted, 1: late, 2: failed, 3: crashed). Nothing is kept whole: a worker has 100
        rushes at a time, some 50 MB.

    Raises
    ------
    KafkaLearnError
        If a partition has no member, or partitions would not be alike. From a worker, if the rows of a rush do not lie
        together.

    References
    ----------
    As `kafkalearn.sharing.shifts.work_off`; KIP-932, ``SharePartition.nextFetchOffset`` of 4.4.
    """
    _checked(lock_ms, delivery_limit)
    whole_number("partition_count", partition_count, at_least=1)
    whole_number("members", members, at_least=1)
    whole_number("away_ms", away_ms, at_least=0)
    if protocol not in PROTOCOLS:
        raise KafkaLearnError(f"protocol must be one of {', '.join(map(repr, PROTOCOLS))}, got {protocol!r}")
    if RUSH % partition_count:
        raise KafkaLearnError(
            f"partition_count must divide {RUSH}, so that partitions are alike; got {partition_count}"
        )
    if members < partition_count:
        raise KafkaLearnError(
            f"members must be at least partition_count ({partition_count}), got {members}: here nobody works at two"
        )
    if protocol == "share":
        seats = [members // partition_count + (each < members % partition_count) for each in range(partition_count)]
        off = _working_off(seats, lock_ms, delivery_limit, away_ms)
    else:
        off = _working_off([1] * partition_count, NEVER_MS, delivery_limit, SESSION_MS)
    columns = records.select("rush", "place", "arrived_ms", "tries")
    return columns.mapInArrow(for_workers(records.sparkSession, off, needs_core=False), from_arrow_schema(_SCHEMA))


def _working_off(seats: list[int], lock_ms: int, limit: int, away_ms: int) -> Callable[[Batches], Batches]:
    def work_off(batches: Batches) -> Batches:
        for rows in _in_rushes(batches):
            rush = rows["rush"].to_numpy().reshape(-1, RUSH)
            place = rows["place"].to_numpy().reshape(-1, RUSH)
            if (rush != rush[:, :1]).any() or (place != np.arange(RUSH)).any():
                raise ValueError("the rows of a rush must lie together, in order; give the rows of work as they are")
            arrived = _by_partition(rows["arrived_ms"].to_numpy(), len(seats), 1)[..., 0]
            tries = rows["tries"].combine_chunks().flatten()
            work_ms, ends = (_by_partition(tries.field(at).to_numpy(), len(seats), TRIES) for at in (0, 1))
            found = _delivered(arrived, work_ms, ends, np.tile(seats, len(rush)), lock_ms, limit, away_ms)
            lane, record = found.pop("lane"), found.pop("record")
            columns = {
                "rush": rush[lane // len(seats), 0],
                "place": record * len(seats) + lane % len(seats),
                "arrived_ms": arrived[lane, record],
                **found,
            }
            yield pa.RecordBatch.from_arrays(
                [pa.array(columns[field.name], field.type) for field in _SCHEMA], schema=_SCHEMA
            )

    return work_off


def _in_rushes(batches: Batches) -> Iterator[pa.Table]:
    """The rows in pieces of whole rushes, however Spark has cut them."""
    left: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        left.append(batch)
        count += batch.num_rows
        if count >= SIDE_BY_SIDE * RUSH:
            rows = pa.Table.from_batches(left)
            whole = count // RUSH * RUSH
            yield rows.slice(0, whole)
            left = rows.slice(whole).combine_chunks().to_batches()
            count -= whole
    if count:
        if count % RUSH:
            raise ValueError(f"there must be whole rushes, of {RUSH} rows; give the rows of work as they are")
        yield pa.Table.from_batches(left)


def _by_partition(values: np.ndarray, partition_count: int, width: int) -> np.ndarray:
    """The values of whole rushes by rush and partition, record of the partition, and place (one, or one a try)."""
    length = RUSH // partition_count
    by_record = values.reshape(-1, length, partition_count, width)
    return np.ascontiguousarray(by_record.swapaxes(1, 2)).reshape(-1, length, width)


def _delivered(
    arrived: np.ndarray,
    work_ms: np.ndarray,
    ends: np.ndarray,
    seats: np.ndarray,
    lock_ms: int,
    limit: int,
    away_ms: int,
) -> dict[str, np.ndarray]:
    """Every delivery of these lanes: in each turn every lane that has something left makes its next one.

    `free_ms` says from when on each member of a lane is free, `back_ms` from when on each record may be had again. A
    lane's next delivery is at the first moment at which a member is free and a record there: the first that was given
    back, else the next new one. No later delivery of the lane is earlier.
    """
    comes_ms = np.pad(arrived, ((0, 0), (0, 1)), constant_values=NEVER_MS)
    free_ms = np.where(np.arange(seats.max()) < seats[:, None], 0, NEVER_MS)
    back_ms = np.full(arrived.shape, NEVER_MS)
    counts, read = np.zeros(arrived.shape, np.int32), np.zeros(len(arrived), np.int64)
    names = ("lane", "record", "delivery_count", "began_ms", "ended_ms", "outcome")
    turns: list[tuple[np.ndarray, ...]] = []
    lane = np.arange(len(arrived))
    while True:
        back = back_ms[lane]
        there_ms = np.minimum(comes_ms[lane, read[lane]], back.min(axis=1))
        is_left = there_ms < NEVER_MS
        if not is_left.all():
            lane, back, there_ms = lane[is_left], back[is_left], there_ms[is_left]
        if not len(lane):
            break
        free = free_ms[lane]
        seat = free.argmin(axis=1)
        began = np.maximum(there_ms, free[np.arange(len(lane)), seat])
        is_back = back <= began[:, None]
        is_again = is_back.any(axis=1)
        record = np.where(is_again, is_back.argmax(axis=1), read[lane])
        read[lane] += ~is_again
        counts[lane, record] += 1
        count = counts[lane, record]
        took, end = work_ms[lane, record, count - 1].astype(np.int64), ends[lane, record, count - 1]
        outcome = np.where(end == 2, 3, np.where(took >= lock_ms, 1, np.where(end == 1, 2, 0)))
        is_done = (outcome == 0) | (count >= limit)
        back_ms[lane, record] = np.where(is_done, NEVER_MS, began + np.minimum(took, lock_ms))
        ended = began + took
        free_ms[lane, seat] = ended + np.where(end == 2, away_ms, 0)
        turns.append((lane, record, count, began, ended, outcome))
    return {name: np.concatenate(column) for name, column in zip(names, zip(*turns, strict=True), strict=True)}


# What it comes to.


@rule(
    dict.fromkeys(("rush", "delivery_count", "arrived_ms", "began_ms", "ended_ms", "outcome"), NUMBERS),
    remedy="give the rows of worked_off",
)
def summed(deliveries: DataFrame, delivery_limit: int = TRIES) -> DataFrame:
    """One row about all of `worked_off`.

    Parameters
    ----------
    deliveries : DataFrame
        From `worked_off`.
    delivery_limit : int
        With which it was asked.

    Returns
    -------
    DataFrame
        ``record_count``; ``redelivered_count``, deliveries beyond the first; ``given_up_count``, records that no
        delivery ended well; ``wait_s`` for the first delivery, on average, and ``wait_99_s``, which one record of a
        hundred in a rush waits at least, on average over rushes; ``per_second``, records of a rush by the time from
        its begin to its last result. Spark keeps one row for each rush, with how often each wait was seen.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = work(get_spark(), 1200).transform(worked_off, members=24, partition_count=12)
    >>> row = rows.transform(summed).first()
    >>> row.record_count, row.given_up_count
    (1200, 0)
    """
    whole_number("delivery_limit", delivery_limit, at_least=1, at_most=TRIES)
    is_first = sf.col("delivery_count") == 1
    wait_s = sf.when(is_first, (sf.col("began_ms") - sf.col("arrived_ms")) / 1000)
    is_given_up = (sf.col("outcome") != 0) & (sf.col("delivery_count") == delivery_limit)
    rushes = deliveries.groupBy("rush").agg(
        sf.count_if(is_first).alias("records"),
        sf.count_if(~is_first).alias("redelivered"),
        sf.count_if(is_given_up).alias("given_up"),
        sf.sum(wait_s).alias("waits_s"),
        sf.percentile(wait_s, sf.lit(0.99)).alias("wait_99_s"),
        (sf.max("ended_ms") / 1000).alias("took_s"),
    )
    return rushes.agg(
        sf.sum("records").alias("record_count"),
        sf.sum("redelivered").alias("redelivered_count"),
        sf.sum("given_up").alias("given_up_count"),
        (sf.sum("waits_s") / sf.sum("records")).alias("wait_s"),
        sf.avg("wait_99_s").alias("wait_99_s"),
        (sf.sum("records") / sf.sum("took_s")).alias("per_second"),
    )
