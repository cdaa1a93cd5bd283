"""Bad input is refused here, in one sentence that says what came, what is allowed and what to do."""

from __future__ import annotations

from kafkalearn.errors import KafkaLearnError


def whole_number(name: str, value: object, at_least: int) -> int:
    """`value` itself if it is an int of at least `at_least`; True and 3.0 are not ints here.

    >>> whole_number("partition_count", 50, at_least=1)
    50
    >>> whole_number("partition_count", 0, at_least=1)
    Traceback (most recent call last):
    ...
    kafkalearn.errors.KafkaLearnError: partition_count must be at least 1, got 0
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise KafkaLearnError(
            f"{name} must be a whole number of at least {at_least}, got {type(value).__name__} {value!r}"
        )
    number = value.__index__()  # NumPy's integers, as they come out of a table, are welcome
    if number < at_least:
        raise KafkaLearnError(f"{name} must be at least {at_least}, got {number}")
    return number


def text(name: str, value: object) -> str:
    """`value` itself if it is a str that can be written as UTF-8, as everything Kafka sends must be.

    A lone surrogate (half of a character above U+FFFF) has no UTF-8 form and cannot cross the wire.

    >>> text("group_id", None)
    Traceback (most recent call last):
    ...
    kafkalearn.errors.KafkaLearnError: group_id must be a str, got None; Kafka answers INVALID_GROUP_ID to null
    """
    if value is None and name == "group_id":
        raise KafkaLearnError("group_id must be a str, got None; Kafka answers INVALID_GROUP_ID to null")
    if not isinstance(value, str):
        hint = "; decode it first: value.decode()" if isinstance(value, bytes | bytearray) else ""
        raise KafkaLearnError(f"{name} must be a str, got {type(value).__name__} {value!r}{hint}")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise KafkaLearnError(
            f"{name} {value!r} has a lone surrogate at index {error.start}: it has no UTF-8 form, "
            "so no client can send it; use the whole character"
        ) from None
    return value


def key_bytes(name: str, value: object) -> bytes:
    """`value` as bytes; a str is refused, because the same text in two encodings is two keys.

    >>> key_bytes("key", "user-42")
    Traceback (most recent call last):
    ...
    kafkalearn.errors.KafkaLearnError: key must be bytes, got str 'user-42'; encode it first: key.encode()
    """
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    if value is None:
        raise KafkaLearnError(
            f"{name} must be bytes, got None; a record without a key has no partition of its own, "
            "see kafkalearn.partitioning.keyless"
        )
    hint = f"; encode it first: {name}.encode()" if isinstance(value, str) else ""
    raise KafkaLearnError(f"{name} must be bytes, got {type(value).__name__} {value!r}{hint}")


def fill_in(settings: object, **defaults: object) -> None:
    """Give fields of a frozen dataclass that are None their value; those that have one keep it.

    To be called in ``__post_init__`` of settings whose defaults depend on the release.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Settings:
    ...     interval_ms: int | None = None
    >>> settings = Settings()
    >>> fill_in(settings, interval_ms=3000)
    >>> settings
    Settings(interval_ms=3000)
    """
    for name, value in defaults.items():
        if getattr(settings, name) is None:
            object.__setattr__(settings, name, value)
