"""Timers in hierarchical timing wheels, and what they cost beside a heap."""

from kafkalearn.purgatory.wheel.simulator import (
    Add,
    Advance,
    Bucket,
    Cancel,
    Flush,
    Flushed,
    Placed,
    Timer,
    WheelEvent,
    Wheels,
    check,
    due_flushes,
    simulate,
    start,
    step,
)

__all__ = [
    "Add",
    "Advance",
    "Bucket",
    "Cancel",
    "Flush",
    "Flushed",
    "Placed",
    "Timer",
    "WheelEvent",
    "Wheels",
    "check",
    "due_flushes",
    "simulate",
    "start",
    "step",
]
