"""Faults planted in a cluster from a seed: other faults, places and times for each seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from kafkalearn.arguments import one_of, sequence, whole_number
from kafkalearn.operations.faults import findings as kind
from kafkalearn.operations.faults.findings import KINDS, Finding
from kafkalearn.operations.faults.replica_history import ReplicaHistory, trouble_of
from kafkalearn.operations.faults.topology import (
    BROKER_IDS,
    COMPACTED,
    FORGOTTEN,
    IDLE,
    READ,
    SAMPLE_MS,
    START_MS,
    Topology,
    topology_of,
)
from kafkalearn.topic_partition import TopicPartition

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
    whole_number("fault_count", fault_count, 0, len(KINDS))
    random, topology = Random(f"faults {seed}"), topology_of(seed)
    drawn = random.sample(list(KINDS), fault_count)
    if kinds is not None:
        drawn = [one_of("kind", each, KINDS) for each in sequence("kinds", kinds, of="names of faults")]
    busy: dict[str, int] = {}  # brokers that have a fault of their own already: no two on one
    planted = [_PLANTERS[each](random, topology, busy, _moment(random)) for each in sorted(set(drawn))]
    history = ReplicaHistory(topology, trouble_of(seed, topology), planted)
    return tuple(sorted(_with_leader(each, history) for each in planted))


def _with_leader(fault: Finding, history: ReplicaHistory) -> Finding:
    """What is found in records is found on the broker that leads the partition at that time."""
    if fault.kind not in (kind.FUTURE_RECORD, kind.HOT_PARTITION):
        return fault
    sample = (fault.at_ms - START_MS) // SAMPLE_MS
    return replace(fault, broker=history.leader(fault.at, sample))


def _moment(random: Random) -> int:
    return START_MS + SAMPLE_MS * random.randint(FIRST_SAMPLE, LAST_SAMPLE)


def _free_broker(random: Random, busy: dict[str, int], name: str) -> int:
    busy[name] = random.choice([each for each in BROKER_IDS if each not in busy.values()])
    return busy[name]


def _dead_cleaner(random: Random, topology: Topology, busy: dict[str, int], at_ms: int) -> Finding:
    return Finding(kind.DEAD_CLEANER, at_ms, _free_broker(random, busy, kind.DEAD_CLEANER))


def _uncleanable(random: Random, topology: Topology, busy: dict[str, int], at_ms: int) -> Finding:
    broker = _free_broker(random, busy, kind.UNCLEANABLE)
    at = random.choice([at for at, ids in topology.replicas.items() if at.topic in COMPACTED and broker in ids])
    return Finding(kind.UNCLEANABLE, at_ms, broker, *at)


def _future_record(random: Random, topology: Topology, busy: dict[str, int], at_ms: int) -> Finding:
    at = _written(random, topology)
    return Finding(kind.FUTURE_RECORD, at_ms, topology.replicas[at][0], *at)


def _hot_partition(random: Random, topology: Topology, busy: dict[str, int], at_ms: int) -> Finding:
    at = _written(random, topology)
    return Finding(kind.HOT_PARTITION, at_ms, topology.replicas[at][0], *at)


def _hanging_consumer(random: Random, topology: Topology, busy: dict[str, int], at_ms: int) -> Finding:
    member = random.choice(topology.members)
    return Finding(kind.HANGING_CONSUMER, at_ms, None, None, None, member.group_id, member.member_id)


def _kept_group(random: Random, topology: Topology, busy: dict[str, int], at_ms: int) -> Finding:
    return Finding(kind.KEPT_GROUP, at_ms, group_id=FORGOTTEN)


def _one_leader(random: Random, topology: Topology, busy: dict[str, int], at_ms: int) -> Finding:
    return Finding(kind.ONE_LEADER, at_ms, _free_broker(random, busy, kind.ONE_LEADER))


def _frozen_follower(random: Random, topology: Topology, busy: dict[str, int], at_ms: int) -> Finding:
    broker = _free_broker(random, busy, kind.FROZEN_FOLLOWER)
    places = [at for at in topology.replicas if at.topic in READ and at != IDLE]
    at = random.choice([at for at in places if broker in topology.followers(at)])
    return Finding(kind.FROZEN_FOLLOWER, at_ms, broker, *at)


def _written(random: Random, topology: Topology) -> TopicPartition:
    return random.choice([at for at in topology.replicas if at.topic in READ and at != IDLE])


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
