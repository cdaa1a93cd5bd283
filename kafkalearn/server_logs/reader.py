"""Takes the lines of logs one after the other; those not known are counted, never guessed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, tzinfo
from types import MappingProxyType
from typing import NamedTuple

from kafkalearn.arguments import text as checked_text
from kafkalearn.errors import KafkaLearnError
from kafkalearn.phrases import counted
from kafkalearn.server_logs.events import BROKER, CLIENT_CONFIG, JAVA, LogEvent
from kafkalearn.server_logs.limits import LONGEST_SHOWN, MOST_EVENTS, MOST_UNKNOWN
from kafkalearn.server_logs.lines import HEAD, Line, split
from kafkalearn.server_logs.matching import event_of, first_words
from kafkalearn.server_logs.patterns import says_nothing
from kafkalearn.server_logs.timestamps import SHUFFLED_MS, Clock, zone_named

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


class ClockBack(NamedTuple):
    """A line whose time is earlier than that of a line before it, by more than lines are ever shuffled."""

    source: str
    line: int
    back_ms: int


@dataclass(frozen=True, slots=True)
class Reading:
    """All that logs say about groups."""

    events: tuple[LogEvent, ...]  # by time; those of one time as they stood
    line_count: int
    unknown_count: int  # lines that speak of groups or coordinators, and that no pattern fits
    unknown: tuple[UnknownLine, ...]  # the first of them
    without_time_count: int  # events whose line has no date
    line_counts: Mapping[str, int]  # by source
    torn: tuple[str, ...] = ()  # gzipped files that could not be unpacked to their end
    doubled_count: int = 0  # events of brokers that stand in another file as well, and count once
    clocks_back: tuple[ClockBack, ...] = ()  # of each source the first place

    @property
    def sources(self) -> tuple[str, ...]:
        """The files, or what stands for them."""
        return tuple(self.line_counts)

    def __str__(self) -> str:
        """In one line."""
        return (
            f"{counted(self.line_count, 'line')}, {counted(len(self.events), 'event')}, "
            f"{counted(self.unknown_count, 'unknown line')} about groups"
        )


class Reader:
    """Takes lines, one after the other, of one source after the other."""

    def __init__(self, zone: str | tzinfo = UTC) -> None:
        """Times that say no zone are of this one."""
        self.clock = Clock(zone if isinstance(zone, tzinfo) else zone_named(checked_text("zone", zone)))
        self.torn: list[str] = []
        self.events: list[LogEvent] = []
        self.line_count = self.unknown_count = 0
        self.unknown: list[UnknownLine] = []
        self.sources: dict[str, int] = {}
        self._source: str | None = None  # of the last line
        self._config: tuple[Line, dict[str, str], str, int] | None = None  # its title, and where that stands
        self._latest_ms: dict[str, int] = {}
        self._back: dict[str, ClockBack] = {}
        self._silent = says_nothing()
        self._words = first_words() | {*_CONTEXTS, CONFIG_TITLE.partition(" ")[0]}

    def set_zone(self, zone: str) -> None:
        """From here on, times that say no zone are of this one."""
        self.clock = Clock(zone_named(checked_text("zone", zone)))

    def feed(self, text: str, source: str) -> LogEvent | None:
        """The event of one line, if it is one; it is kept as well."""
        self.line_count += 1
        number = self.sources[source] = self.sources.get(source, 0) + 1
        if source != self._source:
            self._end_config()
            self._source, self.clock = source, Clock(self.clock.zone)
        if self._config is not None and self._takes_setting(text):
            return None
        if not text or (text[0] in " \t" and "[" not in text[:40]):
            return None  # a line that goes on, as those of a stack trace
        if self._says_nothing_of_groups(text):
            return self._unknown(text, text, source, number)
        line = split(text, self.clock)
        message = line.message
        if message == CONFIG_TITLE:
            self._config = (line, {}, source, number)
            return None
        event = event_of(line, source, number)
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

    def _keep(self, event: LogEvent) -> LogEvent:
        if len(self.events) >= MOST_EVENTS:
            raise KafkaLearnError(
                f"the logs have more than {MOST_EVENTS:,} events, as far as {event.place}; give fewer files, or "
                "cut them to the hours in question"
            )
        self.events.append(event)
        if event.time_ms is not None:
            latest_ms = self._latest_ms.get(event.source, event.time_ms)
            if event.time_ms < latest_ms - SHUFFLED_MS:
                self._back.setdefault(event.source, ClockBack(event.source, event.line, latest_ms - event.time_ms))
            self._latest_ms[event.source] = max(latest_ms, event.time_ms)
        return event

    def _takes_setting(self, text: str) -> bool:
        """Whether a line is one of the settings that follow their title; the first that is none ends them."""
        assert self._config is not None, "a title came before"
        settings = self._config[1]
        name, equals, value = text.strip().partition(" = ")
        if text[:1] in ("\t", " ") and (equals or text.rstrip().endswith(" =")):
            if name in CONFIG_NAMES and value != "null":
                settings[name] = value[:LONGEST_SHOWN]
            return True
        self._end_config()
        return False

    def _end_config(self) -> None:
        """The settings of a Java client are complete: their event stands where their title does."""
        if self._config is None:
            return
        line, settings, source, number = self._config
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

    def result(self) -> Reading:
        """All that was read so far, in the order of time."""
        self._end_config()
        events = _each_once(self.events) if len(self.sources) > 1 else self.events
        ordered = tuple(_by_time(events))
        missing = sum(each.time_ms is None for each in ordered)
        return Reading(
            ordered,
            self.line_count,
            self.unknown_count,
            tuple(self.unknown),
            missing,
            MappingProxyType(dict(sorted(self.sources.items()))),
            tuple(self.torn),
            len(self.events) - len(events),
            tuple(self._back.values()),
        )


def _each_once(events: list[LogEvent]) -> list[LogEvent]:
    """Without what a broker has written to one file and a copy has in another: two brokers never write the same."""
    first_in: dict[tuple[int, str, str | None], str] = {}
    return [
        each
        for each in events
        if each.writer != BROKER
        or each.time_ms is None
        or first_in.setdefault((each.time_ms, each.text, each.group), each.source) == each.source
    ]


def _by_time(events: list[LogEvent]) -> Iterator[LogEvent]:
    """Events in the order of time; one without a date stays behind the one that it stood behind."""
    keyed: list[tuple[int, int]] = []
    last_ms: dict[str, int] = {}
    for place, event in enumerate(events):
        if event.time_ms is not None:
            last_ms[event.source] = event.time_ms
        keyed.append((last_ms.get(event.source, -1), place))
    return (events[place] for _, place in sorted(keyed))
