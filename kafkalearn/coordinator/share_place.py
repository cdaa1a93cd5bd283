"""Which broker keeps the state of a share-partition: its share coordinator.

The key ``group:topicId:partition`` decides, as a group id decides for a group: its hash is a partition of
``__share_group_state``, and the leader of that one is the *share coordinator*. FindCoordinator has key type 2 for it.
So the partitions of one group are kept by several brokers, none of which need be the group's own coordinator.

>>> where = [SharePartition("billing", "A6AUkuaxQAm4bUDDQCKT_A", number) for number in range(4)]
>>> [find_share_coordinator(each, brokers=[1, 2, 3]) for each in where]
[3, 1, 2, 3]
"""

from __future__ import annotations

from collections.abc import Sequence

from kafkalearn.coordinator.leaders import leaders_of
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

    Examples
    --------
    >>> [state_partition(SharePartition("billing", "A6AUkuaxQAm4bUDDQCKT_A", number)) for number in range(4)]
    [20, 21, 22, 23]

    References
    ----------
    Apache Kafka 4.2 to 4.4, ``ShareCoordinatorService.partitionFor``.
    """
    return offsets_partition(str(share_partition), partition_count)


def find_share_coordinator(
    share_partition: SharePartition,
    leaders: Sequence[int | None] | None = None,
    partition_count: int | None = None,
    *,
    brokers: Sequence[int] | int | None = None,
) -> int | None:
    """The broker that keeps the state of a share-partition; None: COORDINATOR_NOT_AVAILABLE.

    Parameters
    ----------
    share_partition : SharePartition
        Group, topic id and partition.
    leaders, partition_count, brokers
        As in `kafkalearn.coordinator.find_coordinator`, of the topic ``__share_group_state``.

    Examples
    --------
    >>> find_share_coordinator(SharePartition("billing", "A6AUkuaxQAm4bUDDQCKT_A", 2), brokers=[1, 2, 3])
    2

    References
    ----------
    Apache Kafka 4.2 to 4.4, ``KafkaApis.getCoordinator``, key type ``SHARE``.
    """
    leads = leaders_of(leaders, partition_count, brokers=brokers)
    return leads[state_partition(share_partition, len(leads))]
