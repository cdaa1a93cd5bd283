"""A rebalance by a client's assignor, eager and cooperative, held to the contract."""

from kafkalearn.assignors.carrying_out import AllGaveUp, Assigned, GroupChanged, Settings
from kafkalearn.assignors.members import Member
from tests.contract.simulator import Run, Simulator

COUNTS = {"orders": 4, "payments": 3}
TRIO = tuple(Member(f"billing-{number}", ["orders", "payments"]) for number in range(3))
CHANGED = (Member("billing-1", ["orders"]), TRIO[2], Member("billing-3", ["orders", "payments"]))

SIMULATOR = Simulator(
    home="kafkalearn.assignors.carrying_out",
    runs=(
        Run(Settings("sticky", COUNTS, TRIO), (GroupChanged(CHANGED), AllGaveUp(), Assigned())),
        Run(Settings("range", COUNTS, TRIO), (AllGaveUp(), GroupChanged(CHANGED), Assigned())),
        Run(Settings("cooperative-sticky", COUNTS, TRIO), (GroupChanged(CHANGED), Assigned(), Assigned())),
    ),
    senseless=(GroupChanged((TRIO[0], TRIO[0])),),
)
