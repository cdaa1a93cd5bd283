"""A consumer's position, what it commits and when, and what a crash in between costs.

A simulator of one group on one partition: the state is a `Pipeline`; `Poll`, `Process`, `CommitSync`, `Crash` and
others are the events. `simulate(settings, events)` is a run; `lost` and `doubled` are what it has come to. A `Strategy`
says when an application commits; `sweep` lets it crash, close, be rebalanced or paused at every point of its run.

Offsets may be kept elsewhere: in a sink that stores them with the results, or in the checkpoints of a stream processor
(`Checkpoint`); what is then committed to Kafka is for the tools alone.
"""

from kafkalearn.commits.model import (
    Answered,
    Assign,
    Checkpoint,
    Close,
    CommitAsync,
    CommitSync,
    Crash,
    Delete,
    Pipeline,
    Poll,
    Process,
    Produce,
    Rebalance,
    Settings,
    Start,
    TimePassed,
    doubled,
    lost,
    start,
)
from kafkalearn.commits.simulator import PROMISES, NoStart, broken, check, simulate, start_offset, step
from kafkalearn.commits.strategies import STRATEGIES, Strategy, Workload, commit_bytes, idle_cost
from kafkalearn.commits.sweep import (
    ACCIDENTS,
    CrashCost,
    Delivery,
    at_worst,
    by_record,
    replay,
    rows,
    shortest,
    summary,
    sweep,
    undisturbed,
)

__all__ = [
    "ACCIDENTS",
    "PROMISES",
    "STRATEGIES",
    "Answered",
    "Assign",
    "Checkpoint",
    "Close",
    "CommitAsync",
    "CommitSync",
    "Crash",
    "CrashCost",
    "Delete",
    "Delivery",
    "NoStart",
    "Pipeline",
    "Poll",
    "Process",
    "Produce",
    "Rebalance",
    "Settings",
    "Start",
    "Strategy",
    "TimePassed",
    "Workload",
    "at_worst",
    "broken",
    "by_record",
    "check",
    "commit_bytes",
    "doubled",
    "idle_cost",
    "lost",
    "replay",
    "rows",
    "shortest",
    "simulate",
    "start",
    "start_offset",
    "step",
    "summary",
    "sweep",
    "undisturbed",
]
