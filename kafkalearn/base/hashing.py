"""The hash functions that decide where things go in Kafka, as pure functions of text or bytes.

A *group id* is text: Kafka hashes its UTF-16 code units with Java's ``String.hashCode``.
A *record key* is bytes: the Java producer hashes it with ``murmur2``, librdkafka by default with CRC-32, other
clients with FNV-1a; Spark shuffles by a murmur3 of its own. The same key has five hashes, and five partitions.

Java's ``int`` is 32 bits, signed, and wraps. Python's is not, so each function here says which of the two it
returns: *signed* (``-2**31 .. 2**31 - 1``) or *unsigned* (``0 .. 2**32 - 1``).
"""

from __future__ import annotations

import zlib

from kafkalearn.base.checks import key_bytes, text

INTEGER_MIN_VALUE = -(2**31)  # the one int whose absolute value is not an int
MASK_32 = 0xFFFFFFFF

MURMUR2_SEED = 0x9747B28C
MURMUR2_M = 0x5BD1E995

FNV1A_OFFSET_BASIS = 0x811C9DC5
FNV1A_PRIME = 0x01000193

SPARK_SEED = 42


def int32(value: int) -> int:
    """The signed 32-bit integer with the same lowest 32 bits, as a Java ``int`` would hold it.

    >>> int32(2**31), int32(-1), int32(2**32 + 5)
    (-2147483648, -1, 5)
    """
    return ((value + 2**31) & MASK_32) - 2**31


def to_positive(value: int) -> int:
    """The lowest 31 bits of `value`: never negative, and not the absolute value.

    >>> to_positive(-1906497762), abs(-1906497762)
    (240985886, 1906497762)

    References
    ----------
    Apache Kafka, ``Utils.toPositive``: the producer's partitioners use it.
    """
    return value & 0x7FFFFFFF


def kafka_abs(value: int) -> int:
    """The absolute value of a Java ``int``, with 0 for the one that has none, -2**31.

    Java's own ``Math.abs`` returns -2**31 unchanged: a negative "absolute value".

    >>> kafka_abs(-7), kafka_abs(-2**31)
    (7, 0)

    References
    ----------
    Apache Kafka, ``Utils.abs``, since 0.8.2: the group coordinator uses it.
    """
    return 0 if value == INTEGER_MIN_VALUE else abs(value)


def java_abs(value: int) -> int:
    """What Java's ``Math.abs(int)`` returns: -2**31 stays negative.

    >>> java_abs(-7), java_abs(-2**31)
    (7, -2147483648)
    """
    return int32(abs(value))


def java_remainder(dividend: int, divisor: int) -> int:
    """What Java's ``dividend % divisor`` is: it takes the sign of the dividend, Python's ``%`` the divisor's.

    >>> java_remainder(-7, 5), -7 % 5
    (-2, 3)
    """
    remainder = abs(dividend) % abs(divisor)
    return -remainder if dividend < 0 else remainder


def java_string_hash(value: str) -> int:
    """The signed 32-bit ``String.hashCode()`` of a text.

    ``h = 31 * h + unit`` over the UTF-16 code units; a character above U+FFFF counts as its two surrogates.

    Parameters
    ----------
    value : str
        Any text without lone surrogates; the empty text hashes to 0.

    Returns
    -------
    int
        In -2**31 .. 2**31 - 1.

    Raises
    ------
    KafkaLearnError
        If `value` is not a str, or holds a lone surrogate.

    Examples
    --------
    >>> java_string_hash("test-group"), java_string_hash("Aa"), java_string_hash("BB")
    (627841412, 2112, 2112)
    >>> java_string_hash("polygenelubricants")  # the smallest int there is
    -2147483648

    References
    ----------
    Java SE API, ``java.lang.String.hashCode``.
    """
    units = text("value", value).encode("utf-16-be")
    result = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        result = (31 * result + (high << 8 | low)) & MASK_32
    return int32(result)


def murmur2(key: bytes) -> int:
    """The signed 32-bit murmur2 of a record key, as the Java producer computes it.

    Parameters
    ----------
    key : bytes
        The key after serialisation; empty is a key too.

    Returns
    -------
    int
        In -2**31 .. 2**31 - 1.

    Raises
    ------
    KafkaLearnError
        If `key` is not bytes.

    Examples
    --------
    >>> murmur2(b"21"), murmur2(b"")
    (-973932308, 275646681)

    References
    ----------
    Apache Kafka, ``Utils.murmur2``; the same in every release since 0.8.2.
    """
    key = key_bytes("key", key)
    whole = len(key) & ~3
    result = MURMUR2_SEED ^ len(key)
    for start in range(0, whole, 4):
        block = int.from_bytes(key[start : start + 4], "little") * MURMUR2_M & MASK_32
        block = (block ^ block >> 24) * MURMUR2_M & MASK_32
        result = result * MURMUR2_M & MASK_32 ^ block
    if tail := key[whole:]:
        result = (result ^ int.from_bytes(tail, "little")) * MURMUR2_M & MASK_32
    result = (result ^ result >> 13) * MURMUR2_M & MASK_32
    return int32(result ^ result >> 15)


def crc32(key: bytes) -> int:
    """The unsigned CRC-32 of a record key, the hash that librdkafka partitions by if not configured otherwise.

    >>> crc32(b"a")
    3904355907

    References
    ----------
    librdkafka, partitioner ``consistent``; the polynomial of zlib and PNG.
    """
    return zlib.crc32(key_bytes("key", key))


def fnv1a(key: bytes) -> int:
    """The unsigned 32-bit FNV-1a of a record key, the hash of the Go client Sarama.

    >>> fnv1a(b"a")
    3826002220

    References
    ----------
    librdkafka, partitioner ``fnv1a``; Fowler, Noll and Vo.
    """
    result = FNV1A_OFFSET_BASIS
    for byte in key_bytes("key", key):
        result = (result ^ byte) * FNV1A_PRIME & MASK_32
    return result


def spark_hash(key: bytes) -> int:
    """The signed 32-bit value of Spark SQL's ``hash(key)``, by which Spark shuffles rows of that key.

    It is murmur3 with seed 42, but each byte left over after the whole 4-byte blocks is mixed in as if it were
    a block of its own, sign included: ready-made murmur3 functions give other values.

    >>> spark_hash(b"abc")
    1322437556

    References
    ----------
    Apache Spark, ``Murmur3_x86_32.hashUnsafeBytes``; text and binary of the same bytes hash alike.
    """
    key = key_bytes("key", key)
    whole = len(key) & ~3
    blocks = [int.from_bytes(key[start : start + 4], "little") for start in range(0, whole, 4)]
    blocks += [byte - 256 if byte > 127 else byte for byte in key[whole:]]
    result = SPARK_SEED
    for block in blocks:
        result = _rotate_left(result ^ _mix_block(block & MASK_32), 13) * 5 + 0xE6546B64 & MASK_32
    result ^= len(key)
    result = (result ^ result >> 16) * 0x85EBCA6B & MASK_32
    result = (result ^ result >> 13) * 0xC2B2AE35 & MASK_32
    return int32(result ^ result >> 16)


def _mix_block(block: int) -> int:
    return _rotate_left(block * 0xCC9E2D51 & MASK_32, 15) * 0x1B873593 & MASK_32


def _rotate_left(value: int, bits: int) -> int:
    return (value << bits | value >> 32 - bits) & MASK_32
