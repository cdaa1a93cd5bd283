"""Which broker keeps the state of a share-partition: its share coordinator.

The key ``group:topicId:partition`` decides, as a group id decides for a group: its hash is a partition of
``__share_group_state``, and the leader of that one is the *share coordinator*. FindCoordinator has key type 2 for it.
So the partitions of one group are kept by several brokers, none of which need be the group's own coordinator.

>>> where = [SharePartition("billing", "A6AUkuaxQAm4bUDDQCKT_A", number) for number in range(4)]
>>> [state_partition(each) for each in where]
[20, 21, 22, 23]
"""

from __future__ import annotations

from kafkalearn.coordinator.rule import offsets_partition
from kafkalearn.formats.share_state_log import SharePartition

STATE_PARTITION_COUNT = 50  # share.coordinator.state.topic.num.partitions


def state_partition(share_partition: SharePartition, partition_count: int = STATE_PARTITION_COUNT) -> int:
    """The partition of ``__share_group_state`` that holds the state of a share-partition.

    Parameters
    ----------
    share_partition : SharePartition
        Group, topic id and partition.
    partition_count : int
        Partitions of that topic, at least 1.

    References
    ----------
    Apache Kafka 4.2 to 4.4, ``ShareCoordinatorService.partitionFor``.
    """
    return offsets_partition(str(share_partition), partition_count)
