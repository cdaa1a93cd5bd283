"""Who leads in a cluster of many partitions: leaders that pile up after failures, and how they are given back.

A simulator: the state is a `Cluster` of partitions with their replicas, ISR and leaders; brokers are lost and come
back, and every 300 s the controller gives leadership back to preferred replicas. The steps of a partition are those of
`kafkalearn.replication`. `load_without` says what the others carry if a broker dies, `moved_bytes` and `move_seconds`
what a plan costs before it is executed.
"""

from kafkalearn.operations.leadership.events import (
    BrokerBack,
    BrokerLost,
    ElectLeaders,
    LeaderImbalanceChecked,
    TimePassed,
)
from kafkalearn.operations.leadership.imbalance import imbalances
from kafkalearn.operations.leadership.load import load_without, move_seconds, moved_bytes
from kafkalearn.operations.leadership.promises import INVARIANTS, PROMISES, broken, check
from kafkalearn.operations.leadership.settings import Settings
from kafkalearn.operations.leadership.simulator import simulate, step
from kafkalearn.operations.leadership.state import Cluster, cluster_of, partition_of, start

__all__ = [
    "INVARIANTS",
    "PROMISES",
    "BrokerBack",
    "BrokerLost",
    "Cluster",
    "ElectLeaders",
    "LeaderImbalanceChecked",
    "Settings",
    "TimePassed",
    "broken",
    "check",
    "cluster_of",
    "imbalances",
    "load_without",
    "move_seconds",
    "moved_bytes",
    "partition_of",
    "simulate",
    "start",
    "step",
]
