"""The coordinator of a KIP-848 group."""

from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.groups.consumer import (
    ConsumerGroupHeartbeat,
    GroupDeleted,
    OffsetCommit,
    OffsetFetch,
    OffsetsExpired,
    PartitionMoved,
    Settings,
    TimePassed,
    TopicChanged,
    join,
    leave,
)
from tests.contract.simulator import Run, Simulator

SIX = tuple(TopicPartition("orders", number) for number in range(6))
A_GROUP = (
    join("A", ("orders",)),
    TimePassed(1000),
    join("B", ("orders",), instance_id="pod-2"),
    ConsumerGroupHeartbeat("A", 2, owned=SIX),
    ConsumerGroupHeartbeat("A", 2, owned=SIX[:3]),
    OffsetCommit("A", 3, SIX[:1]),
    OffsetFetch("A", 3),
    ConsumerGroupHeartbeat("X", 3),
    TopicChanged("orders", 8),
    ConsumerGroupHeartbeat("B", 3, instance_id="pod-2"),
    leave("B", "pod-2", comes_back=True),
    PartitionMoved(),
    TopicChanged("orders", None),
    TopicChanged("orders", 2),
    ConsumerGroupHeartbeat("A", 3, owned=()),
    OffsetsExpired(),
    TimePassed(45_000),
    GroupDeleted(),
)

SIMULATOR = Simulator(
    home="kafkalearn.groups.consumer",
    runs=(Run(Settings(), A_GROUP), Run(Settings("4.0", topics={"orders": 6, "clicks": 2}), A_GROUP)),
    senseless=(TopicChanged("orders", 5), TopicChanged("returns", None)),
)
