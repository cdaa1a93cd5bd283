"""The settings of somebody's own files: read, recognised, held to a release."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from kafkalearn.base.errors import KafkaLearnError, counted, listed, shown
from kafkalearn.base.files import mark_of
from kafkalearn.oncall.answer import bytes_of, cut, decoded
from kafkalearn.releases.lines import at_least
from kafkalearn.releases.settings import ABSENT, SIDES, Limit, Setting, limit_text, settings_named

# Java's properties format in full: escapes, lines that go on, two kinds of comments, three separators, doubles.
#
# Kafka's programs and tools load their files with ``java.util.Properties``, as ISO-8859-1; here are the same rules, and
# the number of each line, which `Properties` forgets.

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
        return cut(self.value, 60)


@dataclass(frozen=True, slots=True)
class Unread:
    """A line of a file that was not read, so that nobody takes it for heard."""

    line: int
    name: str
    why: str
    near: str = ""  # a setting of Kafka's that may be meant


@dataclass(frozen=True, slots=True)
class ToolDefault:
    """What holds where a file says nothing, because the program is no plain Java client."""

    name: str
    value: str
    whose: str  # "SmallRye's default"


@dataclass(frozen=True)
class PropertiesFile:
    """What a properties file sets."""

    lines: tuple[Line, ...]  # in the order of the file, one that is set again included
    notes: tuple[str, ...] = ()  # what is strange about its bytes
    unread: tuple[Unread, ...] = ()  # beside `lines`: what other tools' rules leave out
    defaults: tuple[ToolDefault, ...] = ()
    is_librdkafka: bool = False  # a client of its own, with releases of its own

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
    """Parse text in Java's properties format.

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
        If the file cannot be read, is not text, or Java refuses it.
    """
    name, data = bytes_of(path, WHAT)
    mark, encoding = mark_of(data)
    if mark:
        parsed = parse_properties(decoded(data[len(mark) :], encoding, name, WHAT))
        read = f"it begins with the byte order mark of {encoding.upper()}; Kafka reads ISO-8859-1"
        spoilt = "takes the mark for a part of the first name" if encoding == "utf-8" else "finds none of its settings"
        return PropertiesFile(parsed.lines, (f"{read} and {spoilt}",))
    if b"\0" in data:
        raise KafkaLearnError(f"{name} is not text: it has bytes of zero; {WHAT} is wanted")
    parsed = parse_properties(data.decode("latin-1"))
    odd = [line.number for line in parsed.lines if not (line.name + line.value).isascii() and "\\u" not in line.value]
    if data.isascii() or not odd:
        return parsed
    return PropertiesFile(
        parsed.lines,
        (f"line {listed(odd[:5])}: characters beyond ASCII; Kafka reads the file as ISO-8859-1, not as UTF-8",),
    )


def _logical_lines(text: str) -> list[tuple[int, str]]:
    """Join continuation lines, each with the number of its first; drop comments and empty lines.

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
    assert match is not None, "all of its parts may be empty"
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


# One value of a setting: whether the class of a release that reads it takes it.

INT_BITS = {"SHORT": 16, "INT": 32, "LONG": 64}
PLACEHOLDER = re.compile(r"\$\{[^}:]{0,300}+:[^}]{0,2000}+\}")  # a config provider puts something else in its place

CLASSES_GONE: MappingProxyType[str, tuple[str, str, str]] = MappingProxyType(
    {
        "org.apache.kafka.clients.producer.internals.DefaultPartitioner": (
            "4.0",
            "leave partitioner.class away for the producer's own rule",
            "upgrade notes of 4.0, KIP-794",
        ),
        "org.apache.kafka.clients.producer.UniformStickyPartitioner": (
            "4.0",
            "set partitioner.ignore.keys=true and leave partitioner.class away",
            "upgrade notes of 4.0, KIP-794",
        ),
        "kafka.security.auth.SimpleAclAuthorizer": (
            "3.0",
            "use kafka.security.authorizer.AclAuthorizer, with KRaft StandardAuthorizer",
            "upgrade notes of 3.0",
        ),
        "kafka.security.authorizer.AclAuthorizer": (
            "4.0",
            "use org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "upgrade notes of 4.0",
        ),
    }
)
"""Classes that settings name: the release line without them, what to do, and the source."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason not to start, and the settings that it is about."""

    names: tuple[str, ...]
    text: str
    source: str


def setting_of(name: str, side: str, release: str) -> Setting | None:
    """The setting of that name and side, if the release knows it; a broker's may name the listener it is for.

    >>> setting_of("listener.name.internal.ssl.client.auth", "broker", "4.0").name
    'ssl.client.auth'
    """
    candidates = [name]
    if side == "broker" and (
        match := re.fullmatch(r"listener\.name\.[^.]+\.(?:(?:plain|scram-sha-\d+|oauthbearer|gssapi)\.)?(.+)", name)
    ):
        candidates.append(match[1])
    for candidate in candidates:
        for setting in settings_named(candidate):
            if setting.side == side and setting.in_release(release) is not ABSENT:
                return setting
    return None


