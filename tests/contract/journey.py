"""The whole path of a record."""

from kafkalearn.journey import BrokerCrashed, BrokerStarted, Join, Leave, Settings
from kafkalearn.journey.film import STORY
from tests.contract.simulator import Run, Simulator

SIMULATORS = {
    "journey": Simulator(
        "kafkalearn.journey",
        [Run(Settings(), [*STORY, BrokerCrashed(2), Leave("c1"), BrokerStarted(2)])],
        [BrokerStarted(1), Join("c1")],
    )
}
