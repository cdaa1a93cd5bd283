"""Names and keys as people write them down: text, hexadecimal, base64, or the number that a serializer wrote."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from types import MappingProxyType

from kafkalearn.arguments import one_of
from kafkalearn.errors import KafkaLearnError
from kafkalearn.phrases import shown


def _hex(written: str) -> bytes:
    return bytes.fromhex(written.removeprefix("0x"))


def _base64(written: str) -> bytes:
    return base64.b64decode(written, validate=True)


def _whole(size: int) -> Callable[[str], bytes]:
    return lambda written: int(written).to_bytes(size, "big", signed=True)


FORMATS: MappingProxyType[str, tuple[str, Callable[[str], bytes]]] = MappingProxyType(
    {
        "text": ("text, written in UTF-8 as StringSerializer does", str.encode),
        "hex": ("bytes in hexadecimal", _hex),
        "base64": ("bytes in base64", _base64),
        "int": ("a number of 32 bits, as IntegerSerializer writes it", _whole(4)),
        "long": ("a number of 64 bits, as LongSerializer writes it", _whole(8)),
    }
)
"""How a key can be written: what it means, and its bytes."""


def key_from(written: str, key_format: str = "text") -> bytes:
    """The bytes of a key.

    Parameters
    ----------
    written : str
        As somebody has typed it.
    key_format : str
        A name in `FORMATS`.

    Raises
    ------
    KafkaLearnError
        If it is not written so.

    Examples
    --------
    >>> key_from("user-42"), key_from("0x7573"), key_from("7573", "hex"), key_from("42", "int")
    (b'user-42', b'0x7573', b'us', b'\\x00\\x00\\x00*')
    """
    meaning, convert = FORMATS[one_of("key format", key_format, FORMATS)]
    try:
        return convert(written)
    except (ValueError, OverflowError, binascii.Error) as error:
        if key_format == "text":
            raise KafkaLearnError(f"the key {shown(written)} has characters that are no text: {error}") from None
        raise KafkaLearnError(f"the key {shown(written)} is not {meaning}") from None


def lines_of(text: str) -> list[str]:
    """The names in a file, one on a line; the end of the line is no part of a name, blanks are, empty lines are none.

    >>> lines_of("billing\\r\\nship ping\\n\\n")
    ['billing', 'ship ping']
    """
    return [line for line in text.replace("\r\n", "\n").split("\n") if line]
