"""Records of ``__transaction_state`` from bytes and to bytes: what a transaction coordinator keeps of each producer.

A key begins with two bytes, 0, and names a transactional id; a value begins with two bytes for its version. A null
value is a *tombstone*: the coordinator has forgotten the transactional id.

Decoded fields are plain dictionaries with the names of Kafka's own JSON form. A tagged field is there only if it was
written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafkalearn.arguments import key_bytes, text, whole_number
from kafkalearn.transaction_log.layouts import TRANSACTION_LOG_KEY, TRANSACTION_LOG_VALUE
from kafkalearn.wire.decoder import decode_message, refuse_rest
from kafkalearn.wire.encoder import encode_message
from kafkalearn.wire.fields import INT16
from kafkalearn.wire.reader import NUMBERS, Reader, Undecodable

TOPIC = "__transaction_state"
KEY_TYPE = 0
_VERSION = NUMBERS[INT16]


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
    reader = Reader(key_bytes("key", key), TRANSACTION_LOG_KEY.name)
    number = reader.number(INT16, role="record type")
    if number != KEY_TYPE:
        what = f"{TRANSACTION_LOG_KEY.name}: record type {number} at byte 0 is unknown; known is {KEY_TYPE}"
        raise Undecodable(what, "record type", 0)
    fields = decode_message(reader, TRANSACTION_LOG_KEY, KEY_TYPE)
    refuse_rest(reader)
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
    reader = Reader(key_bytes("value", value), TRANSACTION_LOG_VALUE.name)
    version = reader.number(INT16, role="version")
    newest = TRANSACTION_LOG_VALUE.newest
    if not 0 <= version <= newest:
        what = f"{reader.name}: version {version} at byte 0 is unknown; known is 0 to {newest}"
        raise Undecodable(what, "version", 0)
    reader.name = f"{reader.name} version {version}"
    fields = decode_message(reader, TRANSACTION_LOG_VALUE, version)
    refuse_rest(reader)
    return version, fields


def encode_key(transactional_id: str) -> bytes:
    """The bytes of a key.

    >>> encode_key("billing").hex()
    '0000000762696c6c696e67'
    """
    fields = {"transactionalId": text("transactional_id", transactional_id)}
    return _VERSION.pack(KEY_TYPE) + encode_message(TRANSACTION_LOG_KEY, KEY_TYPE, fields)


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
    kafkalearn.errors.KafkaLearnError: TransactionLogValue version 1: producerEpoch is missing; it has no default
    """
    version = whole_number("version", version, at_least=0, at_most=TRANSACTION_LOG_VALUE.newest)
    return _VERSION.pack(version) + encode_message(TRANSACTION_LOG_VALUE, version, fields)
