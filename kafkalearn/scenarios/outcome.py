"""The outcome of a scenario: the frames for a player, and the rows and sums that a run is judged by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TypedDict, TypeVar

from kafkalearn.base.errors import counted
from kafkalearn.base.tables import text_table
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.base.trace import Frame, Trace
from kafkalearn.groups.classic.model import LEADER_REJOINED, METADATA_CHANGED
from kafkalearn.groups.defaults import REBALANCING_STATES
from kafkalearn.scenarios.consumers import CONSUMING, GONE, IDLE, JOINING, PAUSED, WORKING, Moment, Rebalance
from kafkalearn.scenarios.events import Scenario, Settings

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


Value = TypeVar("Value")
MOST_SHOWN = 10  # rebalances


class TimelineRow(TypedDict):
    """The group, as long as it stayed so."""

    from_ms: int
    to_ms: int
    state: str
    generation: int


class ActivityRow(TypedDict):
    """A consumer, as long as it did the same."""

    member: str
    from_ms: int
    to_ms: int
    doing: str


class OwnershipRow(TypedDict):
    """A consumer that believed to own a partition."""

    member: str
    topic: str
    partition: int
    from_ms: int
    to_ms: int


class RebalanceRow(TypedDict):
    """A rebalance, and what it cost."""

    number: int
    from_ms: int
    to_ms: int | None  # None: it was not over when the scenario ended
    duration_ms: int
    generation: int | None
    cause: str
    revoked: int
    moved: int


class StandstillRow(TypedDict):
    """What a consumer did with its time."""

    member: str
    ran_ms: int
    read_ms: int
    idle_ms: int
    standstill_ms: int


class UnreadRow(TypedDict):
    """What was not read for one reason."""

    reason: str
    partition_ms: int
    records: int


@dataclass(frozen=True)
class Outcome:
    """What came of a scenario. All rows are plain dictionaries, all times whole ms.

    ``kafkalearn.base.tables.table(outcome.rebalances)`` shows any of the tables.

    Examples
    --------
    >>> from kafkalearn.scenarios import simulate
    >>> simulate("at 0 s: c1 joins", release="4.3")
    1 rebalance in 120 s, classic protocol, Kafka 4.3; 3,012 records were not read in time
    from, s  took, s  cause
    0.006    3.004    a member is added (c1)
    """

    scenario: Scenario
    settings: Settings
    protocol: str
    trace: Trace[Moment, str]
    rebalance_log: tuple[Rebalance, ...]

    def __repr__(self) -> str:
        """A verdict, and the rebalances as a table; of many the first and the last."""
        spoken = "both protocols" if self.scenario.is_mixed else f"{self.protocol} protocol"
        verdict = (
            f"{counted(self.rebalance_count, 'rebalance')} in {self.end_ms / 1000:g} s, {spoken}, "
            f"Kafka {self.settings.release}; {self.records_not_read:,} records were not read in time"
        )
        rows = [
            {"from, s": row["from_ms"] / 1000, "took, s": row["duration_ms"] / 1000, "cause": row["cause"]}
            for row in self.rebalances
        ]
        if len(rows) > MOST_SHOWN:
            half = MOST_SHOWN // 2
            between = {"from, s": "...", "took, s": "...", "cause": f"{len(rows) - 2 * half} more"}
            rows = [*rows[:half], between, *rows[-half:]]
        return "\n".join([verdict, text_table(rows)]) if rows else verdict

    @property
    def end_ms(self) -> int:
        """When the scenario ended."""
        return self.scenario.end_ms

    @cached_property
    def timeline(self) -> list[TimelineRow]:
        """The group's states: from, to, state, generation."""
        return [
            {"from_ms": start, "to_ms": end, "state": state, "generation": generation}
            for start, end, (state, generation) in self._spans(lambda moment: (moment.state, moment.generation))
        ]

    @cached_property
    def activity(self) -> list[ActivityRow]:
        """What each consumer did: member, from, to, doing."""
        return [
            {"member": name, "from_ms": start, "to_ms": end, "doing": doing}
            for name in self.scenario.members
            for start, end, doing in self._spans(lambda moment, name=name: moment.member(name).doing)
        ]

    @cached_property
    def ownership(self) -> list[OwnershipRow]:
        """Who believed to own what: member, topic, partition, from, to; by partition, then time."""
        rows: list[OwnershipRow] = []
        for partition in dict.fromkeys(each for frame in self.trace for each in frame.state.partitions):
            for name in self.scenario.members:
                spans = self._spans(lambda moment, name=name, it=partition: it in moment.member(name).owned)
                rows += [
                    {
                        "member": name,
                        "topic": partition.topic,
                        "partition": partition.partition,
                        "from_ms": start,
                        "to_ms": end,
                    }
                    for start, end, is_owner in spans
                    if is_owner
                ]
        return sorted(rows, key=lambda row: (row["topic"], row["partition"], row["from_ms"], row["member"]))

    @cached_property
    def rebalances(self) -> list[RebalanceRow]:
        """Every rebalance: number, from, to, duration, generation, cause, and what it cost.

        *revoked* counts the partitions that a consumer gave up in it, *moved* those that had another owner after it
        than before.
        """
        rows: list[RebalanceRow] = []
        starts = [self._given_up_from_ms(each) for each in self.rebalance_log]
        for number, each in enumerate(self.rebalance_log, start=1):
            until_ms = starts[number] if number < len(starts) else self.end_ms
            revoked, moved = self._cost(starts[number - 1], until_ms)
            end_ms = self.end_ms if each.to_ms is None else each.to_ms
            rows.append(
                {
                    "number": number,
                    "from_ms": each.from_ms,
                    "to_ms": each.to_ms,
                    "duration_ms": end_ms - each.from_ms,
                    "generation": each.generation,
                    "cause": "; ".join(each.causes),
                    "revoked": revoked,
                    "moved": moved,
                }
            )
        return rows

    @cached_property
    def standstill(self) -> list[StandstillRow]:
        """A row for each member: how long it ran, read, had nothing to read, and stood still, in ms."""
        rows: list[StandstillRow] = []
        for name in self.scenario.members:
            spent: dict[str, int] = {}
            for row in self.activity:
                if row["member"] == name:
                    spent[row["doing"]] = spent.get(row["doing"], 0) + row["to_ms"] - row["from_ms"]
            ran_ms = sum(ms for doing, ms in spent.items() if doing != GONE)
            read_ms, idle_ms = spent.get(CONSUMING, 0), spent.get(IDLE, 0)
            rows.append(
                {
                    "member": name,
                    "ran_ms": ran_ms,
                    "read_ms": read_ms,
                    "idle_ms": idle_ms,
                    "standstill_ms": ran_ms - read_ms - idle_ms,
                }
            )
        return rows

    @cached_property
    def unread(self) -> list[UnreadRow]:
        """Why partitions were not read: reason, partition_ms (summed over the partitions), records."""
        records = self.reading.unread_records_by_reason
        return [
            {"reason": reason, "partition_ms": ms, "records": round(records[reason])}
            for reason, ms in self.reading.unread_ms_by_reason.items()
        ]

    @cached_property
    def reading(self) -> Reading:
        """All sums over the moments of the run."""
        return read(self.scenario, self.trace)

    @property
    def rebalance_count(self) -> int:
        """How many rebalances there were, the first included."""
        return len(self.rebalance_log)

    @property
    def member_standstill_ms(self) -> dict[str, int]:
        """How long each member ran without reading although it should have: waiting, standing still or at work."""
        return {row["member"]: row["standstill_ms"] for row in self.standstill}

    @property
    def group_standstill_ms(self) -> int:
        """How long some consumer ran and none of them read anything, the start included."""
        return self.reading.group_standstill_ms

    @property
    def unread_partition_ms(self) -> int:
        """The ms in which a partition was not read, summed over the partitions; from the first start on."""
        return sum(self.reading.unread_ms.values())

    @property
    def records_not_read(self) -> int:
        """The records that arrived while nobody read their partition, from the first start on."""
        return round(self.reading.arrived_unread)

    @property
    def records_read_twice(self) -> int:
        """The records that arrived while two consumers read their partition, each thinking itself the owner."""
        return round(self.reading.read_twice)

    @property
    def lag_at_end(self) -> int:
        """The records that are still to be read at the end."""
        return round(sum(self.reading.lag.values()))

    @property
    def most_lag(self) -> int:
        """The highest the lag of all partitions together has been, at any change."""
        return round(self.reading.most_lag)

    def at(self, time_ms: int) -> Frame[Moment, str]:
        """The frame that shows a moment: the last that is not later."""
        return [frame for frame in self.trace if frame.state.time_ms <= time_ms][-1]

    def all_read_again_ms(self, after_ms: int) -> int | None:
        """When, after a moment, all partitions are read for the first time; None: not before the end."""
        for frame in self.trace:
            moment = frame.state
            if moment.time_ms >= after_ms and set(moment.readers()) == set(moment.partitions):
                return moment.time_ms
        return None

    def _spans(self, value: Callable[[Moment], Value]) -> Iterable[tuple[int, int, Value]]:
        """The stretches of time in which something stays as it is; none of them is empty."""
        start_ms, present = 0, value(self.trace[0].state)
        for before, after in pairwise(frame.state for frame in self.trace):
            now = value(before)
            if now != present:
                if before.time_ms > start_ms:
                    yield start_ms, before.time_ms, present
                start_ms, present = before.time_ms, now
            if after is self.trace[-1].state and after.time_ms > start_ms:
                yield start_ms, after.time_ms, present

    def _given_up_from_ms(self, rebalance: Rebalance) -> int:
        """When the first partition may be given up for it: an eager member that rejoins does so before it asks."""
        is_asked_for = self.protocol == "classic" and rebalance.causes[0].startswith(
            (LEADER_REJOINED, METADATA_CHANGED)
        )
        is_eager = not all(self.settings.of(name).is_cooperative for name in self.scenario.members)
        return rebalance.from_ms - self.settings["latency.ms"] if is_asked_for and is_eager else rebalance.from_ms

    def _cost(self, from_ms: int, until_ms: int) -> tuple[int, int]:
        """Partitions given up, and partitions with another owner, from a moment to another."""
        earlier = [frame.state for frame in self.trace if frame.state.time_ms < from_ms]
        within = [frame.state for frame in self.trace if from_ms <= frame.state.time_ms < until_ms]
        owner_before: dict[TopicPartition, str] = {}
        for moment in earlier:
            owner_before |= {each: owners[-1].name for each, owners in moment.owners().items()}
        held = {(name, each) for name, _, owned in (earlier or within)[-1 if earlier else 0].members for each in owned}
        given_up = set()
        for moment in within:
            held_now = {(member.name, each) for member in moment.members for each in member.owned}
            running = {member.name for member in moment.members if member.doing != GONE}
            given_up |= {(name, each) for name, each in held - held_now if name in running}
        after = {each: owners[-1].name for each, owners in within[-1].owners().items()} if within else {}
        moved = sum(owner_before.get(each, name) != name for each, name in after.items())
        return len(given_up), moved
