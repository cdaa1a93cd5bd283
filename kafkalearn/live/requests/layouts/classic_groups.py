"""Groups: which broker coordinates one, which there are, and the classic protocol.

References
----------
Apache Kafka 4.3.1, the message definitions of these names.
"""

from __future__ import annotations

from kafkalearn.wire.fields import BOOLEAN, BYTES, INT8, INT16, INT32, STRING, Array, Field, layout, structure

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
