"""Timers in hierarchical timing wheels, and what they cost beside a heap.

A simulator: `step` and `simulate` move wheels of some `Settings` by the events `Add`, `Cancel`, `Flush`, `Advance`;
`bucket_by_bucket` takes each `Advance` apart for a player. In `kafkalearn.purgatory.wheel.placing` is where a timer
goes and through which buckets it passes, in `kafkalearn.purgatory.wheel.counting` the work for a load of timers.
"""

from kafkalearn.purgatory.wheel.events import Add, Advance, Cancel, Flush
from kafkalearn.purgatory.wheel.promises import PROMISES, broken, check
from kafkalearn.purgatory.wheel.settings import Settings
from kafkalearn.purgatory.wheel.simulator import bucket_by_bucket, simulate, step
from kafkalearn.purgatory.wheel.state import start

__all__ = [
    "PROMISES",
    "Add",
    "Advance",
    "Cancel",
    "Flush",
    "Settings",
    "broken",
    "bucket_by_bucket",
    "check",
    "simulate",
    "start",
    "step",
]
