"""A consumer group and its coordinator: joins, heartbeats, rebalances, and the time they cost.

- `kafkalearn.groups.classic`: the coordinator of the classic protocol, one request at a time
- `kafkalearn.groups.consumer`: that of KIP-848
- `kafkalearn.scenarios`: stories of a few lines, played with either, judged and improved
- `kafkalearn.scenarios`: what they are played in: consumers with two threads, settings, virtual time, reading
- `kafkalearn.scenarios.consumer_client`: the client side of both protocols
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
    "Subscribes",
    "Subscription",
    "durations",
    "experiments",
    "find_change",
    "simulate",
]
