"""The layouts of requests and their answers, as data, in every version that Kafka 4.3 speaks."""

from __future__ import annotations

from kafkalearn.formats.wire import (
    BOOLEAN,
    BYTES,
    INT8,
    INT16,
    INT32,
    INT64,
    STRING,
    UUID,
    ZERO_UUID,
    Array,
    Field,
    layout,
    structure,
)

# Groups: which broker coordinates one, which there are, and the classic protocol.
#
# References
# ----------
# Apache Kafka 4.3.1, the message definitions of these names.

FIND_COORDINATOR_REQUEST = layout(
    "FindCoordinatorRequest",
    Field("key", STRING, until=3),
    Field("keyType", INT8, since=1, default=0),
    Field("coordinatorKeys", Array(STRING), since=4),
    newest=6,
    flexible_since=3,
)

_COORDINATOR = structure(
    Field("key", STRING, since=4),
    Field("nodeId", INT32, since=4),
    Field("host", STRING, since=4),
    Field("port", INT32, since=4),
    Field("errorCode", INT16, since=4),
    Field("errorMessage", STRING, since=4, is_nullable=True),
)
FIND_COORDINATOR_RESPONSE = layout(
    "FindCoordinatorResponse",
    Field("throttleTimeMs", INT32, since=1),
    Field("errorCode", INT16, until=3),
    Field("errorMessage", STRING, since=1, until=3, is_nullable=True),
    Field("nodeId", INT32, until=3),
    Field("host", STRING, until=3),
    Field("port", INT32, until=3),
    Field("coordinators", Array(_COORDINATOR), since=4),
    newest=6,
    flexible_since=3,
)

_JOIN_GROUP_REQUEST_PROTOCOL = structure(
    Field("name", STRING),
    Field("metadata", BYTES),
)
JOIN_GROUP_REQUEST = layout(
    "JoinGroupRequest",
    Field("groupId", STRING),
    Field("sessionTimeoutMs", INT32),
    Field("rebalanceTimeoutMs", INT32, since=1, default=-1),
    Field("memberId", STRING),
    Field("groupInstanceId", STRING, since=5, default=None, is_nullable=True),
    Field("protocolType", STRING),
    Field("protocols", Array(_JOIN_GROUP_REQUEST_PROTOCOL)),
    Field("reason", STRING, since=8, default=None, is_nullable=True),
    newest=9,
    flexible_since=6,
)

_JOIN_GROUP_RESPONSE_MEMBER = structure(
    Field("memberId", STRING),
    Field("groupInstanceId", STRING, since=5, default=None, is_nullable=True),
    Field("metadata", BYTES),
)
JOIN_GROUP_RESPONSE = layout(
    "JoinGroupResponse",
    Field("throttleTimeMs", INT32, since=2),
    Field("errorCode", INT16),
    Field("generationId", INT32, default=-1),
    Field("protocolType", STRING, since=7, default=None, is_nullable=True),
    Field("protocolName", STRING, is_nullable=True),
    Field("leader", STRING),
    Field("skipAssignment", BOOLEAN, since=9, default=False),
    Field("memberId", STRING),
    Field("members", Array(_JOIN_GROUP_RESPONSE_MEMBER)),
    newest=9,
    flexible_since=6,
)

_SYNC_GROUP_REQUEST_ASSIGNMENT = structure(
    Field("memberId", STRING),
    Field("assignment", BYTES),
)
SYNC_GROUP_REQUEST = layout(
    "SyncGroupRequest",
    Field("groupId", STRING),
    Field("generationId", INT32),
    Field("memberId", STRING),
    Field("groupInstanceId", STRING, since=3, default=None, is_nullable=True),
    Field("protocolType", STRING, since=5, default=None, is_nullable=True),
    Field("protocolName", STRING, since=5, default=None, is_nullable=True),
    Field("assignments", Array(_SYNC_GROUP_REQUEST_ASSIGNMENT)),
    newest=5,
    flexible_since=4,
)

SYNC_GROUP_RESPONSE = layout(
    "SyncGroupResponse",
    Field("throttleTimeMs", INT32, since=1),
    Field("errorCode", INT16),
    Field("protocolType", STRING, since=5, default=None, is_nullable=True),
    Field("protocolName", STRING, since=5, default=None, is_nullable=True),
    Field("assignment", BYTES),
    newest=5,
    flexible_since=4,
)

HEARTBEAT_REQUEST = layout(
    "HeartbeatRequest",
    Field("groupId", STRING),
    Field("generationId", INT32),
    Field("memberId", STRING),
    Field("groupInstanceId", STRING, since=3, default=None, is_nullable=True),
    newest=4,
    flexible_since=4,
)

HEARTBEAT_RESPONSE = layout(
    "HeartbeatResponse",
    Field("throttleTimeMs", INT32, since=1),
    Field("errorCode", INT16),
    newest=4,
    flexible_since=4,
)

_MEMBER_IDENTITY = structure(
    Field("memberId", STRING, since=3),
    Field("groupInstanceId", STRING, since=3, default=None, is_nullable=True),
    Field("reason", STRING, since=5, default=None, is_nullable=True),
)
LEAVE_GROUP_REQUEST = layout(
    "LeaveGroupRequest",
    Field("groupId", STRING),
    Field("memberId", STRING, until=2),
    Field("members", Array(_MEMBER_IDENTITY), since=3),
    newest=5,
    flexible_since=4,
)

