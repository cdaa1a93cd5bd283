"""A cluster at work: its leaders, a coordinator's life, a broker that dies, reassignments with a throttle."""

from kafkalearn.operations import coordinator_life as life
from kafkalearn.operations import failover, leadership, throttles
from kafkalearn.operations.coordinator_life import (
    CoordinatorStarted,
    GroupStored,
    LoadRead,
    OrderCarriedOut,
    Request,
    TransactionEnded,
)
from kafkalearn.operations.failover import BrokerCrashed, BrokerStarted, BrokerStopped, SecondPassed
from kafkalearn.operations.leadership import ElectLeaders
from kafkalearn.operations.reassignment import Target
from kafkalearn.operations.throttles import Cancel, Copied, Execute, Verify
from tests.contract.simulator import Run, Simulator

SIMULATORS = {}

# The leaders of a cluster.
LEADERS_MOVE = (
    leadership.BrokerFenced(1),
    leadership.BrokerFenced(2),
    leadership.BrokerUnfenced(1),
    leadership.TimePassed(300_000),
    leadership.BrokerUnfenced(2),
    ElectLeaders("orders", 1),
    leadership.LeaderImbalanceChecked(),
    ElectLeaders(),
)
SIMULATORS["leadership"] = Simulator(
    home="kafkalearn.operations.leadership",
    runs=(
        Run(leadership.Settings((1, 2, 3)), LEADERS_MOVE),
        Run(leadership.Settings((1, 2), "2.8", imbalance_percentage=0), LEADERS_MOVE),
    ),
    senseless=(leadership.BrokerUnfenced(1), leadership.BrokerFenced(9)),
)

# A coordinator's life: a takeover and back, in each way to treat orders, with timers.
TAKEOVER_AND_BACK = (
    GroupStored("billing", ("c1", "c2")),
    Request(1, "OffsetCommit", member_id="c1", offset=7),
    Request(1, "OffsetCommit", group_id="copies", offset=3, producer_id=5),
    life.BrokerFenced(1),
    Request(1, "Heartbeat", member_id="c1"),
    Request(2, "FindCoordinator"),
    OrderCarriedOut(2, 1),
    Request(2, "Heartbeat", member_id="c1"),
    LoadRead(2, 1),
    LoadRead(2),
    TransactionEnded(5, is_commit=True),
    Request(2, "Heartbeat", member_id="c1"),
    life.TimePassed(60_000),
    life.BrokerUnfenced(1),
    CoordinatorStarted(1),
    life.LeaderImbalanceChecked(),
    OrderCarriedOut(1, 2),
    LoadRead(1),
    OrderCarriedOut(2, 2),
    Request(2, "OffsetFetch"),
    life.TimePassed(600_000),
    life.BrokerFenced(2),
    life.BrokerFenced(1),
    Request(1, "FindCoordinator"),
)
SIMULATORS["coordinator_life"] = Simulator(
    home="kafkalearn.operations.coordinator_life",
    runs=tuple(
        Run(life.Settings(release, (1, 2, 3), (1, 2)), TAKEOVER_AND_BACK) for release in ("1.1", "2.8.0", "3.9", "4.3")
    ),
    senseless=(
        life.BrokerUnfenced(1),
        life.BrokerFenced(9),
        CoordinatorStarted(1),
        OrderCarriedOut(1, 1),
        LoadRead(1),
        Request(4, "SyncGroup"),
    ),
    effects_in=("kafkalearn.operations.leadership",),
)

# A broker dies, its groups move, and come back.
ONE_DIES_ONE_STOPS = (
    SecondPassed(),
    BrokerCrashed(1),
    *[SecondPassed()] * 12,
    BrokerStarted(1),
    SecondPassed(),
    BrokerStopped(2),
    *[SecondPassed()] * 6,
)
SIMULATORS["failover"] = Simulator(
    home="kafkalearn.operations.failover",
    runs=(
        Run(failover.Settings(load_s=2), ONE_DIES_ONE_STOPS),
        Run(failover.Settings("1.1", load_s=3), ONE_DIES_ONE_STOPS),
        Run(failover.Settings(replicas=(1,)), ONE_DIES_ONE_STOPS),
    ),
    senseless=(BrokerStarted(1), BrokerCrashed(9)),
    effects_in=("kafkalearn.operations.coordinator_life.model", "kafkalearn.operations.leadership"),
)

# The throttles of reassignments.
SETTINGS = throttles.Settings((1, 2, 3, 4), {"big": [(1, 2)], "orders": [(1, 2), (2, 3)]})
BIG = (Target("big", 0, (3, 4)),)
ORDERS = (Target("orders", 0, (2, 3)), Target("orders", 1, (3, 2)))
SIMULATORS["throttles"] = Simulator(
    home="kafkalearn.operations.throttles",
    runs=(
        Run(SETTINGS, (Execute(BIG, 1000), Verify(BIG), Copied("big", 0), Verify(BIG))),
        Run(SETTINGS, (Execute(BIG, 1000), Execute(ORDERS), Execute(ORDERS, 500, is_additional=True), Cancel(ORDERS))),
        Run(SETTINGS, (Execute(ORDERS), Cancel(BIG, keeps_throttles=True), Cancel(ORDERS))),
    ),
    senseless=(Copied("big", 0), Copied("nothing", 0)),
)
