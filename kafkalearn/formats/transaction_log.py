"""The topic ``__transaction_state``: its records to the byte, and the transactions that they describe.

A key begins with two bytes, 0, and names a transactional id; a value begins with two bytes for its version. A null
value is a *tombstone*: the coordinator has forgotten the transactional id. `decode_key` and `decode_value` read records
of every version, `encode_key` and `encode_value` write them; decoded fields are plain dictionaries with the names of
Kafka's own JSON form, a tagged field among them only if it was written.

`replay` makes of records what the coordinator knows of each transactional id when it has loaded them. As for groups,
the last value of each key is all that counts. The coordinator ends a transaction that is open for longer than its
time-out, and forgets a transactional id that did nothing for ``transactional.id.expiration.ms``, unless a transaction
of it is open or ending.

>>> decode_key(encode_key("billing")), decode_value(None)
('billing', (None, None))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from kafkalearn.base.checks import iterable, key_bytes, text, whole_number
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.formats import wire
from kafkalearn.formats.records import Record
from kafkalearn.formats.segments import Segment
from kafkalearn.offsets.replay import Pair, key_values

__all__ = [
    "decode_key",
    "decode_value",
    "encode_key",
    "encode_value",
    "replay",
]


# The byte layout: one key, one value with two versions.
#
# References
# ----------
# Apache Kafka 0.11 to 4.3, ``TransactionLogKey`` and ``TransactionLogValue``. Version 1 (KIP-915, KIP-890) has tagged
# fields, that of tag 3 since 4.1.

TRANSACTION_LOG_KEY = wire.layout("TransactionLogKey", wire.Field("transactionalId", wire.STRING))

_PARTITIONS = wire.structure(wire.Field("topic", wire.STRING), wire.Field("partitionIds", wire.Array(wire.INT32)))

TRANSACTION_LOG_VALUE = wire.layout(
    "TransactionLogValue",
    wire.Field("producerId", wire.INT64),
    wire.Field("previousProducerId", wire.INT64, since=1, default=-1, tag=0),
    wire.Field("nextProducerId", wire.INT64, since=1, default=-1, tag=1),
    wire.Field("producerEpoch", wire.INT16),
    wire.Field("nextProducerEpoch", wire.INT16, since=1, default=-1, tag=3),
    wire.Field("transactionTimeoutMs", wire.INT32),
    wire.Field("transactionStatus", wire.INT8),
    wire.Field("transactionPartitions", wire.Array(_PARTITIONS), is_nullable=True),
    wire.Field("transactionLastUpdateTimestampMs", wire.INT64),
    wire.Field("transactionStartTimestampMs", wire.INT64),
    wire.Field("clientTransactionVersion", wire.INT16, since=1, default=0, tag=2),
    newest=1,
    flexible_since=1,
)


# Records from bytes and to bytes.

KEY_TYPE = 0
_VERSION = wire.NUMBERS[wire.INT16]


def decode_key(key: bytes) -> str:
    """The transactional id that a key names.

    Raises
    ------
    Undecodable
        If the bytes are too few, too many, or of an unknown type.

    Examples
    --------
    >>> decode_key(bytes.fromhex("0000000762696c6c696e67"))
    'billing'

    References
    ----------
    Apache Kafka, ``TransactionLog.readTxnRecordKey``.
    """
    reader = wire.Reader(key_bytes("key", key), TRANSACTION_LOG_KEY.name)
    number = reader.number(wire.INT16, role="record type")
    if number != KEY_TYPE:
        what = f"{TRANSACTION_LOG_KEY.name}: record type {number} at byte 0 is unknown; known is {KEY_TYPE}"
        raise wire.Undecodable(what, "record type", 0)
    fields = wire.decode_message(reader, TRANSACTION_LOG_KEY, KEY_TYPE)
    wire.refuse_rest(reader)
    transactional_id: Any = fields["transactionalId"]  # a text, says the layout
    return transactional_id


def decode_value(value: bytes | None) -> tuple[int, dict[str, object]] | tuple[None, None]:
    """The version of a value and its fields, or two Nones for a tombstone; errors as in `decode_key`.

    >>> value = encode_value(0, {"producerId": 7, "producerEpoch": 0, "transactionTimeoutMs": 60000,
    ...     "transactionStatus": 1, "transactionPartitions": [{"topic": "orders", "partitionIds": [0, 3]}],
    ...     "transactionLastUpdateTimestampMs": 1000, "transactionStartTimestampMs": 1000})
    >>> version, fields = decode_value(value)
    >>> version, fields["producerId"], fields["transactionPartitions"]
    (0, 7, [{'topic': 'orders', 'partitionIds': [0, 3]}])
    """
    if value is None:
        return None, None
    reader = wire.Reader(key_bytes("value", value), TRANSACTION_LOG_VALUE.name)
    version = reader.number(wire.INT16, role="version")
    newest = TRANSACTION_LOG_VALUE.newest
    if not 0 <= version <= newest:
        what = f"{reader.name}: version {version} at byte 0 is unknown; known is 0 to {newest}"
        raise wire.Undecodable(what, "version", 0)
    reader.name = f"{reader.name} version {version}"
    fields = wire.decode_message(reader, TRANSACTION_LOG_VALUE, version)
    wire.refuse_rest(reader)
    return version, fields


def encode_key(transactional_id: str) -> bytes:
    """The bytes of a key.

    >>> encode_key("billing").hex()
    '0000000762696c6c696e67'
    """
    fields = {"transactionalId": text("transactional_id", transactional_id)}
    return _VERSION.pack(KEY_TYPE) + wire.encode_message(TRANSACTION_LOG_KEY, KEY_TYPE, fields)


def encode_value(version: int, fields: Mapping[str, object]) -> bytes:
    """The bytes of a value in a version; what is not given takes Kafka's default, if it has one.

    Raises
    ------
    KafkaLearnError
        If the version is unknown, or a field is missing, unknown, or has a value it cannot have.

    Examples
    --------
    >>> encode_value(1, {"producerId": 7})
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.KafkaLearnError: TransactionLogValue version 1: producerEpoch is missing; it has no default
    """
    version = whole_number("version", version, at_least=0, at_most=TRANSACTION_LOG_VALUE.newest)
    return _VERSION.pack(version) + wire.encode_message(TRANSACTION_LOG_VALUE, version, fields)


# Every transactional id and how its last transaction stands.

EMPTY, ONGOING, DEAD = "Empty", "Ongoing", "Dead"
PREPARE_COMMIT, PREPARE_ABORT = "PrepareCommit", "PrepareAbort"
COMPLETE_COMMIT, COMPLETE_ABORT = "CompleteCommit", "CompleteAbort"

_IN_ORDER = (EMPTY, ONGOING, PREPARE_COMMIT, PREPARE_ABORT, COMPLETE_COMMIT, COMPLETE_ABORT, DEAD, "PrepareEpochFence")
STATES: MappingProxyType[int, str] = MappingProxyType(dict(enumerate(_IN_ORDER)))
"""The states of a transaction by the number in a value. The last one is only ever in memory."""

MAY_EXPIRE = (EMPTY, COMPLETE_COMMIT, COMPLETE_ABORT)
EXPIRATION_MS = 7 * 86_400_000  # transactional.id.expiration.ms, the default of every release


@dataclass(frozen=True, slots=True)
class TransactionalId:
    """What the coordinator knows of one transactional id."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    state: str  # a name in `STATES`, or "unknown state N"
    partitions: tuple[TopicPartition, ...]  # with data or offsets of the transaction; none once it is over
    timeout_ms: int
    updated_ms: int
    started_ms: int | None  # None: no transaction was begun yet

    @property
    def is_open(self) -> bool:
        """Whether a transaction is going on, or its markers are being written."""
        return self.state not in (*MAY_EXPIRE, DEAD)

    def is_overdue(self, now_ms: int) -> bool:
        """Whether the coordinator should have ended the transaction already."""
        return self.state == ONGOING and self.started_ms is not None and now_ms > self.started_ms + self.timeout_ms

    def expires_ms(self, expiration_ms: int = EXPIRATION_MS) -> int | None:
        """When the coordinator forgets it, if nothing happens; None: it does not, as long as it is in this state."""
        return self.updated_ms + expiration_ms if self.state in MAY_EXPIRE else None