_MEMBER_RESPONSE = structure(
    Field("memberId", STRING, since=3),
    Field("groupInstanceId", STRING, since=3, is_nullable=True),
    Field("errorCode", INT16, since=3),
)
LEAVE_GROUP_RESPONSE = layout(
    "LeaveGroupResponse",
    Field("throttleTimeMs", INT32, since=1),
    Field("errorCode", INT16),
    Field("members", Array(_MEMBER_RESPONSE), since=3),
    newest=5,
    flexible_since=4,
)

LIST_GROUPS_REQUEST = layout(
    "ListGroupsRequest",
    Field("statesFilter", Array(STRING), since=4),
    Field("typesFilter", Array(STRING), since=5),
    newest=5,
    flexible_since=3,
)

_LISTED_GROUP = structure(
    Field("groupId", STRING),
    Field("protocolType", STRING),
    Field("groupState", STRING, since=4),
    Field("groupType", STRING, since=5),
)
LIST_GROUPS_RESPONSE = layout(
    "ListGroupsResponse",
    Field("throttleTimeMs", INT32, since=1),
    Field("errorCode", INT16),
    Field("groups", Array(_LISTED_GROUP)),
    newest=5,
    flexible_since=3,
)

DESCRIBE_GROUPS_REQUEST = layout(
    "DescribeGroupsRequest",
    Field("groups", Array(STRING)),
    Field("includeAuthorizedOperations", BOOLEAN, since=3, default=False),
    newest=6,
    flexible_since=5,
)

_DESCRIBED_GROUP_MEMBER = structure(
    Field("memberId", STRING),
    Field("groupInstanceId", STRING, since=4, default=None, is_nullable=True),
    Field("clientId", STRING),
    Field("clientHost", STRING),
    Field("memberMetadata", BYTES),
    Field("memberAssignment", BYTES),
)
_DESCRIBED_GROUP = structure(
    Field("errorCode", INT16),
    Field("errorMessage", STRING, since=6, default=None, is_nullable=True),
    Field("groupId", STRING),
    Field("groupState", STRING),
    Field("protocolType", STRING),
    Field("protocolData", STRING),
    Field("members", Array(_DESCRIBED_GROUP_MEMBER)),
    Field("authorizedOperations", INT32, since=3, default=-2147483648),
)
DESCRIBE_GROUPS_RESPONSE = layout(
    "DescribeGroupsResponse",
    Field("throttleTimeMs", INT32, since=1),
    Field("groups", Array(_DESCRIBED_GROUP)),
    newest=6,
    flexible_since=5,
)

DELETE_GROUPS_REQUEST = layout(
    "DeleteGroupsRequest",
    Field("groupsNames", Array(STRING)),
    newest=2,
    flexible_since=2,
)

_DELETABLE_GROUP_RESULT = structure(
    Field("groupId", STRING),
    Field("errorCode", INT16),
)
DELETE_GROUPS_RESPONSE = layout(
    "DeleteGroupsResponse",
    Field("throttleTimeMs", INT32),
    Field("results", Array(_DELETABLE_GROUP_RESULT)),
    newest=2,
    flexible_since=2,
)


# The settings of a topic or a broker, as its broker has them.
#
# References
# ----------
# Apache Kafka 4.3.1, the message definitions of these names.

_RESOURCE = structure(
    Field("resourceType", INT8),
    Field("resourceName", STRING),
    Field("configurationKeys", Array(STRING), is_nullable=True),
)
DESCRIBE_CONFIGS_REQUEST = layout(
    "DescribeConfigsRequest",
    Field("resources", Array(_RESOURCE)),
    Field("includeSynonyms", BOOLEAN, default=False),
    Field("includeDocumentation", BOOLEAN, since=3, default=False),
    newest=4,
    flexible_since=4,
)

_SYNONYM = structure(
    Field("name", STRING),
    Field("value", STRING, is_nullable=True),
    Field("source", INT8),
)
_CONFIG = structure(
    Field("name", STRING),
    Field("value", STRING, is_nullable=True),
    Field("readOnly", BOOLEAN),
    Field("configSource", INT8, default=-1),
    Field("isSensitive", BOOLEAN),
    Field("synonyms", Array(_SYNONYM)),
    Field("configType", INT8, since=3, default=0),
    Field("documentation", STRING, since=3, is_nullable=True),
)
_RESULT = structure(
    Field("errorCode", INT16),
    Field("errorMessage", STRING, is_nullable=True),
    Field("resourceType", INT8),
    Field("resourceName", STRING),
    Field("configs", Array(_CONFIG)),
)
DESCRIBE_CONFIGS_RESPONSE = layout(
    "DescribeConfigsResponse",
    Field("throttleTimeMs", INT32),
    Field("results", Array(_RESULT)),
    newest=4,
    flexible_since=4,
)


# What a client asks first: which versions a broker speaks, and who the client is.
#
# References
# ----------
# Apache Kafka 4.3.1, the message definitions of these names.

API_VERSIONS_REQUEST = layout(
    "ApiVersionsRequest",
    Field("clientSoftwareName", STRING, since=3),
    Field("clientSoftwareVersion", STRING, since=3),
    newest=4,
    flexible_since=3,
)

