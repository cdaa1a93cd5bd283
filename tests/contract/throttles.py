"""The throttles of reassignments, held to the contract."""

from kafkalearn.operations.reassignment import Target
from kafkalearn.operations.throttles import Cancel, Copied, Execute, Settings, Verify
from tests.contract.simulator import Run, Simulator

SETTINGS = Settings((1, 2, 3, 4), {"big": [(1, 2)], "orders": [(1, 2), (2, 3)]})
BIG = (Target("big", 0, (3, 4)),)
ORDERS = (Target("orders", 0, (2, 3)), Target("orders", 1, (3, 2)))

SIMULATOR = Simulator(
    home="kafkalearn.operations.throttles",
    runs=(
        Run(SETTINGS, (Execute(BIG, 1000), Verify(BIG), Copied("big", 0), Verify(BIG))),
        Run(SETTINGS, (Execute(BIG, 1000), Execute(ORDERS), Execute(ORDERS, 500, is_additional=True), Cancel(ORDERS))),
        Run(SETTINGS, (Execute(ORDERS), Cancel(BIG, keeps_throttles=True), Cancel(ORDERS))),
    ),
    senseless=(Copied("big", 0), Copied("nothing", 0)),
)
