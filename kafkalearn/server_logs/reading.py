"""Lines -> events: the lines of logs, each held to the patterns; those not known are counted, never guessed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, tzinfo
from functools import cache

from kafkalearn.arguments import text as checked_text
from kafkalearn.errors import KafkaLearnError
from kafkalearn.phrases import counted, shown
from kafkalearn.server_logs.events import BROKER, CLIENT_CONFIG, JAVA, LIBRDKAFKA, PYTHON, LogEvent
from kafkalearn.server_logs.files import lines_of, sorted_files
from kafkalearn.server_logs.limits import LONGEST_LINE, LONGEST_SHOWN, MOST_EVENTS, MOST_UNKNOWN
from kafkalearn.server_logs.lines import HEAD, Line, split
from kafkalearn.server_logs.patterns import Pattern, patterns, says_nothing
from kafkalearn.server_logs.templates import key_of
from kafkalearn.server_logs.timestamps import Clock, zone_named

CONFIG_TITLE = "ConsumerConfig values:"
CONFIG_NAMES = frozenset(
    {
        *("client.id", "group.id", "group.instance.id", "group.protocol", "session.timeout.ms"),
        *("heartbeat.interval.ms", "max.poll.interval.ms", "max.poll.records", "partition.assignment.strategy"),
    }
)
"""What is taken of the settings that a Java client writes when it starts."""

LINES = "lines"  # the source of lines that come from no file
_CONTEXTS = ("[GroupCoordinator", "[GroupCoordinatorService", "[GroupMetadataManager", "[Consumer", "[Worker")


@dataclass(frozen=True, slots=True)
class UnknownLine:
    """A line about groups that no pattern fits."""

    source: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class Reading:
    """All that logs say about groups."""

    events: tuple[LogEvent, ...]  # by time; those of one time as they stood
    line_count: int
    unknown_count: int  # lines that speak of groups or coordinators, and that no pattern fits
    unknown: tuple[UnknownLine, ...]  # the first of them
    without_time_count: int  # events whose line has no date
    sources: tuple[str, ...]

    def __str__(self) -> str:
        """In one line."""
        return (
            f"{counted(self.line_count, 'line')}, {counted(len(self.events), 'event')}, "
            f"{counted(self.unknown_count, 'unknown line')} about groups"
        )


def read(lines: Iterable[str], zone: str = "UTC", source: str = LINES) -> Reading:
    """The events that are in lines of logs.

    Parameters
    ----------
    lines : iterable of str
        Of one source, in their order; line ends are passed over.
    zone : str
        Of times that say none: ``UTC``, ``+08:00``, ``Europe/Berlin``.
    source : str
        What the events call it.

    Returns
    -------
    Reading
        With times in milliseconds since 1970, UTC.

    Raises
    ------
    KafkaLearnError
        If `lines` is no iterable of text, the zone is unknown, or there are more than `MOST_EVENTS` events.

    Examples
    --------
    >>> found = read(["[2026-11-22 15:46:20,472] INFO Stabilized group billing generation 7 with 3 members. (a.B)"])
    >>> found.events[0].kind, found.events[0].group, found.events[0].generation, found.events[0].time_ms
    ('CompletingRebalance', 'billing', 7, 1795362380472)

    References
    ----------
    Apache Kafka 0.11 to 4.3, the classes that `kafkalearn.server_logs.patterns` names; librdkafka, kafka-python,
    aiokafka.
    """
    if isinstance(lines, str | bytes) or not isinstance(lines, Iterable):
        raise KafkaLearnError(f"lines are a list or an open file, a text for each line; got {shown(lines)}")
    reader = Reader(zone)
    for line in lines:
        if not isinstance(line, str):
            raise KafkaLearnError(f"a line is text; got {shown(line)}")
        reader.feed(line.rstrip("\r\n")[:LONGEST_LINE], source)
    return reader.result()


def read_files(paths: Iterable[str | os.PathLike], zone: str | Mapping[str, str] = "UTC") -> Reading:
    """The events that are in log files, in the order of their times across all of them.

    Parameters
    ----------
    paths : iterable of path
        Files, plain or gzipped, rotated ones among them; folders, of which every file is read; ``-`` is the standard
        input.
    zone : str, or mapping of file name to str
        Of times that say none; by the last part of a path, if the files differ. Files that are not named are UTC.

    Raises
    ------
    KafkaLearnError
        If a path is none, nothing can be read, a zone is unknown, or there are more than `MOST_EVENTS` events.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = pathlib.Path(folder, "server.log")
    ...     _ = log.write_text("[2026-11-22 15:46:20,472] INFO Group billing with generation 7 is now empty (a.B)\\n")
    ...     str(read_files([log]))
    '1 line, 1 event, 0 unknown lines about groups'
    """
    by_file = zone if isinstance(zone, Mapping) else {}
    reader = Reader("UTC" if by_file or isinstance(zone, Mapping) else zone)
    for path in sorted_files(paths):
        name = str(path)
        if isinstance(zone, Mapping):
            reader.set_zone(by_file.get(os.path.basename(name), "UTC"))
        for line in lines_of(path):
            reader.feed(line, name)
    return reader.result()


class Reader:
    """Takes lines, one after the other, of one source after the other."""

    def __init__(self, zone: str | tzinfo = UTC) -> None:
        """Times that say no zone are of this one."""
        self.clock = Clock(zone if isinstance(zone, tzinfo) else zone_named(checked_text("zone", zone)))
        self.events: list[LogEvent] = []
        self.line_count = self.unknown_count = 0
        self.unknown: list[UnknownLine] = []
        self.sources: dict[str, int] = {}
        self._config: tuple[Line, dict[str, str]] | None = None
        self._tables = _tables()
        self._silent = says_nothing()
        self._words = frozenset(
            {*self._tables[JAVA], *self._tables[PYTHON], *_CONTEXTS, CONFIG_TITLE.partition(" ")[0]}
        )

    def set_zone(self, zone: str) -> None:
        """From here on, times that say no zone are of this one."""
        self.clock = Clock(zone_named(checked_text("zone", zone)))

    def feed(self, text: str, source: str) -> LogEvent | None:
        """The event of one line, if it is one; it is kept as well."""
        self.line_count += 1
        number = self.sources[source] = self.sources.get(source, 0) + 1
        if self._config is not None and self._takes_setting(text, source, number):
            return None
        if not text or (text[0] in " \t" and "[" not in text[:40]):
            return None  # a line that goes on, as those of a stack trace
        if self._says_nothing_of_groups(text):
            return self._unknown(text, text, source, number)
        line = split(text, self.clock)
        message = line.message
        if message == CONFIG_TITLE:
            self._config = (line, {})
            return None
        event = self._event(line, source, number)
        if event is None:
            return None if line.logger in self._silent else self._unknown(message, text, source, number)
        return self._keep(event)

    def _says_nothing_of_groups(self, text: str) -> bool:
        """Whether a line in Kafka's own layout begins with a word that no pattern has: most lines of a broker do."""
        found = HEAD.match(text)
        if found is None:
            return False
        at = found.end()
        end = text.find(" ", at)
        word = text[at : end if end > 0 else None].partition("=")[0]
        if word in self._words or word[-1:] == ":" or "." in word or word.isdigit():
            return False
        return "[thrd:" not in text

    def _unknown(self, message: str, text: str, source: str, number: int) -> None:
        """Count a line, if it speaks of groups."""
        if "roup" in message or "oordinator" in message or "ebalanc" in message or "eartbeat" in message:
            self.unknown_count += 1
            if len(self.unknown) < MOST_UNKNOWN:
                self.unknown.append(UnknownLine(source, number, text[:LONGEST_SHOWN]))

    def _event(self, line: Line, source: str, number: int) -> LogEvent | None:
        message = line.message
        key = key_of(message)
        known = () if line.logger is None else self._tables[LIBRDKAFKA].get(line.logger, ())
        if not known:
            is_python = line.logger is not None and line.logger.islower()  # a class has a capital letter
            first, second = (PYTHON, JAVA) if is_python else (JAVA, PYTHON)
            known = self._tables[first].get(key) or self._tables[second].get(key)
            if known is None:
                return None
        for pattern, ends_with_dot in known:
            if not message.startswith(pattern.template.first):
                continue
            text = message if ends_with_dot or not message.endswith(".") else message[:-1]
            fields = pattern.template.match(text)
            if fields is None:
                continue
            group = fields.pop("group", None) or line.group
            member, reason = fields.pop("member", None), fields.pop("reason", None)
            generation = fields.pop("generation", None)
            if generation is None:
                generation = fields.pop("epoch", None)
            if line.client is not None:
                fields.setdefault("client", line.client)
            if line.host is not None:
                fields.setdefault("host", line.host)
            if line.logger is not None:
                fields["logger"] = line.logger
            return LogEvent(
                line.time_ms,
                pattern.event,
                pattern.writer,
                group,
                member or None,
                generation,
                reason,
                fields,
                source,
                number,
                message,
            )
        return None

    def _keep(self, event: LogEvent) -> LogEvent:
        if len(self.events) >= MOST_EVENTS:
            raise KafkaLearnError(
                f"the logs have more than {MOST_EVENTS:,} events, as far as {event.place}; give fewer files, or "
                "cut them to the hours in question"
            )
        self.events.append(event)
        return event

    def _takes_setting(self, text: str, source: str, number: int) -> bool:
        """Whether a line is one of the settings that follow their title; the first that is none ends them."""
        line, settings = self._config
        name, equals, value = text.strip().partition(" = ")
        if text[:1] in ("\t", " ") and (equals or text.rstrip().endswith(" =")):
            if name in CONFIG_NAMES and value != "null":
                settings[name] = value[:LONGEST_SHOWN]
            return True
        self._config = None
        if settings:
            fields = {**settings, **({} if line.host is None else {"host": line.host})}
            group, client = settings.get("group.id"), settings.get("client.id")
            if client:
                fields["client"] = client
            self._keep(
                LogEvent(
                    line.time_ms, CLIENT_CONFIG, JAVA, group, None, None, None, fields, source, number, line.message
                )
            )
        return False

    def result(self) -> Reading:
        """All that was read so far, in the order of time."""
        if self._config is not None:
            self._takes_setting("", LINES, 0)
        ordered = tuple(_by_time(self.events))
        missing = sum(each.time_ms is None for each in ordered)
        return Reading(
            ordered, self.line_count, self.unknown_count, tuple(self.unknown), missing, tuple(sorted(self.sources))
        )


