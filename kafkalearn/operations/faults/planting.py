"""Faults planted in a cluster from a seed: other faults, places and times for each seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import pi, sin
from random import Random
from typing import NamedTuple

from kafkalearn.base.checks import one_of, sequence, whole_number
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.operations.faults import findings
from kafkalearn.operations.faults import findings as kind
from kafkalearn.operations.faults.findings import Finding, Topology

FAULT_COUNT = 6
FIRST_SAMPLE, LAST_SAMPLE = 16, 26  # early enough that a rule can be sure at the end, which takes an hour


def plant(seed: int, fault_count: int = FAULT_COUNT, kinds: Sequence[str] | None = None) -> tuple[Finding, ...]:
    """The faults of a seed, each of another kind: what a perfect search finds.

    Parameters
    ----------
    seed : int
        Other seeds, other faults.
    fault_count : int
        How many, 0 to 8.
    kinds : sequence of str or None
        Exactly these kinds, names in `kafkalearn.operations.faults.KINDS`; then `fault_count` does not count.

    Examples
    --------
    >>> [each.kind for each in plant(1)] == [each.kind for each in plant(2)]
    False
    >>> plant(1, fault_count=0)
    ()
    """
    whole_number("seed", seed, 0)
    whole_number("fault_count", fault_count, 0, len(findings.KINDS))
    random, topology = Random(f"faults {seed}"), findings.topology_of(seed)
    drawn = random.sample(list(findings.KINDS), fault_count)
    if kinds is not None:
        drawn = [one_of("kind", each, findings.KINDS) for each in sequence("kinds", kinds, of="names of faults")]
    busy: dict[str, int] = {}  # brokers that have a fault of their own already: no two on one
    planted = []
    for each in sorted(set(drawn)):
        at_ms = findings.START_MS + findings.SAMPLE_MS * random.randint(FIRST_SAMPLE, LAST_SAMPLE)
        planted.append(_PLANTERS[each](random, topology, busy, at_ms))
    history = findings.ReplicaHistory(topology, findings.trouble_of(seed, topology), planted)
    return tuple(sorted(_with_leader(each, history) for each in planted))


def _with_leader(fault: Finding, history: findings.ReplicaHistory) -> Finding:
    """What is found in records is found on the broker that leads the partition at that time."""
    if fault.kind not in (kind.FUTURE_RECORD, kind.HOT_PARTITION):
        return fault
    sample = (fault.at_ms - findings.START_MS) // findings.SAMPLE_MS
    return replace(fault, broker=history.leader(fault.at, sample))


def _free_broker(random: Random, busy: dict[str, int], name: str) -> int:
    busy[name] = random.choice([each for each in findings.BROKER_IDS if each not in busy.values()])
    return busy[name]


def _dead_cleaner(random: Random, topology: Topology, busy: dict[str, int], at_ms: int) -> Finding:
    return Finding(kind.DEAD_CLEANER, at_ms, _free_broker(random, busy, kind.DEAD_CLEANER))


def _uncleanable(random: Random, topology: Topology, busy: dict[str, int], at_ms: int) -> Finding:
    broker = _free_broker(random, busy, kind.UNCLEANABLE)
    at = random.choice(
        [at for at, ids in topology.replicas.items() if at.topic in findings.COMPACTED and broker in ids]
    )
    return Finding(kind.UNCLEANABLE, at_ms, broker, *at)


def _future_record(random: Random, topology: Topology, busy: dict[str, int], at_ms: int) -> Finding:
    at = random.choice(_written(topology))
    return Finding(kind.FUTURE_RECORD, at_ms, topology.replicas[at][0], *at)


def _hot_partition(random: Random, topology: Topology, busy: dict[str, int], at_ms: int) -> Finding:
    at = random.choice(_written(topology))
    return Finding(kind.HOT_PARTITION, at_ms, topology.replicas[at][0], *at)


def _hanging_consumer(random: Random, topology: Topology, busy: dict[str, int], at_ms: int) -> Finding:
    member = random.choice(topology.members)
    return Finding(kind.HANGING_CONSUMER, at_ms, None, None, None, member.group_id, member.member_id)


def _kept_group(random: Random, topology: Topology, busy: dict[str, int], at_ms: int) -> Finding:
    return Finding(kind.KEPT_GROUP, at_ms, group_id=findings.FORGOTTEN)


def _one_leader(random: Random, topology: Topology, busy: dict[str, int], at_ms: int) -> Finding:
    return Finding(kind.ONE_LEADER, at_ms, _free_broker(random, busy, kind.ONE_LEADER))


def _frozen_follower(random: Random, topology: Topology, busy: dict[str, int], at_ms: int) -> Finding:
    broker = _free_broker(random, busy, kind.FROZEN_FOLLOWER)
    at = random.choice([at for at in _written(topology) if broker in topology.followers(at)])
    return Finding(kind.FROZEN_FOLLOWER, at_ms, broker, *at)


def _written(topology: Topology) -> list[TopicPartition]:
    return [at for at in topology.replicas if at.topic in findings.READ and at != findings.IDLE]


_PLANTERS: dict[str, Callable[[Random, Topology, dict[str, int], int], Finding]] = {
    kind.DEAD_CLEANER: _dead_cleaner,
    kind.UNCLEANABLE: _uncleanable,
    kind.FUTURE_RECORD: _future_record,
    kind.HOT_PARTITION: _hot_partition,
    kind.HANGING_CONSUMER: _hanging_consumer,
    kind.KEPT_GROUP: _kept_group,
    kind.ONE_LEADER: _one_leader,
    kind.FROZEN_FOLLOWER: _frozen_follower,
}


# The logs of four hours of a cluster: batches, replicas, commits and members, every five minutes a sample.

RECORDS_PER_BATCH = 40
BYTES_PER_RECORD = 120
HOT_FACTOR = 8
YEAR_2100_MS = 4_102_444_800_000
LARGEST_CLOCK_SKEW_MS = 120_000  # some producers' clocks are ahead


class BatchRow(NamedTuple):
    """A batch as its leader wrote it (DumpLogSegments prints these)."""

    topic: str
    partition: int
    leader: int
    appended_ms: int
    base_offset: int
    record_count: int
    max_timestamp_ms: int


class ReplicaRow(NamedTuple):
    """A replica at a sample: what brokers say of themselves as metrics, and its line in cleaner-offset-checkpoint."""

    at_ms: int
    topic: str
    partition: int
    leader: int
    broker: int
    is_in_sync: bool
    log_end_offset: int
    cleaner_offset: int | None  # None: the topic is not compacted
    size_bytes: int


class CommitRow(NamedTuple):
    """A committed offset, as the offsets topic has it."""

    group_id: str
    topic: str
    partition: int
    offset: int
    committed_ms: int


class MemberRow(NamedTuple):
    """What a member owns, as ``--describe`` showed it at a sample."""

    at_ms: int
    group_id: str
    member_id: str
    topic: str
    partition: int


@dataclass(frozen=True, slots=True)
class ClusterLogs:
    """The four tables, each a tuple of rows; what `find_faults` looks at."""

    batches: tuple[BatchRow, ...]
    replicas: tuple[ReplicaRow, ...]
    commits: tuple[CommitRow, ...]
    members: tuple[MemberRow, ...]


def cluster_logs(
    seed: int, faults: Sequence[Finding] | None = None, records_per_batch: int = RECORDS_PER_BATCH
) -> ClusterLogs:
    """The logs of a seed's cluster, with its faults in them.

    A day like any other has a rolling restart, followers that lag for half an hour, consumers that commit seldom or
    pause, partitions that get more than others, one that nobody writes to, a group whose reader left, and a reader that
    is in no group. None of these is a fault.

    Parameters
    ----------
    seed : int
        Other seeds, other clusters.
    faults : sequence of Finding or None
        None: those that `plant` draws for the seed; empty: none at all.
    records_per_batch : int
        On average; it is what makes the tables large.

    Examples
    --------
    >>> logs = cluster_logs(1)
    >>> len(logs.batches), len(logs.replicas), sum(row.record_count for row in logs.batches) > 80_000
    (2256, 6912, True)
    """
    whole_number("seed", seed, 0)
    whole_number("records_per_batch", records_per_batch, 10, 1_000_000)
    planted = plant(seed) if faults is None else sequence("faults", faults, of="Finding(...)")
    for each in planted:
        if not isinstance(each, Finding):
            raise KafkaLearnError(f"faults must be Finding(...), as plant() gives them; got {each!r}")
    return _Recorder(seed, planted, records_per_batch).logs()


class _Recorder:
    """Everything that is computed for one cluster."""

    def __init__(self, seed: int, faults: tuple[Finding, ...], records_per_batch: int) -> None:
        self._topology: Topology = findings.topology_of(seed)
        self._history = findings.ReplicaHistory(self._topology, findings.trouble_of(seed, self._topology), faults)
        self._faults = {each.kind: each for each in faults}
        self._per_batch, self._random = records_per_batch, Random(f"logs {seed}")
        self._ends: dict[TopicPartition, list[int]] = {}

    def logs(self) -> ClusterLogs:
        batches = tuple(row for at in self._topology.replicas for row in self._batches(at))
        replicas = tuple(row for at in self._topology.replicas for row in self._replicas(at))
        commits: list[CommitRow] = []
        members: list[MemberRow] = []
        for member in self._topology.members:
            commits += self._commits(member)
            members += [
                MemberRow(_ms(sample), member.group_id, member.member_id, *at)
                for sample in range(findings.SAMPLE_COUNT)
                for at in member.owned
            ]
        commits += self._commits_without_members()
        return ClusterLogs(batches, replicas, tuple(commits), tuple(members))

    def _batches(self, at: TopicPartition) -> Iterator[BatchRow]:
        ends: list[int] = []
        weight = self._topology.weights[at]
        end = self._random.randrange(1000, 9000)
        hot, future = (self._at(name, at) for name in (kind.HOT_PARTITION, kind.FUTURE_RECORD))
        for sample in range(findings.SAMPLE_COUNT):
            at_ms = _ms(sample)
            wave = 1 + 0.3 * sin(2 * pi * sample / findings.SAMPLE_COUNT)
            factor = HOT_FACTOR if hot is not None and at_ms >= hot.at_ms else 1
            count = round(self._per_batch * weight * wave * factor)
            if count:
                skew = self._random.randrange(-findings.SAMPLE_MS, LARGEST_CLOCK_SKEW_MS)
                stamp = YEAR_2100_MS if future is not None and at_ms == future.at_ms else at_ms + skew
                yield BatchRow(*at, self._history.leader(at, sample), at_ms, end, count, stamp)
            end += count
            ends.append(end)
        self._ends[at] = ends

    def _replicas(self, at: TopicPartition) -> Iterator[ReplicaRow]:
        for broker in self._topology.replicas[at]:
            cleaned, next_clean = (0, self._random.randrange(0, 7)) if at.topic in findings.COMPACTED else (None, 0)
            end = own_start = self._ends[at][0] // 2
            for sample in range(findings.SAMPLE_COUNT):
                if self._history.fetches(broker, at, sample):
                    end = self._ends[at][sample]
                if cleaned is not None and sample >= next_clean and self._history.is_up(broker, sample):
                    if not self._is_cleaner_stopped(broker, at, sample):
                        cleaned = end
                    next_clean = sample + self._random.randint(4, 7)
                leader, in_sync = self._history.leader(at, sample), broker in self._history.isr(at, sample)
                kept = end - own_start if cleaned is None else own_start // 4 + end - cleaned
                yield ReplicaRow(_ms(sample), *at, leader, broker, in_sync, end, cleaned, kept * BYTES_PER_RECORD)

    def _commits(self, member: findings.Member) -> Iterator[CommitRow]:
        interval = self._random.choice((1, 1, 1, 4))  # some commit every 20 minutes only
        pause = range(0)
        if self._random.random() < 0.2:
            first = self._random.randint(8, 38)
            pause = range(first, first + 4)
        fault = self._faults.get(kind.HANGING_CONSUMER)
        stops_ms = fault.at_ms if fault is not None and fault.member_id == member.member_id else None
        keeps_committing = self._random.random() < 0.5
        read = dict.fromkeys(member.owned, 0)
        for sample in range(findings.SAMPLE_COUNT):
            hangs = stops_ms is not None and _ms(sample) >= stops_ms
            for at in member.owned:
                if not hangs and sample not in pause:
                    read[at] = self._ends[at][max(sample - 1, 0)]
                is_due = sample % interval == 0 and sample not in pause and (not hangs or keeps_committing)
                if is_due and read[at]:
                    yield CommitRow(member.group_id, *at, read[at], _ms(sample) + self._random.randrange(60_000))

    def _commits_without_members(self) -> Iterator[CommitRow]:
        payments = [at for at in self._topology.replicas if at.topic == "payments"]
        kept = self._faults.get(kind.KEPT_GROUP)
        for at in payments:
            ends = self._ends[at]
            for sample in range(findings.SAMPLE_COUNT):
                yield CommitRow(findings.STANDALONE, *at, ends[max(sample - 1, 0)], _ms(sample) + 1000)
            for sample in range(3):
                yield CommitRow(findings.ABANDONED, *at, ends[sample], _ms(sample) + 2000)
            for sample in range(findings.SAMPLE_COUNT if kept is not None else 3):
                is_kept = kept is not None and _ms(sample) >= kept.at_ms
                last = (kept.at_ms - findings.START_MS) // findings.SAMPLE_MS - 1 if kept and is_kept else sample
                yield CommitRow(findings.FORGOTTEN, *at, ends[last], _ms(sample) + 3000)

    def _at(self, name: str, at: TopicPartition) -> Finding | None:
        """The fault of a kind, if it is in this partition."""
        fault = self._faults.get(name)
        return fault if fault is not None and (fault.topic, fault.partition) == at else None

    def _is_cleaner_stopped(self, broker: int, at: TopicPartition, sample: int) -> bool:
        dead, one = self._faults.get(kind.DEAD_CLEANER), self._at(kind.UNCLEANABLE, at)
        is_dead = dead is not None and dead.broker == broker and _ms(sample) >= dead.at_ms
        return is_dead or (one is not None and one.broker == broker and _ms(sample) >= one.at_ms)


def _ms(sample: int) -> int:
    return findings.START_MS + findings.SAMPLE_MS * sample
