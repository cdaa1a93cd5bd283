"""The fields of a form: text as a browser has it, read into what the library takes, with errors that name the field."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping, Sequence

from kafkalearn.arguments import one_of
from kafkalearn.errors import KafkaLearnError
from kafkalearn.phrases import shown

MOST_LETTERS = 200_000  # of one field


def text_field(fields: Mapping[str, object], name: str, default: str = "") -> str:
    """A field as text, without blanks around it; the default where it is not there or empty.

    >>> text_field({"group": " billing "}, "group"), text_field({}, "release", "4.3")
    ('billing', '4.3')
    """
    value = str(fields.get(name) or "").strip()
    if len(value) > MOST_LETTERS:
        raise KafkaLearnError(f"{name} may have {MOST_LETTERS:,} characters, got {len(value):,}")
    return value or default


def number_field(fields: Mapping[str, object], name: str, default: int) -> int:
    """A whole number; the default where the field is empty.

    >>> number_field({"partitions": "50"}, "partitions", 1)
    50
    >>> number_field({"partitions": "fifty"}, "partitions", 1)
    Traceback (most recent call last):
    ...
    kafkalearn.errors.KafkaLearnError: partitions must be a whole number, got 'fifty'
    """
    value = text_field(fields, name)
    if not value:
        return default
    if not re.fullmatch(r"[+-]?\d{1,18}", value):
        raise KafkaLearnError(f"{name} must be a whole number, got {shown(value)}")
    return int(value)


def choice_field(fields: Mapping[str, object], name: str, known: Sequence[str]) -> str:
    """One of some words; the first of them where the field is empty."""
    value = text_field(fields, name, known[0])
    one_of(name, value, known)
    return value


def settings_field(fields: Mapping[str, object], name: str) -> dict[str, object]:
    """Lines of ``setting = value``, as a properties file has them; what is a whole number becomes one.

    >>> settings_field({"settings": "session.timeout.ms = 10000 # ten seconds"}, "settings")
    {'session.timeout.ms': 10000}
    >>> settings_field({"settings": "session.timeout.ms 10000"}, "settings")
    Traceback (most recent call last):
    ...
    kafkalearn.errors.KafkaLearnError: line 1 of settings, 'session.timeout.ms 10000', must be: name = value
    """
    settings: dict[str, object] = {}
    for number, line in enumerate(text_field(fields, name).splitlines(), 1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        key, equals, value = (part.strip() for part in line.partition("="))
        if not (key and equals and value):
            raise KafkaLearnError(f"line {number} of {name}, {shown(line)}, must be: name = value")
        settings[key] = int(value) if re.fullmatch(r"-?\d{1,18}", value) else value
    return settings


def bytes_field(fields: Mapping[str, object], name: str) -> bytes | None:
    r"""Bytes written in hex (blanks, colons, 0x and \x are passed over) or in base64; None for nothing or ``null``.

    What can be read as hex is hex.

    >>> bytes_field({"key": "0x00 02 00:0a"}, "key"), bytes_field({"key": "AAIACg=="}, "key")
    (b'\x00\x02\x00\n', b'\x00\x02\x00\n')
    >>> bytes_field({"value": "null"}, "value") is None
    True
    """
    value = text_field(fields, name)
    if not value or value.casefold() == "null":
        return None
    bare = re.sub(r"0x|\\x|[\s:,]", "", value)
    if re.fullmatch(r"(?:[0-9a-fA-F]{2})+", bare):
        return bytes.fromhex(bare)
    try:
        return base64.b64decode(re.sub(r"\s", "", value), validate=True)
    except (ValueError, binascii.Error):
        raise KafkaLearnError(
            f"{name} must be bytes in hex, such as 00 01 00 07, or in base64, got {shown(value)}"
        ) from None
