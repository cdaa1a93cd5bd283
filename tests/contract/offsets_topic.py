"""The offsets topic on its brokers, held to the contract."""

from kafkalearn.operations.offsets_topic import BrokerDied, BrokerStarted, FindCoordinator, Reassigned, Settings
from tests.contract.simulator import Run, Simulator

UP = tuple(BrokerStarted(each) for each in (1, 2, 3))
ASKED = FindCoordinator("billing")
ALL = tuple((1, 2, 3) for _ in range(4))
OTHERS = tuple((3, 2) for _ in range(4))  # the brokers that live when broker 1 is dead

SIMULATOR = Simulator(
    home="kafkalearn.operations.offsets_topic",
    runs=(
        Run(
            Settings(replication_factor=1, partition_count=4),
            (*UP, ASKED, ASKED, BrokerDied(1), ASKED, Reassigned(ALL), Reassigned(OTHERS), UP[0], Reassigned(ALL)),
        ),
        Run(Settings(release="0.10.2", partition_count=4), (UP[0], ASKED, *UP[1:], BrokerDied(1), ASKED, UP[0], ASKED)),
        Run(Settings(partition_count=4), (UP[0], ASKED, UP[1], ASKED, UP[2], ASKED, BrokerDied(3), ASKED)),
    ),
    senseless=(BrokerDied(1), BrokerStarted(9), ASKED, Reassigned(((1,),))),
)
