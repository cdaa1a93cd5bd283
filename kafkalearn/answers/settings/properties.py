"""Java's properties format in full: escapes, lines that go on, two kinds of comments, three separators, doubles.

Kafka's programs and tools load their files with ``java.util.Properties``, as ISO-8859-1; here are the same rules, and
the number of each line, which `Properties` forgets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from kafkalearn.answers.reading import bytes_of, decoded
from kafkalearn.errors import KafkaLearnError
from kafkalearn.given_files import mark_of
from kafkalearn.phrases import listed, shown
from kafkalearn.versions.settings import settings_named

WHAT = "a properties file"
BLANKS = " \t\f"
ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
MASK = "(hidden)"
SECRET = re.compile(r"password|passphrase|secret|credential|token|jaas|private|user\.info|api\.?key", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Line:
    """One setting as a file has it."""

    number: int  # where it begins; 1 is the first line
    name: str
    value: str = field(repr=False)  # never shown by accident: see `shown_value`

    @property
    def shown_value(self) -> str:
        """The value as it may be shown: a secret is hidden.

        >>> Line(1, "ssl.key.password", "abc").shown_value, Line(2, "acks", "all").shown_value
        ('(hidden)', 'all')
        """
        if is_secret(self.name) and self.value:
            return MASK
        return self.value if len(self.value) <= 60 else f"{self.value[:57]}..."


@dataclass(frozen=True)
class PropertiesFile:
    """What a properties file sets."""

    lines: tuple[Line, ...]  # in the order of the file, one that is set again included
    notes: tuple[str, ...] = ()  # what is strange about its bytes

    @property
    def values(self) -> dict[str, str]:
        """Name to value; of a name that stands there twice the last value, as Java has it."""
        return {line.name: line.value for line in self.lines}

    @property
    def last(self) -> dict[str, Line]:
        """Name to the line that counts."""
        return {line.name: line for line in self.lines}

    @property
    def repeated(self) -> dict[str, tuple[int, ...]]:
        """The names that are set more than once, with the numbers of their lines."""
        numbers: dict[str, list[int]] = {}
        for line in self.lines:
            numbers.setdefault(line.name, []).append(line.number)
        return {name: tuple(found) for name, found in numbers.items() if len(found) > 1}


def is_secret(name: str) -> bool:
    """Whether a setting's value is never to be shown: Kafka's type PASSWORD, and names that sound like it.

    >>> is_secret("listener.name.internal.ssl.keystore.password"), is_secret("sasl.jaas.config"), is_secret("acks")
    (True, True, False)
    """
    return bool(SECRET.search(name)) or any(each.type == "PASSWORD" for each in settings_named(name))


def parse_properties(text: str) -> PropertiesFile:
    """The settings in a text of Java's properties format.

    Raises
    ------
    KafkaLearnError
        If Java refuses it: a backslash and u without four hexadecimal digits.

    Examples
    --------
    >>> parse_properties("# a comment\\nacks : all\\nlinger.ms=\\\\\\n   5\\nacks 1").values
    {'acks': '1', 'linger.ms': '5'}

    References
    ----------
    Java SE API, ``java.util.Properties.load(Reader)``.
    """
    lines = []
    for number, logical in _logical_lines(text):
        name, value = _parted(logical)
        lines.append(Line(number, _unescaped(name, number), _unescaped(value, number)))
    return PropertiesFile(tuple(lines))


def read_properties(path: str | Path) -> PropertiesFile:
    """The settings in a file, as Kafka's programs would read them, and what is strange about its bytes.

    Raises
    ------
    KafkaLearnError
        If the file cannot be read, is no text, or Java refuses it.
    """
    name, data = bytes_of(path, WHAT)
    mark, encoding = mark_of(data)
    if mark:
        parsed = parse_properties(decoded(data[len(mark) :], encoding, name, WHAT))
        read = f"it begins with the byte order mark of {encoding.upper()}; Kafka reads ISO-8859-1"
        spoilt = "takes the mark for a part of the first name" if encoding == "utf-8" else "finds none of its settings"
        return PropertiesFile(parsed.lines, (f"{read} and {spoilt}",))
    if b"\0" in data:
        raise KafkaLearnError(f"{name} is no text: it has bytes of zero; {WHAT} is wanted")
    parsed = parse_properties(data.decode("latin-1"))
    odd = [line.number for line in parsed.lines if not (line.name + line.value).isascii() and "\\u" not in line.value]
    if data.isascii() or not odd:
        return parsed
    return PropertiesFile(
        parsed.lines,
        (f"line {listed(odd[:5])}: characters beyond ASCII; Kafka reads the file as ISO-8859-1, not as UTF-8",),
    )


def _logical_lines(text: str) -> list[tuple[int, str]]:
    """Lines that belong together, joined; each with the number of its first. Comments and empty lines are gone.

    A line that goes on with nothing in it yet counts as new: a comment may follow it. At the end of a file it is a
    setting with an empty name, as Java has it.
    """
    found: list[tuple[int, str]] = []
    joined, begun, goes_on, end = "", 0, False, ""
    for number, (natural, end) in enumerate(re.findall(r"([^\r\n]*)(\r\n|\r|\n|\Z)", text), start=1):
        line = natural.lstrip(BLANKS)
        if not line and not end:
            break  # behind the last line
        if not joined:
            begun, goes_on = number, False
            if not line or line[0] in "#!":
                continue
        goes_on = (len(line) - len(line.rstrip("\\"))) % 2 == 1
        joined += line[:-1] if goes_on else line
        if not goes_on:
            found.append((begun, joined))
            joined = ""
    if joined or (goes_on and re.search(r"\\[\r\n]?\Z", text)):
        found.append((begun, joined))
    return found


def _parted(line: str) -> tuple[str, str]:
    """The name and the value, escapes still in them: parted by the first blank, ``=`` or ``:`` that is not escaped."""
    match = re.match(rf"((?:\\.|[^\\=:{BLANKS}])*)[{BLANKS}]*[=:]?[{BLANKS}]*(.*)", line, re.DOTALL)
    return match[1], match[2]


def _unescaped(written: str, number: int) -> str:
    def replace(match: re.Match[str]) -> str:
        letter = match[1]
        if letter.startswith("u"):
            if len(letter) < 5:
                raise KafkaLearnError(
                    f"line {number}: a backslash and u needs four hexadecimal digits, got {shown(match[0])}; Java "
                    "refuses the whole file"
                )
            return chr(int(letter[1:], 16))
        return ESCAPES.get(letter, letter)

    return re.sub(r"\\(u[0-9a-fA-F]{4}|.|$)", replace, written, flags=re.DOTALL)
