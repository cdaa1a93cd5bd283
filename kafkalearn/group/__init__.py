"""A consumer group and its coordinator: joins, heartbeats, rebalances, and the time they cost.

- `kafkalearn.group.classic`: the coordinator of the classic protocol, one request at a time
- `kafkalearn.group.consumer`: that of KIP-848
- `kafkalearn.group.scenario`: stories of a few lines, played with either, judged and improved
- `kafkalearn.group.world`: what they are played in: consumers with two threads, settings, virtual time, reading
"""

from kafkalearn.group.scenario import BadScenario, Finding, find_change, simulate
from kafkalearn.group.world import Outcome, Scenario, Settings

__all__ = [
    "BadScenario",
    "Finding",
    "Outcome",
    "Scenario",
    "Settings",
    "find_change",
    "simulate",
]
