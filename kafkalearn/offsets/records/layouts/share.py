"""Share groups (KIP-932): record types 9 to 15.

The layouts are those of Kafka 4.1 and later. In Kafka 4.0 share groups were an early access that could not be
upgraded: it wrote type 9, type 11 without ``metadataHash`` and type 15 without ``initializingTopics``.

References
----------
Apache Kafka 4.3, ``ShareGroup*Key`` and ``ShareGroup*Value``; type 9: Kafka 4.0.
"""

from __future__ import annotations

from kafkalearn.offsets.records.layouts.consumer import (
    GROUP_KEY,
    MEMBER_KEY,
    TARGET_METADATA,
    TOPIC_METADATA,
    TOPIC_PARTITIONS,
)
from kafkalearn.wire.fields import INT8, INT32, INT64, STRING, UUID, Array, Field, layout, structure

SHARE_GROUP_PARTITION_METADATA_KEY = layout("ShareGroupPartitionMetadataKey", *GROUP_KEY)
SHARE_GROUP_PARTITION_METADATA_VALUE = layout(
    "ShareGroupPartitionMetadataValue", Field("topics", Array(TOPIC_METADATA)), flexible_since=0
)

SHARE_GROUP_MEMBER_METADATA_KEY = layout("ShareGroupMemberMetadataKey", *MEMBER_KEY)
SHARE_GROUP_MEMBER_METADATA_VALUE = layout(
    "ShareGroupMemberMetadataValue",
    Field("rackId", STRING, is_nullable=True),
    Field("clientId", STRING),
    Field("clientHost", STRING),
    Field("subscribedTopicNames", Array(STRING)),
    flexible_since=0,
)

SHARE_GROUP_METADATA_KEY = layout("ShareGroupMetadataKey", *GROUP_KEY)
SHARE_GROUP_METADATA_VALUE = layout(
    "ShareGroupMetadataValue", Field("epoch", INT32), Field("metadataHash", INT64), flexible_since=0
)

SHARE_GROUP_TARGET_ASSIGNMENT_METADATA_KEY = layout("ShareGroupTargetAssignmentMetadataKey", *GROUP_KEY)
SHARE_GROUP_TARGET_ASSIGNMENT_METADATA_VALUE = layout(
    "ShareGroupTargetAssignmentMetadataValue", *TARGET_METADATA, flexible_since=0
)

SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER_KEY = layout("ShareGroupTargetAssignmentMemberKey", *MEMBER_KEY)
SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER_VALUE = layout(
    "ShareGroupTargetAssignmentMemberValue", Field("topicPartitions", Array(TOPIC_PARTITIONS)), flexible_since=0
)

SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT_KEY = layout("ShareGroupCurrentMemberAssignmentKey", *MEMBER_KEY)
SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE = layout(
    "ShareGroupCurrentMemberAssignmentValue",
    Field("memberEpoch", INT32),
    Field("previousMemberEpoch", INT32),
    Field("state", INT8),
    Field("assignedPartitions", Array(TOPIC_PARTITIONS)),
    flexible_since=0,
)

_TOPIC = (Field("topicId", UUID), Field("topicName", STRING))
_TOPIC_PARTITIONS = structure(
    *_TOPIC,
    Field("partitions", Array(INT32)),
)
SHARE_GROUP_STATE_PARTITION_METADATA_KEY = layout("ShareGroupStatePartitionMetadataKey", *GROUP_KEY)
SHARE_GROUP_STATE_PARTITION_METADATA_VALUE = layout(
    "ShareGroupStatePartitionMetadataValue",
    Field("initializingTopics", Array(_TOPIC_PARTITIONS)),
    Field("initializedTopics", Array(_TOPIC_PARTITIONS)),
    Field("deletingTopics", Array(structure(*_TOPIC))),
    flexible_since=0,
)
