"""Partitioners that clients shipped with a fault, rewritten in Python so that they go wrong in the same way.

Each gives, key for key, the partition that its report names; `client_reports` has the reports.
"""

from __future__ import annotations

from kafkalearn.exercises.kit.faulty_code import FaultyCode


def kafka_python_partition(key: bytes, partition_count: int) -> int:
    """The partition of a key, translated line by line from Java."""
    m, mask = 0x5BD1E995, 0xFFFFFFFF
    h = 0x9747B28C ^ len(key)
    whole = len(key) // 4 * 4
    for start in range(0, whole, 4):
        k = int.from_bytes(key[start : start + 4], "little") * m & mask
        k = (k ^ k >> 24) * m & mask
        h = h * m & mask ^ k
    extra = len(key) % 4
    if extra == 3:  # Java: switch (length % 4) { case 3: ... case 2: ... }
        h ^= key[whole + 2] << 16
    if extra == 2:
        h ^= key[whole + 1] << 8
    if extra == 1:
        h ^= key[whole]
        h = h * m & mask
    h = (h ^ h >> 13) * m & mask
    h ^= h >> 15
    return (h & 0x7FFFFFFF) % partition_count


def sinek_partition(key: str, partition_count: int) -> int:
    """The partition of a key, with a murmur2 made for hash tables."""
    m, mask = 0x5BD1E995, 0xFFFFFFFF
    data = [ord(letter) & 0xFF for letter in key]
    h = len(data)
    whole = len(data) // 4 * 4
    for start in range(0, whole, 4):
        k = int.from_bytes(data[start : start + 4], "little") * m & mask
        k = (k ^ k >> 24) * m & mask
        h = h * m & mask ^ k
    if data[whole:]:
        h = (h ^ int.from_bytes(data[whole:], "little")) * m & mask
    h = (h ^ h >> 13) * m & mask
    h ^= h >> 15
    return h % partition_count


def kafkajs_partition(key: bytes, partition_count: int) -> int:
    """The partition of a key, with the arithmetic of JavaScript."""

    def int32(number):  # ^ and >>> bring a number down to 32 bits first
        return (int(number) + 2**31) % 2**32 - 2**31

    def times(a, b):  # * does not
        return float(a) * float(b)

    m = 0x5BD1E995
    h = 0x9747B28C ^ len(key)
    i = 0
    while i < len(key) / 4:
        k = int32(int.from_bytes(key[4 * i : 4 * i + 4], "little"))
        k = times(k, m)
        k = int32(k) ^ int32(k) % 2**32 >> 24
        k = times(k, m)
        h = times(h, m)
        h = int32(h) ^ int32(k)
        i += 1
    tail = key[len(key) // 4 * 4 :]
    if tail:
        h = times(int32(h) ^ int.from_bytes(tail, "little"), m)
    h = int32(h) ^ int32(h) % 2**32 >> 13
    h = times(h, m)
    h = int32(h) ^ int32(h) % 2**32 >> 15
    return (h & 0x7FFFFFFF) % partition_count


KAFKA_PYTHON = FaultyCode(
    kafka_python_partition,
    (
        ("if extra == 2:", "if extra >= 2:"),
        ("if extra == 1:", "if extra >= 1:"),
    ),
)

SINEK = FaultyCode(
    sinek_partition,
    (
        ("h = len(data)\n", "h = 0x9747B28C ^ len(data)\n"),
        ("data = [ord(letter) & 0xFF for letter in key]", "data = key.encode()"),
        ("return h % partition_count", "return (h & 0x7FFFFFFF) % partition_count"),
    ),
)

KAFKAJS = FaultyCode(
    kafkajs_partition,
    (
        ("while i < len(key) / 4:", "while i < len(key) // 4:"),
        ("return float(a) * float(b)", "return a * b"),
    ),
)
