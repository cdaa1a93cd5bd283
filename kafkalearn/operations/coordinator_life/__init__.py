"""A group coordinator's life: election, load, resignation, late orders, timers; and what clients hear meanwhile.

A simulator: `Life` is the state, one partition of ``__consumer_offsets`` on its brokers. Brokers are lost and come
back as in `kafkalearn.operations.leadership`; a change of leader becomes orders, which a broker carries out in any
order; `LoadRead` reads the log; a `Request` is answered as the release answers it then.

>>> events = [BrokerFenced(1), OrderCarriedOut(2, epoch=1), Request(2, "OffsetCommit"), LoadRead(2)]
>>> trace = simulate(Settings(), [*events, Request(2, "OffsetCommit")])
>>> trace[3].state.effects[0].error, trace[-1].state.effects[0].error
('COORDINATOR_LOAD_IN_PROGRESS', 'NONE')
"""

from kafkalearn.operations.coordinator_life.model import (
    BrokerFenced,
    BrokerUnfenced,
    CoordinatorStarted,
    ElectLeaders,
    GroupStored,
    LeaderImbalanceChecked,
    Life,
    LoadRead,
    OrderCarriedOut,
    Request,
    Settings,
    TimePassed,
    TransactionEnded,
    start,
)
from kafkalearn.operations.coordinator_life.search import find
from kafkalearn.operations.coordinator_life.simulator import (
    INVARIANTS,
    PROMISES,
    answer_without_group,
    broken,
    check,
    simulate,
    step,
)

__all__ = [
    "INVARIANTS",
    "PROMISES",
    "BrokerFenced",
    "BrokerUnfenced",
    "CoordinatorStarted",
    "ElectLeaders",
    "GroupStored",
    "LeaderImbalanceChecked",
    "Life",
    "LoadRead",
    "OrderCarriedOut",
    "Request",
    "Settings",
    "TimePassed",
    "TransactionEnded",
    "answer_without_group",
    "broken",
    "check",
    "find",
    "simulate",
    "start",
    "step",
]
