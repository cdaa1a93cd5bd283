"""Commits as groups make them that read a topic: made up from its records, the same in every run.

Each member of a group takes a batch of records of a partition, works on it, and commits the offset behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from kafkalearn.arguments import text, whole_number
from kafkalearn.errors import KafkaLearnError
from kafkalearn.spark.columns.checks import require


@dataclass(frozen=True, slots=True)
class Pace:
    """How a group keeps up with a topic.

    Parameters
    ----------
    group_id : str
        The group.
    delay_ms : int
        From the timestamp of a batch's last record until its commit, at least 0.
    slow : dict of int to float
        For some partitions how many times longer than the records took to come the group takes to read them: 1.25 is a
        consumer that falls behind by a quarter of an hour in each hour.
    stops_after_ms : int or None
        Nothing is committed later than so long after the topic's first record.
    """

    group_id: str
    delay_ms: int = 1000
    slow: tuple[tuple[int, float], ...] = ()
    stops_after_ms: int | None = None

    def __post_init__(self) -> None:
        """Refuse what is no pace."""
        text("group_id", self.group_id)
        whole_number("delay_ms", self.delay_ms, at_least=0)
        object.__setattr__(self, "slow", tuple(sorted(dict(self.slow).items())))
        for partition, factor in self.slow:
            if not factor >= 1:
                raise KafkaLearnError(f"partition {partition} is slow by {factor!r}; a factor is at least 1")


def with_commits(records: DataFrame, paces: Sequence[Pace], batch_size: int = 500) -> DataFrame:
    """The commits of groups that read these records.

    Parameters
    ----------
    records : DataFrame
        ``topic``, ``partition``, ``offset``, ``timestamp``; offsets from 0, timestamps that rise with them.
    paces : sequence of Pace
        One for each group.
    batch_size : int
        Records between two commits of a partition (``max.poll.records`` is 500). The end of the log is committed only
        if it falls on a batch.

    Returns
    -------
    DataFrame
        ``group_id``, ``topic``, ``partition``, ``offset``, ``committed_at``: what was committed up to the moment of the
        last record. Later is not known yet.

    Raises
    ------
    KafkaLearnError
        If there is no pace, or a column is missing.
    """
    whole_number("batch_size", batch_size, at_least=1)
    if not paces:
        raise KafkaLearnError("paces is empty: give at least one Pace")
    if len({pace.group_id for pace in paces}) < len(paces):
        raise KafkaLearnError("two paces have the same group id; give each group one")
    for column, types in (("topic", ("string",)), ("partition", ("int",)), ("offset", ("bigint", "int"))):
        require(records, column, types, "records have the columns of Spark's Kafka source")
    require(records, "timestamp", ("timestamp",), "records have the columns of Spark's Kafka source")
    span = records.agg(
        sf.unix_millis(sf.min("timestamp")).alias("first"), sf.unix_millis(sf.max("timestamp")).alias("now")
    )
    behind = records.where(sf.col("offset") % batch_size == batch_size - 1).select(
        "topic", "partition", (sf.col("offset") + 1).alias("offset"), sf.unix_millis("timestamp").alias("came")
    )
    batches = behind.crossJoin(sf.broadcast(span))
    return reduce(DataFrame.unionByName, (_of_one_group(batches, pace) for pace in paces))


def _of_one_group(batches: DataFrame, pace: Pace) -> DataFrame:
    factor = sf.lit(1.0)
    for partition, slow in pace.slow:
        factor = sf.when(sf.col("partition") == partition, sf.lit(float(slow))).otherwise(factor)
    took = ((sf.col("came") - sf.col("first")) * factor).cast("bigint")
    done = sf.col("first") + took + pace.delay_ms
    made = batches.select(
        sf.lit(pace.group_id).alias("group_id"), "topic", "partition", "offset", done.alias("done"), "first", "now"
    ).where("done <= now")
    if pace.stops_after_ms is not None:
        made = made.where(sf.col("done") <= sf.col("first") + pace.stops_after_ms)
    return made.select("group_id", "topic", "partition", "offset", sf.timestamp_millis("done").alias("committed_at"))
