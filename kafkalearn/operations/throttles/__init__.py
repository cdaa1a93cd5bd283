"""Throttles of a reassignment: the limits that ``kafka-reassign-partitions`` sets, and who takes them away.

A limit has two halves: a rate on brokers, and on topics the lists of replicas that it is meant for. The tool sets both
with ``--execute --throttle``; ``--verify`` and ``--cancel`` clear the rates of *every* broker, and the lists of the
plan's topics alone. What follows from that, for the plan that is still running, is in the promises.
"""

from kafkalearn.operations.throttles.events import Cancel, Copied, Execute, Verify
from kafkalearn.operations.throttles.promises import INVARIANTS, PROMISES, broken, check
from kafkalearn.operations.throttles.settings import Settings
from kafkalearn.operations.throttles.simulator import simulate, step
from kafkalearn.operations.throttles.state import Throttled, start

__all__ = [
    "INVARIANTS",
    "PROMISES",
    "Cancel",
    "Copied",
    "Execute",
    "Settings",
    "Throttled",
    "Verify",
    "broken",
    "check",
    "simulate",
    "start",
    "step",
]
