"""Who leads and who is in sync at each sample: the ordinary trouble that every cluster has, and the faults."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from random import Random

from kafkalearn.operations.faults.findings import FROZEN_FOLLOWER, ONE_LEADER, Finding
from kafkalearn.operations.faults.topology import BROKER_IDS, SAMPLE_MS, START_MS, Topology
from kafkalearn.operations.placement.brokers import Replicas
from kafkalearn.topic_partition import TopicPartition

RESTART_SAMPLES = 2  # from one broker's restart to the next; a broker is down for one sample
LONGEST_BLIP_SAMPLES = 6  # half an hour


@dataclass(frozen=True, slots=True)
class Trouble:
    """What happens to replicas on an ordinary day.

    Attributes
    ----------
    restarts : dict of int to int
        The sample in which a broker is down; empty: nobody restarts the cluster.
    blips : dict of (int, TopicPartition) to range
        The samples in which a follower lags too far to be in sync.
    """

    restarts: dict[int, int]
    blips: dict[tuple[int, TopicPartition], range]


def trouble_of(seed: int, topology: Topology) -> Trouble:
    """The ordinary trouble of a seed: in most a rolling restart, and some followers that lag for a while."""
    random = Random(f"trouble {seed}")
    restarts: dict[int, int] = {}
    if random.random() < 0.7:
        first = random.randint(1, 3)
        restarts = {broker: first + RESTART_SAMPLES * place for place, broker in enumerate(BROKER_IDS)}
    blips: dict[tuple[int, TopicPartition], range] = {}
    for at in random.sample(sorted(topology.replicas), 5):
        first = random.randint(16, 34)
        blips[random.choice(topology.followers(at)), at] = range(first, first + random.randint(1, LONGEST_BLIP_SAMPLES))
    return Trouble(restarts, blips)


class ReplicaHistory:
    """Leader and in-sync replicas of every partition at every sample."""

    def __init__(self, topology: Topology, trouble: Trouble, faults: Iterable[Finding]) -> None:
        """Of a cluster, with its ordinary trouble and its faults."""
        self._topology, self._trouble = topology, trouble
        self._one_leader = next((each for each in faults if each.kind == ONE_LEADER), None)
        self._frozen = {(each.broker, each.at): each.at_ms for each in faults if each.kind == FROZEN_FOLLOWER}

    def is_up(self, broker: int, sample: int) -> bool:
        """Whether a broker is up."""
        return self._trouble.restarts.get(broker) != sample

    def fetches(self, broker: int, at: TopicPartition, sample: int) -> bool:
        """Whether a replica keeps up."""
        frozen_ms = self._frozen.get((broker, at))
        is_frozen = frozen_ms is not None and START_MS + SAMPLE_MS * sample >= frozen_ms
        lags = sample in self._trouble.blips.get((broker, at), ())
        return self.is_up(broker, sample) and not is_frozen and not lags

    def isr(self, at: TopicPartition, sample: int) -> Replicas:
        """The in-sync replicas, in the order of the replicas."""
        return tuple(each for each in self._topology.replicas[at] if self.fetches(each, at, sample))

    def leader(self, at: TopicPartition, sample: int) -> int:
        """The preferred replica, or the first one in sync; with the fault the one broker, wherever it can."""
        in_sync, fault = self.isr(at, sample), self._one_leader
        if fault is not None and START_MS + SAMPLE_MS * sample >= fault.at_ms and fault.broker in in_sync:
            return fault.broker
        return in_sync[0]
