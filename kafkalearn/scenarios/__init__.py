"""A consumer group and its coordinator: joins, heartbeats, rebalances, and the time they cost.

A scenario is a story of a few lines, played with the coordinator of either protocol (`kafkalearn.groups.classic`,
`kafkalearn.groups.consumer`) or of a group that changes it (`kafkalearn.groups.mixed`), judged and improved.

- `kafkalearn.scenarios.text`: how a story is written; `kafkalearn.scenarios.events`: what it is made of
- `kafkalearn.scenarios.engine`: what it is played in: consumers with two threads, virtual time, a network
- `kafkalearn.scenarios.classic_client` and `kafkalearn.scenarios.consumer_client`: the clients of both protocols;
  `kafkalearn.scenarios.mixed_client`: both in one group
- `kafkalearn.scenarios.outcome`: what came of it; `kafkalearn.scenarios.finder`: which setting to change
- `kafkalearn.scenarios.scaling`: a scaler on Kubernetes, which counts the pods by the lag
"""

from kafkalearn.scenarios import durations, experiments
from kafkalearn.scenarios.events import (
    Crashes,
    CrashesAndReturns,
    Created,
    Deleted,
    Disconnected,
    Grows,
    Joins,
    Leaves,
    Pauses,
    Processing,
    Restarts,
    Scenario,
    Speaks,
    Subscribes,
    Subscription,
)
from kafkalearn.scenarios.finder import find_change
from kafkalearn.scenarios.playing import simulate

__all__ = [
    "Crashes",
    "CrashesAndReturns",
    "Created",
    "Deleted",
    "Disconnected",
    "Grows",
    "Joins",
    "Leaves",
    "Pauses",
    "Processing",
    "Restarts",
    "Scenario",
    "Speaks",
    "Subscribes",
    "Subscription",
    "durations",
    "experiments",
    "find_change",
    "simulate",
]
