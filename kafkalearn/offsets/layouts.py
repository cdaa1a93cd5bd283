"""The byte layouts of what is kept in ``__consumer_offsets``, as data: for each kind of group its records."""

from __future__ import annotations

from kafkalearn.formats.wire import (
    BYTES,
    INT8,
    INT16,
    INT32,
    INT64,
    STRING,
    UINT16,
    UUID,
    ZERO_UUID,
    Array,
    Field,
    layout,
    structure,
)

# Committed offsets, and the groups of the classic protocol: record types 0, 1 and 2.
# Apache Kafka 4.3, ``OffsetCommitKey``, ``OffsetCommitValue``, ``GroupMetadataKey``, ``GroupMetadataValue``; value
# versions 2 to 4 came with KIP-211, KIP-320 and KIP-915.

OFFSET_COMMIT_KEY = layout(
    "OffsetCommitKey",
    Field("group", STRING),
    Field("topic", STRING),
    Field("partition", INT32),
)

OFFSET_COMMIT_VALUE = layout(
    "OffsetCommitValue",
    Field("offset", INT64),
    Field("leaderEpoch", INT32, since=3, default=-1),
    Field("metadata", STRING),
    Field("commitTimestamp", INT64),
    Field("expireTimestamp", INT64, since=1, until=1, default=-1),
    Field("topicId", UUID, since=4, default=ZERO_UUID, tag=0),
    newest=4,
    flexible_since=4,
)

GROUP_METADATA_KEY = layout("GroupMetadataKey", Field("group", STRING))

_MEMBER = structure(
    Field("memberId", STRING),
    Field("groupInstanceId", STRING, since=3, default=None, is_nullable=True),
    Field("clientId", STRING),
    Field("clientHost", STRING),
    Field("rebalanceTimeout", INT32, since=1, default=-1),
    Field("sessionTimeout", INT32),
    Field("subscription", BYTES),
    Field("assignment", BYTES),
)

GROUP_METADATA_VALUE = layout(
    "GroupMetadataValue",
    Field("protocolType", STRING),
    Field("generation", INT32),
    Field("protocol", STRING, is_nullable=True),
    Field("leader", STRING, is_nullable=True),
    Field("currentStateTimestamp", INT64, since=2, default=-1),
    Field("members", Array(_MEMBER)),
    newest=4,
    flexible_since=4,
)


# Groups of the new consumer protocol (KIP-848): record types 3 to 8 and 16.
# Apache Kafka 4.3, ``ConsumerGroup*Key`` and ``ConsumerGroup*Value``; the tagged fields came with KIP-1101 (4.1),
# KIP-1251 and KIP-1263 (4.3).

GROUP_KEY = (Field("groupId", STRING),)
MEMBER_KEY = (Field("groupId", STRING), Field("memberId", STRING))

CONSUMER_GROUP_METADATA_KEY = layout("ConsumerGroupMetadataKey", *GROUP_KEY)
CONSUMER_GROUP_METADATA_VALUE = layout(
    "ConsumerGroupMetadataValue",
    Field("epoch", INT32),
    Field("metadataHash", INT64, default=0, tag=0),
    flexible_since=0,
)

_PARTITION_RACKS = structure(Field("partition", INT32), Field("racks", Array(STRING)))
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

_CLASSIC_PROTOCOL = structure(Field("name", STRING), Field("metadata", BYTES))
_CLASSIC_MEMBER = structure(
    Field("sessionTimeoutMs", INT32),
    Field("supportedProtocols", Array(_CLASSIC_PROTOCOL)),
)
_NO_CLASSIC_MEMBER: dict[str, object] = {"sessionTimeoutMs": 0, "supportedProtocols": []}  # what is not written
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

TOPIC_PARTITIONS = structure(Field("topicId", UUID), Field("partitions", Array(INT32)))
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


# The consumer protocol: what consumers of a classic group put into the subscription and assignment blobs.
# Apache Kafka 4.3, ``ConsumerProtocolSubscription``, ``ConsumerProtocolAssignment``; the user data of
# ``StickyAssignor`` and ``CooperativeStickyAssignor``.

_BY_TOPIC = Array(structure(Field("topic", STRING), Field("partitions", Array(INT32))))

SUBSCRIPTION = layout(
    "ConsumerProtocolSubscription",
    Field("topics", Array(STRING)),
    Field("userData", BYTES, default=None, is_nullable=True),
    Field("ownedPartitions", _BY_TOPIC, since=1),
    Field("generationId", INT32, since=2, default=-1),
    Field("rackId", STRING, since=3, default=None, is_nullable=True),
    newest=3,
)

ASSIGNMENT = layout(
    "ConsumerProtocolAssignment",
    Field("assignedPartitions", _BY_TOPIC),
    Field("userData", BYTES, default=None, is_nullable=True),
    newest=3,
)

STICKY_USER_DATA = layout(
    "StickyAssignor user data",
    Field("previousAssignment", _BY_TOPIC),
    Field("generation", INT32, since=1),
    newest=1,
)

COOPERATIVE_USER_DATA = layout("CooperativeStickyAssignor user data", Field("generation", INT32))


