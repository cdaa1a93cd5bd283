"""One partition of a cluster's logs, played again by the simulator: what the queries must equal.

The simulator gets the same appends and fetches at the same moments, looks for laggards every half lag time, and its
controller answers at once. Its followers are asked where their logs end, and must say what the log says.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from kafkalearn.errors import KafkaLearnError
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
from kafkalearn.spark.replication.marks import LAG_TIME_MAX_MS


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

    Parameters
    ----------
    fetches, appends, until_ms, lag_time_max_ms
        As for the queries of `kafkalearn.spark.replication.marks`.
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
    moments = {at_ms: [] for at_ms in range(0, until_ms + 1, lag_time_max_ms // 2)}
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
    return state if state.leader.leading.proposal is None else step(settings, state, AlterPartitionAnswered())


def _marks(at_ms: int, state: Partition, brokers: list[int]) -> Marks:
    isr = tuple(sorted(brokers[broker_id - 1] for broker_id in state.controller.isr))
    return Marks(at_ms, state.leader.log_end_offset, isr, state.high_watermark)