def _by_time(events: list[LogEvent]) -> Iterator[LogEvent]:
    """Events in the order of time; one without a date stays behind the one that it stood behind."""
    keyed: list[tuple[int, int]] = []
    last_ms: dict[str, int] = {}
    for place, event in enumerate(events):
        if event.time_ms is not None:
            last_ms[event.source] = event.time_ms
        keyed.append((last_ms.get(event.source, -1), place))
    return (events[place] for _, place in sorted(keyed))


Known = tuple[tuple[Pattern, bool], ...]


@cache
def _tables() -> Mapping[str, Mapping[str, Known]]:
    """The patterns to be tried, the most exact ones first.

    Those of librdkafka by their facility, those of Python by the first word, and so those of brokers and Java.
    """
    tables: dict[str, dict[str, list[tuple[Pattern, bool]]]] = {JAVA: {}, LIBRDKAFKA: {}, PYTHON: {}}
    for pattern in sorted(patterns(), key=lambda each: -each.template.fixed_length):
        writer = JAVA if pattern.writer == BROKER else pattern.writer
        key = pattern.source if writer == LIBRDKAFKA else pattern.template.key
        tables[writer].setdefault(key, []).append((pattern, pattern.template.text.endswith(".")))
    return {writer: {key: tuple(each) for key, each in table.items()} for writer, table in tables.items()}
