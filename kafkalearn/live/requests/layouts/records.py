"""Records written and read, and the number that an idempotent producer gets.

References
----------
Apache Kafka 4.3.1, the message definitions of these names.
"""

from __future__ import annotations

from kafkalearn.wire.fields import (
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

_EPOCH_END_OFFSET = structure(
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
    Field("divergingEpoch", _EPOCH_END_OFFSET, since=12, default={}, tag=0),
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