_API_VERSION = structure(
    Field("apiKey", INT16),
    Field("minVersion", INT16),
    Field("maxVersion", INT16),
)
_SUPPORTED_FEATURE_KEY = structure(
    Field("name", STRING, since=3),
    Field("minVersion", INT16, since=3),
    Field("maxVersion", INT16, since=3),
)
_FINALIZED_FEATURE_KEY = structure(
    Field("name", STRING, since=3),
    Field("maxVersionLevel", INT16, since=3),
    Field("minVersionLevel", INT16, since=3),
)
API_VERSIONS_RESPONSE = layout(
    "ApiVersionsResponse",
    Field("errorCode", INT16),
    Field("apiKeys", Array(_API_VERSION)),
    Field("throttleTimeMs", INT32, since=1),
    Field("supportedFeatures", Array(_SUPPORTED_FEATURE_KEY), since=3, default=[], tag=0),
    Field("finalizedFeaturesEpoch", INT64, since=3, default=-1, tag=1),
    Field("finalizedFeatures", Array(_FINALIZED_FEATURE_KEY), since=3, default=[], tag=2),
    Field("zkMigrationReady", BOOLEAN, since=3, default=False, tag=3),
    newest=4,
    flexible_since=3,
)

SASL_HANDSHAKE_REQUEST = layout(
    "SaslHandshakeRequest",
    Field("mechanism", STRING),
    newest=1,
)

SASL_HANDSHAKE_RESPONSE = layout(
    "SaslHandshakeResponse",
    Field("errorCode", INT16),
    Field("mechanisms", Array(STRING)),
    newest=1,
)

SASL_AUTHENTICATE_REQUEST = layout(
    "SaslAuthenticateRequest",
    Field("authBytes", BYTES),
    newest=2,
    flexible_since=2,
)

SASL_AUTHENTICATE_RESPONSE = layout(
    "SaslAuthenticateResponse",
    Field("errorCode", INT16),
    Field("errorMessage", STRING, is_nullable=True),
    Field("authBytes", BYTES),
    Field("sessionLifetimeMs", INT64, since=1, default=0),
    newest=2,
    flexible_since=2,
)


# Groups of the consumer protocol (KIP-848).
#
# References
# ----------
# Apache Kafka 4.3.1, the message definitions of these names.

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
_CONSUMER_GROUPS_DESCRIBED_GROUP = structure(
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
    Field("groups", Array(_CONSUMER_GROUPS_DESCRIBED_GROUP)),
    newest=1,
    flexible_since=0,
)


# Who leads and who holds a replica, changed by an administrator: elections and reassignments.
#
# References
# ----------
# Apache Kafka 4.3.1, the message definitions of these names.

_ELECT_LEADERS_TOPIC = structure(
    Field("topic", STRING),
    Field("partitions", Array(INT32)),
)
ELECT_LEADERS_REQUEST = layout(
    "ElectLeadersRequest",
    Field("electionType", INT8, since=1),
    Field("topicPartitions", Array(_ELECT_LEADERS_TOPIC), is_nullable=True),
    Field("timeoutMs", INT32, default=60000),
    newest=2,
    flexible_since=2,
)

_ELECT_LEADERS_PARTITION_RESULT = structure(
    Field("partitionId", INT32),
    Field("errorCode", INT16),
    Field("errorMessage", STRING, is_nullable=True),
)
_ELECT_LEADERS_TOPIC_RESULT = structure(
    Field("topic", STRING),
    Field("partitionResult", Array(_ELECT_LEADERS_PARTITION_RESULT)),
)
ELECT_LEADERS_RESPONSE = layout(
    "ElectLeadersResponse",
    Field("throttleTimeMs", INT32),
    Field("errorCode", INT16, since=1),
    Field("replicaElectionResults", Array(_ELECT_LEADERS_TOPIC_RESULT)),
    newest=2,
    flexible_since=2,
)

_REASSIGNABLE_PARTITION = structure(
    Field("partitionIndex", INT32),
    Field("replicas", Array(INT32), default=None, is_nullable=True),
)
_REASSIGNABLE_TOPIC = structure(
    Field("name", STRING),
    Field("partitions", Array(_REASSIGNABLE_PARTITION)),
)
ALTER_PARTITION_REASSIGNMENTS_REQUEST = layout(
    "AlterPartitionReassignmentsRequest",
    Field("timeoutMs", INT32, default=60000),
    Field("allowReplicationFactorChange", BOOLEAN, since=1, default=True),
    Field("topics", Array(_REASSIGNABLE_TOPIC)),
    newest=1,
    flexible_since=0,
)

_REASSIGNABLE_PARTITION_RESPONSE = structure(
    Field("partitionIndex", INT32),
    Field("errorCode", INT16),
    Field("errorMessage", STRING, is_nullable=True),
)
_REASSIGNABLE_TOPIC_RESPONSE = structure(
    Field("name", STRING),
    Field("partitions", Array(_REASSIGNABLE_PARTITION_RESPONSE)),
)
ALTER_PARTITION_REASSIGNMENTS_RESPONSE = layout(
    "AlterPartitionReassignmentsResponse",
    Field("throttleTimeMs", INT32),
    Field("allowReplicationFactorChange", BOOLEAN, since=1, default=True),
    Field("errorCode", INT16),
    Field("errorMessage", STRING, is_nullable=True),
    Field("responses", Array(_REASSIGNABLE_TOPIC_RESPONSE)),
    newest=1,
    flexible_since=0,
)

