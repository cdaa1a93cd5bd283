"""The consumer protocol of KIP-848: the broker computes the assignment, and every member moves in its own time.

One request, ConsumerGroupHeartbeat, replaces joining, synchronising, heartbeats and leaving. Three counters keep
order: the *group epoch* goes up when members or topics change, the *assignment epoch* is the group epoch that the
target assignment was computed for, and a *member epoch* is the assignment epoch that the member has reached.

A simulator of the coordinator: `Group` is the state; `ConsumerGroupHeartbeat`, `OffsetCommit`, `OffsetFetch`,
`TopicChanged`, `TimePassed`, `GroupDeleted`, `OffsetsExpired` and `PartitionMoved` are the events (`join` and `leave`
make the first and the last heartbeat of a member); `step` is the rule, `simulate` a whole run, `check` and `broken`
judge a state. What was answered and written is in ``group.effects``.

The answers are those of a real broker also where they come from the order of its hash maps, or from a quirk.

Not modelled: racks, share and streams groups, an assignor that runs beside the request. Members of the classic protocol
in such a group are in `kafkalearn.groups.mixed`.
"""

from kafkalearn.groups.consumer.events import (
    ConsumerGroupHeartbeat,
    GroupDeleted,
    OffsetCommit,
    OffsetFetch,
    OffsetsExpired,
    PartitionMoved,
    Settings,
    TimePassed,
    TopicChanged,
    join,
    leave,
)
from kafkalearn.groups.consumer.simulator import INVARIANTS, PROMISES, broken, check, simulate, step
from kafkalearn.groups.consumer.state import start

__all__ = [
    "INVARIANTS",
    "PROMISES",
    "ConsumerGroupHeartbeat",
    "GroupDeleted",
    "OffsetCommit",
    "OffsetFetch",
    "OffsetsExpired",
    "PartitionMoved",
    "Settings",
    "TimePassed",
    "TopicChanged",
    "broken",
    "check",
    "join",
    "leave",
    "simulate",
    "start",
    "step",
]
