"""Replication: a partition on its brokers."""

from kafkalearn.replication.events import (
    AlterPartitionAnswered,
    AlterPartitionReassignments,
    BrokerCrashed,
    BrokerFrozen,
    BrokerReconnected,
    BrokerRegistered,
    BrokerRestarted,
    BrokerStopped,
    BrokerThawed,
    BrokerUnfenced,
    Consume,
    ControlledShutdownStarted,
    DeleteRecords,
    ElectLeaders,
    Fetch,
    HighWatermarkCheckpointed,
    IsrChecked,
    IsrSet,
    LeaderElected,
    LeaderImbalanceChecked,
    Produce,
    SessionExpired,
    TimePassed,
)
from kafkalearn.replication.settings import Settings
from tests.contract.simulator import Run, Simulator

COPIED = (Produce(2), Fetch(2), Fetch(3), Fetch(2), Fetch(3), Consume(), HighWatermarkCheckpointed(1), DeleteRecords(1))
LAGS = (BrokerFrozen(3), Produce(), Fetch(2), TimePassed(30_001), IsrChecked(), AlterPartitionAnswered())
RESTARTS = (BrokerThawed(3), BrokerReconnected(3), Fetch(3), BrokerCrashed(1), SessionExpired(1), BrokerRestarted(1))
ASKED = AlterPartitionReassignments((4, 2, 3))
MOVES = (Produce(), ASKED, Fetch(4), Fetch(4), AlterPartitionAnswered(), ASKED, AlterPartitionReassignments(None))
STOPS = (ControlledShutdownStarted(4), BrokerStopped(4), BrokerRegistered(4), BrokerUnfenced(4), Fetch(4), Fetch(4))
GIVEN_BACK = (AlterPartitionAnswered(), LeaderImbalanceChecked(), ElectLeaders(), ElectLeaders("unclean"))

SIMULATOR = Simulator(
    home="kafkalearn.replication",
    runs=(
        Run(Settings(), (*COPIED, *LAGS, *RESTARTS, BrokerStopped(2))),
        Run(Settings(broker_count=4, fetch_wait_max_ms=0), (*MOVES, *STOPS, *GIVEN_BACK)),
        Run(
            Settings(2, "0.10.2"), (Produce(acks=1), Fetch(2), BrokerCrashed(1), SessionExpired(1), BrokerRestarted(1))
        ),
    ),
    senseless=(
        Fetch(1),
        Fetch(9),
        AlterPartitionAnswered(),
        BrokerRestarted(1),
        Produce(to_broker=9),
        LeaderElected(9, (1, 9)),
        IsrSet((1, 9)),
        BrokerUnfenced(1),
        BrokerRegistered(1),
        ControlledShutdownStarted(9),
    ),
)
