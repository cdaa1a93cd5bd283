"""The rule of chapter 01 as people write it in Python: right once, and wrong in the ways that are known.

Each wrong one is a mistake with a name; `chapter01` recognises it by running it beside the student's function.
"""

from __future__ import annotations

from kafkalearn.hashing import int32, java_string_hash, kafka_abs, to_positive


def right(group_id: str, partition_count: int) -> int:
    """Kafka's answer, in the steps of the exercise's solution."""
    group_hash = 0
    units = group_id.encode("utf-16-be")
    for high, low in zip(units[::2], units[1::2], strict=True):
        group_hash = int32(31 * group_hash + (high << 8 | low))
    return kafka_abs(group_hash) % partition_count


def of_code_points(group_id: str, partition_count: int) -> int:
    """A character above U+FFFF counts as one."""
    return kafka_abs(_hash_of(map(ord, group_id))) % partition_count


def of_utf8_bytes(group_id: str, partition_count: int) -> int:
    """The bytes that cross the wire are hashed instead of the text."""
    return kafka_abs(_hash_of(group_id.encode())) % partition_count


def without_wrapping(group_id: str, partition_count: int) -> int:
    """The hash grows past 32 bits, as Python's integers do."""
    group_hash = 0
    for letter in group_id:
        group_hash = 31 * group_hash + ord(letter)
    return abs(group_hash) % partition_count


def unsigned(group_id: str, partition_count: int) -> int:
    """The hash is kept in 32 bits, without a sign."""
    return java_string_hash(group_id) % 2**32 % partition_count


def signed_remainder(group_id: str, partition_count: int) -> int:
    """``abs(h % n)``, right in Java but for one hash, wrong in Python for every negative one."""
    return abs(java_string_hash(group_id) % partition_count)


def masked(group_id: str, partition_count: int) -> int:
    """The producer's way to lose the sign."""
    return to_positive(java_string_hash(group_id)) % partition_count


def with_plain_abs(group_id: str, partition_count: int) -> int:
    """Python's ``abs``, which knows an absolute value of -2**31."""
    return abs(java_string_hash(group_id)) % partition_count


def _hash_of(numbers: object) -> int:
    group_hash = 0
    for number in numbers:
        group_hash = int32(31 * group_hash + number)
    return group_hash
