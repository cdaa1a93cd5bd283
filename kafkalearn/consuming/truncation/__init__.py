"""A consumer whose log is cut behind it: leader epochs in positions, commits and fetches (KIP-320).

The partition is that of `kafkalearn.replication`, with all that can happen to its brokers; beside it stand the
consumers of one group and what the group has committed. A position is an offset and the *leader epoch* of the record
before it: with both a consumer can ask a leader whether its log still has that record (OffsetsForLeaderEpoch). Without
the epoch all it can do is fetch, and an offset that is not there looks like a log that is gone: it begins anew, by
``auto.offset.reset``.

A simulator: the state is a `GroupRead`; `Poll`, `Commit`, `Assign` and `RefreshMetadata` are the consumers' events,
all others those of the partition. `find` searches for the shortest run that reads records again or skips some.
"""

from kafkalearn.consuming.truncation.model import Assign, Commit, GroupRead, Poll, RefreshMetadata, Settings, start
from kafkalearn.consuming.truncation.search import find
from kafkalearn.consuming.truncation.simulator import (
    INVARIANTS,
    NONE_AGAIN,
    NONE_SKIPPED,
    NONE_UNNOTICED,
    PROMISES,
    broken,
    check,
    simulate,
    step,
)

__all__ = [
    "INVARIANTS",
    "NONE_AGAIN",
    "NONE_SKIPPED",
    "NONE_UNNOTICED",
    "PROMISES",
    "Assign",
    "Commit",
    "GroupRead",
    "Poll",
    "RefreshMetadata",
    "Settings",
    "broken",
    "check",
    "find",
    "simulate",
    "start",
    "step",
]
