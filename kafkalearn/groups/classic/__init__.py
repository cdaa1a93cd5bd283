"""The coordinator of a classic consumer group: what the broker does with joins, syncs, heartbeats, and silence.

A *generation* is one agreement of who is in the group and who has what. A *rebalance* makes the next one, in two
phases: every member sends JoinGroup and waits (PreparingRebalance) until all are there; then the *leader*, one of
them, brings the assignment with its SyncGroup and the others fetch it with theirs (CompletingRebalance). Then the
group is Stable, and heartbeats keep each member's *session* alive.

A simulator: `Group` is the state, the events are requests that arrive and time that passes, `step` is the rule,
`simulate` a whole run, `check` and `broken` judge a state. Answers, transitions and records are in ``group.effects``.
`TRANSITIONS` is every way from a state to another. `Settings` has the broker's settings and its release.

Not modelled: the time a write to ``__consumer_offsets`` takes, the offsets of a commit (`kafkalearn.offsets.store` has
them), the loading of a group by a new coordinator; `kafkalearn.groups.mixed` has groups that change to the KIP-848
protocol. Member ids have a number where Kafka has a UUID, and where Kafka walks a hash map of them (a new leader), the
member that joined first is taken; unless each JoinGroup says which id the broker draws: then it is the member that a
broker of 4.0 or later takes.
"""

from kafkalearn.groups.classic.model import (
    TRANSITIONS,
    GroupDeleted,
    Heartbeat,
    JoinGroup,
    LeaveGroup,
    OffsetCommit,
    OffsetsExpired,
    PartitionMoved,
    Settings,
    SyncGroup,
    TimePassed,
    start,
)
from kafkalearn.groups.classic.simulator import INVARIANTS, PROMISES, broken, check, simulate, step

__all__ = [
    "INVARIANTS",
    "PROMISES",
    "TRANSITIONS",
    "GroupDeleted",
    "Heartbeat",
    "JoinGroup",
    "LeaveGroup",
    "OffsetCommit",
    "OffsetsExpired",
    "PartitionMoved",
    "Settings",
    "SyncGroup",
    "TimePassed",
    "broken",
    "check",
    "simulate",
    "start",
    "step",
]
