"""Takes the lines of logs one after the other; those not known are counted, never guessed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from types import MappingProxyType
from typing import NamedTuple

from kafkalearn.base.checks import text as checked_text
from kafkalearn.base.errors import KafkaLearnError, counted, listed, shown
from kafkalearn.base.files import STANDARD_INPUT, Torn
from kafkalearn.oncall.logs.anywhere import around, find
from kafkalearn.oncall.logs.causes import UNKNOWN, cause_of_reason
from kafkalearn.oncall.logs.edges import MOST_PIECES, Edge, as_shortened, begins_record, is_trusted, joined, may_go_on
from kafkalearn.oncall.logs.files import LONGEST_LINE, NotText, pieces_of, sorted_files
from kafkalearn.oncall.logs.lines import (
    ANY_CLIENT,
    BEHIND_UNKNOWN,
    BROKER,
    CLIENT_CONFIG,
    EPOCH_BUMPED,
    HEAD,
    HEARTBEAT_FAILED,
    HEARTBEAT_REBALANCING,
    INSPECTED,
    JAVA,
    OF_A_WORKER,
    SHUFFLED_MS,
    Clock,
    Line,
    LogEvent,
    split,
    zone_named,
)
from kafkalearn.oncall.logs.patterns import event_from, event_of, first_words, says_nothing
from kafkalearn.oncall.logs.protocol_errors import REBALANCING, error_in, event_of_error
from kafkalearn.oncall.logs.relevance import NO_NEWS, is_handed_on, is_of_others, speaks_of_groups
from kafkalearn.oncall.logs.transactions import (
    OF_TRANSACTIONS,
    TransactionEvent,
    event_of_line,
    may_say,
    speaks_of_transactions,
)

MOST_EVENTS = 500_000  # kept at once; about 1 kB each
MOST_UNKNOWN = 1000  # unknown lines that are kept to be shown
LONGEST_SHOWN = 500  # characters of such a line
MOST_NAMED = 5  # files that an error names
FOLLOWED = 5000  # of the events of a log that goes on: what is before them was told of

CONFIG_TITLE = "ConsumerConfig values:"
CONFIG_NAMES = frozenset(
    {
        *("client.id", "group.id", "group.instance.id", "group.protocol", "session.timeout.ms"),
        *("heartbeat.interval.ms", "max.poll.interval.ms", "max.poll.records", "partition.assignment.strategy"),
    }
)
"""What is taken of the settings that a Java client writes when it starts."""

LINES = "lines"  # the source of lines that come from no file
SHORTEST_LINE = 20  # characters; shorter ones are no more than the brackets of an object
LONGEST_OBJECT = 400  # lines of one JSON object


_VERSION = re.compile(r"Kafka version ?: (\d{1,2})\.(\d{1,2})(?:\.(\d{1,3}))?(?:\.\d{1,3})?(-cc?[se]\b)?")
_OF_CONFLUENT = {5: {minor: f"2.{minor}" for minor in range(6)}, 6: {0: "2.6", 1: "2.7", 2: "2.8"}}


def release_in(text: str) -> str | None:
    """The release that a Java client or broker names when it starts; of Confluent's own numbers Kafka's.

    >>> release_in("INFO Kafka version: 2.3.1 (org.apache.kafka.common.utils.AppInfoParser)")
    '2.3'
    >>> release_in("Kafka version: 5.4.1-ccs"), release_in("Kafka version : 0.11.0.1")
    ('2.4', '0.11.0')

    References
    ----------
    ``AppInfoParser`` of Apache Kafka 0.11 to 4.4; Confluent Platform's table of interoperability.
    """
    found = _VERSION.search(text)
    if found is None:
        return None
    major, minor = int(found[1]), int(found[2])
    if found[4] is None:
        return f"{major}.{minor}" if major else f"0.{minor}.{found[3]}"
    if major in _OF_CONFLUENT:
        return _OF_CONFLUENT[major].get(minor)
    return {7: f"3.{minor}", 8: f"4.{minor}"}.get(major)


_OBJECT = re.compile(r"\[?\{|\{? ?severity: \d,")
"""How an object over many lines begins: alone on a line, or with node-rdkafka's first pair, whatever stands before."""

