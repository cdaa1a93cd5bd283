"""A rebalance carried out moment by moment, eager or cooperative: a simulator.

`kafkalearn.assignor.rebalance` is a whole run of it.
"""

from kafkalearn.assignor.carrying_out.events import AllGaveUp, Assigned, GroupChanged
from kafkalearn.assignor.carrying_out.promises import INVARIANTS, PROMISES, broken, check
from kafkalearn.assignor.carrying_out.settings import Settings
from kafkalearn.assignor.carrying_out.simulator import simulate, step
from kafkalearn.assignor.carrying_out.state import start

__all__ = [
    "INVARIANTS",
    "PROMISES",
    "AllGaveUp",
    "Assigned",
    "GroupChanged",
    "Settings",
    "broken",
    "check",
    "simulate",
    "start",
    "step",
]
