"""The byte layout of the records of ``__transaction_state``: one key, one value with two versions.

References
----------
Apache Kafka 0.11 to 4.3, ``TransactionLogKey`` and ``TransactionLogValue``. Version 1 (KIP-915, KIP-890) has tagged
fields, that of tag 3 since 4.1.
"""

from __future__ import annotations

from kafkalearn.wire.fields import INT8, INT16, INT32, INT64, STRING, Array, Field, layout, structure

TRANSACTION_LOG_KEY = layout("TransactionLogKey", Field("transactionalId", STRING))

_PARTITIONS = structure(Field("topic", STRING), Field("partitionIds", Array(INT32)))

TRANSACTION_LOG_VALUE = layout(
    "TransactionLogValue",
    Field("producerId", INT64),
    Field("previousProducerId", INT64, since=1, default=-1, tag=0),
    Field("nextProducerId", INT64, since=1, default=-1, tag=1),
    Field("producerEpoch", INT16),
    Field("nextProducerEpoch", INT16, since=1, default=-1, tag=3),
    Field("transactionTimeoutMs", INT32),
    Field("transactionStatus", INT8),
    Field("transactionPartitions", Array(_PARTITIONS), is_nullable=True),
    Field("transactionLastUpdateTimestampMs", INT64),
    Field("transactionStartTimestampMs", INT64),
    Field("clientTransactionVersion", INT16, since=1, default=0, tag=2),
    newest=1,
    flexible_since=1,
)
