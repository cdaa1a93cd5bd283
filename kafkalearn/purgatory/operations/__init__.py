"""Delayed operations: what waits for a condition or for time, and the lists of those who watch a key.

A simulator: operations come with `TryCompleteElseWatch`, the others of its events change facts, check a key, complete
by force and let time pass. The operations that brokers really have or had are in
`kafkalearn.purgatory.operations.kinds`.
"""

from kafkalearn.purgatory.operations.events import (
    CheckAndComplete,
    FactChanged,
    ForceComplete,
    TimePassed,
    TryCompleteElseWatch,
)
from kafkalearn.purgatory.operations.promises import PROMISES, broken, check
from kafkalearn.purgatory.operations.settings import Settings
from kafkalearn.purgatory.operations.simulator import simulate, step
from kafkalearn.purgatory.operations.state import start

__all__ = [
    "PROMISES",
    "CheckAndComplete",
    "FactChanged",
    "ForceComplete",
    "Settings",
    "TimePassed",
    "TryCompleteElseWatch",
    "broken",
    "check",
    "simulate",
    "start",
    "step",
]
