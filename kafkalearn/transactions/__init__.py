"""Transactions: the coordinator, the partitions that it sends markers to, the groups whose offsets are part of them.

A simulator: `Cluster` is the state, requests with their Kafka names are the events, `MarkerArrived` is what follows a
decision, `simulate` runs them. `Settings` have the release, the cluster's ``transaction.version`` and whether brokers
verify. `history.replay` plays a recorded history and shows what an observer would have seen.

>>> settings = Settings(transaction_version=1, verification=False)
>>> late = Produce("x", "t-0", 0, 0, 1, version=11)
>>> trace = simulate(settings, [InitProducerId("x", 4), AddPartitionsToTxn("x", 0, 0, ("t-0",)), Produce("x", "t-0",
...     0, 0, 0, version=11), EndTxn("x", 0, 0, commit=False, version=4), MarkerArrived("x", "t-0"), late])
>>> broken(settings, trace[-1].state)  # the record came after the abort: it holds every reader back
('a reader is held back only by a transaction that its coordinator knows to be open',)
"""

from kafkalearn.transactions.model import (
    AddOffsetsToTxn,
    AddPartitionsToTxn,
    BrokerRestarted,
    CoordinatorLoaded,
    EndTxn,
    InitProducerId,
    Join,
    LeaderCameBack,
    LeaderWentAway,
    MarkerArrived,
    OffsetCommit,
    Produce,
    Settings,
    TimePassed,
    TxnOffsetCommit,
    WriteTxnMarkers,
    start,
)
from kafkalearn.transactions.simulator import (
    INVARIANTS,
    PROMISES,
    broken,
    check,
    simulate,
    step,
)

__all__ = [
    "INVARIANTS",
    "PROMISES",
    "AddOffsetsToTxn",
    "AddPartitionsToTxn",
    "BrokerRestarted",
    "CoordinatorLoaded",
    "EndTxn",
    "InitProducerId",
    "Join",
    "LeaderCameBack",
    "LeaderWentAway",
    "MarkerArrived",
    "OffsetCommit",
    "Produce",
    "Settings",
    "TimePassed",
    "TxnOffsetCommit",
    "WriteTxnMarkers",
    "broken",
    "check",
    "simulate",
    "start",
    "step",
]