_STACK = re.compile(r"\s+(?:at |\.\.\. \d+ |[\w.]+ = )")
_TWO_LINES = re.compile(
    r"(?:Group member|group coordinator) \((?>[^()]*?,generation=)\d++(?:,pid=[^()]*+)?\):\s*$"
    r"|^[A-Z][a-z]{2} \d{1,2}, \d{4},? \d{1,2}:\d\d:\d\d [AP]M [\w.$]+ \w+\s*$"
)
_BEFORE_ITS_REASON = "failed to join group"  # brod's, with the reason on a third line
_WORKER, _CONNECT = "[Worker clientId=", "connect.runtime.distributed.WorkerCoordinator"
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
    skipped: tuple[str, ...] = ()  # files of a folder that are no text
    transactions: tuple[TransactionEvent, ...] = ()  # what the lines say of transactions, as they stood
    handed_on_count: int = 0  # lines that say what an application was given or lost, and no more
    releases: Mapping[str, str] = field(default_factory=dict)  # by source, what "Kafka version: 2.3.1" there names
    is_stopped: bool = False  # the standard input went on, and Ctrl-C ended the reading

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
        self.skipped: list[str] = []
        self.events: list[LogEvent] = []
        self.unknown_count = self.handed_on_count = 0
        self.unknown: list[UnknownLine] = []
        self.transactions: list[TransactionEvent] = []
        self.sources: dict[str, int] = {}
        self._source: str | None = None  # of the last line
        self._number = 0  # of it, in its source
        self._config: tuple[Line, dict[str, str], str, int] | None = None  # its title, and where that stands
        self._latest_ms: dict[str, int] = {}
        self._back: dict[str, ClockBack] = {}
        self._object: tuple[list[str], int] | None = None  # the lines of a JSON object so far, and how deep it is
        self._object_at = ("", 0)
        self._head: str | None = None  # the first of two lines that are one, as JUL and brod write, or two of three
        self._edge = Edge()  # of the source that is read
        self._edges: dict[str, Edge] = {}
        self._is_behind_unknown = False  # whether the last line about groups was not understood
        self._last: _Last | None = None  # the last line, which may be no whole record
        self._open: _Open | None = None  # a record that has gone on in the last line
        self._is_silent, self._message = False, ""  # of the last line: whether it says nothing, and what it says
        self.is_stopped = False
        self.releases: dict[str, str] = {}
        self._silent = says_nothing()
        self._words = first_words() | {*_CONTEXTS, CONFIG_TITLE.partition(" ")[0]}

    def set_zone(self, zone: str) -> None:
        """From here on, times that say no zone are of this one."""
        self.clock = Clock(zone_named(checked_text("zone", zone)))

    @property
    def line_count(self) -> int:
        """How many lines it took."""
        return sum(self.sources.values())

    def feed(self, text: str, source: str) -> LogEvent | None:
        """The event of one line, if it is one; it is kept as well."""
        if source != self._source:
            self._begin(source)
        number = self.sources[source] = self._number = self._number + 1
        if self._config is not None and self._takes_setting(text):
            return None
        if not text or self._goes_on(text, source, number):
            self._open = self._last = None
            return None
        if "Kafka version" in text and (release := release_in(text)) is not None:
            self.releases[source] = release
        edge, length = self._edge, len(text)
        if length >= edge.width:
            edge.note(text)
        if text[0] not in "[{%" and (one := self._before(text)) is not None:
            return self._with_rest(one, text)
        self._open = None
        is_at_edge = length == edge.width and edge.count > 1
        front = HEAD.match(text)
        if front is not None and self._is_passed_over(text, front):
            self._last = (text, number, is_at_edge, None, None)
            return None
        before = self._counts()
        event = self._take(text, source, number, front)
        if event is not None and length == edge.width:
            edge.events.append((event, text))
        self._last = (text, number, is_at_edge, before, event)
        return event

    def _begin(self, source: str) -> None:
        """The lines of another source come."""
        self._end_config()
        self._flush_object()
        self._source, self.clock = source, Clock(self.clock.zone)
        self._number = self.sources.get(source, 0)
        self._is_behind_unknown = False
        self._open = self._last = None
        self._edge = self._edges.setdefault(source, Edge())

    def _counts(self) -> _Counts:
        return len(self.events), self.unknown_count, len(self.unknown), len(self.transactions)

    def _is_passed_over(self, text: str, front: re.Match[str]) -> bool:
        """Whether a line says nothing at all: most lines of a broker do, and no more is done with them.

        It is in Kafka's own layout, begins with a word that no message has, and has none of the words of groups.
        """
        if self._head is not None or not self._has_no_message(text, front.end()):
            return False
        if speaks_of_groups(text) or (speaks_of_transactions(text) and (INSPECTED in text or may_say(text))):
            return False
        if is_handed_on(text):
            self.handed_on_count += 1
        return True

    def _before(self, text: str) -> _Open | None:
        """The record that a line goes on with; None: it begins one."""
        if self._open is not None:
            front, may_be = self._open.pieces[-1], True
        elif self._last is not None:
            front, may_be = self._last[0], may_go_on(self._last[0], self._last[2])
        else:
            return None
        if not may_be or not self._edge.reaches(front) or begins_record(text):
            return None
        if self._open is None:
            assert self._last is not None
            front, number, _, before, event = self._last
            self._open = _Open([front], number, before or self._counts(), event)
        return self._open

    def _with_rest(self, one: _Open, text: str) -> LogEvent | None:
        """The event of a record that a screen has wrapped, as far as this line; what its front alone said goes."""
        one.pieces.append(text)
        wholes = [*joined(one.pieces, self._edge.width, self._edge.note_rest(text))]
        sought = (self._sought(each, one.number) for each in wholes)
        found = [event for event in sought if event is not None and not _is_torn(event)]
        if one.event is not None and one.event.writer != ANY_CLIENT:
            found = [each for each in found if each.writer != ANY_CLIENT]
        best = next((each for each in found if _is_clear(each)), found[0] if found else None)
        if best is None and one.event is not None and is_trusted(one.event, one.pieces[0]):
            best = one.event
        events, unknown_count, unknown, transactions = one.before
        del self.events[events:], self.unknown[unknown:], self.transactions[transactions:]
        self.unknown_count, one.event = unknown_count, best
        if len(one.pieces) >= MOST_PIECES:
            self._open = self._last = None
        if best is not None:
            return self._keep(best)
        assert self._source is not None
        if not self._takes_transaction(wholes[0], self._source, one.number, HEAD.match(wholes[0])):
            self._count_unknown(wholes[0], self._source, one.number)
        return None

    def _sought(self, text: str, number: int) -> LogEvent | None:
        """The event of a record that was put together."""
        assert self._source is not None
        event = self._in_known_layout(text, self._source, number, HEAD.match(text))
        if event is None and speaks_of_groups(text):
            event = self._anywhere(text, self._source, number)
        return as_shortened(event, text)

    def _goes_on(self, text: str, source: str, number: int) -> bool:
        """Whether a line belongs to those around it: one of a JSON object over many lines, or of a message over two."""
        if self._object is not None:
            stripped = text.strip()
            pieces, depth = self._object
            pieces.append(stripped)
            depth += stripped.count("{") - stripped.count("}")
            self._object = pieces, depth
            if depth <= 0 or len(pieces) > LONGEST_OBJECT:
                self._flush_object()
            return True
        if len(text) < SHORTEST_LINE and (begin := text.strip()) and _OBJECT.fullmatch(begin):
            pieces = [begin] if begin[0] in "{[" else ["{", begin]
            self._object, self._object_at = (pieces, 1), (source, number)
            return True
        if self._head is not None and text.strip() == _BEFORE_ITS_REASON:
            self._head = f"{self._head} {_BEFORE_ITS_REASON}"
            return True
        is_half = text[-1] == ":" or (text[3] == " " and text[0].isupper() if len(text) > SHORTEST_LINE else False)
        if is_half and _TWO_LINES.search(text):
            self._head = text
            return True
        return False

    def _flush_object(self) -> None:
        """The lines of an object that has ended, or that does not end, as one."""
        if self._object is None:
            return
        (pieces, depth), (source, number) = self._object, self._object_at
        self._object = None
        if depth <= 0:
            whole = " ".join(pieces).rstrip(",")
            self._take(whole, source, number, HEAD.match(whole))
        else:
            for place, piece in enumerate(pieces):
                self._take(piece, source, number + place, HEAD.match(piece))

    def _take(self, text: str, source: str, number: int, front: re.Match[str] | None) -> LogEvent | None:
        """The event of a whole line; `front` is what stands before its message in Kafka's own layout."""
        head, self._head = self._head, None
        if head is not None:
            text = f"{head} {text.strip()}"
            front = HEAD.match(text)
        elif text[:1] in (" ", "\t") and _STACK.match(text):
            return None  # a line of a stack trace
        event = self._in_known_layout(text, source, number, front)
        if event is None and speaks_of_transactions(text) and self._takes_transaction(text, source, number, front):
            return None
        if event is None and speaks_of_groups(text):
            if is_of_others(text):
                return None
            event = self._anywhere(text, source, number)
        event = as_shortened(event, text)
        if event is None:
            self._count_unknown(text, source, number)
            return None
        if event.writer != BROKER and (_WORKER in text or _CONNECT in text):
            event = event._replace(fields={**event.fields, OF_A_WORKER: True})
        return self._keep(event)

    def _count_unknown(self, text: str, source: str, number: int) -> None:
        """Count a line of which nothing is known, if it speaks of groups."""
        if is_handed_on(text):
            self.handed_on_count += 1
        is_about = not self._is_silent and speaks_of_groups(self._message) and not NO_NEWS.search(text)
        is_about = is_about and not is_of_others(text)
        if is_about and speaks_of_groups(text):
            self._unknown(text, source, number)

    def _takes_transaction(self, text: str, source: str, number: int, front: re.Match[str] | None) -> bool:
        """Keep what a line says of a transaction; whether it is about nothing else."""
        if front is not None and INSPECTED not in text and not may_say(text):
            return False  # its message stands in it as it is
        line = split(text, self.clock, front)
        event = event_of_line(line.message, line.time_ms, source, number)
        if event is None and line.message != text:  # a class of an exception, which may look like a logger
            event = event_of_line(text, line.time_ms, source, number)
        if event is not None and len(self.transactions) < MOST_EVENTS:
            self.transactions.append(event)
        return event is not None or line.message.startswith(OF_TRANSACTIONS)

    def _anywhere(self, text: str, source: str, number: int) -> LogEvent | None:
        """The event of a line in a layout that is not known, or of a form that is not."""
        found = find(text, self.clock)
        if found is not None:
            event = event_from(found.line, found.pattern, dict(found.fields), source, number)
            is_rebalancing = event.kind == HEARTBEAT_FAILED and error_in(event.reason or event.text) == REBALANCING
            return event._replace(kind=HEARTBEAT_REBALANCING) if is_rebalancing else event
        return event_of_error(around(text, self.clock), source, number)

    def _in_known_layout(self, text: str, source: str, number: int, front: re.Match[str] | None) -> LogEvent | None:
        """The event of a line that can be taken apart from its front: most lines are."""
        self._is_silent, self._message = False, text
        if front is not None and self._has_no_message(text, front.end()):
            return None
        line = split(text, self.clock, front)
        message = line.message
        if message == CONFIG_TITLE:
            self._config = (line, {}, source, number)
            return None
        self._is_silent, self._message = line.logger in self._silent, message
        return event_of(line, source, number)

    def _has_no_message(self, text: str, at: int) -> bool:
        """Whether what begins there has a first word that no pattern has: most lines of a broker do."""
        end = text.find(" ", at)
        word = text[at : end if end > 0 else None].partition("=")[0]
        if word in self._words or word[-1:] == ":" or "." in word or word.isdigit():
            return False
        return "[thrd:" not in text

    def _unknown(self, text: str, source: str, number: int) -> None:
        """Count a line that speaks of groups, and that nothing is known of."""
        self.unknown_count += 1
        self._is_behind_unknown = True
        if len(self.unknown) < MOST_UNKNOWN:
            self.unknown.append(UnknownLine(source, number, text[:LONGEST_SHOWN]))

    def _keep(self, event: LogEvent) -> LogEvent:
        if len(self.events) >= MOST_EVENTS:
            raise KafkaLearnError(
                f"the logs have more than {MOST_EVENTS:,} events, as far as {event.place}; give fewer files, or "
                "cut them to the hours in question"
            )
        if self._is_behind_unknown and event.writer == BROKER:
            event, self._is_behind_unknown = _behind_unknown(event), False
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
        self._flush_object()
        self._drop_doubtful()
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
            tuple(self.skipped),
            tuple(self.transactions),
            self.handed_on_count,
            MappingProxyType(dict(self.releases)),
            self.is_stopped,
        )

    def so_far(self, most: int) -> tuple[LogEvent, ...]:
        """The last events that were read, at most so many, in the order of time; the reading may go on."""
        return tuple(_by_time(self.events[-most:]))

    def _drop_doubtful(self) -> None:
        """Events of lines that were cut off at one column, as far as what they name may be cut off, too."""
        groups = {each.group for each in self.events if each.group is not None}
        doubtful = {id(event): event for edge in self._edges.values() for event in edge.doubtful(groups)}
        if not doubtful:
            return
        kept: list[LogEvent] = []
        behind: set[str] = set()  # the sources whose last event was dropped
        for each in self.events:
            if id(each) in doubtful:
                self._unknown(each.text, each.source, each.line)
                behind.add(each.source)
            else:
                kept.append(_behind_unknown(each) if each.source in behind else each)
                behind.discard(each.source)
        self.events = kept


