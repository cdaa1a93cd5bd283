"""Requests that wait for a partition under the contract."""

from kafkalearn.purgatory.requests import ConsumerFetch, DelayedDelete, Settings, SizedProduce
from kafkalearn.replication.events import BrokerRestarted, Fetch, LeaderElected, Produce, TimePassed
from tests.contract.simulator import Run, Simulator

SIMULATOR = Simulator(
    home="kafkalearn.purgatory.requests",
    runs=(
        Run(
            Settings(replica_count=2),
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
    senseless=(Fetch(9), BrokerRestarted(1)),
    effects_in=("kafkalearn.replication.events",),
)
