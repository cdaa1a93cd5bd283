"""CRC-32C (Castagnoli), which Kafka keeps in front of every record batch; Python's zlib has another CRC-32.

Byte by byte it is slow in Python. So longer data is laid out in rows of the same length, whose checksums are computed
side by side, a column at a time: a column is one large number, and Python works on large numbers quickly. The checksums
of the rows are then joined: that of two rows together is that of the first, moved on by the length of the second,
XOR that of the second.

With ``kafkalearn[fast]`` a wheel computes it instead, some hundred times as fast; the answers are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module

from kafkalearn.extras import is_installed

WHEEL = "google_crc32c"
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


HAS_WHEEL = is_installed(WHEEL)


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
    return tuple(tuple(_together(of_bit[shift : shift + 8], byte) for byte in range(256)) for shift in (0, 8, 16, 24))


def _together(of_bit: list[int], byte: int) -> int:
    found = 0
    for bit, each in enumerate(of_bit):
        found ^= each if byte >> bit & 1 else 0
    return found
