"""The coordinator's store of offsets and groups: one partition of the topic, its log and the cache above it.

A simulator: `Store` is the state, `Commit`, `Fetch`, `StoreGroup`, `Sweep`, `Resign`, `Elect`, `Load` and others are
the events, `simulate` runs them, `Settings` hold release and retention. The log holds the very bytes that a broker of
that release writes; requests are answered from the cache. Groups are classic or of a newer protocol, as `StoreGroup`
says; the kind decides from when the retention counts.

>>> stopped = [Commit("billing", "orders", 0, offset=7, now_ms=0), Sweep(now_ms=2 * 86_400_000)]
>>> for release in ("1.1", "4.3"):
...     trace = simulate(Settings(release), [*stopped, Fetch("billing", "orders", 0)])
...     print(release, trace[-1].state.effects)
1.1 (Answer(error='NONE', offset=-1),)
4.3 (Answer(error='NONE', offset=7),)
"""

from kafkalearn.offsets.store.model import (
    Commit,
    DeleteGroup,
    DeleteOffset,
    DeleteTopic,
    Elect,
    EndTransaction,
    Fetch,
    LeaderCrashed,
    Load,
    LoadBuffer,
    Produce,
    Replicated,
    Resign,
    Settings,
    StateChanged,
    StoreGroup,
    Sweep,
    TimeReached,
    start,
)
from kafkalearn.offsets.store.simulator import INVARIANTS, PROMISES, broken, check, simulate, step

__all__ = [
    "INVARIANTS",
    "PROMISES",
    "Commit",
    "DeleteGroup",
    "DeleteOffset",
    "DeleteTopic",
    "Elect",
    "EndTransaction",
    "Fetch",
    "LeaderCrashed",
    "Load",
    "LoadBuffer",
    "Produce",
    "Replicated",
    "Resign",
    "Settings",
    "StateChanged",
    "StoreGroup",
    "Sweep",
    "TimeReached",
    "broken",
    "check",
    "simulate",
    "start",
    "step",
]
