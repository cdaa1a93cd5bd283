"""Groups: their coordinators, the look-up of one, and a rebalance by a client's assignor."""

from kafkalearn.assignors import carrying_out
from kafkalearn.assignors.carrying_out import AllGaveUp, Assigned, GroupChanged
from kafkalearn.assignors.members import Member
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.coordinator import lookup, share_states
from kafkalearn.coordinator.lookup import AskLeader, ReadUnit, TakeAbsolute, TakeRemainder
from kafkalearn.groups import classic, consumer, mixed
from kafkalearn.groups.classic import Heartbeat, JoinGroup, LeaveGroup, SyncGroup
from kafkalearn.groups.consumer import ConsumerGroupHeartbeat, OffsetFetch, TopicChanged, join, leave
from kafkalearn.groups.mixed import Subscription, pods
from tests.contract.simulator import Run, Simulator

SIMULATORS = {}

# The look-up of a group's coordinator.
LOOKED_UP = (TakeAbsolute(), TakeRemainder(), AskLeader())
SIMULATORS["lookup"] = Simulator(
    home="kafkalearn.coordinator.lookup",
    runs=(
        Run(lookup.Settings("ok", leaders=(1, 2, 3), partition_count=3), (ReadUnit(), ReadUnit(), *LOOKED_UP)),
        Run(lookup.Settings("😀", leaders=(1, None), partition_count=2), (ReadUnit(), ReadUnit(), *LOOKED_UP)),
    ),
    senseless=LOOKED_UP,
)

# The share coordinator.
SHARED = share_states.SharePartition("billing", "A6AUkuaxQAm4bUDDQCKT_A", 0)
ACCEPTED = (share_states.StateBatch(0, 4, share_states.ACKNOWLEDGED, 1),)
STATE_REQUESTS = (
    share_states.Initialize(SHARED, 2),
    share_states.Read(SHARED, 1),
    share_states.Write(SHARED, 2, 1, 0, ACCEPTED, 5, at_ms=7),
    share_states.Write(SHARED, 1, 1, 0, ACCEPTED, 5),
    share_states.Summarize(SHARED),
    share_states.SnapshotCold(400_000),
    share_states.Delete(SHARED),
)
SIMULATORS["share_states"] = Simulator(
    home="kafkalearn.coordinator.share_states",
    runs=tuple(
        Run(share_states.Settings({SHARED.topic_id: 1}, release, updates), STATE_REQUESTS)
        for release, updates in (("4.4", 500), ("4.3", 1), ("4.2", 0))
    ),
    effects_in=("kafkalearn.coordinator.share_model",),
)

# The coordinator of a classic group.
CLASSIC_GROUP = (
    JoinGroup("a"),
    JoinGroup("a", "a-1"),
    JoinGroup("b", instance_id="pod-2"),
    classic.TimePassed(6000),
    SyncGroup("b", "pod-2-2", 1, instance_id="pod-2"),
    SyncGroup("a", "a-1", 1, (("a-1", "orders-0"), ("pod-2-2", "orders-1"))),
    Heartbeat("a", "a-1", 1),
    Heartbeat("c", "c-9", 1),
    classic.OffsetCommit("a", "a-1", 1),
    classic.GroupDeleted(),
)
ITS_END = (
    LeaveGroup("a", "a-1"),
    classic.TimePassed(400_000),
    classic.OffsetsExpired(),
    JoinGroup("a", version=3),
    classic.PartitionMoved(),
)
SIMULATORS["classic"] = Simulator(
    home="kafkalearn.groups.classic",
    effects_in=("kafkalearn.groups.defaults",),
    runs=(Run(classic.Settings(), (*CLASSIC_GROUP, *ITS_END)), Run(classic.Settings("2.8"), CLASSIC_GROUP)),
    senseless=(classic.OffsetsExpired(),),
)

