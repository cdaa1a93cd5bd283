"""Record batches, format 2, as they lie in a broker's log since 0.11.

A *batch* is the unit in which a log is written: a header of 61 bytes, then records. The header holds the offsets
the batch spans, who wrote it and how; the records hold only what is different from it. Batches keep their span when
the cleaner takes records out, so that a batch may hold fewer records than offsets, or none.

`read_batch` reads one batch and raises `Undecodable` where it cannot: field and byte are named, the byte counted
from the start of the file. Inside a compressed batch bytes are counted in what was compressed.
"""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct

from kafkalearn.segments.checksum import crc32c
from kafkalearn.segments.compression import CODECS, Damaged, decompress
from kafkalearn.segments.records import BatchFacts, Record, read_records, wrong
from kafkalearn.segments.sizes import BATCH_HEADER_BYTES

FRAME = Struct(">qi")  # base offset, then how many bytes follow
FRAME_BYTES = FRAME.size
HEADER = Struct(">qiibIhiqqqhii")  # of `BATCH_HEADER_BYTES`
MAGIC_POSITION = 16  # in every format
CHECKED_FROM = 21  # the checksum covers everything behind itself


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch, its header's facts and its records."""

    position: int  # of its first byte in the file
    size_bytes: int
    base_offset: int
    last_offset: int
    leader_epoch: int  # of the partition when it was written
    compression: str  # a name in `CODECS`
    is_log_append_time: bool  # the broker's clock gave the timestamps, not the producer
    is_transactional: bool
    is_control: bool
    delete_horizon_ms: int | None  # set by the cleaner: tombstones go at the first cleaning after it
    max_timestamp_ms: int
    producer_id: int  # -1: not idempotent
    producer_epoch: int
    base_sequence: int
    records: tuple[Record, ...]


def read_batch(data: bytes, position: int = 0, has_checksum: bool = True) -> Batch:
    """The batch that begins at a byte.

    Parameters
    ----------
    data : bytes
        A segment file, or a part of it.
    position : int
        Where the batch begins.
    has_checksum : bool
        False: the checksum is not looked at, which is several times as fast.

    Raises
    ------
    Undecodable
        If the batch is cut off, of an older format, damaged, or not what its header says.

    References
    ----------
    Apache Kafka, ``DefaultRecordBatch``, ``DefaultRecord``; the delete horizon came with 3.1 (KIP-534).
    """
    end = _batch_end(data, position)
    fields = HEADER.unpack_from(data, position)
    base_offset, _, leader_epoch, _, crc, attributes, last_delta, base_ms, max_ms, *producer, count = fields
    if has_checksum and crc32c(data[position + CHECKED_FROM : end]) != crc:
        raise wrong("crc", position + 17, f"is {crc:#010x}, the bytes give another: they were changed or damaged")
    codec = _codec(attributes, position)
    has_horizon, is_control = bool(attributes & 0x40), bool(attributes & 0x20)
    is_append_time = bool(attributes & 0x08)
    body = _body(data, position, end, codec)
    facts = BatchFacts(base_offset, base_ms, max_ms if is_append_time else None, is_control, codec == "none")
    return Batch(
        position,
        end - position,
        base_offset,
        base_offset + last_delta,
        leader_epoch,
        codec,
        is_append_time,
        bool(attributes & 0x10),
        is_control,
        base_ms if has_horizon else None,
        max_ms,
        *producer,
        read_records(body, facts, count, position + BATCH_HEADER_BYTES),
    )


def _batch_end(data: bytes, position: int) -> int:
    """The byte behind the batch that begins at a byte; `Undecodable` if its header is not all there or not format 2."""
    left = len(data) - position
    if left < FRAME_BYTES:
        raise wrong("baseOffset", position, f"and batchLength need {FRAME_BYTES} bytes, {left} are left")
    _, length = FRAME.unpack_from(data, position)
    if length <= 0:
        raise wrong("batchLength", position + 8, f"is {length}: the file may have been preallocated")
    if length > left - FRAME_BYTES:
        raise wrong("batchLength", position + 8, f"says {length}, {left - FRAME_BYTES} are left: it is cut off")
    magic = data[position + MAGIC_POSITION] if length > MAGIC_POSITION - FRAME_BYTES else None
    if magic != 2:
        raise wrong("magic", position + MAGIC_POSITION, f"is {magic}; only format 2 is read (Kafka 0.11 and later)")
    if length < BATCH_HEADER_BYTES - FRAME_BYTES:
        raise wrong("batchLength", position + 8, f"says {length}, a header needs {BATCH_HEADER_BYTES - FRAME_BYTES}")
    return position + FRAME_BYTES + length


def _codec(attributes: int, position: int) -> str:
    number = attributes & 0x07
    if number >= len(CODECS):
        raise wrong("attributes", position + 21, f"name codec {number}; known are 0 to {len(CODECS) - 1}")
    return CODECS[number]


def _body(data: bytes, position: int, end: int, codec: str) -> bytes:
    try:
        return decompress(codec, data[position + BATCH_HEADER_BYTES : end])
    except Damaged as error:
        raise wrong("records", position + BATCH_HEADER_BYTES, str(error)) from None
