"""What is read and what is not: arrivals, lag, and why a partition stands still, from moment to moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from kafkalearn.group.world.consumers import CONSUMING, GONE, JOINING, PAUSED, WORKING
from kafkalearn.group.world.events import Scenario
from kafkalearn.group.world.recorder import Moment
from kafkalearn.group_states import REBALANCING_STATES
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.trace import Frame

FIRST = "nobody had it yet"
BECAUSE_PAUSED = "its owner stood still"
BECAUSE_WORKING = "its owner worked on one poll"
BECAUSE_GONE = "its owner was gone, unnoticed"
BECAUSE_REBALANCE = "the group rebalanced"
REASONS = (FIRST, BECAUSE_PAUSED, BECAUSE_WORKING, BECAUSE_GONE, BECAUSE_REBALANCE)
"""Why nobody reads a partition."""


@dataclass
class Reading:
    """Sums over a run; every number of ms or records is over all its moments."""

    unread_ms: dict[TopicPartition, int] = field(default_factory=dict)
    unread_ms_by_reason: dict[str, int] = field(default_factory=lambda: dict.fromkeys(REASONS, 0))
    unread_records_by_reason: dict[str, float] = field(default_factory=lambda: dict.fromkeys(REASONS, 0.0))
    group_standstill_ms: int = 0  # somebody runs, nobody reads anything
    first_read_ms: int | None = None
    arrived: float = 0
    arrived_unread: float = 0
    read_twice: float = 0
    lag: dict[TopicPartition, float] = field(default_factory=dict)
    most_lag: float = 0


def read(scenario: Scenario, trace: Sequence[Frame[Moment, str]]) -> Reading:
    """Go through the moments of a run."""
    sums = Reading()
    last_owner: dict[TopicPartition, str] = {}
    has_started = False
    for before, after in pairwise(frame.state for frame in trace):
        has_started = has_started or any(each.doing != GONE for each in before.members)
        last_owner |= {partition: owners[-1].name for partition, owners in before.owners().items()}
        _add(sums, scenario, before, after.time_ms - before.time_ms, last_owner, has_started)
    return sums


def _add(
    sums: Reading, scenario: Scenario, moment: Moment, ms: int, last_owner: dict[TopicPartition, str], started: bool
) -> None:
    if ms == 0:
        return
    readers = moment.readers()
    partitions = dict.fromkeys(moment.partitions)
    per_partition = scenario.records_per_second * ms / 1000 / max(len(partitions), 1)
    sums.lag = {each: lag for each, lag in sums.lag.items() if each in partitions}  # a deleted topic has none
    sums.arrived += scenario.records_per_second * ms / 1000
    if readers and sums.first_read_ms is None:
        sums.first_read_ms = moment.time_ms
    if started and not readers and any(each.doing != GONE for each in moment.members):
        sums.group_standstill_ms += ms
    for partition in partitions:
        sums.lag[partition] = sums.lag.get(partition, 0) + per_partition
        count = readers.get(partition, 0)
        if count == 0 and started:
            sums.unread_ms[partition] = sums.unread_ms.get(partition, 0) + ms
            reason = why_unread(moment, partition, last_owner)
            sums.unread_ms_by_reason[reason] += ms
            sums.unread_records_by_reason[reason] += per_partition
            sums.arrived_unread += per_partition
        if count > 1:
            sums.read_twice += (count - 1) * per_partition
    _catch_up(sums, scenario, moment, ms)
    sums.most_lag = max(sums.most_lag, sum(sums.lag.values()))


def why_unread(moment: Moment, partition: TopicPartition, last_owner: dict[TopicPartition, str]) -> str:
    """One of `REASONS`, for a partition that nobody reads at a moment."""
    name = last_owner.get(partition)
    if name is None:
        return FIRST
    owner = moment.member(name)
    by_doing = {PAUSED: BECAUSE_PAUSED, WORKING: BECAUSE_WORKING, JOINING: BECAUSE_REBALANCE}
    if partition in owner.owned and owner.doing in by_doing:
        return by_doing[owner.doing]
    if owner.doing in (PAUSED, WORKING) and moment.state not in REBALANCING_STATES:
        return by_doing[owner.doing]
    is_rebalancing = moment.state in REBALANCING_STATES or any(each.doing == JOINING for each in moment.members)
    return BECAUSE_GONE if owner.doing == GONE and not is_rebalancing else BECAUSE_REBALANCE


def _catch_up(sums: Reading, scenario: Scenario, moment: Moment, ms: int) -> None:
    """Every reader reduces the lag of its partitions, evenly, as far as it gets in the time."""
    done: set[TopicPartition] = set()
    for member in moment.members:
        is_reading = member.doing == CONSUMING
        mine = [each for each in member.owned if each in sums.lag and each not in done] if is_reading else []
        done.update(mine)
        lag = sum(sums.lag.get(each, 0) for each in mine)
        speed = scenario.read_per_second
        left = 0.0 if speed is None else max(lag - speed * ms / 1000, 0)
        for partition in mine:
            sums.lag[partition] = sums.lag.get(partition, 0) * left / lag if lag else 0.0