# The coordinator of a KIP-848 group.
SIX = tuple(TopicPartition("orders", number) for number in range(6))
CONSUMER_GROUP = (
    join("A", ("orders",)),
    consumer.TimePassed(1000),
    join("B", ("orders",), instance_id="pod-2"),
    ConsumerGroupHeartbeat("A", 2, owned=SIX),
    ConsumerGroupHeartbeat("A", 2, owned=SIX[:3]),
    consumer.OffsetCommit("A", 3, SIX[:1]),
    OffsetFetch("A", 3),
    ConsumerGroupHeartbeat("X", 3),
    TopicChanged("orders", 8),
    ConsumerGroupHeartbeat("B", 3, instance_id="pod-2"),
    leave("B", "pod-2", comes_back=True),
    consumer.PartitionMoved(),
    TopicChanged("orders", None),
    TopicChanged("orders", 2),
    ConsumerGroupHeartbeat("A", 3, owned=()),
    consumer.OffsetsExpired(),
    consumer.TimePassed(45_000),
    consumer.GroupDeleted(),
)
SIMULATORS["consumer"] = Simulator(
    home="kafkalearn.groups.consumer",
    effects_in=("kafkalearn.groups.defaults",),
    runs=(
        Run(consumer.Settings(), CONSUMER_GROUP),
        Run(consumer.Settings("4.0", topics={"orders": 6, "clicks": 2}), CONSUMER_GROUP),
    ),
    senseless=(TopicChanged("orders", 5), TopicChanged("returns", None)),
)

# A group that becomes one of the newer protocol, and a classic one again.
ONE_TOPIC = Subscription(("orders",))
ITS_CHANGE = (
    JoinGroup("c", protocols=(("range", ONE_TOPIC),)),
    JoinGroup("c", "c-1", protocols=(("range", ONE_TOPIC),)),
    consumer.TimePassed(3000),
    SyncGroup("c", "c-1", 1, (("c-1", SIX),)),
    consumer.OffsetCommit("c-1", 1, SIX[:1]),
    join("A", ("orders",)),
    Heartbeat("c", "c-1", 1),
    JoinGroup("c", "c-1", protocols=(("range", ONE_TOPIC),)),
    SyncGroup("c", "c-1", 2),
    ConsumerGroupHeartbeat("A", 2, owned=()),
    consumer.OffsetCommit("A", 2, SIX[:2]),
    consumer.PartitionMoved(),
    TopicChanged("orders", 8),
    leave("A"),
    JoinGroup("c", "c-1", protocols=(("range", ONE_TOPIC),)),
    LeaveGroup("c", "c-1"),
    consumer.GroupDeleted(),
)
SIMULATORS["mixed"] = Simulator(
    home="kafkalearn.groups.mixed",
    runs=(
        Run(mixed.Settings(consumer=consumer.Settings(topics={"orders": 6})), ITS_CHANGE),
        Run(mixed.Settings("4.0", policy="disabled"), ITS_CHANGE[:6]),
    ),
    senseless=(TopicChanged("orders", 5),),
    effects_in=("kafkalearn.groups",),
)

# What is done to the pods of such a group, with all requests that follow.
DONE_TO_PODS = (
    pods.Starts("c1"),
    pods.Starts("c2"),
    pods.Switches("c2"),
    pods.Starts("c3", "consumer"),
    pods.Dies("c3"),
    pods.TimePassed(60_000),
    pods.CoordinatorMoved(),
    pods.Switches("c1"),
    pods.Leaves("c2"),
    pods.Starts("c2"),
    pods.Leaves("c1"),
)
SIMULATORS["pods"] = Simulator(
    home="kafkalearn.groups.mixed.pods",
    runs=(
        Run(pods.Settings(), DONE_TO_PODS),
        Run(pods.Settings(mixed.Settings("4.0", policy="disabled"), ("c1", "c2", "c3")), DONE_TO_PODS[:2]),
    ),
    senseless=(pods.Leaves("c1"), pods.Dies("c1"), pods.Switches("c1"), pods.Starts("c9")),
    effects_in=(
        "kafkalearn.groups.mixed",
        "kafkalearn.groups.classic",
        "kafkalearn.groups.consumer",
        "kafkalearn.groups.defaults",
    ),
)

# A rebalance by a client's assignor, eager and cooperative.
PARTITION_COUNTS = {"orders": 4, "payments": 3}
TRIO = tuple(Member(f"billing-{number}", ["orders", "payments"]) for number in range(3))
CHANGED = (Member("billing-1", ["orders"]), TRIO[2], Member("billing-3", ["orders", "payments"]))
SIMULATORS["assignor"] = Simulator(
    home="kafkalearn.assignors.carrying_out",
    runs=(
        Run(carrying_out.Settings("sticky", PARTITION_COUNTS, TRIO), (GroupChanged(CHANGED), AllGaveUp(), Assigned())),
        Run(carrying_out.Settings("range", PARTITION_COUNTS, TRIO), (AllGaveUp(), GroupChanged(CHANGED), Assigned())),
        Run(
            carrying_out.Settings("cooperative-sticky", PARTITION_COUNTS, TRIO),
            (GroupChanged(CHANGED), Assigned(), Assigned()),
        ),
    ),
    senseless=(GroupChanged((TRIO[0], TRIO[0])),),
)
