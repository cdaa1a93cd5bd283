"""A coordinator's life under the contract: a takeover and back, in each way to treat orders, with timers."""

from kafkalearn.operations.coordinator_life import (
    BrokerBack,
    BrokerLost,
    CoordinatorStarted,
    GroupStored,
    LeaderImbalanceChecked,
    LoadRead,
    OrderCarriedOut,
    Request,
    Settings,
    TimePassed,
    TransactionEnded,
)
from tests.contract.simulator import Run, Simulator

EVENTS = (
    GroupStored("billing", ("c1", "c2")),
    Request(1, "OffsetCommit", member_id="c1", offset=7),
    Request(1, "OffsetCommit", group_id="copies", offset=3, producer_id=5),
    BrokerLost(1),
    Request(1, "Heartbeat", member_id="c1"),
    Request(2, "FindCoordinator"),
    OrderCarriedOut(2, 1),
    Request(2, "Heartbeat", member_id="c1"),
    LoadRead(2, 1),
    LoadRead(2),
    TransactionEnded(5, is_commit=True),
    Request(2, "Heartbeat", member_id="c1"),
    TimePassed(60_000),
    BrokerBack(1),
    CoordinatorStarted(1),
    LeaderImbalanceChecked(),
    OrderCarriedOut(1, 2),
    LoadRead(1),
    OrderCarriedOut(2, 2),
    Request(2, "OffsetFetch"),
    TimePassed(600_000),
    BrokerLost(2),
    BrokerLost(1),
    Request(1, "FindCoordinator"),
)

SIMULATOR = Simulator(
    home="kafkalearn.operations.coordinator_life",
    runs=tuple(Run(Settings(release, (1, 2, 3), (1, 2)), EVENTS) for release in ("1.1", "2.8.0", "3.9", "4.3")),
    senseless=(
        BrokerBack(1), BrokerLost(9), CoordinatorStarted(1), OrderCarriedOut(1, 1), LoadRead(1),
        Request(4, "SyncGroup"),
    ),
    effects_in=("kafkalearn.operations.leadership",),
)  # fmt: skip
