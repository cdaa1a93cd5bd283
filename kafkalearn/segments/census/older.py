"""Messages of formats 0 and 1, which brokers wrote up to 0.10: counted where they lie in a file, and not read.

Each has an offset, a length and a checksum of its own, the CRC-32 of zlib. A compressed one holds others, which are not
counted.

References
----------
Apache Kafka, ``AbstractLegacyRecordBatch``, ``LegacyRecord``.
"""

from __future__ import annotations

import zlib
from struct import Struct

from kafkalearn.segments.batches import FRAME_BYTES, MAGIC_POSITION, Bytes

_FRONT = Struct(">qiI")  # offset, then how many bytes follow, then their checksum
SMALLEST_BYTES = 14  # behind offset and length: checksum, format, attributes, the lengths of key and value


def older_messages(data: Bytes, position: int, size_bytes: int) -> tuple[int, int] | None:
    """The format of the messages in a part of a file, and how many there are; None: it is no run of such messages.

    >>> older_messages(bytes(40), 0, 40) is None
    True
    """
    end, count = position + size_bytes, 0
    magic = data[position + MAGIC_POSITION] if size_bytes > MAGIC_POSITION else None
    if magic not in (0, 1):
        return None
    while position < end:
        if end - position < FRAME_BYTES + SMALLEST_BYTES or data[position + MAGIC_POSITION] != magic:
            return None
        _, length, crc = _FRONT.unpack_from(data, position)
        behind = position + FRAME_BYTES + length
        if length < SMALLEST_BYTES or behind > end or zlib.crc32(data[position + MAGIC_POSITION : behind]) != crc:
            return None
        position, count = behind, count + 1
    return magic, count
