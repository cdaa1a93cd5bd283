"""Records as the bytes of a batch, format 2, for a Produce request: `kafkalearn.segments` the other way round.

References
----------
Apache Kafka 4.3, ``DefaultRecordBatch.writeHeader``, ``DefaultRecord.writeTo``.
"""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct

from kafkalearn.errors import KafkaLearnError
from kafkalearn.segments.batches import CHECKED_FROM, FRAME_BYTES, HEADER
from kafkalearn.segments.checksum import crc32c
from kafkalearn.segments.compression import CODECS, compress
from kafkalearn.wire.varint import unsigned_varint, zigzag

FORMAT = 2
UNKNOWN_EPOCH = -1  # the broker writes its own over it
TRANSACTIONAL = 0x10
_CRC = Struct(">I")
_CRC_POSITION = 17

NewRecord = tuple[bytes | None, bytes | None, int]
"""Key, value and timestamp in milliseconds."""


def encode_batch(
    records: Sequence[NewRecord],
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    is_transactional: bool = False,
    codec: str = "none",
) -> bytes:
    """A batch as a producer sends it; offsets are counted from 0, the broker sets them.

    Parameters
    ----------
    records : sequence of (key, value, timestamp in milliseconds)
        At least one.
    producer_id, producer_epoch, base_sequence : int
        Of an idempotent producer; -1: of none.
    is_transactional : bool
        Whether it is part of the producer's transaction.
    codec : str
        A name in `kafkalearn.segments.compression.CODECS`.

    Examples
    --------
    >>> from kafkalearn.segments import read_batch
    >>> batch = read_batch(encode_batch([(b"user-42", b"paid", 1000), (None, None, 1001)]))
    >>> [(record.key, record.value, record.timestamp_ms) for record in batch.records]
    [(b'user-42', b'paid', 1000), (None, None, 1001)]
    """
    if not records:
        raise KafkaLearnError("a batch has at least one record; give (key, value, timestamp_ms) for each")
    base_ms = records[0][2]
    body = compress(codec, b"".join(_record(each, delta, base_ms) for delta, each in enumerate(records)))
    header = HEADER.pack(
        0,
        HEADER.size - FRAME_BYTES + len(body),
        UNKNOWN_EPOCH,
        FORMAT,
        0,
        CODECS.index(codec) | (TRANSACTIONAL if is_transactional else 0),
        len(records) - 1,
        base_ms,
        max(timestamp_ms for _, _, timestamp_ms in records),
        producer_id,
        producer_epoch,
        base_sequence,
        len(records),
    )
    data = bytearray(header + body)
    _CRC.pack_into(data, _CRC_POSITION, crc32c(bytes(data[CHECKED_FROM:])))
    return bytes(data)


def _record(record: NewRecord, offset_delta: int, base_ms: int) -> bytes:
    key, value, timestamp_ms = record
    attributes = header_count = b"\0"
    body = attributes + _varint(timestamp_ms - base_ms) + _varint(offset_delta) + _sized(key) + _sized(value)
    return _varint(len(body) + 1) + body + header_count


def _sized(data: bytes | None) -> bytes:
    return _varint(-1) if data is None else _varint(len(data)) + data


def _varint(value: int) -> bytes:
    return unsigned_varint(zigzag(value))
