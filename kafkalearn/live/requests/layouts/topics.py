"""Brokers, topics and their partitions: leaders, replicas, ISR, eligible leader replicas.

References
----------
Apache Kafka 4.3.1, the message definitions of these names.
"""

from __future__ import annotations

from kafkalearn.wire.fields import BOOLEAN, INT16, INT32, STRING, UUID, ZERO_UUID, Array, Field, layout, structure

_METADATA_REQUEST_TOPIC = structure(
    Field("topicId", UUID, since=10, default=ZERO_UUID),
    Field("name", STRING, is_nullable=True),
)
METADATA_REQUEST = layout(
    "MetadataRequest",
    Field("topics", Array(_METADATA_REQUEST_TOPIC), is_nullable=True),
    Field("allowAutoTopicCreation", BOOLEAN, since=4, default=True),
    Field("includeClusterAuthorizedOperations", BOOLEAN, since=8, until=10, default=False),
    Field("includeTopicAuthorizedOperations", BOOLEAN, since=8, default=False),
    newest=13,
    flexible_since=9,
)

_METADATA_RESPONSE_BROKER = structure(
    Field("nodeId", INT32),
    Field("host", STRING),
    Field("port", INT32),
    Field("rack", STRING, since=1, default=None, is_nullable=True),
)
_METADATA_RESPONSE_PARTITION = structure(
    Field("errorCode", INT16),
    Field("partitionIndex", INT32),
    Field("leaderId", INT32),
    Field("leaderEpoch", INT32, since=7, default=-1),
    Field("replicaNodes", Array(INT32)),
    Field("isrNodes", Array(INT32)),
    Field("offlineReplicas", Array(INT32), since=5),
)
_METADATA_RESPONSE_TOPIC = structure(
    Field("errorCode", INT16),
    Field("name", STRING, is_nullable=True),
    Field("topicId", UUID, since=10),
    Field("isInternal", BOOLEAN, since=1, default=False),
    Field("partitions", Array(_METADATA_RESPONSE_PARTITION)),
    Field("topicAuthorizedOperations", INT32, since=8, default=-2147483648),
)
METADATA_RESPONSE = layout(
    "MetadataResponse",
    Field("throttleTimeMs", INT32, since=3),
    Field("brokers", Array(_METADATA_RESPONSE_BROKER)),
    Field("clusterId", STRING, since=2, default=None, is_nullable=True),
    Field("controllerId", INT32, since=1, default=-1),
    Field("topics", Array(_METADATA_RESPONSE_TOPIC)),
    Field("clusterAuthorizedOperations", INT32, since=8, until=10, default=-2147483648),
    Field("errorCode", INT16, since=13),
    newest=13,
    flexible_since=9,
)

_TOPIC_REQUEST = structure(
    Field("name", STRING),
)
_CURSOR = structure(
    Field("topicName", STRING),
    Field("partitionIndex", INT32),
)
DESCRIBE_TOPIC_PARTITIONS_REQUEST = layout(
    "DescribeTopicPartitionsRequest",
    Field("topics", Array(_TOPIC_REQUEST)),
    Field("responsePartitionLimit", INT32, default=2000),
    Field("cursor", _CURSOR, default=None, is_nullable=True),
    newest=0,
    flexible_since=0,
)

_DESCRIBE_TOPIC_PARTITIONS_RESPONSE_PARTITION = structure(
    Field("errorCode", INT16),
    Field("partitionIndex", INT32),
    Field("leaderId", INT32),
    Field("leaderEpoch", INT32, default=-1),
    Field("replicaNodes", Array(INT32)),
    Field("isrNodes", Array(INT32)),
    Field("eligibleLeaderReplicas", Array(INT32), default=None, is_nullable=True),
    Field("lastKnownElr", Array(INT32), default=None, is_nullable=True),
    Field("offlineReplicas", Array(INT32)),
)
_DESCRIBE_TOPIC_PARTITIONS_RESPONSE_TOPIC = structure(
    Field("errorCode", INT16),
    Field("name", STRING, is_nullable=True),
    Field("topicId", UUID),
    Field("isInternal", BOOLEAN, default=False),
    Field("partitions", Array(_DESCRIBE_TOPIC_PARTITIONS_RESPONSE_PARTITION)),
    Field("topicAuthorizedOperations", INT32, default=-2147483648),
)
DESCRIBE_TOPIC_PARTITIONS_RESPONSE = layout(
    "DescribeTopicPartitionsResponse",
    Field("throttleTimeMs", INT32),
    Field("topics", Array(_DESCRIBE_TOPIC_PARTITIONS_RESPONSE_TOPIC)),
    Field("nextCursor", _CURSOR, default=None, is_nullable=True),
    newest=0,
    flexible_since=0,
)
