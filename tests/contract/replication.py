"""A partition on its brokers, a producer in front of it, and a group that reads it while it is cut."""

from kafkalearn.consuming import truncation
from kafkalearn.consuming.truncation import Assign, Commit, Poll, RefreshMetadata
from kafkalearn.delivery import model as delivery
from kafkalearn.delivery.model import (
    AnswerArrived,
    ConnectionLost,
    GaveUp,
    LateAnswerArrived,
    ProduceRequest,
    ProducerSettings,
    RequestArrived,
    RequestSent,
    Send,
    SendAgain,
    TopicSettings,
)
from kafkalearn.replication import (
    AlterPartitionAnswered,
    AlterPartitionReassignments,
    BrokerCrashed,
    BrokerFrozen,
    BrokerReconnected,
    BrokerRegistered,
    BrokerStarted,
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
    Settings,
    TimePassed,
)
from tests.contract.simulator import Run, Simulator

SIMULATORS = {}

# Replication: a partition on its brokers.
COPIED = (Produce(2), Fetch(2), Fetch(3), Fetch(2), Fetch(3), Consume(), HighWatermarkCheckpointed(1), DeleteRecords(1))
LAGS = (BrokerFrozen(3), Produce(), Fetch(2), TimePassed(30_001), IsrChecked(), AlterPartitionAnswered())
RESTARTS = (BrokerThawed(3), BrokerReconnected(3), Fetch(3), BrokerCrashed(1), SessionExpired(1), BrokerStarted(1))
ASKED = AlterPartitionReassignments((4, 2, 3))
MOVES = (Produce(), ASKED, Fetch(4), Fetch(4), AlterPartitionAnswered(), ASKED, AlterPartitionReassignments(None))
STOPS = (ControlledShutdownStarted(4), BrokerStopped(4), BrokerRegistered(4), BrokerUnfenced(4), Fetch(4), Fetch(4))
GIVEN_BACK = (AlterPartitionAnswered(), LeaderImbalanceChecked(), ElectLeaders(), ElectLeaders("unclean"))
SIMULATORS["replication"] = Simulator(
    home="kafkalearn.replication",
    runs=(
        Run(Settings(), (*COPIED, *LAGS, *RESTARTS, BrokerStopped(2))),
        Run(Settings(broker_count=4, fetch_wait_max_ms=0), (*MOVES, *STOPS, *GIVEN_BACK)),
        Run(
            Settings(2, "0.10.2"),
            (Produce(acks=1, values=("x",)), Fetch(2), BrokerCrashed(1), SessionExpired(1), BrokerStarted(1)),
        ),
    ),
    senseless=(
        Fetch(1),
        Fetch(9),
        AlterPartitionAnswered(),
        BrokerStarted(1),
        Produce(to_broker=9),
        LeaderElected(9, (1, 9)),
        IsrSet((1, 9)),
        BrokerUnfenced(1),
        BrokerRegistered(1),
        ControlledShutdownStarted(9),
    ),
)

# Delivery: a producer in front of a replicated partition.
TWO = TopicSettings(2, fetch_wait_max_ms=0)
RETRIED = (Send(), RequestArrived(), ConnectionLost(), RequestSent(), RequestArrived(), Fetch(2), Fetch(2))
SIMULATORS["delivery"] = Simulator(
    home="kafkalearn.delivery",
    runs=(
        Run(
            delivery.Settings(TWO),
            (*RETRIED, AnswerArrived(), Send(2), GaveUp(), ProduceRequest(("x",), producer_id=7)),
        ),
        Run(
            delivery.Settings(TWO),
            (Send(), Send(), RequestArrived(), TimePassed(30_000), LateAnswerArrived(), RequestArrived()),
        ),
        Run(
            delivery.Settings(TWO, ProducerSettings(acks=1)),
            (
                Send(),
                Send(),
                RequestArrived(),
                AnswerArrived(),
                BrokerCrashed(1),
                SessionExpired(1),
                BrokerStarted(1),
            ),
        ),
        Run(
            delivery.Settings(TWO, ProducerSettings(puts_failures_aside=True)),
            (Send(), ConnectionLost(), GaveUp(), SendAgain(), RequestArrived()),
        ),
        Run(
            delivery.Settings(TWO, ProducerSettings(acks=0)),
            (Send(values=("a", "b")), RequestArrived(), TimePassed(500)),
        ),
    ),
    senseless=(
        SendAgain(),
        RequestSent(),
        RequestArrived(),
        AnswerArrived(),
        LateAnswerArrived(),
        ConnectionLost(),
        GaveUp(),
        Produce(),
        Fetch(1),
    ),
    effects_in=("kafkalearn.replication.events",),
)

# A group that reads a partition whose log is cut.
PAIR = Settings(2, is_unclean_election_enabled=True, has_eligible_leader_replicas=False, fetch_wait_max_ms=0)
READ_BY_A = (Produce(2), Fetch(2), Fetch(2), Assign("A"), Poll(), Poll(), BrokerCrashed(2), SessionExpired(2))
CUT = (Produce(acks=1), Poll(), Commit(), BrokerCrashed(1), SessionExpired(1), BrokerStarted(2))
FOUND = (RefreshMetadata("A", 2), Poll(), RefreshMetadata("B", 2), Assign("B"), Poll(), Poll(), Poll())
SIMULATORS["truncation"] = Simulator(
    home="kafkalearn.consuming.truncation",
    runs=(
        Run(truncation.Settings(PAIR), (*READ_BY_A, *CUT, *FOUND)),
        Run(
            truncation.Settings(PAIR, auto_offset_reset="none"),
            (*READ_BY_A, RefreshMetadata("A", 1), Assign("B"), Poll(), Poll()),
        ),
        Run(truncation.Settings(PAIR, validation="never", has_committed_epochs=False), (*READ_BY_A, *CUT, *FOUND)),
    ),
    senseless=(Poll(), Commit(), Assign("C"), RefreshMetadata("A", 9)),
    effects_in=("kafkalearn.replication.events",),
)