def of_value(setting: Setting, value: str, release: str) -> Iterator[Refusal]:
    """Why the class does not take a value, if it does not; what a config provider replaces is not looked at."""
    if PLACEHOLDER.search(value):
        return
    source = f"the class of {release} that reads it"
    name, limit = setting.name, setting.limit_in(release)
    if setting.type in INT_BITS or setting.type == "DOUBLE":
        number = _number(value, setting.type)
        if number is None:
            yield Refusal((name,), f"{name} must be a number ({setting.type}), got {shown(value)}", source)
        elif limit is not None and not _is_within(limit, number):
            yield Refusal((name,), f"{name} must be {limit_text(limit)}, got {value}", source)
    elif setting.type == "BOOLEAN":
        if value.lower() not in ("true", "false"):
            yield Refusal((name,), f"{name} must be true or false, got {shown(value)}", source)
    elif limit is not None and setting.type != "PASSWORD":
        parts = [part.strip() for part in value.split(",")] if setting.type == "LIST" and value else [value]
        known = {_kind(each) for each in limit.values}
        wrong = [part for part in parts if known and _kind(part) not in known]
        if wrong or (limit.is_empty_refused and not value):
            yield Refusal((name,), f"{name} must be {limit_text(limit)}, got {shown(value)}", source)
    for part in value.split(","):
        since, instead, noted = CLASSES_GONE.get(part.strip(), ("", "", ""))
        if since and at_least(since, release):
            yield Refusal((name,), f"{name}: {part.strip().rpartition('.')[2]} is gone since {since}; {instead}", noted)


def _kind(value: str) -> str:
    """A value as it is compared: whether case matters is not known, and what follows a colon has a form of its own."""
    return value.partition(":")[0].lower()


def _number(value: str, kafka_type: str) -> float | int | None:
    if kafka_type == "DOUBLE":
        try:
            return float(value)
        except ValueError:
            return None
    if not re.fullmatch(r"[+-]?[0-9]{1,20}", value):
        return None
    number, beyond = int(value), 1 << INT_BITS[kafka_type] - 1
    return number if -beyond <= number < beyond else None


def _is_within(limit: Limit, number: float) -> bool:
    is_below = limit.minimum is not None and number < limit.minimum
    is_above = limit.maximum is not None and number > limit.maximum
    return not is_below and not is_above


# Whose settings a file has: recognised by the names in it, or said by whoever gives it.

OF_WORKERS = (
    *("key.converter", "value.converter", "internal.key.converter", "internal.value.converter", "header.converter"),
    *("offset.storage.topic", "config.storage.topic", "status.storage.topic", "offset.storage.file.filename"),
    *("rest.port", "rest.host.name", "rest.advertised.host.name", "rest.advertised.port", "plugin.path"),
)
"""Names that only a worker of Kafka Connect has."""


def recognised_side(names: Iterable[str], file_name: str) -> str:
    """The side that knows most of these names, in any release.

    Raises
    ------
    KafkaLearnError
        If none of them is known, or several sides know as many.

    Examples
    --------
    >>> recognised_side(["bootstrap.servers", "acks"], "a.properties"), recognised_side(["log.dirs"], "b.properties")
    ('producer', 'broker')
    """
    given = [*dict.fromkeys(names)]
    of_worker = [each for each in given if each in OF_WORKERS]
    if of_worker:
        raise KafkaLearnError(
            f"{shown(file_name)} has settings of a worker of Kafka Connect ({listed(of_worker[:3])}), which are not "
            "looked at here: a worker is no consumer, though it has a group.id. What it hands on to its clients begins "
            "with producer., consumer. or admin.: put those lines without that into a file of their own, and say whose "
            "they are (--producer FILE)"
        )
    if not given:
        raise KafkaLearnError(f"{shown(file_name)} sets nothing: it is empty, or has comments only")
    known = {side: sum(any(each.side == side for each in settings_named(name)) for name in given) for side in SIDES}
    most = max(known.values())
    if most == 0:
        first = listed(map(shown, given[:3]))
        raise KafkaLearnError(
            f"{shown(file_name)} has {counted(len(given), 'name')}, {first} first, and no broker, topic or client of "
            "Kafka knows one of them: is it a properties file of Kafka's?"
        )
    best = [side for side in SIDES if known[side] == most]
    newer = [side for side in best if not side.startswith("old-")] or best
    if len(newer) > 1:
        raise KafkaLearnError(
            f"{shown(file_name)} may be the settings of a {listed(newer, last='or')}: all know {most} of its "
            f"{counted(len(given), 'name')}; say which (--{newer[0]} FILE)"
        )
    return newer[0]
