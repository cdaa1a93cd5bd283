"""Topics are created, get more partitions, are deleted.

References
----------
Apache Kafka 4.3.1, the message definitions of these names.
"""

from __future__ import annotations

from kafkalearn.wire.fields import BOOLEAN, INT8, INT16, INT32, STRING, UUID, Array, Field, layout, structure

_ASSIGNMENT = structure(
    Field("partitionIndex", INT32),
    Field("brokerIds", Array(INT32)),
)
_CONFIG = structure(
    Field("name", STRING),
    Field("value", STRING, is_nullable=True),
)
_NEW_TOPIC = structure(
    Field("name", STRING),
    Field("numPartitions", INT32),
    Field("replicationFactor", INT16),
    Field("assignments", Array(_ASSIGNMENT)),
    Field("configs", Array(_CONFIG)),
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
