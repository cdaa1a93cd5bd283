"""Groups of the consumer protocol (KIP-848).

References
----------
Apache Kafka 4.3.1, the message definitions of these names.
"""

from __future__ import annotations

from kafkalearn.wire.fields import BOOLEAN, INT8, INT16, INT32, STRING, UUID, Array, Field, layout, structure

_TOPIC_PARTITIONS = structure(
    Field("topicId", UUID),
    Field("partitions", Array(INT32)),
)
CONSUMER_GROUP_HEARTBEAT_REQUEST = layout(
    "ConsumerGroupHeartbeatRequest",
    Field("groupId", STRING),
    Field("memberId", STRING),
    Field("memberEpoch", INT32),
    Field("instanceId", STRING, default=None, is_nullable=True),
    Field("rackId", STRING, default=None, is_nullable=True),
    Field("rebalanceTimeoutMs", INT32, default=-1),
    Field("subscribedTopicNames", Array(STRING), default=None, is_nullable=True),
    Field("subscribedTopicRegex", STRING, since=1, default=None, is_nullable=True),
    Field("serverAssignor", STRING, default=None, is_nullable=True),
    Field("topicPartitions", Array(_TOPIC_PARTITIONS), default=None, is_nullable=True),
    newest=1,
    flexible_since=0,
)

_ASSIGNMENT = structure(
    Field("topicPartitions", Array(_TOPIC_PARTITIONS)),
)
CONSUMER_GROUP_HEARTBEAT_RESPONSE = layout(
    "ConsumerGroupHeartbeatResponse",
    Field("throttleTimeMs", INT32),
    Field("errorCode", INT16),
    Field("errorMessage", STRING, default=None, is_nullable=True),
    Field("memberId", STRING, default=None, is_nullable=True),
    Field("memberEpoch", INT32),
    Field("heartbeatIntervalMs", INT32),
    Field("assignment", _ASSIGNMENT, default=None, is_nullable=True),
    newest=1,
    flexible_since=0,
)

CONSUMER_GROUP_DESCRIBE_REQUEST = layout(
    "ConsumerGroupDescribeRequest",
    Field("groupIds", Array(STRING)),
    Field("includeAuthorizedOperations", BOOLEAN, default=False),
    newest=1,
    flexible_since=0,
)

_TOPIC_PARTITIONS2 = structure(
    Field("topicId", UUID),
    Field("topicName", STRING),
    Field("partitions", Array(INT32)),
)
_ASSIGNMENT2 = structure(
    Field("topicPartitions", Array(_TOPIC_PARTITIONS2)),
)
_MEMBER = structure(
    Field("memberId", STRING),
    Field("instanceId", STRING, default=None, is_nullable=True),
    Field("rackId", STRING, default=None, is_nullable=True),
    Field("memberEpoch", INT32),
    Field("clientId", STRING),
    Field("clientHost", STRING),
    Field("subscribedTopicNames", Array(STRING)),
    Field("subscribedTopicRegex", STRING, default=None, is_nullable=True),
    Field("assignment", _ASSIGNMENT2),
    Field("targetAssignment", _ASSIGNMENT2),
    Field("memberType", INT8, since=1, default=-1),
)
_DESCRIBED_GROUP = structure(
    Field("errorCode", INT16),
    Field("errorMessage", STRING, default=None, is_nullable=True),
    Field("groupId", STRING),
    Field("groupState", STRING),
    Field("groupEpoch", INT32),
    Field("assignmentEpoch", INT32),
    Field("assignorName", STRING),
    Field("members", Array(_MEMBER)),
    Field("authorizedOperations", INT32, default=-2147483648),
)
CONSUMER_GROUP_DESCRIBE_RESPONSE = layout(
    "ConsumerGroupDescribeResponse",
    Field("throttleTimeMs", INT32),
    Field("groups", Array(_DESCRIBED_GROUP)),
    newest=1,
    flexible_since=0,
)
