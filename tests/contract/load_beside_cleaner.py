"""A load beside the cleaner: the simulator for the contract."""

from kafkalearn.log.model import Clean, Roll
from kafkalearn.operations.loading import LoadBegun, LoadRead, Settings, Written
from tests.contract.simulator import Run, Simulator

EVENTS = (
    Written("A", 1, (0,)),
    Written("A", 2),
    Written("B", 2, (0,)),
    Written("A", 3, (1,)),
    Roll(),
    LoadBegun(),
    LoadRead(1),
    Clean(0),
    LoadRead(1),
)

SIMULATOR = Simulator(
    home="kafkalearn.operations.loading",
    runs=(Run(Settings(), (*EVENTS, LoadRead(9))), Run(Settings("4.0.1"), (*EVENTS, LoadBegun(), LoadRead(9)))),
    senseless=(LoadRead(),),
)
