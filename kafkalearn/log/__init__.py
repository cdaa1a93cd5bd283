"""A partition's log and its cleaner: segments, indexes, retention, compaction.

A simulator: `Log` is the state, `Append`, `Roll`, `Clean`, `Retain` and others are the events, `step` is the rule,
`Settings` hold the topic's settings, the broker's release and the cleaner's room. ``log.last`` tells what an event
did: a `Cleaning` has a `Verdict` for every record it looked at. `index_of` shows a segment's indexes, `signs` what an
operator sees of a cleaner, `next_clean` when it comes. `cross` lets a reader cross the log meanwhile; `closed_log`
makes a log of records from elsewhere.

>>> from functools import partial
>>> from kafkalearn.trace import run
>>> events = [Append((NewBatch((("a", "1", 1000),)), NewBatch((("a", None, 1001),)))), Roll(), Clean(now_ms=10_000)]
>>> trace = run(partial(step, Settings(cleanup_policy="compact")), Log(), events)
>>> [(verdict.offset, verdict.is_kept, verdict.reason) for verdict in trace[-1].state.last.verdicts]
[(0, False, 'overtaken by offset 1'), (1, True, 'tombstone, met for the first time')]
"""

from kafkalearn.log.appending import must_roll
from kafkalearn.log.cleaner.eligibility import cleanable
from kafkalearn.log.cleaner.failures import signs
from kafkalearn.log.cleaner.next_clean import NextClean, next_clean
from kafkalearn.log.cleaner.offset_map import CleanerDied, OffsetMap, offset_map
from kafkalearn.log.events import (
    Append,
    Clean,
    CleanerFailed,
    CleanerRound,
    EndTransaction,
    LogEvent,
    MoveLogStart,
    NewBatch,
    ProducerExpired,
    ReplaceCleanerThreads,
    Restart,
    Retain,
    Roll,
    SetHighWatermark,
)
from kafkalearn.log.from_records import closed_log
from kafkalearn.log.index import Index, index_of, look_up
from kafkalearn.log.model import (
    CLEANER_STATES,
    Appended,
    Batch,
    Cleanable,
    Cleaning,
    Log,
    Producer,
    Record,
    Retained,
    Segment,
    Transaction,
    Verdict,
)
from kafkalearn.log.reader import Crossing, CrossingEvent, Read, Reader, Table, check_crossing, cross, ghosts
from kafkalearn.log.settings import POLICIES, Settings
from kafkalearn.log.simulator import check, step
from kafkalearn.log.sizes import batch_bytes, record_bytes

__all__ = [
    "CLEANER_STATES",
    "POLICIES",
    "Append",
    "Appended",
    "Batch",
    "Clean",
    "Cleanable",
    "CleanerDied",
    "CleanerFailed",
    "CleanerRound",
    "Cleaning",
    "Crossing",
    "CrossingEvent",
    "EndTransaction",
    "Index",
    "Log",
    "LogEvent",
    "MoveLogStart",
    "NewBatch",
    "NextClean",
    "OffsetMap",
    "Producer",
    "ProducerExpired",
    "Read",
    "Reader",
    "Record",
    "ReplaceCleanerThreads",
    "Restart",
    "Retain",
    "Retained",
    "Roll",
    "Segment",
    "SetHighWatermark",
    "Settings",
    "Table",
    "Transaction",
    "Verdict",
    "batch_bytes",
    "check",
    "check_crossing",
    "cleanable",
    "closed_log",
    "cross",
    "ghosts",
    "index_of",
    "look_up",
    "must_roll",
    "next_clean",
    "offset_map",
    "record_bytes",
    "signs",
    "step",
]
