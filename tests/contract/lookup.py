"""The look-up of a group's coordinator, held to the contract."""

from kafkalearn.coordinator.lookup import AskLeader, ReadUnit, Settings, TakeAbsolute, TakeRemainder
from tests.contract.simulator import Run, Simulator

END = (TakeAbsolute(), TakeRemainder(), AskLeader())

SIMULATOR = Simulator(
    home="kafkalearn.coordinator.lookup",
    runs=(
        Run(Settings("ok", leaders=(1, 2, 3), partition_count=3), (ReadUnit(), ReadUnit(), *END)),
        Run(Settings("😀", leaders=(1, None), partition_count=2), (ReadUnit(), ReadUnit(), *END)),
    ),
    senseless=END,
)
