"""The consumer protocol of KIP-848: the broker computes the assignment, and every member moves in its own time.

One request, ConsumerGroupHeartbeat, replaces joining, synchronising, heartbeats and leaving. Three counters keep
order: the *group epoch* goes up when members or topics change, the *assignment epoch* is the group epoch that the
target assignment was computed for, and a *member epoch* is the assignment epoch that the member has reached.

A simulator of the coordinator: `Group` is the state, `ConsumerGroupHeartbeat`, `OffsetCommit`, `TopicChanged` and
`TimePassed` are the events, `step` is the rule, `broken` names promises that a state breaks.

Not modelled: subscriptions by regular expression, racks, members of the classic protocol in such a group, share and
streams groups, an assignor that runs beside the request.
"""

from kafkalearn.group.consumer.effects import CommitAnswered, Effect, HeartbeatAnswered, MemberFenced, RecordWritten
from kafkalearn.group.consumer.events import (
    ConsumerGroupEvent,
    ConsumerGroupHeartbeat,
    OffsetCommit,
    TimePassed,
    TopicChanged,
    join,
    leave,
)
from kafkalearn.group.consumer.promises import PROMISES, broken, check
from kafkalearn.group.consumer.settings import Rules, Settings, rules_of
from kafkalearn.group.consumer.simulator import coordinate, step
from kafkalearn.group.consumer.state import GROUP_STATES, MEMBER_STATES, Group, Held, Member, start

__all__ = [
    "GROUP_STATES",
    "MEMBER_STATES",
    "PROMISES",
    "CommitAnswered",
    "ConsumerGroupEvent",
    "ConsumerGroupHeartbeat",
    "Effect",
    "Group",
    "HeartbeatAnswered",
    "Held",
    "Member",
    "MemberFenced",
    "OffsetCommit",
    "RecordWritten",
    "Rules",
    "Settings",
    "TimePassed",
    "TopicChanged",
    "broken",
    "check",
    "coordinate",
    "join",
    "leave",
    "rules_of",
    "start",
    "step",
]
