"""Replication: a partition on its brokers."""

from kafkalearn.replication.events import (
    AlterPartitionAnswered,
    BrokerCrashed,
    BrokerFrozen,
    BrokerReconnected,
    BrokerRestarted,
    BrokerStopped,
    BrokerThawed,
    Consume,
    DeleteRecords,
    Fetch,
    HighWatermarkCheckpointed,
    IsrChecked,
    IsrSet,
    LeaderElected,
    Produce,
    SessionExpired,
    TimePassed,
)
from kafkalearn.replication.settings import Settings
from tests.contract.simulator import Run, Simulator

COPIED = (Produce(2), Fetch(2), Fetch(3), Fetch(2), Fetch(3), Consume(), HighWatermarkCheckpointed(1), DeleteRecords(1))
LAGS = (BrokerFrozen(3), Produce(), Fetch(2), TimePassed(30_001), IsrChecked(), AlterPartitionAnswered())
RESTARTS = (BrokerThawed(3), BrokerReconnected(3), Fetch(3), BrokerCrashed(1), SessionExpired(1), BrokerRestarted(1))

SIMULATOR = Simulator(
    home="kafkalearn.replication",
    runs=(
        Run(Settings(), (*COPIED, *LAGS, *RESTARTS, BrokerStopped(2))),
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
    ),
)
