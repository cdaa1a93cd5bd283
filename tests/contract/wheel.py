"""Timing wheels under the contract."""

from kafkalearn.purgatory.wheel import Add, Advance, Cancel, Flush, Settings
from tests.contract.simulator import Run, Simulator

SIMULATOR = Simulator(
    home="kafkalearn.purgatory.wheel",
    runs=(
        Run(Settings(), (Add("a", 7), Add("b", 445), Add("now", 0), Cancel("a"), Flush(400), Advance(450))),
        Run(Settings(10, 3, 1003), (Add("a", 45), Add("a", 5), Add("b", 300), Advance(1400))),
    ),
    senseless=(Cancel("a"), Flush(3)),
)
