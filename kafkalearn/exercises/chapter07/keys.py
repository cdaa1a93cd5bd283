"""Ways to read a key of the offsets topic: the right one, and those that go wrong in a known way."""

from __future__ import annotations

from kafkalearn.offsets.records.codec import encode_key

_GROUPS = ("g", "billing", "位移组", "grüße-東京", "search-" + "x" * 300)
CASES = tuple(
    (encode_key(number, {"group": group} | ({} if number == 2 else {"topic": topic, "partition": partition})),)
    for group in _GROUPS
    for number, topic, partition in ((2, "", 0), (1, "orders", 3), (0, "t", 70_000), (1, "位", 1))
)
"""Keys of record types 0 to 2, shortest group ids first."""


def _read(raw: bytes, order: str = "big", encoding: str = "utf-8", units: int = 1) -> tuple[object, ...]:
    def text(at: int) -> tuple[str, int]:
        size = int.from_bytes(raw[at : at + 2], order)
        if units:
            return raw[at + 2 : at + 2 + size].decode(encoding, "replace"), at + 2 + size
        rest = raw[at + 2 :].decode(encoding, "replace")[:size]  # as many characters
        return rest, at + 2 + size

    number = int.from_bytes(raw[:2], order)
    group, end = text(2)
    if number == 2:
        return number, group
    topic, end = text(end)
    return number, group, topic, int.from_bytes(raw[end : end + 4], order)


def right(raw: bytes) -> tuple[object, ...]:
    """Record type and group id; topic and partition of a committed offset."""
    return _read(raw)


def in_latin_1(raw: bytes) -> tuple[object, ...]:
    """Every byte as a letter."""
    return _read(raw, encoding="latin-1")


def length_in_characters(raw: bytes) -> tuple[object, ...]:
    """As many characters as the length says."""
    return _read(raw, units=0)


def little_endian(raw: bytes) -> tuple[object, ...]:
    """The lowest byte first."""
    return _read(raw, order="little")


def with_partition_always(raw: bytes) -> tuple[object, ...]:
    """A topic and a partition in every key."""
    said = _read(raw)
    return said if len(said) == 4 else (*said, "", 0)
