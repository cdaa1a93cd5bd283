"""A partition's log and its cleaner: segments, indexes, retention, compaction.

A simulator: `Log` is the state, `Append`, `Roll`, `Clean`, `Retain` and others are the events, `Settings` hold the
topic's settings, the broker's release and the cleaner's room. What an event led to is in ``log.effects``: a `Cleaned`
has the reason for every record that stayed or went. `look_up` finds an offset as a fetch does, `cleaner_metrics` is
what an operator sees of a cleaner, `next_clean` says when it comes; `read_log` makes a log of the files of a real
partition, `log_from_records` of records from elsewhere. `kafkalearn.log.reader` is the same log with a reader in it.

>>> events = [Append((NewBatch((("a", "1", 1000),)), NewBatch((("a", None, 1001),)))), Roll(), Clean(now_ms=10_000)]
>>> trace = simulate(Settings(cleanup_policy="compact"), events)
>>> (cleaned,) = trace[-1].state.effects
>>> [(decision.offset, decision.is_kept, decision.reason) for decision in cleaned.decisions]
[(0, False, 'overtaken by offset 1'), (1, True, 'tombstone, met for the first time')]
"""

from kafkalearn.log.cleaner import cleaner_metrics, next_clean
from kafkalearn.log.from_segments import log_from_records, read_log
from kafkalearn.log.index import look_up
from kafkalearn.log.model import (
    Append,
    BrokerRestarted,
    Clean,
    Cleaned,
    CleanerFailed,
    CleanerRound,
    EndTransaction,
    Log,
    MoveLogStart,
    NewBatch,
    ProducerExpired,
    Record,
    ReplaceCleanerThreads,
    Retain,
    Roll,
    SetHighWatermark,
    Settings,
    start,
)
from kafkalearn.log.simulator import PROMISES, broken, check, simulate, step

__all__ = [
    "PROMISES",
    "Append",
    "BrokerRestarted",
    "Clean",
    "Cleaned",
    "CleanerFailed",
    "CleanerRound",
    "EndTransaction",
    "Log",
    "MoveLogStart",
    "NewBatch",
    "ProducerExpired",
    "Record",
    "ReplaceCleanerThreads",
    "Retain",
    "Roll",
    "SetHighWatermark",
    "Settings",
    "broken",
    "check",
    "cleaner_metrics",
    "log_from_records",
    "look_up",
    "next_clean",
    "read_log",
    "simulate",
    "start",
    "step",
]
