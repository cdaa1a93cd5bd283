"""The log of a partition: its offsets and epochs, and its size on each disk.

References
----------
Apache Kafka 4.3.1, the message definitions of these names.
"""

from __future__ import annotations

from kafkalearn.wire.fields import BOOLEAN, INT8, INT16, INT32, INT64, STRING, Array, Field, layout, structure

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
