"""The coordinator of a classic group."""

from kafkalearn.groups.classic import (
    GroupDeleted,
    Heartbeat,
    JoinGroup,
    LeaveGroup,
    OffsetCommit,
    OffsetsExpired,
    PartitionMoved,
    Settings,
    SyncGroup,
    TimePassed,
)
from tests.contract.simulator import Run, Simulator

A_GROUP = (
    JoinGroup("a"),
    JoinGroup("a", "a-1"),
    JoinGroup("b", instance_id="pod-2"),
    TimePassed(6000),
    SyncGroup("b", "pod-2-2", 1, instance_id="pod-2"),
    SyncGroup("a", "a-1", 1, (("a-1", "orders-0"), ("pod-2-2", "orders-1"))),
    Heartbeat("a", "a-1", 1),
    Heartbeat("c", "c-9", 1),
    OffsetCommit("a", "a-1", 1),
    GroupDeleted(),
)
ITS_END = (LeaveGroup("a", "a-1"), TimePassed(400_000), OffsetsExpired(), JoinGroup("a", version=3), PartitionMoved())

SIMULATOR = Simulator(
    home="kafkalearn.groups.classic",
    runs=(Run(Settings(), (*A_GROUP, *ITS_END)), Run(Settings("2.8"), A_GROUP)),
    senseless=(OffsetsExpired(),),
)