_LIST_REASSIGNMENTS_TOPIC = structure(
    Field("name", STRING),
    Field("partitionIndexes", Array(INT32)),
)
LIST_PARTITION_REASSIGNMENTS_REQUEST = layout(
    "ListPartitionReassignmentsRequest",
    Field("timeoutMs", INT32, default=60000),
    Field("topics", Array(_LIST_REASSIGNMENTS_TOPIC), default=None, is_nullable=True),
    newest=0,
    flexible_since=0,
)

_ONGOING_PARTITION_REASSIGNMENT = structure(
    Field("partitionIndex", INT32),
    Field("replicas", Array(INT32)),
    Field("addingReplicas", Array(INT32)),
    Field("removingReplicas", Array(INT32)),
)
_ONGOING_TOPIC_REASSIGNMENT = structure(
    Field("name", STRING),
    Field("partitions", Array(_ONGOING_PARTITION_REASSIGNMENT)),
)
LIST_PARTITION_REASSIGNMENTS_RESPONSE = layout(
    "ListPartitionReassignmentsResponse",
    Field("throttleTimeMs", INT32),
    Field("errorCode", INT16),
    Field("errorMessage", STRING, is_nullable=True),
    Field("topics", Array(_ONGOING_TOPIC_REASSIGNMENT)),
    newest=0,
    flexible_since=0,
)


# The log of a partition: its offsets and epochs, and its size on each disk.
#
# References
# ----------
# Apache Kafka 4.3.1, the message definitions of these names.

_LIST_OFFSETS_PARTITION = structure(
    Field("partitionIndex", INT32),
    Field("currentLeaderEpoch", INT32, since=4, default=-1),
    Field("timestamp", INT64),
)
_LIST_OFFSETS_TOPIC = structure(
    Field("name", STRING),
    Field("partitions", Array(_LIST_OFFSETS_PARTITION)),
)
LIST_OFFSETS_REQUEST = layout(
    "ListOffsetsRequest",
    Field("replicaId", INT32),
    Field("isolationLevel", INT8, since=2),
    Field("topics", Array(_LIST_OFFSETS_TOPIC)),
    Field("timeoutMs", INT32, since=10),
    newest=11,
    flexible_since=6,
)

_LIST_OFFSETS_PARTITION_RESPONSE = structure(
    Field("partitionIndex", INT32),
    Field("errorCode", INT16),
    Field("timestamp", INT64, default=-1),
    Field("offset", INT64, default=-1),
    Field("leaderEpoch", INT32, since=4, default=-1),
)
_LIST_OFFSETS_TOPIC_RESPONSE = structure(
    Field("name", STRING),
    Field("partitions", Array(_LIST_OFFSETS_PARTITION_RESPONSE)),
)
LIST_OFFSETS_RESPONSE = layout(
    "ListOffsetsResponse",
    Field("throttleTimeMs", INT32, since=2),
    Field("topics", Array(_LIST_OFFSETS_TOPIC_RESPONSE)),
    newest=11,
    flexible_since=6,
)

_OFFSET_FOR_LEADER_PARTITION = structure(
    Field("partition", INT32),
    Field("currentLeaderEpoch", INT32, default=-1),
    Field("leaderEpoch", INT32),
)
_OFFSET_FOR_LEADER_TOPIC = structure(
    Field("topic", STRING),
    Field("partitions", Array(_OFFSET_FOR_LEADER_PARTITION)),
)
OFFSET_FOR_LEADER_EPOCH_REQUEST = layout(
    "OffsetForLeaderEpochRequest",
    Field("replicaId", INT32, since=3, default=-2),
    Field("topics", Array(_OFFSET_FOR_LEADER_TOPIC)),
    newest=4,
    flexible_since=4,
)

_EPOCH_END_OFFSET = structure(
    Field("errorCode", INT16),
    Field("partition", INT32),
    Field("leaderEpoch", INT32, default=-1),
    Field("endOffset", INT64, default=-1),
)
_OFFSET_FOR_LEADER_TOPIC_RESULT = structure(
    Field("topic", STRING),
    Field("partitions", Array(_EPOCH_END_OFFSET)),
)
OFFSET_FOR_LEADER_EPOCH_RESPONSE = layout(
    "OffsetForLeaderEpochResponse",
    Field("throttleTimeMs", INT32),
    Field("topics", Array(_OFFSET_FOR_LEADER_TOPIC_RESULT)),
    newest=4,
    flexible_since=4,
)

_DESCRIBABLE_LOG_DIR_TOPIC = structure(
    Field("topic", STRING),
    Field("partitions", Array(INT32)),
)
DESCRIBE_LOG_DIRS_REQUEST = layout(
    "DescribeLogDirsRequest",
    Field("topics", Array(_DESCRIBABLE_LOG_DIR_TOPIC), is_nullable=True),
    newest=5,
    flexible_since=2,
)

_DESCRIBE_LOG_DIRS_PARTITION = structure(
    Field("partitionIndex", INT32),
    Field("partitionSize", INT64),
    Field("offsetLag", INT64),
    Field("isFutureKey", BOOLEAN),
)
_DESCRIBE_LOG_DIRS_TOPIC = structure(
    Field("name", STRING),
    Field("partitions", Array(_DESCRIBE_LOG_DIRS_PARTITION)),
)
_DESCRIBE_LOG_DIRS_RESULT = structure(
    Field("errorCode", INT16),
    Field("logDir", STRING),
    Field("topics", Array(_DESCRIBE_LOG_DIRS_TOPIC)),
    Field("totalBytes", INT64, since=4, default=-1),
    Field("usableBytes", INT64, since=4, default=-1),
    Field("isCordoned", BOOLEAN, since=5, default=False),
)
DESCRIBE_LOG_DIRS_RESPONSE = layout(
    "DescribeLogDirsResponse",
    Field("throttleTimeMs", INT32),
    Field("errorCode", INT16, since=3),
    Field("results", Array(_DESCRIBE_LOG_DIRS_RESULT)),
    newest=5,
    flexible_since=2,
)

