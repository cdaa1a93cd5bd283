"""A partition's log and its cleaner: segments, indexes, retention, compaction.

A simulator: `Log` is the state, `Append`, `Roll`, `Clean`, `Retain` and others are the events, `step` is the rule,
`Settings` hold the topic's settings, the broker's release and the cleaner's room. ``log.last`` tells what an event
did: a `Cleaning` has a `Verdict` for every record it looked at. `index_of` shows a segment's indexes, `signs` what an
operator sees of a cleaner.

>>> from functools import partial
>>> from kafkalearn.trace import run
>>> events = [Append((NewBatch((("a", "1", 1000),)), NewBatch((("a", None, 1001),)))), Roll(), Clean(now_ms=10_000)]
>>> trace = run(partial(step, Settings(cleanup_policy="compact")), Log(), events)
>>> [(verdict.offset, verdict.is_kept, verdict.reason) for verdict in trace[-1].state.last.verdicts]
[(0, False, 'overtaken by offset 1'), (1, True, 'tombstone, met for the first time')]
"""

from kafkalearn.log.appending import must_roll
from kafkalearn.log.eligibility import cleanable
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
from kafkalearn.log.health import signs
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
from kafkalearn.log.offset_map import CleanerDied, OffsetMap, offset_map
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
    "EndTransaction",
    "Index",
    "Log",
    "LogEvent",
    "MoveLogStart",
    "NewBatch",
    "OffsetMap",
    "Producer",
    "ProducerExpired",
    "Record",
    "ReplaceCleanerThreads",
    "Restart",
    "Retain",
    "Retained",
    "Roll",
    "Segment",
    "SetHighWatermark",
    "Settings",
    "Transaction",
    "Verdict",
    "batch_bytes",
    "check",
    "cleanable",
    "index_of",
    "look_up",
    "must_roll",
    "offset_map",
    "record_bytes",
    "signs",
    "step",
]
