"""Which broker coordinates my group: the rule at once (`find_coordinator`), and step by step (`look_up`).

The simulator of the look-up: `Settings` name the group and the leaders, the events `ReadUnit`, `TakeAbsolute`,
`TakeRemainder` and `AskLeader` are its steps, `simulate` runs them.

Whom the clients of a topic are connected to, where offsets could live besides, and what that would cost, is in the
module `places`.
"""

from kafkalearn.coordinator.leaders import round_robin_leaders
from kafkalearn.coordinator.lookup import (
    INVARIANTS,
    PROMISES,
    AskLeader,
    ReadUnit,
    Settings,
    TakeAbsolute,
    TakeRemainder,
    broken,
    check,
    look_up,
    simulate,
    start,
    step,
)
from kafkalearn.coordinator.rule import FORMULAS, find_coordinator, offsets_partition

__all__ = [
    "FORMULAS",
    "INVARIANTS",
    "PROMISES",
    "AskLeader",
    "ReadUnit",
    "Settings",
    "TakeAbsolute",
    "TakeRemainder",
    "broken",
    "check",
    "find_coordinator",
    "look_up",
    "offsets_partition",
    "round_robin_leaders",
    "simulate",
    "start",
    "step",
]