_DELETE_RECORDS_PARTITION = structure(
    Field("partitionIndex", INT32),
    Field("offset", INT64),
)
_DELETE_RECORDS_TOPIC = structure(
    Field("name", STRING),
    Field("partitions", Array(_DELETE_RECORDS_PARTITION)),
)
DELETE_RECORDS_REQUEST = layout(
    "DeleteRecordsRequest",
    Field("topics", Array(_DELETE_RECORDS_TOPIC)),
    Field("timeoutMs", INT32),
    newest=2,
    flexible_since=2,
)

_DELETE_RECORDS_PARTITION_RESULT = structure(
    Field("partitionIndex", INT32),
    Field("lowWatermark", INT64),
    Field("errorCode", INT16),
)
_DELETE_RECORDS_TOPIC_RESULT = structure(
    Field("name", STRING),
    Field("partitions", Array(_DELETE_RECORDS_PARTITION_RESULT)),
)
DELETE_RECORDS_RESPONSE = layout(
    "DeleteRecordsResponse",
    Field("throttleTimeMs", INT32),
    Field("topics", Array(_DELETE_RECORDS_TOPIC_RESULT)),
    newest=2,
    flexible_since=2,
)


# Committed offsets: written, read and deleted.
#
# References
# ----------
# Apache Kafka 4.3.1, the message definitions of these names.

_OFFSET_COMMIT_REQUEST_PARTITION = structure(
    Field("partitionIndex", INT32),
    Field("committedOffset", INT64),
    Field("committedLeaderEpoch", INT32, since=6, default=-1),
    Field("committedMetadata", STRING, is_nullable=True),
)
_OFFSET_COMMIT_REQUEST_TOPIC = structure(
    Field("name", STRING, until=9),
    Field("topicId", UUID, since=10),
    Field("partitions", Array(_OFFSET_COMMIT_REQUEST_PARTITION)),
)
OFFSET_COMMIT_REQUEST = layout(
    "OffsetCommitRequest",
    Field("groupId", STRING),
    Field("generationIdOrMemberEpoch", INT32, default=-1),
    Field("memberId", STRING),
    Field("groupInstanceId", STRING, since=7, default=None, is_nullable=True),
    Field("retentionTimeMs", INT64, until=4, default=-1),
    Field("topics", Array(_OFFSET_COMMIT_REQUEST_TOPIC)),
    newest=10,
    flexible_since=8,
)

_OFFSET_COMMIT_RESPONSE_PARTITION = structure(
    Field("partitionIndex", INT32),
    Field("errorCode", INT16),
)
_OFFSET_COMMIT_RESPONSE_TOPIC = structure(
    Field("name", STRING, until=9),
    Field("topicId", UUID, since=10),
    Field("partitions", Array(_OFFSET_COMMIT_RESPONSE_PARTITION)),
)
OFFSET_COMMIT_RESPONSE = layout(
    "OffsetCommitResponse",
    Field("throttleTimeMs", INT32, since=3),
    Field("topics", Array(_OFFSET_COMMIT_RESPONSE_TOPIC)),
    newest=10,
    flexible_since=8,
)

_OFFSET_FETCH_REQUEST_TOPIC = structure(
    Field("name", STRING, until=7),
    Field("partitionIndexes", Array(INT32), until=7),
)
_OFFSET_FETCH_REQUEST_TOPICS = structure(
    Field("name", STRING, since=8, until=9),
    Field("topicId", UUID, since=10),
    Field("partitionIndexes", Array(INT32), since=8),
)
_OFFSET_FETCH_REQUEST_GROUP = structure(
    Field("groupId", STRING, since=8),
    Field("memberId", STRING, since=9, default=None, is_nullable=True),
    Field("memberEpoch", INT32, since=9, default=-1),
    Field("topics", Array(_OFFSET_FETCH_REQUEST_TOPICS), since=8, is_nullable=True),
)
OFFSET_FETCH_REQUEST = layout(
    "OffsetFetchRequest",
    Field("groupId", STRING, until=7),
    Field("topics", Array(_OFFSET_FETCH_REQUEST_TOPIC), until=7, is_nullable=True),
    Field("groups", Array(_OFFSET_FETCH_REQUEST_GROUP), since=8),
    Field("requireStable", BOOLEAN, since=7, default=False),
    newest=10,
    flexible_since=6,
)

