"""The whole path of a record, in one picture: producers, brokers with their logs, consumers; and a broker that dies.

`kafkalearn.tiny` does all of it; here its objects are frozen, so that a run of them is a trace.
"""

from kafkalearn.journey.model import Event
from kafkalearn.journey.simulator import (
    INVARIANTS,
    PROMISES,
    BrokerCrashed,
    BrokerStarted,
    Commit,
    FollowersFetch,
    Join,
    Journey,
    Leave,
    Poll,
    Send,
    Settings,
    broken,
    check,
    simulate,
    start,
    step,
)

__all__ = [
    "INVARIANTS",
    "PROMISES",
    "BrokerCrashed",
    "BrokerStarted",
    "Commit",
    "Event",
    "FollowersFetch",
    "Join",
    "Journey",
    "Leave",
    "Poll",
    "Send",
    "Settings",
    "broken",
    "check",
    "simulate",
    "start",
    "step",
]
