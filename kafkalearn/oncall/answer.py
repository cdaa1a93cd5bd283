"""Base class of all command results: exit status, text report, JSON."""

from __future__ import annotations

import base64
import binascii
import shutil
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kafkalearn.base.checks import one_of
from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.base.files import mark_of, name_of, opened

WIDTH, NARROWEST, WIDEST = 80, 40, 160  # columns of text: where there is no terminal; as wide as it, within these


class Outcome(IntEnum):
    """The exit status of a question.

    >>> int(Outcome.FOUND)
    1
    """

    FINE = 0  # answered, and there is nothing to worry about
    FOUND = 1  # answered, and something was found that needs a person
    CANNOT_TELL = 2  # the question cannot be answered from what was given


class Answer:
    """Base class of all answers, which are frozen dataclasses.

    ``str(answer)`` is for a person: short plain words, no line wider than
    `text_width`. `as_data` is for a program. A notebook shows the words.
    """

    __slots__ = ()

    @property
    def outcome(self) -> Outcome:
        """What the command ends with."""
        raise NotImplementedError(f"{type(self).__name__} lacks outcome")

    def as_data(self) -> Mapping[str, object]:
        """The answer as a dict that `json.dumps` takes as it is; its keys are stable."""
        raise NotImplementedError(f"{type(self).__name__} lacks as_data()")

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """In a notebook, the words, line by line."""
        printer.text(str(self))


def text_width() -> int:
    """The columns that an answer's words may have: those of the terminal, 40 to 160; without a terminal 80.

    >>> NARROWEST <= text_width() <= WIDEST
    True
    """
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size((WIDTH, 24)).columns))


def wrapped(text: str, indent: str = "", hanging: str | None = None, width: int | None = None) -> str:
    """Wrap a sentence; a long name or path is cut only where it is wider than a line.

    Parameters
    ----------
    text : str
        A sentence; its own line breaks count as blanks.
    indent, hanging : str
        What begins the first line, and the others; None: blanks as wide as `indent`.
    width : int or None
        The columns of a line; None: `text_width`, which asks the terminal at each call.

    Examples
    --------
    >>> print(wrapped("not committed: the member left before it could", indent="  - "))
      - not committed: the member left before it could
    """
    others = " " * len(indent) if hanging is None else hanging
    width, words = width or text_width(), " ".join(text.split())
    lines, front, start, length = [], indent, 0, len(words)
    while start < length:
        most = start + width - len(front)
        end = length if most >= length else words.rfind(" ", start, most + 1)
        if end < 0:
            end = words.find(" ", start)  # a path stays whole: it is copied
            end = length if end < 0 else end
        lines.append(front + words[start:end])
        front, start = others, end + 1
    return "\n".join(lines)


def cut(name: str, longest: int) -> str:
    """Truncate a name to a width.

    >>> cut("orders-by-country", 12), cut("orders", 12)
    ('orders-by...', 'orders')
    """
    return name if len(name) <= longest else f"{name[: longest - 3]}..."


# Names and keys as people write them down: text, hexadecimal, base64, or the number that a serializer wrote.


def _whole(size: int) -> Callable[[str], bytes]:
    return lambda written: int(written).to_bytes(size, "big", signed=True)