_OFFSET_FETCH_RESPONSE_PARTITION = structure(
    Field("partitionIndex", INT32, until=7),
    Field("committedOffset", INT64, until=7),
    Field("committedLeaderEpoch", INT32, since=5, until=7, default=-1),
    Field("metadata", STRING, until=7, is_nullable=True),
    Field("errorCode", INT16, until=7),
)
_OFFSET_FETCH_RESPONSE_TOPIC = structure(
    Field("name", STRING, until=7),
    Field("partitions", Array(_OFFSET_FETCH_RESPONSE_PARTITION), until=7),
)
_OFFSET_FETCH_RESPONSE_PARTITIONS = structure(
    Field("partitionIndex", INT32, since=8),
    Field("committedOffset", INT64, since=8),
    Field("committedLeaderEpoch", INT32, since=8, default=-1),
    Field("metadata", STRING, since=8, is_nullable=True),
    Field("errorCode", INT16, since=8),
)
_OFFSET_FETCH_RESPONSE_TOPICS = structure(
    Field("name", STRING, since=8, until=9),
    Field("topicId", UUID, since=10),
    Field("partitions", Array(_OFFSET_FETCH_RESPONSE_PARTITIONS), since=8),
)
_OFFSET_FETCH_RESPONSE_GROUP = structure(
    Field("groupId", STRING, since=8),
    Field("topics", Array(_OFFSET_FETCH_RESPONSE_TOPICS), since=8),
    Field("errorCode", INT16, since=8, default=0),
)
OFFSET_FETCH_RESPONSE = layout(
    "OffsetFetchResponse",
    Field("throttleTimeMs", INT32, since=3),
    Field("topics", Array(_OFFSET_FETCH_RESPONSE_TOPIC), until=7),
    Field("errorCode", INT16, since=2, until=7, default=0),
    Field("groups", Array(_OFFSET_FETCH_RESPONSE_GROUP), since=8),
    newest=10,
    flexible_since=6,
)

_OFFSET_DELETE_REQUEST_PARTITION = structure(
    Field("partitionIndex", INT32),
)
_OFFSET_DELETE_REQUEST_TOPIC = structure(
    Field("name", STRING),
    Field("partitions", Array(_OFFSET_DELETE_REQUEST_PARTITION)),
)
OFFSET_DELETE_REQUEST = layout(
    "OffsetDeleteRequest",
    Field("groupId", STRING),
    Field("topics", Array(_OFFSET_DELETE_REQUEST_TOPIC)),
    newest=0,
)

_OFFSET_DELETE_RESPONSE_TOPIC = structure(
    Field("name", STRING),
    Field("partitions", Array(_OFFSET_COMMIT_RESPONSE_PARTITION)),
)
OFFSET_DELETE_RESPONSE = layout(
    "OffsetDeleteResponse",
    Field("errorCode", INT16),
    Field("throttleTimeMs", INT32),
    Field("topics", Array(_OFFSET_DELETE_RESPONSE_TOPIC)),
    newest=0,
)


# Records written and read, and the number that an idempotent producer gets.
#
# References
# ----------
# Apache Kafka 4.3.1, the message definitions of these names.

_PARTITION_PRODUCE_DATA = structure(
    Field("index", INT32),
    Field("records", BYTES, is_nullable=True),
)
_TOPIC_PRODUCE_DATA = structure(
    Field("name", STRING, until=12),
    Field("topicId", UUID, since=13),
    Field("partitionData", Array(_PARTITION_PRODUCE_DATA)),
)
PRODUCE_REQUEST = layout(
    "ProduceRequest",
    Field("transactionalId", STRING, default=None, is_nullable=True),
    Field("acks", INT16),
    Field("timeoutMs", INT32),
    Field("topicData", Array(_TOPIC_PRODUCE_DATA)),
    newest=13,
    flexible_since=9,
)

_BATCH_INDEX_AND_ERROR_MESSAGE = structure(
    Field("batchIndex", INT32, since=8),
    Field("batchIndexErrorMessage", STRING, since=8, default=None, is_nullable=True),
)
_LEADER_ID_AND_EPOCH = structure(
    Field("leaderId", INT32, since=10, default=-1),
    Field("leaderEpoch", INT32, since=10, default=-1),
)
_PARTITION_PRODUCE_RESPONSE = structure(
    Field("index", INT32),
    Field("errorCode", INT16),
    Field("baseOffset", INT64),
    Field("logAppendTimeMs", INT64, default=-1),
    Field("logStartOffset", INT64, since=5, default=-1),
    Field("recordErrors", Array(_BATCH_INDEX_AND_ERROR_MESSAGE), since=8),
    Field("errorMessage", STRING, since=8, default=None, is_nullable=True),
    Field("currentLeader", _LEADER_ID_AND_EPOCH, since=10, default={}, tag=0),
)
_TOPIC_PRODUCE_RESPONSE = structure(
    Field("name", STRING, until=12),
    Field("topicId", UUID, since=13),
    Field("partitionResponses", Array(_PARTITION_PRODUCE_RESPONSE)),
)
_NODE_ENDPOINT = structure(
    Field("nodeId", INT32, since=10),
    Field("host", STRING, since=10),
    Field("port", INT32, since=10),
    Field("rack", STRING, since=10, default=None, is_nullable=True),
)
PRODUCE_RESPONSE = layout(
    "ProduceResponse",
    Field("responses", Array(_TOPIC_PRODUCE_RESPONSE)),
    Field("throttleTimeMs", INT32, default=0),
    Field("nodeEndpoints", Array(_NODE_ENDPOINT), since=10, default=[], tag=0),
    newest=13,
    flexible_since=9,
)

