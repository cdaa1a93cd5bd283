"""One partition of the offsets topic on its brokers: the path of a commit, and the life of its coordinator.

A simulator made of two others: the brokers are those of `kafkalearn.replication`, what a coordinator answers and
writes is the rule of `kafkalearn.offsets.store`. The broker that leads the partition is the coordinator. A commit is
appended to its log at once, and answered when the high watermark has passed it; until then only those who wait for it
see it. When the leadership moves, the new leader loads the log, and the old one answers NOT_COORDINATOR.

`ReplicatedStore` is the state. Events are the requests of the store, which go to the coordinator (`SentTo` to another
broker), `Sweep`, `Load`, `Produce`, and what happens to brokers, from `kafkalearn.replication`; a follower's fetch is
`kafkalearn.offsets.replicated.events.FollowerFetch`.

>>> from kafkalearn.offsets.replicated.effects import Answered
>>> from kafkalearn.offsets.replicated.events import FollowerFetch
>>> from kafkalearn.offsets.store import Commit, Fetch
>>> commit = Commit("billing", "orders", 0, offset=7, now_ms=0)
>>> fetches = [FollowerFetch(2), FollowerFetch(3), FollowerFetch(2), FollowerFetch(3)]
>>> trace = simulate(Settings(), [commit, Fetch("billing", "orders", 0), *fetches, Fetch("billing", "orders", 0)])
>>> [each.answer.offset for frame in trace for each in frame.state.effects if isinstance(each, Answered)]
[-1, None, 7]

`stories` has runs of both kinds, as lists of events.
"""

from kafkalearn.offsets.replicated import stories
from kafkalearn.offsets.replicated.events import SentTo
from kafkalearn.offsets.replicated.promises import INVARIANTS, PROMISES, broken, check
from kafkalearn.offsets.replicated.settings import Settings
from kafkalearn.offsets.replicated.simulator import simulate, step
from kafkalearn.offsets.replicated.state import start

__all__ = [
    "INVARIANTS",
    "PROMISES",
    "SentTo",
    "Settings",
    "broken",
    "check",
    "simulate",
    "start",
    "step",
    "stories",
]
