"""The purgatory's operations under the contract."""

from kafkalearn.purgatory.operations import (
    CheckAndComplete,
    FactChanged,
    ForceComplete,
    Never,
    Operation,
    Settings,
    TimePassed,
    TryCompleteElseWatch,
    delayed_fetch,
    delayed_heartbeat,
    delayed_produce,
)
from tests.contract.simulator import Run, Simulator

EVENTS = (
    TryCompleteElseWatch(delayed_produce("p1", {"orders-0": 7, "orders-1": 3})),
    TryCompleteElseWatch(delayed_heartbeat("beat 1", "billing", "c1")),
    FactChanged("HW orders-0", 8),
    TryCompleteElseWatch(delayed_produce("p2", {"orders-0": 7})),
    TryCompleteElseWatch(delayed_fetch("f1", {"orders-0": 0}), (("HW bytes orders-0", 100),)),
    TryCompleteElseWatch(delayed_fetch("f2", {"orders-1": 0}, max_wait_ms=0)),
    FactChanged("HW orders-1", 4),
    CheckAndComplete("orders-1"),
    ForceComplete("beat 1"),
    TimePassed(45_000),
)
SIMULATOR = Simulator(
    home="kafkalearn.purgatory.operations",
    runs=(Run(Settings(), EVENTS), Run(Settings(purge_interval=1), EVENTS)),
    senseless=(ForceComplete("p1"), TryCompleteElseWatch(Operation("x", (), Never(), 5))),
)
