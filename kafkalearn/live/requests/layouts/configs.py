"""The settings of a topic or a broker, as its broker has them.

References
----------
Apache Kafka 4.3.1, the message definitions of these names.
"""

from __future__ import annotations

from kafkalearn.wire.fields import BOOLEAN, INT8, INT16, INT32, STRING, Array, Field, layout, structure

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
