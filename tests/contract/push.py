"""The same records pulled and pushed: the simulator for the contract."""

from kafkalearn.consuming.push import Process, Produce, Rewind, Settings
from tests.contract.simulator import Run, Simulator

EVENTS = (
    *[Produce()] * 6,
    Process("billing", 3),
    Produce(),
    Process("search"),
    Rewind("billing", 3),
    Process("billing"),
)

SIMULATOR = Simulator(
    home="kafkalearn.consuming.push",
    runs=(
        Run(Settings(("billing", "search"), queue_limit=4, retention=5), EVENTS),
        Run(Settings(("billing", "search"), queue_limit=2, prefetch=1, when_full="refuse"), EVENTS),
    ),
    senseless=(Process("shipping"), Rewind("billing", 5)),
)
