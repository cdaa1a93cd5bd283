"""Record batches, format 2, as they lie in a broker's log since 0.11, and the checksum in front of each.

A *batch* is the unit in which a log is written: a header of 61 bytes, then records. The header holds the offsets
the batch spans, who wrote it and how; the records hold only what is different from it. Batches keep their span when
the cleaner takes records out, so that a batch may hold fewer records than offsets, or none.

`read_batch` reads one batch and raises `Undecodable` where it cannot: field and byte are named, the byte counted
from the start of the file. Inside a compressed batch bytes are counted in what was compressed. `read_header` reads
only the 61 bytes, and believes them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, reduce
from importlib import import_module
from operator import xor
from struct import Struct
from typing import NamedTuple

from kafkalearn.base.checks import whole_number
from kafkalearn.base.errors import is_installed
from kafkalearn.formats.compression import BATCH_LIMIT_BYTES, CODECS, Damaged, decompress
from kafkalearn.formats.file_bytes import Bytes
from kafkalearn.formats.records import BATCH_HEADER_BYTES, BatchFacts, Record, read_records, wrong

FRAME = Struct(">qi")  # base offset, then how many bytes follow
FRAME_BYTES = FRAME.size
HEADER = Struct(">qiibIhiqqqhii")  # of `BATCH_HEADER_BYTES`
MAGIC_POSITION = 16  # in every format
CHECKED_FROM = 21  # the checksum covers everything behind itself
LARGEST_OFFSET = 2**63 - 2  # the one behind it fits into 64 bits, too


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


class Header(NamedTuple):
    """The 61 bytes in front of the records, as they are; nothing says yet that they are not damaged."""

    position: int
    size_bytes: int
    base_offset: int
    last_offset: int
    leader_epoch: int
    crc: int
    attributes: int
    base_ms: int  # with a delete horizon the horizon
    max_timestamp_ms: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @property
    def codec_number(self) -> int:
        """The index in `CODECS`, if there is one."""
        return self.attributes & 0x07

    @property
    def is_log_append_time(self) -> bool:
        """As in `Batch`."""
        return bool(self.attributes & 0x08)

    @property
    def is_transactional(self) -> bool:
        """Whether the batch is part of a transaction, as its markers are."""
        return bool(self.attributes & 0x10)

    @property
    def is_control(self) -> bool:
        """Whether no application wrote it."""
        return bool(self.attributes & 0x20)

    @property
    def delete_horizon_ms(self) -> int | None:
        """As in `Batch`."""
        return self.base_ms if self.attributes & 0x40 else None


def read_header(data: Bytes, position: int = 0) -> Header:
    """The header of the batch that begins at a byte.

    Raises
    ------
    Undecodable
        If it is not all there, not of format 2, or the batch ends behind the data.
    """
    end = _batch_end(data, position)
    base_offset, _, leader_epoch, _, crc, attributes, last_delta, *times_and_producer = HEADER.unpack(
        data[position : position + BATCH_HEADER_BYTES]
    )
    return Header(
        position, end - position, base_offset, base_offset + last_delta, leader_epoch, crc, attributes,
        *times_and_producer,
    )  # fmt: skip


def is_checksum_right(data: Bytes, header: Header) -> bool:
    """Whether the bytes of the batch, from its attributes on, are those that its checksum was made of."""
    end = header.position + header.size_bytes
    return crc32c(data[header.position + CHECKED_FROM : end]) == header.crc


def read_checked_header(data: Bytes, position: int = 0, has_checksum: bool = True) -> Header:
    """The header of the batch that begins at a byte, if its checksum is right and its offsets and codec can be.

    Raises
    ------
    Undecodable
        As `read_batch`, as far as a header can say.
    """
    header = read_header(data, position)
    if has_checksum and not is_checksum_right(data, header):
        changed = "the bytes give another: they were changed or damaged"
        raise wrong("crc", position + 17, f"is {header.crc:#010x}, {changed}")
    _refuse_span(header)
    if header.codec_number >= len(CODECS):
        known = f"known are 0 to {len(CODECS) - 1}"
        raise wrong("attributes", position + 21, f"name codec {header.codec_number}; {known}")
    return header


def read_batch(
    data: Bytes, position: int = 0, has_checksum: bool = True, batch_limit_bytes: int = BATCH_LIMIT_BYTES
) -> Batch:
    """The batch that begins at a byte.

    Parameters
    ----------
    data : bytes
        A segment file, or a part of it.
    position : int
        Where the batch begins.
    has_checksum : bool
        False: the checksum is not looked at, which is several times as fast.
    batch_limit_bytes : int
        To how many bytes its records are decoded at most, 64 MiB unless given. As Python's objects they take more.

    Raises
    ------
    Undecodable
        If the batch is cut off, of an older format, damaged, larger than the limit, or not what its header says.
    KafkaLearnError
        If position or limit is not a number of bytes.

    References
    ----------
    Apache Kafka, ``DefaultRecordBatch``, ``DefaultRecord``; the delete horizon came with 3.1 (KIP-534).
    """
    whole_number("position", position, at_least=0)
    whole_number("batch_limit_bytes", batch_limit_bytes, at_least=1)
    header = read_checked_header(data, position, has_checksum)
    codec, start = CODECS[header.codec_number], position + BATCH_HEADER_BYTES
    try:
        body = decompress(codec, data[start : position + header.size_bytes], batch_limit_bytes)
    except Damaged as error:
        raise wrong("records", start, str(error)) from None
    facts = BatchFacts(
        header.base_offset,
        header.last_offset,
        header.base_ms,
        header.max_timestamp_ms if header.is_log_append_time else None,
        header.is_control,
        codec == "none",
    )
    return Batch(
        position,
        header.size_bytes,
        header.base_offset,
        header.last_offset,
        header.leader_epoch,
        codec,
        header.is_log_append_time,
        header.is_transactional,
        header.is_control,
        header.delete_horizon_ms,
        header.max_timestamp_ms,
        header.producer_id,
        header.producer_epoch,
        header.base_sequence,
        read_records(body, facts, header.record_count, start),
    )


def _batch_end(data: Bytes, position: int) -> int:
    """The byte behind the batch that begins at a byte; `Undecodable` if its header is not all there or not format 2."""
    left = len(data) - position
    if left < FRAME_BYTES:
        raise wrong("baseOffset", position, f"and batchLength need {FRAME_BYTES} bytes, {left} are left")
    _, length = FRAME.unpack(data[position : position + FRAME_BYTES])
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


def _refuse_span(header: Header) -> None:
    if header.base_offset < 0:
        raise wrong("baseOffset", header.position, f"is {header.base_offset}; offsets begin at 0")
    if not header.base_offset <= header.last_offset <= LARGEST_OFFSET:
        delta = header.last_offset - header.base_offset
        begins = f"of a batch that begins at {header.base_offset}"
        raise wrong("lastOffsetDelta", header.position + 23, f"is {delta}, {begins}")


# CRC-32C (Castagnoli), which Kafka keeps in front of every record batch; Python's zlib has another CRC-32.
#
# Byte by byte it is slow in Python. So longer data is laid out in rows of the same length, whose checksums are computed
# side by side, a column at a time: a column is one large number, and Python works on large numbers quickly. The
# checksums of the rows are then joined: that of two rows together is that of the first, moved on by the length of the
# second, XOR that of the second.
#
# With ``kafkalearn[fast]`` a wheel computes it instead, some hundred times as fast; the answers are the same.

WHEEL = "google_crc32c"
HAS_WHEEL = is_installed(WHEEL)
POLYNOMIAL = 0x82F63B78  # of Castagnoli, bits reversed
ROW_BYTES = ((32_768, 256), (1024, 64))  # of data from a length on, the longest first


def _shifted_out(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (POLYNOMIAL if byte & 1 else 0)
    return byte


_TABLE = tuple(map(_shifted_out, range(256)))
_TABLE_BYTES = tuple(bytes(entry >> shift & 0xFF for entry in _TABLE) for shift in (0, 8, 16, 24))


def crc32c(data: bytes) -> int:
    """The CRC-32C of some bytes, unsigned.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    return _by_wheel()(data) if HAS_WHEEL else crc32c_of_rows(data)