# Share groups (KIP-932): record types 9 to 15, as they are since Kafka 4.1. In 4.0 they were an early access that could
# not be upgraded: it wrote type 9, type 11 without ``metadataHash`` and type 15 without ``initializingTopics``.
# Apache Kafka 4.3, ``ShareGroup*Key`` and ``ShareGroup*Value``; type 9: Kafka 4.0.

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
_NAMED_PARTITIONS = structure(*_TOPIC, Field("partitions", Array(INT32)))
SHARE_GROUP_STATE_PARTITION_METADATA_KEY = layout("ShareGroupStatePartitionMetadataKey", *GROUP_KEY)
SHARE_GROUP_STATE_PARTITION_METADATA_VALUE = layout(
    "ShareGroupStatePartitionMetadataValue",
    Field("initializingTopics", Array(_NAMED_PARTITIONS)),
    Field("initializedTopics", Array(_NAMED_PARTITIONS)),
    Field("deletingTopics", Array(structure(*_TOPIC))),
    flexible_since=0,
)


# Streams groups (KIP-1071): record types 17 and 19 to 23.
# Apache Kafka 4.3, ``StreamsGroup*Key`` and ``StreamsGroup*Value``.

_KEY_VALUE = structure(Field("key", STRING), Field("value", STRING))

STREAMS_GROUP_METADATA_KEY = layout("StreamsGroupMetadataKey", *GROUP_KEY)
STREAMS_GROUP_METADATA_VALUE = layout(
    "StreamsGroupMetadataValue",
    Field("epoch", INT32),
    Field("metadataHash", INT64),
    Field("validatedTopologyEpoch", INT32, default=-1, tag=0),
    Field("lastAssignmentConfigs", Array(_KEY_VALUE), default=[], is_nullable=True, tag=1),
    Field("storedDescriptionTopologyEpoch", INT32, default=-1, tag=2),  # since 4.4, as the next
    Field("failedDescriptionTopologyEpoch", INT32, default=-1, tag=3),
    flexible_since=0,
)

_ENDPOINT = structure(Field("host", STRING), Field("port", UINT16))
STREAMS_GROUP_MEMBER_METADATA_KEY = layout("StreamsGroupMemberMetadataKey", *MEMBER_KEY)
STREAMS_GROUP_MEMBER_METADATA_VALUE = layout(
    "StreamsGroupMemberMetadataValue",
    Field("instanceId", STRING, is_nullable=True),
    Field("rackId", STRING, is_nullable=True),
    Field("clientId", STRING),
    Field("clientHost", STRING),
    Field("rebalanceTimeoutMs", INT32, default=-1),
    Field("topologyEpoch", INT32),
    Field("processId", STRING),
    Field("userEndpoint", _ENDPOINT, default=None, is_nullable=True),
    Field("clientTags", Array(_KEY_VALUE)),
    flexible_since=0,
)

STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA_KEY = layout("StreamsGroupTargetAssignmentMetadataKey", *GROUP_KEY)
STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA_VALUE = layout(
    "StreamsGroupTargetAssignmentMetadataValue", *TARGET_METADATA, flexible_since=0
)

_TASKS = structure(Field("subtopologyId", STRING), Field("partitions", Array(INT32)))
STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER_KEY = layout("StreamsGroupTargetAssignmentMemberKey", *MEMBER_KEY)
STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER_VALUE = layout(
    "StreamsGroupTargetAssignmentMemberValue",
    Field("activeTasks", Array(_TASKS)),
    Field("standbyTasks", Array(_TASKS)),
    Field("warmupTasks", Array(_TASKS)),
    flexible_since=0,
)

_OWNED_TASKS = Array(
    structure(
        *_TASKS.fields,
        Field("assignmentEpochs", Array(INT32), default=[], is_nullable=True, tag=0),
    )
)
STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_KEY = layout("StreamsGroupCurrentMemberAssignmentKey", *MEMBER_KEY)
STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_VALUE = layout(
    "StreamsGroupCurrentMemberAssignmentValue",
    Field("memberEpoch", INT32),
    Field("previousMemberEpoch", INT32),
    Field("state", INT8),
    Field("activeTasks", _OWNED_TASKS),
    Field("standbyTasks", _OWNED_TASKS),
    Field("warmupTasks", _OWNED_TASKS),
    Field("activeTasksPendingRevocation", _OWNED_TASKS),
    Field("standbyTasksPendingRevocation", _OWNED_TASKS),
    Field("warmupTasksPendingRevocation", _OWNED_TASKS),
    flexible_since=0,
)

_TOPIC_INFO = structure(
    Field("name", STRING),
    Field("partitions", INT32),
    Field("replicationFactor", INT16),
    Field("topicConfigs", Array(_KEY_VALUE)),
)
_COPARTITION_GROUP = structure(  # of indexes into the subtopology's arrays of the same names
    Field("sourceTopics", Array(INT16)),
    Field("sourceTopicRegex", Array(INT16)),
    Field("repartitionSourceTopics", Array(INT16)),
)
_SUBTOPOLOGY = structure(
    Field("subtopologyId", STRING),
    Field("sourceTopics", Array(STRING)),
    Field("sourceTopicRegex", Array(STRING)),
    Field("stateChangelogTopics", Array(_TOPIC_INFO)),
    Field("repartitionSinkTopics", Array(STRING)),
    Field("repartitionSourceTopics", Array(_TOPIC_INFO)),
    Field("copartitionGroups", Array(_COPARTITION_GROUP)),
)
STREAMS_GROUP_TOPOLOGY_KEY = layout("StreamsGroupTopologyKey", *GROUP_KEY)
STREAMS_GROUP_TOPOLOGY_VALUE = layout(
    "StreamsGroupTopologyValue",
    Field("epoch", INT32),
    Field("subtopologies", Array(_SUBTOPOLOGY)),
    flexible_since=0,
)
