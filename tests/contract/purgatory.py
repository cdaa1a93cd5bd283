"""Where requests wait: timing wheels, operations with their watchers, and fetches of a partition."""

from kafkalearn.purgatory import operations, requests, wheel
from kafkalearn.purgatory.requests import ConsumerFetch, DelayedDelete, SizedProduce
from kafkalearn.purgatory.wheel import Add, Advance, Cancel, Flush
from kafkalearn.replication import BrokerStarted, Fetch, LeaderElected, Produce, TimePassed
from tests.contract.simulator import Run, Simulator

SIMULATORS = {}

# Timing wheels.
SIMULATORS["wheel"] = Simulator(
    home="kafkalearn.purgatory.wheel",
    runs=(
        Run(wheel.Settings(), (Add("a", 7), Add("b", 445), Add("now", 0), Cancel("a"), Flush(400), Advance(450))),
        Run(wheel.Settings(10, 3, 1003), (Add("a", 45), Add("a", 5), Add("b", 300), Advance(1400))),
    ),
    senseless=(Cancel("a"), Flush(3)),
)

# The purgatory's operations.
WATCHED = (
    operations.TryCompleteElseWatch(operations.delayed_produce("p1", {"orders-0": 7, "orders-1": 3})),
    operations.TryCompleteElseWatch(operations.delayed_heartbeat("beat 1", "billing", "c1")),
    operations.FactChanged("HW orders-0", 8),
    operations.TryCompleteElseWatch(operations.delayed_produce("p2", {"orders-0": 7})),
    operations.TryCompleteElseWatch(operations.delayed_fetch("f1", {"orders-0": 0}), (("HW bytes orders-0", 100),)),
    operations.TryCompleteElseWatch(operations.delayed_fetch("f2", {"orders-1": 0}, max_wait_ms=0)),
    operations.FactChanged("HW orders-1", 4),
    operations.CheckAndComplete("orders-1"),
    operations.ForceComplete("beat 1"),
    operations.TimePassed(45_000),
)
SIMULATORS["operations"] = Simulator(
    home="kafkalearn.purgatory.operations",
    runs=(Run(operations.Settings(), WATCHED), Run(operations.Settings(purge_interval=1), WATCHED)),
    senseless=(
        operations.ForceComplete("p1"),
        operations.TryCompleteElseWatch(operations.Operation("x", (), operations.Never(), 5)),
    ),
)

# Requests that wait for a partition.
SIMULATORS["requests"] = Simulator(
    home="kafkalearn.purgatory.requests",
    runs=(
        Run(
            requests.Settings(replica_count=2),
            (
                Fetch(2),
                ConsumerFetch("c1", 0, min_bytes=250, max_wait_ms=5000),
                ConsumerFetch("c2", 0, max_wait_ms=400),
                SizedProduce(Produce(acks="all", timeout_ms=1000), 200),
                TimePassed(400),
                Fetch(2),
                ConsumerFetch("c3", 9),
                DelayedDelete(1),
                Fetch(2),
                LeaderElected(2, (1, 2)),
            ),
        ),
    ),
    senseless=(Fetch(9), BrokerStarted(1)),
    effects_in=("kafkalearn.replication.events",),
)
