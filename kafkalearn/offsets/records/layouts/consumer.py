"""Groups of the new consumer protocol (KIP-848): record types 3 to 8 and 16.

References
----------
Apache Kafka 4.3, ``ConsumerGroup*Key`` and ``ConsumerGroup*Value``; the tagged fields came with KIP-1101 (4.1),
KIP-1251 and KIP-1263 (4.3).
"""

from __future__ import annotations

from kafkalearn.wire.fields import BYTES, INT8, INT32, INT64, STRING, UUID, Array, Field, layout, structure

GROUP_KEY = (Field("groupId", STRING),)
MEMBER_KEY = (Field("groupId", STRING), Field("memberId", STRING))

CONSUMER_GROUP_METADATA_KEY = layout("ConsumerGroupMetadataKey", *GROUP_KEY)
CONSUMER_GROUP_METADATA_VALUE = layout(
    "ConsumerGroupMetadataValue",
    Field("epoch", INT32),
    Field("metadataHash", INT64, default=0, tag=0),
    flexible_since=0,
)

_PARTITION_RACKS = structure(
    Field("partition", INT32),
    Field("racks", Array(STRING)),
)
TOPIC_METADATA = structure(
    Field("topicId", UUID),
    Field("topicName", STRING),
    Field("numPartitions", INT32),
    Field("partitionMetadata", Array(_PARTITION_RACKS)),
)
CONSUMER_GROUP_PARTITION_METADATA_KEY = layout("ConsumerGroupPartitionMetadataKey", *GROUP_KEY)
CONSUMER_GROUP_PARTITION_METADATA_VALUE = layout(
    "ConsumerGroupPartitionMetadataValue", Field("topics", Array(TOPIC_METADATA)), flexible_since=0
)

_CLASSIC_PROTOCOL = structure(
    Field("name", STRING),
    Field("metadata", BYTES),
)
_CLASSIC_MEMBER = structure(
    Field("sessionTimeoutMs", INT32),
    Field("supportedProtocols", Array(_CLASSIC_PROTOCOL)),
)
_NO_CLASSIC_MEMBER: dict[str, object] = {  # null is written, this is what is not
    "sessionTimeoutMs": 0,
    "supportedProtocols": [],
}
CONSUMER_GROUP_MEMBER_METADATA_KEY = layout("ConsumerGroupMemberMetadataKey", *MEMBER_KEY)
CONSUMER_GROUP_MEMBER_METADATA_VALUE = layout(
    "ConsumerGroupMemberMetadataValue",
    Field("instanceId", STRING, is_nullable=True),
    Field("rackId", STRING, is_nullable=True),
    Field("clientId", STRING),
    Field("clientHost", STRING),
    Field("subscribedTopicNames", Array(STRING)),
    Field("subscribedTopicRegex", STRING, is_nullable=True),
    Field("rebalanceTimeoutMs", INT32, default=-1),
    Field("serverAssignor", STRING, is_nullable=True),
    Field("classicMemberMetadata", _CLASSIC_MEMBER, default=_NO_CLASSIC_MEMBER, is_nullable=True, tag=0),
    flexible_since=0,
)

TARGET_METADATA = (Field("assignmentEpoch", INT32), Field("assignmentTimestamp", INT64, default=0, tag=0))
CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA_KEY = layout("ConsumerGroupTargetAssignmentMetadataKey", *GROUP_KEY)
CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA_VALUE = layout(
    "ConsumerGroupTargetAssignmentMetadataValue", *TARGET_METADATA, flexible_since=0
)

TOPIC_PARTITIONS = structure(
    Field("topicId", UUID),
    Field("partitions", Array(INT32)),
)
CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER_KEY = layout("ConsumerGroupTargetAssignmentMemberKey", *MEMBER_KEY)
CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER_VALUE = layout(
    "ConsumerGroupTargetAssignmentMemberValue",
    Field("topicPartitions", Array(TOPIC_PARTITIONS)),
    flexible_since=0,
)

_OWNED_PARTITIONS = structure(
    *TOPIC_PARTITIONS.fields,
    Field("assignmentEpochs", Array(INT32), default=[], is_nullable=True, tag=0),
)
CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT_KEY = layout("ConsumerGroupCurrentMemberAssignmentKey", *MEMBER_KEY)
CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE = layout(
    "ConsumerGroupCurrentMemberAssignmentValue",
    Field("memberEpoch", INT32),
    Field("previousMemberEpoch", INT32),
    Field("state", INT8),
    Field("assignedPartitions", Array(_OWNED_PARTITIONS)),
    Field("partitionsPendingRevocation", Array(_OWNED_PARTITIONS)),
    flexible_since=0,
)

CONSUMER_GROUP_REGULAR_EXPRESSION_KEY = layout(
    "ConsumerGroupRegularExpressionKey", Field("groupId", STRING), Field("regularExpression", STRING)
)
CONSUMER_GROUP_REGULAR_EXPRESSION_VALUE = layout(
    "ConsumerGroupRegularExpressionValue",
    Field("topics", Array(STRING)),
    Field("version", INT64),
    Field("timestamp", INT64),
    flexible_since=0,
)
