"""Schedules of events for laws: any order, whatever makes no sense left out."""

from hypothesis import strategies as st

from kafkalearn.replication import (
    AlterPartitionAnswered,
    AlterPartitionReassignments,
    BrokerCrashed,
    BrokerFenced,
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
    PowerLost,
    Produce,
    SessionExpired,
    Settings,
    TimePassed,
    simulate,
    start,
    step,
)
from kafkalearn.replication.search import alphabet, named_in
from tests.schedules import sensible_steps

SINCE_2_0 = ["2.0", "2.3", "2.4", "2.7", "2.8", "3.3", "3.6", "3.7", "4.0", "4.3"]

WRITES = [Produce(), Produce(record_count=2), DeleteRecords(1), DeleteRecords(-1)]
BROKERS_THEMSELVES = [Fetch, Fetch, Fetch, IsrChecked, AlterPartitionAnswered, AlterPartitionAnswered, Consume]
TIME = [TimePassed(500), TimePassed(31_000), HighWatermarkCheckpointed]
FAILURES = [BrokerCrashed, BrokerStopped, BrokerStarted, BrokerStarted, SessionExpired]
PAUSES = [BrokerFrozen, BrokerThawed, BrokerThawed, BrokerReconnected, BrokerReconnected]
EVERYTHING = [*WRITES, *BROKERS_THEMSELVES, *TIME, *FAILURES, *PAUSES]
CARELESS = [*EVERYTHING, Produce(acks=1), PowerLost]
MOVES = [AlterPartitionReassignments(each) for each in ((2,), (1, 2), (2, 3), (3, 1, 2), (4, 2, 3), (1, 4), None)]
STARTS = [ControlledShutdownStarted, BrokerRegistered, BrokerUnfenced, BrokerUnfenced]
OPERATIONS = [*MOVES, *STARTS, LeaderImbalanceChecked, ElectLeaders]
OVERRULED = [LeaderElected(1, (1,)), LeaderElected(2, (1, 2)), IsrSet((1,)), BrokerFenced]


@st.composite
def settings(draw, releases=SINCE_2_0, may_be_unclean=False, most_spare=0):
    replica_count = draw(st.integers(1, 3))
    return Settings(
        replica_count,
        broker_count=replica_count + draw(st.integers(0, most_spare)),
        release=draw(st.sampled_from(releases)),
        min_insync_replicas=draw(st.integers(1, 2)),
        is_unclean_election_enabled=may_be_unclean and draw(st.booleans()),
        fetch_wait_max_ms=draw(st.sampled_from([0, 500])),
    )


@st.composite
def runs(draw, kinds=EVERYTHING, **options):
    """Settings, and the run of a new partition through a schedule."""
    chosen = draw(settings(**options))
    there = [kind for kind in kinds if may_happen(chosen, kind)]
    events = draw(st.lists(st.sampled_from(alphabet(chosen, *there)), max_size=60))
    return chosen, simulate(chosen, sensible(chosen, events))


def may_happen(settings, kind):
    """Whether the brokers that an event names are there."""
    return isinstance(kind, type) or {*named_in(kind)} <= {*settings.broker_ids}


def sensible(settings, events):
    """The events of a schedule that make sense where they come."""
    return [event for _, event, _ in sensible_steps(step, settings, start(settings), events)]
