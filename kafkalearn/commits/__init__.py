"""A consumer's position, what it commits and when, and what a crash in between costs.

A simulator of one group on one partition: `Pipeline` is the state, `Poll`, `Process`, `CommitSync`, `Crash` and others
are the events, `step` is the rule; `lost` and `doubled` count. A `Strategy` says when an application commits;
`sweep` lets it crash, close, be rebalanced or paused at every point of its run.
"""

from kafkalearn.commits.cost import IdleCost, commit_bytes, idle_cost
from kafkalearn.commits.events import (
    Answered,
    Append,
    Assign,
    Close,
    CommitAsync,
    CommitEvent,
    CommitSync,
    Crash,
    Delete,
    Poll,
    Process,
    Rebalance,
    Start,
    Wait,
)
from kafkalearn.commits.model import Consumer, Effect, Pipeline, Settings, Written, new_pipeline
from kafkalearn.commits.promises import PROMISES
from kafkalearn.commits.replay import Delivery, Toll, replay
from kafkalearn.commits.simulator import check, doubled, lost, step
from kafkalearn.commits.sinks import SINKS, Sink, Write
from kafkalearn.commits.starting import NoStart, start_offset
from kafkalearn.commits.strategies import STRATEGIES, Strategy, Workload, next_event, settings_for
from kafkalearn.commits.sweep import (
    ACCIDENTS,
    Outcome,
    crash_everywhere,
    rows,
    shortest,
    summary,
    sweep,
    undisturbed,
)

__all__ = [
    "ACCIDENTS",
    "PROMISES",
    "SINKS",
    "STRATEGIES",
    "Answered",
    "Append",
    "Assign",
    "Close",
    "CommitAsync",
    "CommitEvent",
    "CommitSync",
    "Consumer",
    "Crash",
    "Delete",
    "Delivery",
    "Effect",
    "IdleCost",
    "NoStart",
    "Outcome",
    "Pipeline",
    "Poll",
    "Process",
    "Rebalance",
    "Settings",
    "Sink",
    "Start",
    "Strategy",
    "Toll",
    "Wait",
    "Workload",
    "Write",
    "Written",
    "check",
    "commit_bytes",
    "crash_everywhere",
    "doubled",
    "idle_cost",
    "lost",
    "new_pipeline",
    "next_event",
    "replay",
    "rows",
    "settings_for",
    "shortest",
    "start_offset",
    "step",
    "summary",
    "sweep",
    "undisturbed",
]
