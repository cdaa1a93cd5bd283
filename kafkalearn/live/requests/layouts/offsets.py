"""Committed offsets: written, read and deleted.

References
----------
Apache Kafka 4.3.1, the message definitions of these names.
"""

from __future__ import annotations

from kafkalearn.wire.fields import BOOLEAN, INT16, INT32, INT64, STRING, UUID, Array, Field, layout, structure

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