@cache
def _by_wheel() -> Callable[[bytes], int]:
    return import_module(WHEEL).value


def crc32c_of_rows(data: bytes) -> int:
    """The same by Python alone.

    >>> hex(crc32c_of_rows(b"123456789"))
    '0xe3069283'
    """
    row_bytes = next((row_bytes for at_least, row_bytes in ROW_BYTES if len(data) >= at_least), 0)
    if not row_bytes:
        return _on(0xFFFFFFFF, data) ^ 0xFFFFFFFF
    end = len(data) // row_bytes * row_bytes
    return _on(_of_rows(data, end, row_bytes), data[end:]) ^ 0xFFFFFFFF


def _on(crc: int, data: bytes) -> int:
    """The checksum's state after further bytes."""
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc


def _of_rows(data: bytes, end: int, row_bytes: int) -> int:
    """The state after the rows; that of each is kept as four numbers, which have one byte for every row."""
    row_count = end // row_bytes
    states = [0xFF] * 4  # only the first row goes on from the state that a checksum begins with
    for column in range(row_bytes):
        bytes_here = int.from_bytes(data[column:end:row_bytes], "little")
        picked = (states[0] ^ bytes_here).to_bytes(row_count, "little")
        states = [
            int.from_bytes(picked.translate(table), "little") ^ higher
            for table, higher in zip(_TABLE_BYTES, (*states[1:], 0), strict=True)
        ]
    by_byte = [state.to_bytes(row_count, "little") for state in states]
    crc = 0
    a, b, c, d = _moved_on(row_bytes)
    for one, two, three, four in zip(*by_byte, strict=True):
        crc = a[crc & 0xFF] ^ b[crc >> 8 & 0xFF] ^ c[crc >> 16 & 0xFF] ^ d[crc >> 24]
        crc ^= one | two << 8 | three << 16 | four << 24
    return crc


@cache
def _moved_on(row_bytes: int) -> tuple[tuple[int, ...], ...]:
    """For each byte of a state what it becomes behind a row of zeros; for a whole state, the four XOR each other."""
    of_bit = [_on(1 << bit, bytes(row_bytes)) for bit in range(32)]

    def of_byte(shift: int, byte: int) -> int:
        return reduce(xor, (of_bit[shift + bit] for bit in range(8) if byte >> bit & 1), 0)

    return tuple(tuple(of_byte(shift, byte) for byte in range(256)) for shift in (0, 8, 16, 24))
