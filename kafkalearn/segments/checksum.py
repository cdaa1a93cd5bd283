"""CRC-32C (Castagnoli), which Kafka keeps in front of every record batch; Python's zlib has another CRC-32."""

from __future__ import annotations

POLYNOMIAL = 0x82F63B78  # of Castagnoli, bits reversed


def _shifted_out(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (POLYNOMIAL if byte & 1 else 0)
    return byte


_TABLE = tuple(map(_shifted_out, range(256)))


def crc32c(data: bytes) -> int:
    """The CRC-32C of some bytes, unsigned.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF
