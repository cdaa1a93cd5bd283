"""The offsets topic: the coordinator's store, one on several brokers, and the topic's brokers."""

from kafkalearn import replication
from kafkalearn.offsets import replicated, store
from kafkalearn.offsets.replay import Member
from kafkalearn.offsets.replicated import FollowerFetch, SentTo
from kafkalearn.operations import offsets_topic
from kafkalearn.operations.offsets_topic import BrokerCrashed, BrokerStarted, FindCoordinator, Metadata, Reassigned
from tests.contract.simulator import Run, Simulator

SIMULATORS = {}

# The coordinator's store: groups of each kind, a failed transaction, a load that a strange record breaks off.
DAY_MS = 86_400_000
MEMBER = Member("billing-1", subscribed=("orders",), assigned=(("orders", 0),))
OF_MEMBER = {"member_id": "billing-1", "generation": 1}
FETCH = store.Fetch("billing", "orders", 0)
LIFE = (
    store.StoreGroup("billing", 1, 1000, (MEMBER,), protocol="range", leader="billing-1"),
    store.Commit("billing", "orders", 0, 7, 2000, **OF_MEMBER),
    store.Commit("billing", "orders", 0, 8, 3000, is_in_flight=True, **OF_MEMBER),
    store.Replicated(),
    store.StateChanged("billing", "PreparingRebalance"),
    store.StoreGroup("billing", 2, 4000),
    store.Sweep(4000 + 3 * DAY_MS),
    FETCH,
    store.DeleteGroup("billing"),
)
KINDS = (
    store.Commit("billing", "orders", 0, 7, 1000),
    store.StoreGroup("billing", 1, 2000, (Member("billing-1", subscribed=("orders",)),), kind="consumer"),
    store.Commit("billing", "orders", 0, 8, 3000, **OF_MEMBER),
    store.StoreGroup("billing", 2, 4000, kind="consumer"),
    store.StoreGroup("billing", 1, 5000, (Member("billing-1", subscribed=("orders",)),), kind="streams"),
    store.Commit("billing", "clicks", 0, 8, 6000, **OF_MEMBER),
    store.StoreGroup("billing", 2, 7000, kind="streams"),
    store.Sweep(8000 + 8 * DAY_MS),
    FETCH,
)
TRANSACTIONS = (
    store.Commit("billing", "orders", 0, 7, 1000),
    store.Commit("billing", "orders", 0, 9, 2000, producer_id=5),
    store.Fetch("billing", "orders", 0, requires_stable=True),
    store.EndTransaction(5, is_commit=False),
    store.DeleteOffset("billing", "orders", 0),
    store.DeleteTopic("orders"),
)
BROKEN_LOAD = (
    store.Commit("billing", "orders", 0, 7, 1000),
    store.Produce(None, b"no key", "__admin_client"),
    store.Resign(),
    FETCH,
    store.Elect(),
    store.Load(1),
    FETCH,
    store.Load(),
    FETCH,
)
WAITING = (
    store.Commit("billing", "orders", 0, 7, 1000),
    store.Commit("billing", "orders", 0, 8, 2000, is_in_flight=True),
    store.TimeReached(7000),
    FETCH,
    store.Replicated(),
    store.Commit("billing", "orders", 0, 9, 8000, is_in_flight=True),
    store.LeaderCrashed(),
    FETCH,
    store.LoadBuffer(),
    store.LoadBuffer(),
    FETCH,
)
SIMULATORS["store"] = Simulator(
    home="kafkalearn.offsets.store",
    runs=(
        Run(store.Settings(), LIFE),
        Run(store.Settings("2.0", retention_minutes=1440), LIFE),
        Run(store.Settings(), KINDS),
        Run(store.Settings("4.0"), TRANSACTIONS),
        Run(store.Settings(), (*TRANSACTIONS[:2], *TRANSACTIONS[4:])),
        Run(store.Settings(), BROKEN_LOAD),
        Run(store.Settings("3.9"), BROKEN_LOAD),
        Run(store.Settings(load_buffer_bytes=200), WAITING),
        Run(store.Settings("3.9", required_acks=1, load_buffer_bytes=200), WAITING),
    ),
    senseless=(
        store.Elect(),
        store.Load(),
        store.LoadBuffer(),
        store.StateChanged("billing", "PreparingRebalance"),
        store.StateChanged("billing", "Stable"),
        store.StoreGroup("billing", 1, 1000, kind="share"),
    ),
)

# A partition of the offsets topic on its brokers: a commit's path, an election, foreign records, time-outs.
COMMIT = store.Commit("billing", "orders", 0, 9, 5000)
ZOMBIE = (
    COMMIT,
    replication.BrokerFrozen(1),
    replication.SessionExpired(1),
    store.Load(),
    replication.BrokerThawed(1),
    SentTo(1, COMMIT),
    replication.TimePassed(5000),
    replication.BrokerReconnected(1),
    replicated.READ,
    FollowerFetch(1),
    replication.PowerLost(2),
    replicated.READ,
)
SIMULATORS["replicated_store"] = Simulator(
    home="kafkalearn.offsets.replicated",
    runs=(
        Run(replicated.Settings(), (*replicated.group_with_an_offset(), *replicated.commit_path())),
        Run(replicated.Settings(), replicated.takeover()),
        Run(replicated.Settings(), replicated.foreign_record(None)),
        Run(replicated.Settings(release="4.0"), replicated.end_of_a_group()),
        Run(
            replicated.Settings(replica_count=1),
            (COMMIT, replicated.READ, replication.BrokerStopped(1), replicated.READ),
        ),
        Run(replicated.Settings(), replicated.deletions()),
        Run(replicated.Settings(), ZOMBIE),
    ),
    senseless=(
        store.Load(),
        FollowerFetch(1),
        SentTo(4, replicated.READ),
        store.Commit("billing", "orders", 0, 9, 5000, producer_id=5),
        store.Commit("billing", "orders", 0, 9, 5000, is_in_flight=True),
        replication.Produce(),
        replication.Consume(),
    ),
    effects_in=("kafkalearn.replication.events",),
)

# The offsets topic on its brokers.
UP = tuple(BrokerStarted(each) for each in (1, 2, 3))
ASKED = FindCoordinator("billing")
ALL = tuple((1, 2, 3) for _ in range(4))
OTHERS = tuple((3, 2) for _ in range(4))  # the brokers that live when broker 1 is dead
SIMULATORS["offsets_topic"] = Simulator(
    home="kafkalearn.operations.offsets_topic",
    runs=(
        Run(
            offsets_topic.Settings(replication_factor=1, partition_count=4),
            (*UP, ASKED, ASKED, BrokerCrashed(1), ASKED, Reassigned(ALL), Reassigned(OTHERS), UP[0], Reassigned(ALL)),
        ),
        Run(
            offsets_topic.Settings(release="0.10.2", partition_count=4),
            (UP[0], Metadata(False), *UP[1:], BrokerCrashed(1), ASKED, UP[0], Metadata()),
        ),
        Run(
            offsets_topic.Settings(partition_count=4),
            (UP[0], ASKED, UP[1], Metadata(), UP[2], ASKED, BrokerCrashed(3), ASKED),
        ),
    ),
    senseless=(BrokerCrashed(1), BrokerStarted(9), ASKED, Metadata(), Reassigned(((1,),))),
)
