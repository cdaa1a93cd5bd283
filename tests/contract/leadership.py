"""The leaders of a cluster: the simulator for the contract."""

from kafkalearn.operations.leadership import (
    BrokerBack,
    BrokerLost,
    ElectLeaders,
    LeaderImbalanceChecked,
    Settings,
    TimePassed,
)
from tests.contract.simulator import Run, Simulator

EVENTS = (
    BrokerLost(1),
    BrokerLost(2),
    BrokerBack(1),
    TimePassed(300_000),
    BrokerBack(2),
    ElectLeaders("orders", 1),
    LeaderImbalanceChecked(),
    ElectLeaders(),
)

SIMULATOR = Simulator(
    home="kafkalearn.operations.leadership",
    runs=(Run(Settings((1, 2, 3)), EVENTS), Run(Settings((1, 2), "2.8", imbalance_percentage=0), EVENTS)),
    senseless=(BrokerBack(1), BrokerLost(9)),
)
