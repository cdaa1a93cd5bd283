"""The coordinator's store of offsets and groups: one partition of the topic, its log and the cache above it.

A simulator: `Store` is the state, `Commit`, `Fetch`, `StoreGroup`, `Sweep`, `Resign`, `Elect`, `Load` and others are
the events, `step` is the rule, `Settings` hold release and retention. The log holds the very bytes that a broker of
that release writes; the cache is what answers. `reloaded` loses the cache and reads it back.
"""

from kafkalearn.offsets.store.expiry import is_expired, is_subscribed
from kafkalearn.offsets.store.model import (
    FAILED,
    LOADING,
    NOT_OWNED,
    OWNED,
    STATUSES,
    Answer,
    Commit,
    DeleteGroup,
    DeleteOffset,
    DeleteTopic,
    Elect,
    EndTransaction,
    Entry,
    Fetch,
    Load,
    Produce,
    Replicated,
    Resign,
    Settings,
    StateChanged,
    Store,
    StoreEvent,
    StoreGroup,
    Sweep,
)
from kafkalearn.offsets.store.simulator import check, lasting, reloaded, step

__all__ = [
    "FAILED",
    "LOADING",
    "NOT_OWNED",
    "OWNED",
    "STATUSES",
    "Answer",
    "Commit",
    "DeleteGroup",
    "DeleteOffset",
    "DeleteTopic",
    "Elect",
    "EndTransaction",
    "Entry",
    "Fetch",
    "Load",
    "Produce",
    "Replicated",
    "Resign",
    "Settings",
    "StateChanged",
    "Store",
    "StoreEvent",
    "StoreGroup",
    "Sweep",
    "check",
    "is_expired",
    "is_subscribed",
    "lasting",
    "reloaded",
    "step",
]
