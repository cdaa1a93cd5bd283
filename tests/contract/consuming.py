"""What members of groups read of a topic: the simulator for the contract."""

from kafkalearn.consuming import Join, Leave, Poll, Produce, Settings
from tests.contract.simulator import Run, Simulator

EVENTS = (
    Produce("A1", b"A"),
    Join("billing", "b0"),
    Join("search", "s0"),
    Join("billing", "b1"),
    *[Produce("r")] * 5,
    Poll("billing", "b0", 2),
    Poll("search", "s0", 9),
    Leave("billing", "b0"),
    Poll("billing", "b1"),
    Poll("billing", "b1"),
    Leave("billing", "b1"),
)

SIMULATOR = Simulator(
    home="kafkalearn.consuming",
    runs=(
        Run(Settings(3), EVENTS),
        Run(Settings(1, assignor="cooperative-sticky", auto_offset_reset="latest"), EVENTS),
    ),
    senseless=(Leave("billing", "b0"), Poll("billing", "b0")),
)