@dataclass(frozen=True, slots=True)
class ReplayedTransactions:
    """What a set of records says."""

    ids: tuple[TransactionalId, ...]  # sorted
    problems: tuple[str, ...]  # records that could not be read, each with the reason


def replay(records: Iterable[Pair | Record | Segment]) -> ReplayedTransactions:
    """The transactional ids that some records of ``__transaction_state`` describe.

    Parameters
    ----------
    records : iterable of (bytes, bytes or None), of Record, or of Segment
        Keys and values in the order of their offsets; of segments the records that count.

    Returns
    -------
    ReplayedTransactions
        A record that cannot be decoded is left out and named in ``problems``; what came before it for its key counts.

    Examples
    --------
    >>> value = {"producerId": 7, "producerEpoch": 0, "transactionTimeoutMs": 60000, "transactionStatus": 1,
    ...     "transactionPartitions": [{"topic": "orders", "partitionIds": [0]}],
    ...     "transactionLastUpdateTimestampMs": 2000, "transactionStartTimestampMs": 1000}
    >>> (billing,) = replay([(encode_key("billing"), encode_value(0, value))]).ids
    >>> billing.state, billing.is_overdue(61_000), billing.is_overdue(61_001)
    ('Ongoing', False, True)

    References
    ----------
    Apache Kafka, ``TransactionStateManager.loadTransactionMetadata``, ``shouldExpire`` and
    ``timedOutTransactions``; ``TransactionState`` for the numbers.
    """
    known: dict[str, TransactionalId] = {}
    problems: list[str] = []
    for key, value in key_values(iterable("records", records, of="(key, value), of records or of segments")):
        try:
            if key is None:
                problems.append("TransactionLogKey: it is null; every record of the topic has one")
                continue
            transactional_id = decode_key(key)
            _, fields = decode_value(value)
        except wire.Undecodable as error:
            problems.append(str(error))
            continue
        if fields is None:
            known.pop(transactional_id, None)
        else:
            known[transactional_id] = _of(transactional_id, fields)
    return ReplayedTransactions(tuple(known[each] for each in sorted(known)), tuple(problems))


def _of(transactional_id: str, fields: Mapping[str, Any]) -> TransactionalId:  # what each holds, the layout says
    number, started_ms = fields["transactionStatus"], fields["transactionStartTimestampMs"]
    return TransactionalId(
        transactional_id,
        fields["producerId"],
        fields["producerEpoch"],
        STATES.get(number, f"unknown state {number}"),
        tuple(
            TopicPartition(each["topic"], partition)
            for each in fields["transactionPartitions"] or ()
            for partition in each["partitionIds"]
        ),
        fields["transactionTimeoutMs"],
        fields["transactionLastUpdateTimestampMs"],
        started_ms if started_ms >= 0 else None,
    )