FORMATS: MappingProxyType[str, tuple[str, Callable[[str], bytes]]] = MappingProxyType(
    {
        "text": ("text, written in UTF-8 as StringSerializer does", str.encode),
        "hex": ("bytes in hexadecimal", lambda written: bytes.fromhex(written.removeprefix("0x"))),
        "base64": ("bytes in base64", lambda written: base64.b64decode(written, validate=True)),
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


# The text of a file that somebody has given, whole, or a sentence why not.

MOST_BYTES = 64 * 2**20  # of settings, keys or a pasted text


def text_of(path: str | Path, what: str) -> str:
    """The whole text of a file; ``-`` is standard input.

    A byte order mark decides the encoding (UTF-8, UTF-16); without one it is UTF-8. A gzipped file is unpacked.

    Parameters
    ----------
    path : str or Path
        Where it is.
    what : str
        What the file is, for the error: ``"a properties file"``.

    Raises
    ------
    KafkaLearnError
        If there is no such file, it is a folder, may not be read, is not text, or is larger than `MOST_BYTES`.

    Examples
    --------
    >>> text_of("/", "a properties file")
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.KafkaLearnError: '/' is a folder, and a properties file is wanted
    """
    name, data = bytes_of(path, what)
    mark, encoding = mark_of(data)
    if not mark and b"\0" in data:
        raise KafkaLearnError(f"{name} is not text: it has bytes of zero; {what} is wanted")
    return decoded(data[len(mark) :], encoding, name, what)


def bytes_of(path: str | Path, what: str) -> tuple[str, bytes]:
    """The name of a file as a message has it, and its bytes, unpacked if it is gzipped; as `text_of`."""
    name = name_of(path)
    with opened(path, what) as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise KafkaLearnError(f"{name} has more than {MOST_BYTES // 2**20} MiB; {what} is wanted, give a part of it")
    return name, data


def decoded(data: bytes, encoding: str, name: str, what: str) -> str:
    """Decode bytes, or raise the error that says where they are invalid."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise KafkaLearnError(
            f"{name} is not text in {encoding.upper()}: byte {error.start} does not fit; {what} is wanted"
        ) from None


# Times and sizes as the words of an answer have them.

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SPANS = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1000), ("ms", 1))
_SIZES = (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3))


def date_time(at_ms: int) -> str | None:
    """A moment as date and time, to the second; None: no calendar has it.

    >>> date_time(1_795_176_000_999), date_time(1_795_176_000_000_000)
    ('2026-11-20 12:00:00', None)
    """
    try:
        return f"{_EPOCH + timedelta(milliseconds=at_ms):%Y-%m-%d %H:%M:%S}"
    except (OverflowError, ValueError):
        return None


def moment(at_ms: int) -> str:
    """A moment in UTC, to the second; one that no calendar has stays a number.

    >>> moment(1_795_176_000_000), moment(1_795_176_000_000_000)
    ('2026-11-20 12:00:00 UTC', 'the timestamp 1795176000000000')
    """
    said = date_time(at_ms)
    return f"the timestamp {at_ms}" if said is None else f"{said} UTC"


def lasting(span_ms: int) -> str:
    """Format a duration in its largest unit and the next one.

    >>> lasting(93_784_000), lasting(59_000), lasting(1500), lasting(0)
    ('1 d 2 h', '59 s', '1.5 s', '0 ms')
    """
    if 1000 <= span_ms < 10_000 and span_ms % 1000:
        return f"{span_ms / 1000:.1f} s"
    for place, (unit, factor) in enumerate(_SPANS[:-1]):
        if abs(span_ms) >= factor:
            count, rest = divmod(span_ms, factor)
            smaller, size = _SPANS[place + 1]
            more = f" {rest // size} {smaller}" if rest >= size and unit != "s" else ""
            return f"{count} {unit}{more}"
    return f"{span_ms} ms"


def size(size_bytes: int) -> str:
    """Format a number of bytes, in powers of 1000.

    >>> size(999), size(72_351_744), size(1_000_000_000)
    ('999 bytes', '72.4 MB', '1.0 GB')
    """
    for unit, factor in _SIZES:
        if size_bytes >= factor:
            return f"{size_bytes / factor:.1f} {unit}"
    return f"{size_bytes} byte{'' if size_bytes == 1 else 's'}"


def year(at_ms: int) -> int | None:
    """The year of a moment; None: no calendar has it.

    >>> year(1_795_176_000_000), year(1_795_176_000_000_000)
    (2026, None)
    """
    try:
        return (_EPOCH + timedelta(milliseconds=at_ms)).year
    except OverflowError:
        return None
