"""What a client asks first: which versions a broker speaks, and who the client is.

References
----------
Apache Kafka 4.3.1, the message definitions of these names.
"""

from __future__ import annotations

from kafkalearn.wire.fields import BOOLEAN, BYTES, INT16, INT32, INT64, STRING, Array, Field, layout, structure

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