_REPLICA_STATE = structure(
    Field("replicaId", INT32, since=15, default=-1),
    Field("replicaEpoch", INT64, since=15, default=-1),
)
_FETCH_PARTITION = structure(
    Field("partition", INT32),
    Field("currentLeaderEpoch", INT32, since=9, default=-1),
    Field("fetchOffset", INT64),
    Field("lastFetchedEpoch", INT32, since=12, default=-1),
    Field("logStartOffset", INT64, since=5, default=-1),
    Field("partitionMaxBytes", INT32),
    Field("replicaDirectoryId", UUID, since=17, default=ZERO_UUID, tag=0),
    Field("highWatermark", INT64, since=18, default=9223372036854775807, tag=1),
)
_FETCH_TOPIC = structure(
    Field("topic", STRING, until=12),
    Field("topicId", UUID, since=13),
    Field("partitions", Array(_FETCH_PARTITION)),
)
_FORGOTTEN_TOPIC = structure(
    Field("topic", STRING, since=7, until=12),
    Field("topicId", UUID, since=13),
    Field("partitions", Array(INT32), since=7),
)
FETCH_REQUEST = layout(
    "FetchRequest",
    Field("clusterId", STRING, since=12, default=None, is_nullable=True, tag=0),
    Field("replicaId", INT32, until=14, default=-1),
    Field("replicaState", _REPLICA_STATE, since=15, default={}, tag=1),
    Field("maxWaitMs", INT32),
    Field("minBytes", INT32),
    Field("maxBytes", INT32, default=2147483647),
    Field("isolationLevel", INT8, default=0),
    Field("sessionId", INT32, since=7, default=0),
    Field("sessionEpoch", INT32, since=7, default=-1),
    Field("topics", Array(_FETCH_TOPIC)),
    Field("forgottenTopicsData", Array(_FORGOTTEN_TOPIC), since=7),
    Field("rackId", STRING, since=11, default=""),
    newest=18,
    flexible_since=12,
)

_RECORDS_EPOCH_END_OFFSET = structure(
    Field("epoch", INT32, since=12, default=-1),
    Field("endOffset", INT64, since=12, default=-1),
)
_LEADER_ID_AND_EPOCH2 = structure(
    Field("leaderId", INT32, since=12, default=-1),
    Field("leaderEpoch", INT32, since=12, default=-1),
)
_SNAPSHOT_ID = structure(
    Field("endOffset", INT64, default=-1),
    Field("epoch", INT32, default=-1),
)
_ABORTED_TRANSACTION = structure(
    Field("producerId", INT64),
    Field("firstOffset", INT64),
)
_PARTITION_DATA = structure(
    Field("partitionIndex", INT32),
    Field("errorCode", INT16),
    Field("highWatermark", INT64),
    Field("lastStableOffset", INT64, default=-1),
    Field("logStartOffset", INT64, since=5, default=-1),
    Field("divergingEpoch", _RECORDS_EPOCH_END_OFFSET, since=12, default={}, tag=0),
    Field("currentLeader", _LEADER_ID_AND_EPOCH2, since=12, default={}, tag=1),
    Field("snapshotId", _SNAPSHOT_ID, since=12, default={}, tag=2),
    Field("abortedTransactions", Array(_ABORTED_TRANSACTION), is_nullable=True),
    Field("preferredReadReplica", INT32, since=11, default=-1),
    Field("records", BYTES, is_nullable=True),
)
_FETCHABLE_TOPIC_RESPONSE = structure(
    Field("topic", STRING, until=12),
    Field("topicId", UUID, since=13),
    Field("partitions", Array(_PARTITION_DATA)),
)
_NODE_ENDPOINT2 = structure(
    Field("nodeId", INT32, since=16),
    Field("host", STRING, since=16),
    Field("port", INT32, since=16),
    Field("rack", STRING, since=16, default=None, is_nullable=True),
)
FETCH_RESPONSE = layout(
    "FetchResponse",
    Field("throttleTimeMs", INT32),
    Field("errorCode", INT16, since=7),
    Field("sessionId", INT32, since=7, default=0),
    Field("responses", Array(_FETCHABLE_TOPIC_RESPONSE)),
    Field("nodeEndpoints", Array(_NODE_ENDPOINT2), since=16, default=[], tag=0),
    newest=18,
    flexible_since=12,
)

INIT_PRODUCER_ID_REQUEST = layout(
    "InitProducerIdRequest",
    Field("transactionalId", STRING, is_nullable=True),
    Field("transactionTimeoutMs", INT32),
    Field("producerId", INT64, since=3, default=-1),
    Field("producerEpoch", INT16, since=3, default=-1),
    Field("enable2Pc", BOOLEAN, since=6, default=False),
    Field("keepPreparedTxn", BOOLEAN, since=6, default=False),
    newest=6,
    flexible_since=2,
)

INIT_PRODUCER_ID_RESPONSE = layout(
    "InitProducerIdResponse",
    Field("throttleTimeMs", INT32),
    Field("errorCode", INT16),
    Field("producerId", INT64, default=-1),
    Field("producerEpoch", INT16),
    Field("ongoingTxnProducerId", INT64, since=6, default=-1),
    Field("ongoingTxnProducerEpoch", INT16, since=6, default=-1),
    newest=6,
    flexible_since=2,
)

_WRITABLE_TXN_MARKER_TOPIC = structure(
    Field("name", STRING),
    Field("partitionIndexes", Array(INT32)),
)
_WRITABLE_TXN_MARKER = structure(
    Field("producerId", INT64),
    Field("producerEpoch", INT16),
    Field("transactionResult", BOOLEAN),
    Field("topics", Array(_WRITABLE_TXN_MARKER_TOPIC)),
    Field("coordinatorEpoch", INT32),
    Field("transactionVersion", INT8, since=2, default=0),
)
WRITE_TXN_MARKERS_REQUEST = layout(
    "WriteTxnMarkersRequest",
    Field("markers", Array(_WRITABLE_TXN_MARKER)),
    newest=2,
    flexible_since=1,
)

