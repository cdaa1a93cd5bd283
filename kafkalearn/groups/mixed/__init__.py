"""A group that changes its protocol while it runs: classic members and new ones in it at once.

As soon as one member of the newer protocol joins a classic group, the group *is* a consumer group: its coordinator
takes over members, assignment and generation, and computes the next assignment itself. Classic members stay in it and
go on with JoinGroup, SyncGroup and Heartbeat. When the last new member leaves, it is a classic group again.

A simulator over those of `kafkalearn.groups.classic` and `kafkalearn.groups.consumer`, whose events it takes: `Group`
is the state, `step` the rule, `simulate` a whole run, `check` and `broken` judge a state. Answers, records and
`ProtocolChanged` are in ``group.effects``. The metadata of a classic member is its `Subscription`.

Not modelled: offsets that expire, subscriptions by regular expression, assignors that run beside the request, share and
streams groups; the order in which a log that is compacted meanwhile is loaded (KAFKA-21117).
"""

from kafkalearn.groups.mixed.model import POLICIES, Assigned, Group, ProtocolChanged, Settings, Subscription, start
from kafkalearn.groups.mixed.simulator import INVARIANTS, PROMISES, broken, check, next_deadline_ms, simulate, step

__all__ = [
    "INVARIANTS",
    "POLICIES",
    "PROMISES",
    "Assigned",
    "Group",
    "ProtocolChanged",
    "Settings",
    "Subscription",
    "broken",
    "check",
    "next_deadline_ms",
    "simulate",
    "start",
    "step",
]
