"""Share groups: a queue over a topic, in which each record is with one member at a time (KIP-932).

A simulator: `Settings`, a `Cluster` as the state, requests by their Kafka names as events (`ShareFetch`,
`ShareAcknowledge`, `ShareGroupHeartbeat`, ...), `simulate`. Above it, `kafkalearn.sharing.work` has programs that poll,
process and say what became of each record; `find` looks for the shortest way in which they process one twice, out of
order or not at all, `find_stuck` for what stops them all.

>>> from kafkalearn.sharing.work import Accept, Arrive, Poll, settings, simulate as work_on
>>> chosen = settings(lock_ms=30_000)
>>> trace = work_on(chosen, [Arrive(), Poll("c1"), TimePassed(30_000), Poll("c2"), Accept("c1"), Accept("c2")])
>>> [(each.program, each.offset, each.is_taken) for each in trace[-1].state.processed]  # the lock was too short
[('c1', 0, False), ('c2', 0, True)]
"""

from kafkalearn.sharing.events import (
    ACCEPT,
    GAP,
    REJECT,
    RELEASE,
    RENEW,
    Acknowledgement,
    Produce,
    ShareAcknowledge,
    ShareFetch,
    ShareGroupHeartbeat,
    TimePassed,
)
from kafkalearn.sharing.model import Settings, start
from kafkalearn.sharing.simulator import INVARIANTS, PROMISES, broken, check, simulate, step

__all__ = [
    "ACCEPT",
    "GAP",
    "INVARIANTS",
    "PROMISES",
    "REJECT",
    "RELEASE",
    "RENEW",
    "Acknowledgement",
    "Produce",
    "Settings",
    "ShareAcknowledge",
    "ShareFetch",
    "ShareGroupHeartbeat",
    "TimePassed",
    "broken",
    "check",
    "simulate",
    "start",
    "step",
]
