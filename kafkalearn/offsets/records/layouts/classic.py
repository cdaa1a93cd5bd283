"""Committed offsets, and the groups of the classic protocol: record types 0, 1 and 2.

References
----------
Apache Kafka 4.3, ``OffsetCommitKey``, ``OffsetCommitValue``, ``GroupMetadataKey``, ``GroupMetadataValue``; value
versions 2 to 4 came with KIP-211, KIP-320 and KIP-915.
"""

from __future__ import annotations

from kafkalearn.wire.fields import BYTES, INT32, INT64, STRING, UUID, ZERO_UUID, Array, Field, layout, structure

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