_Counts = tuple[int, int, int, int]
_Last = tuple[str, int, bool, _Counts | None, LogEvent | None]
"""A line, its number, whether it is as long as others, how much was known before it (None: as much as behind it), and
what it says. A plain tuple, for there is one for every line."""


class _Open:
    """A record that has gone on in another line."""

    __slots__ = ("before", "event", "number", "pieces")

    def __init__(self, pieces: list[str], number: int, before: _Counts, event: LogEvent | None) -> None:
        self.pieces, self.number = pieces, number
        self.before = before  # how much was known before it
        self.event = event  # what it says so far


def _behind_unknown(event: LogEvent) -> LogEvent:
    """A new epoch of which the cause may stand in a line that was not understood; any other event as it is."""
    return event if event.kind != EPOCH_BUMPED else event._replace(fields={**event.fields, BEHIND_UNKNOWN: True})


def _is_torn(event: LogEvent) -> bool:
    """Whether a name in it is none: a record was put together with a blank too many or too few."""
    return any(each and (" " in each or "(" in each) for each in (event.group, event.member))


def _is_clear(event: LogEvent) -> bool:
    """Whether a coordinator's reason is known: a blank too many or too few makes it another."""
    return event.writer != BROKER or event.reason is None or cause_of_reason(event.reason)[0] != UNKNOWN


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
    keys: list[int] = []
    last_ms: dict[str, int] = {}
    for event in events:
        if event.time_ms is not None:
            last_ms[event.source] = event.time_ms
        keys.append(last_ms.get(event.source, -1))
    return (events[place] for place in sorted(range(len(events)), key=keys.__getitem__))


