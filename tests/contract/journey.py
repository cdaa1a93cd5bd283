"""The whole path of a record."""

from kafkalearn.journey import BrokerDied, BrokerReturned, Join, Leave, Settings
from kafkalearn.journey.film import STORY
from tests.contract.simulator import Run, Simulator

SIMULATORS = {
    "journey": Simulator(
        "kafkalearn.journey",
        [Run(Settings(), [*STORY, BrokerDied(2), Leave("c1"), BrokerReturned(2)])],
        [BrokerReturned(1), Join("c1")],
    )
}
