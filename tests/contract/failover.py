"""A broker dies, its groups move, and come back: the simulator for the contract."""

from kafkalearn.operations.failover import BrokerDied, BrokerStarted, BrokerStopped, SecondPassed, Settings
from tests.contract.simulator import Run, Simulator

EVENTS = (
    SecondPassed(),
    BrokerDied(1),
    *[SecondPassed()] * 12,
    BrokerStarted(1),
    SecondPassed(),
    BrokerStopped(2),
    *[SecondPassed()] * 6,
)

SIMULATOR = Simulator(
    home="kafkalearn.operations.failover",
    runs=(
        Run(Settings(load_s=2), EVENTS),
        Run(Settings("1.1", load_s=3), EVENTS),
        Run(Settings(replicas=(1,)), EVENTS),
    ),
    senseless=(BrokerStarted(1), BrokerDied(9)),
    effects_in=("kafkalearn.operations.coordinator_life.model", "kafkalearn.operations.leadership"),
)