_WRITABLE_TXN_MARKER_PARTITION_RESULT = structure(
    Field("partitionIndex", INT32),
    Field("errorCode", INT16),
)
_WRITABLE_TXN_MARKER_TOPIC_RESULT = structure(
    Field("name", STRING),
    Field("partitions", Array(_WRITABLE_TXN_MARKER_PARTITION_RESULT)),
)
_WRITABLE_TXN_MARKER_RESULT = structure(
    Field("producerId", INT64),
    Field("topics", Array(_WRITABLE_TXN_MARKER_TOPIC_RESULT)),
)
WRITE_TXN_MARKERS_RESPONSE = layout(
    "WriteTxnMarkersResponse",
    Field("markers", Array(_WRITABLE_TXN_MARKER_RESULT)),
    newest=2,
    flexible_since=1,
)


# Topics are created, get more partitions, are deleted.
#
# References
# ----------
# Apache Kafka 4.3.1, the message definitions of these names.

_TOPIC_CHANGES_ASSIGNMENT = structure(
    Field("partitionIndex", INT32),
    Field("brokerIds", Array(INT32)),
)
_TOPIC_CHANGES_CONFIG = structure(
    Field("name", STRING),
    Field("value", STRING, is_nullable=True),
)
_NEW_TOPIC = structure(
    Field("name", STRING),
    Field("numPartitions", INT32),
    Field("replicationFactor", INT16),
    Field("assignments", Array(_TOPIC_CHANGES_ASSIGNMENT)),
    Field("configs", Array(_TOPIC_CHANGES_CONFIG)),
)
CREATE_TOPICS_REQUEST = layout(
    "CreateTopicsRequest",
    Field("topics", Array(_NEW_TOPIC)),
    Field("timeoutMs", INT32, default=60000),
    Field("validateOnly", BOOLEAN, since=1, default=False),
    newest=7,
    flexible_since=5,
)

_CREATED_CONFIG = structure(
    Field("name", STRING, since=5),
    Field("value", STRING, since=5, is_nullable=True),
    Field("readOnly", BOOLEAN, since=5),
    Field("configSource", INT8, since=5, default=-1),
    Field("isSensitive", BOOLEAN, since=5),
)
_CREATED_TOPIC = structure(
    Field("name", STRING),
    Field("topicId", UUID, since=7),
    Field("errorCode", INT16),
    Field("errorMessage", STRING, since=1, is_nullable=True),
    Field("topicConfigErrorCode", INT16, since=5, default=0, tag=0),
    Field("numPartitions", INT32, since=5, default=-1),
    Field("replicationFactor", INT16, since=5, default=-1),
    Field("configs", Array(_CREATED_CONFIG), since=5, is_nullable=True),
)
CREATE_TOPICS_RESPONSE = layout(
    "CreateTopicsResponse",
    Field("throttleTimeMs", INT32, since=2),
    Field("topics", Array(_CREATED_TOPIC)),
    newest=7,
    flexible_since=5,
)

_TOPIC_TO_DELETE = structure(
    Field("name", STRING, since=6, default=None, is_nullable=True),
    Field("topicId", UUID, since=6),
)
DELETE_TOPICS_REQUEST = layout(
    "DeleteTopicsRequest",
    Field("topics", Array(_TOPIC_TO_DELETE), since=6),
    Field("topicNames", Array(STRING), until=5),
    Field("timeoutMs", INT32),
    newest=6,
    flexible_since=4,
)

_DELETED_TOPIC = structure(
    Field("name", STRING, is_nullable=True),
    Field("topicId", UUID, since=6),
    Field("errorCode", INT16),
    Field("errorMessage", STRING, since=5, default=None, is_nullable=True),
)
DELETE_TOPICS_RESPONSE = layout(
    "DeleteTopicsResponse",
    Field("throttleTimeMs", INT32, since=1),
    Field("responses", Array(_DELETED_TOPIC)),
    newest=6,
    flexible_since=4,
)

_BROKERS = structure(Field("brokerIds", Array(INT32)))
_GROWING_TOPIC = structure(
    Field("name", STRING),
    Field("count", INT32),
    Field("assignments", Array(_BROKERS), is_nullable=True),
)
CREATE_PARTITIONS_REQUEST = layout(
    "CreatePartitionsRequest",
    Field("topics", Array(_GROWING_TOPIC)),
    Field("timeoutMs", INT32),
    Field("validateOnly", BOOLEAN),
    newest=3,
    flexible_since=2,
)

_GROWN_TOPIC = structure(
    Field("name", STRING),
    Field("errorCode", INT16),
    Field("errorMessage", STRING, default=None, is_nullable=True),
)
CREATE_PARTITIONS_RESPONSE = layout(
    "CreatePartitionsResponse",
    Field("throttleTimeMs", INT32),
    Field("results", Array(_GROWN_TOPIC)),
    newest=3,
    flexible_since=2,
)


# Brokers, topics and their partitions: leaders, replicas, ISR, eligible leader replicas.
#
# References
# ----------
# Apache Kafka 4.3.1, the message definitions of these names.

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
