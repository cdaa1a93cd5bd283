"""Who leads and who holds a replica, changed by an administrator: elections and reassignments.

References
----------
Apache Kafka 4.3.1, the message definitions of these names.
"""

from __future__ import annotations

from kafkalearn.wire.fields import BOOLEAN, INT8, INT16, INT32, STRING, Array, Field, layout, structure

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