# Lines and files of logs -> all that they say about groups.


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
        If `lines` is no iterable of text, `source` no text, the zone is unknown, or there are more than `MOST_EVENTS`
        events.

    Examples
    --------
    >>> found = read(["[2026-11-22 15:46:20,472] INFO Stabilized group billing generation 7 with 3 members. (a.B)"])
    >>> found.events[0].kind, found.events[0].group, found.events[0].generation, found.events[0].time_ms
    ('CompletingRebalance', 'billing', 7, 1795362380472)

    References
    ----------
    Apache Kafka 0.11 to 4.3, the classes that `kafkalearn.oncall.logs.patterns` names; librdkafka, kafka-python,
    aiokafka.
    """
    if isinstance(lines, str | bytes) or not isinstance(lines, Iterable):
        raise KafkaLearnError(f"lines are a list or an open file, a text for each line; got {shown(lines)}")
    checked_text("source", source)
    reader = Reader(zone)
    for line in lines:
        if not isinstance(line, str):
            raise KafkaLearnError(f"a line is text; got {shown(line)}")
        reader.feed(line.rstrip("\r\n")[:LONGEST_LINE], source)
    return reader.result()


def read_files(
    paths: Iterable[str | os.PathLike[str]],
    zone: str | Mapping[str, str] = "UTC",
    tell: Callable[[tuple[LogEvent, ...]], None] | None = None,
) -> Reading:
    """The events that are in log files, in the order of their times across all of them.

    Parameters
    ----------
    paths : iterable of path
        Files, plain or packed (gzip, bzip2, xz, zstd), rotated ones among them; folders, of which every file is read
        that is text; ``-`` is the standard input.
    zone : str, or mapping of file name to str
        Of times that say none; by path, or by the last part of it, if the files differ. Files that are not named are
        UTC.
    tell : callable or None
        Is called with the last `FOLLOWED` events each time that new ones were read, for a log that goes on.

    Ctrl-C ends the reading of the standard input, as `Reading.is_stopped` says; while no line was read it is passed on.

    Raises
    ------
    KafkaLearnError
        If a path is none, nothing can be read, a zone is unknown or of no file, or there are more than `MOST_EVENTS`
        events. A gzipped file that is torn is read as far as it goes, and named in what is returned.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = pathlib.Path(folder, "server.log")
    ...     _ = log.write_text("[2026-11-22 15:46:20,472] INFO Group billing with generation 7 is now empty (a.B)\\n")
    ...     str(read_files([log]))
    '1 line, 1 event, 0 unknown lines about groups'
    """
    paths = [*paths] if isinstance(paths, Iterable) and not isinstance(paths, str | bytes) else paths
    files = sorted_files(paths)
    reader = Reader("UTC" if isinstance(zone, Mapping) else zone)
    by_file = _by_file(zone, files) if isinstance(zone, Mapping) else None
    named = {os.fspath(each) for each in paths}
    for path in files:
        if by_file is not None:
            reader.set_zone(by_file.get(path, "UTC"))
        try:
            name = str(path)
            for some in pieces_of(path):
                before = len(reader.events)
                for line in some:
                    reader.feed(line, name)
                if tell is not None and len(reader.events) != before:
                    tell(reader.so_far(FOLLOWED))
        except KeyboardInterrupt:
            if path != STANDARD_INPUT or not reader.line_count:
                raise
            reader.is_stopped = True
            break
        except Torn:
            reader.torn.append(str(path))
        except NotText:
            if os.fspath(path) in named or len(files) == 1:
                raise  # it was asked for by its name, or nothing else is there
            reader.skipped.append(str(path))
    return reader.result()


def _by_file(zones: Mapping[str, str], files: Sequence[str | os.PathLike[str]]) -> dict[str | os.PathLike[str], str]:
    """The zone of each file that is named: by its whole path, else by the last part of it."""
    found: dict[str | os.PathLike[str], str] = {}
    for name, zone in zones.items():
        named = [path for path in files if str(path) == name]
        named = named or [path for path in files if os.path.basename(path) == name]
        if not named:
            some = listed(dict.fromkeys(os.path.basename(path) for path in files[:MOST_NAMED]))
            raise KafkaLearnError(
                f"a zone is given for {shown(name)}, and none of the files has that name; read: {some}"
            )
        if len(named) > 1 and len({os.path.dirname(path) for path in named}) > 1:
            both = listed(map(str, named[:MOST_NAMED]))
            raise KafkaLearnError(f"a zone is given for {shown(name)}, which may be {both}; name the whole path")
        found |= dict.fromkeys(named, zone)
    return found
