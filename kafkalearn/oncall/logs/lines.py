"""A line taken apart: its time, who wrote it, and the message; whatever a container, a collector or a shell has added.

What is in front of a message comes off in turns: colours, ``[pod/kafka-0/kafka]``, ``kafka-1  |``, a collector's time,
``stdout F``, ``Nov 22 15:46:13 host kafka[7]:``, a JSON object around it; then the time, the level, the logger.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from importlib import import_module
from types import MappingProxyType
from typing import NamedTuple

from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.formats.wire import read_json
from kafkalearn.groups.defaults import COMPLETING, EMPTY, PREPARING, STABLE

# The time of a line as milliseconds since 1970: dates with a zone and without, and the collector's beside them.

QUARTER_MS = 15 * 60_000  # no zone of today is off by anything finer
FARTHEST_MS = 14 * 3_600_000  # no zone is farther from UTC
SHUFFLED_MS = 60_000  # by so much lines of one log may stand in another order than that of their times
ZONE = r"Z|UTC|GMT|[+-]\d\d(?::?\d\d)?"
DATE_TIME = r"\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d"

_OFFSET = re.compile(r"([+-])(\d\d)(?::?(\d\d))?")
MONTHS = {
    name: at
    for at, name in enumerate("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(), start=1)  # noqa: SIM905
}
_NAMED_MONTH = re.compile(r"(\d{1,2})[ /-]([A-Z][a-z]{2})[ /-](\d{4})[ :](\d\d:\d\d:\d\d)")


def zone_named(name: str) -> tzinfo:
    """A time zone: ``UTC``, ``+08:00``, ``Europe/Berlin``.

    Raises
    ------
    KafkaLearnError
        If there is none of that name.

    Examples
    --------
    >>> zone_named("+08:00")
    datetime.timezone(datetime.timedelta(seconds=28800))
    """
    try:
        if found := _OFFSET.fullmatch(name):
            minutes = 60 * int(found[2]) + int(found[3] or 0)
            return timezone(timedelta(minutes=minutes if found[1] == "+" else -minutes))
        if name in ("Z", "UTC", "GMT"):
            return UTC
        return import_module("zoneinfo").ZoneInfo(name)  # it looks at how Python was built: only where it is needed
    except (KeyError, OSError, TypeError, ValueError):
        raise KafkaLearnError(
            f"there is no time zone {shown(name)}; it is UTC, an offset such as +08:00, or a name such as Europe/Berlin"
        ) from None


class Clock:
    """Reads the times of one log, which are of one zone; lines of one second are read once.

    In autumn an hour comes twice where clocks are set back. Whether a time is of the first or of the second is seen by
    the times before it.

    Examples
    --------
    >>> Clock(UTC).ms("2026-11-22 15:46:13", "448", None)
    1795362373448
    >>> Clock(UTC).ms("2026-11-22T16:46:13", "448123", "+01:00")
    1795362373448
    >>> Clock(UTC).ms("2026-02-30 00:00:00", None, None) is None
    True
    """

    def __init__(self, zone: tzinfo) -> None:
        """Times without a zone are of this one."""
        self.zone = zone
        self._latest_ms: int | None = None
        self._text: str | None = None
        self._zone_text: str | None = None
        self._second_ms: int | None = None
        self._day: tuple[str, str | None, int] | None = None  # a day, its zone, and when it began

    def ms(self, text: str, fraction: str | None, zone: str | None) -> int | None:
        """The time; None if there is no such date."""
        if text != self._text or zone != self._zone_text:
            self._text, self._zone_text, self._second_ms = text, zone, self._read(text, zone)
        if self._second_ms is None or not fraction:
            return self._second_ms
        return self._second_ms + int(fraction if len(fraction) == 3 else f"{fraction}00"[:3])

    def _read(self, text: str, zone: str | None) -> int | None:
        if (
            self._day is not None
            and (second := _second_of_day(text)) is not None
            and self._day[:2] == (text[:10], zone)
        ):
            read_ms = self._day[2] + second * 1000
            self._latest_ms = max(read_ms, self._latest_ms or read_ms)
            return read_ms
        try:
            if text[4] in "-/":
                moment = datetime.fromisoformat(f"{text[:10].replace('/', '-')}T{text[11:19]}")
            else:
                found = _NAMED_MONTH.fullmatch(text)
                if found is None:
                    return None
                day, month, year, clock = found.groups()
                moment = datetime.fromisoformat(f"{year}-{MONTHS[month]:02}-{int(day):02}T{clock}")
            known = self.zone if zone is None else zone_named(zone)
            read_ms = round(moment.replace(tzinfo=known).timestamp() * 1000)
            if isinstance(known, timezone) and (second := _second_of_day(text)) is not None:
                self._day = text[:10], zone, read_ms - second * 1000  # it has no hour twice, and none that is left out
            if self._latest_ms is not None and read_ms < self._latest_ms - SHUFFLED_MS:
                read_ms = round(moment.replace(tzinfo=known, fold=1).timestamp() * 1000)
            self._latest_ms = max(read_ms, self._latest_ms or read_ms)
            return read_ms
        except (AttributeError, KeyError, OverflowError, ValueError, OSError):
            return None


def _second_of_day(text: str) -> int | None:
    """Which second of its day a time ``2026-11-22 15:46:13`` is; None: it is written otherwise, or there is none."""
    if len(text) != 19 or not text.isascii() or text[4] not in "-/":
        return None
    hour, minute, second = int(text[11:13]), int(text[14:16]), int(text[17:])
    return 3600 * hour + 60 * minute + second if hour < 24 and minute < 60 and second < 60 else None


def with_outer(inner_ms: int | None, outer_ms: int | None) -> int | None:
    """The time of a line that has two: the writer's, of a zone nobody knows, and the collector's, of a known one.

    The writer's is the finer one; the whole quarters of an hour between both are its zone. What is farther apart than
    any zone was collected later than it was written.

    >>> with_outer(7_200_448, 7_900), with_outer(None, 7_900), with_outer(448, None), with_outer(448, 90_000_000)
    (448, 7900, 448, 448)
    """
    if inner_ms is None or outer_ms is None:
        return outer_ms if inner_ms is None else inner_ms
    if abs(outer_ms - inner_ms) > FARTHEST_MS + QUARTER_MS:
        return inner_ms
    return inner_ms + round((outer_ms - inner_ms) / QUARTER_MS) * QUARTER_MS


_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|SEVERE|CRITICAL)"
_STAMP = rf"({DATE_TIME}|\d{{1,2}}[ /-][A-Z][a-z]{{2}}[ /-]\d{{4}}[ :]\d\d:\d\d:\d\d)(?:[.,](\d{{1,9}}))? ?({ZONE})?"
HEAD = re.compile(rf"\[?{_STAMP}\]?[ \t]+(?:\[(?!\d{{4}}-)[^\[\]]{{0,200}}\][ \t]+)?\[?{_LEVEL}\]?:?[ \t]+")
"""A time and a level, as log4j, logback, Spring and Python write them."""

_BARE_HEAD = re.compile(rf"\[?{_STAMP}\]?:?[ \t]+")
_CLOCK_HEAD = re.compile(rf"\d\d:\d\d:\d\d[.,]\d{{3}} (?:\[[^\[\]]{{0,200}}\] )?{_LEVEL}[ \t]+")  # a time, no date
_OUTER = re.compile(rf"({DATE_TIME})(?:[.,](\d{{1,9}}))?({ZONE})?[ \t]+")
_LOGGER = re.compile(r"(?:\d{1,9} )?(?:--- (?:\[[^\[\]]{0,200}\] ){1,3})?([\w.$/-]{3,200})(?: *:| -)[ \t]+")
_JAVA_LOGGER = re.compile(r"[\w$]+(?:\.[\w$]+)+(?::\d+)?")
_LIBRDKAFKA = re.compile(r"%(\d)\|(\d{9,11})\.(\d{3})\|(\w{1,40})\|([^|]{0,300})\| ")
_LIBRDKAFKA_LOGGER = re.compile(r"(\w{1,40}) \[([^\]]{0,300})\] (?=\[thrd:)")  # as confluent-kafka's logger writes it
_THREAD = re.compile(r"\[thrd:[^\]]{0,300}\]: ")
INSPECTED = "fac: '"  # an object as Node prints it, with librdkafka's line in it
_FACILITY_OF = re.compile(r"\bfac: '(\w{1,40})'")
_MESSAGE_OF = re.compile(r"\bmessage:\s*(?:'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"|`((?:[^`\\]|\\.)*)`)")
_NAME_OF = re.compile(r"\bname: '([^']{1,300})'")
_CONTINUED = re.compile(r"['\"]\s*\+\s*['\"]")
_WRAPPINGS = (
    re.compile(r"\[pod/([^\]/]{1,253})/[^\]]{1,253}\] ?"),
    re.compile(r"([\w.-]{1,253})[ \t]*\| "),
    re.compile(
        r"(?:<\d{1,3}>)?(?:\d )?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d ([\w.-]{1,253}) [\w./-]{1,100}(?:\[\d{1,9}\])?: "
    ),
    re.compile(rf"([a-z0-9][a-z0-9.-]{{0,252}}) [a-z0-9.-]{{1,253}} (?=\[?{DATE_TIME})"),
)
"""What kubectl, compose, syslog and stern put in front; the group is where the line comes from."""

_STREAM = re.compile(r"std(?:out|err) [FP] ")
_COLOURS = re.compile(r"\x1b\[[0-9;]{0,20}m")
_BROKER_CONTEXT = ("[GroupCoordinator ", "[GroupMetadataManager ", "[GroupCoordinatorService ")
_CLIENT_CONTEXT = ("[Consumer ", "[Worker ")
OF_A_WORKER = "is_worker"  # a field of events that a worker of Kafka Connect wrote
_TIMES = ("@timestamp", "timestamp", "time", "ts", "timeMillis", "instant", "datetime", "date")
_MESSAGES = ("message", "msg", "log", "textPayload", "MESSAGE", "event", "body")
_LOGGERS = ("logger_name", "loggerName", "logger", "log.logger", "name")
MOST_WRAPPINGS = 6
LONGEST_CONTEXT = 2000  # characters


class Line(NamedTuple):
    """What a line is made of."""

    time_ms: int | None
    message: str
    logger: str | None  # a class, a logger, a facility of librdkafka
    client: str | None  # the client.id, or the name that librdkafka has for it
    group: str | None
    host: str | None  # where it comes from: a pod, a machine


def split(text: str, clock: Clock, front: re.Match[str] | None = None) -> Line:
    """A line in its parts; the message is the whole line if nothing in front of it is known.

    Parameters
    ----------
    text : str
        Without its line end.
    clock : Clock
        For times without a zone.
    front : match or None
        What `HEAD` matches in it, if that is known already.

    Examples
    --------
    >>> from datetime import UTC
    >>> split("[2026-11-22 15:46:13,448] INFO [GroupCoordinator 0]: Startup complete. (kafka.X.Y)", Clock(UTC))[:3]
    (1795362373448, 'Startup complete.', 'kafka.X.Y')
    >>> split("%4|1795362373.448|MAXPOLL|c1#consumer-1| [thrd:main]: Application maximum", Clock(UTC))[:4]
    (1795362373448, 'Application maximum', 'MAXPOLL', 'c1#consumer-1')
    """
    if INSPECTED in text and (line := _of_inspected(text, clock)) is not None:
        return line
    if found := front or HEAD.match(text):
        date, fraction, zone = found.groups()
        return _of_head(text, found.end(), clock.ms(date, fraction, zone), None, clock)
    return _wrapped(text, clock, 0)


def _of_inspected(text: str, clock: Clock) -> Line | None:
    """A line of librdkafka in an object that Node's console has printed: its facility, message and name."""
    text = _CONTINUED.sub("", text)
    facility, message, name = _FACILITY_OF.search(text), _MESSAGE_OF.search(text), _NAME_OF.search(text)
    if facility is None or message is None:
        return None
    said = next(each for each in message.groups() if each is not None).replace("\\'", "'").replace('\\"', '"')
    found = _BARE_HEAD.match(text)
    time_ms = clock.ms(found[1], found[2], found[3]) if found else None
    return _of_librdkafka(said, time_ms, facility[1], name[1] if name else None, None)


def _wrapped(text: str, clock: Clock, depth: int) -> Line:
    """A line that does not begin with a time and a level."""
    outer_ms: int | None = None
    host: str | None = None
    if "\x1b" in text:
        text = _COLOURS.sub("", text)
    for _ in range(MOST_WRAPPINGS):
        if found := HEAD.match(text):
            own_ms = clock.ms(found[1], found[2], found[3])
            time_ms = own_ms if found[3] else with_outer(own_ms, outer_ms)
            return _of_head(text, found.end(), time_ms, host, clock)
        if text.startswith("%") and (found := _LIBRDKAFKA.match(text)):
            return _of_librdkafka(text[found.end() :], int(found[2] + found[3]), found[4], found[5], host)
        if text.startswith("{") and depth < MOST_WRAPPINGS:
            return _of_json(text, clock, depth + 1, outer_ms, host)
        if found := next(filter(None, (each.match(text) for each in _WRAPPINGS)), None):
            host = found[1]
        elif found := _OUTER.match(text):
            outer_ms = clock.ms(found[1], found[2], found[3])
        elif not (found := _STREAM.match(text)):
            break
        text = text[found.end() :]
    if found := _BARE_HEAD.match(text):
        return _of_head(text, found.end(), with_outer(clock.ms(found[1], found[2], found[3]), outer_ms), host, clock)
    found = _CLOCK_HEAD.match(text)
    return _of_head(text, found.end() if found else 0, outer_ms, host, clock)


def _of_head(text: str, at: int, time_ms: int | None, host: str | None, clock: Clock) -> Line:
    """What follows the level: a logger, a context, the message, and in Kafka's own layout the logger behind it."""
    logger: str | None = None
    if text.endswith(")"):
        begin = text.rfind(" (")
        if begin >= at and _is_java_logger(text[begin + 2 : -1]):
            logger, text = text[begin + 2 : -1], text[:begin]
    if logger is None and (found := _LOGGER.match(text, at)) and not text.startswith("Heartbeat: ", at):
        logger, at = found[1], found.end()
    client = group = None
    if text.startswith("[", at):
        if text.startswith(_BROKER_CONTEXT, at):
            end = text.find("]", at, at + LONGEST_CONTEXT)
            if end > 0:
                at = end + (3 if text.startswith("]: ", end) else 2)
        elif text.startswith(_CLIENT_CONTEXT, at):
            at, client, group = _client_context(text, at)
    elif "[thrd:" in text and (found := _LIBRDKAFKA_LOGGER.match(text, at)):
        return _of_librdkafka(text[found.end() :], time_ms, found[1], found[2], host)
    return Line(time_ms, text[at:].rstrip(), logger, client, group, host)


@lru_cache(maxsize=4096)
def _is_java_logger(written: str) -> bool:
    return _JAVA_LOGGER.fullmatch(written) is not None


def _client_context(text: str, at: int) -> tuple[int, str | None, str | None]:
    """``[Consumer instanceId=i1, clientId=c1, groupId=billing]``: where it ends, the client, the group."""
    client_at = text.find("clientId=", at, at + LONGEST_CONTEXT)
    group_at = text.find(", groupId=", client_at, at + LONGEST_CONTEXT) if client_at > 0 else -1
    end = text.find("] ", max(group_at, client_at, at), at + LONGEST_CONTEXT)
    if client_at < 0 or end < 0:
        return at, None, None
    client = text[client_at + 9 : group_at if group_at > 0 else end]
    return end + 2, client, text[group_at + 10 : end] if group_at > 0 else None


def _of_librdkafka(rest: str, time_ms: int | None, facility: str, name: str | None, host: str | None) -> Line:
    found = _THREAD.match(rest)
    return Line(time_ms, rest[found.end() :].rstrip() if found else rest, facility, name, None, host)


def _of_json(text: str, clock: Clock, depth: int, outer_ms: int | None, host: str | None) -> Line:
    """A JSON object with a message."""
    try:
        content = read_json(text)
    except (ValueError, RecursionError):
        content = None
    content = content if isinstance(content, Mapping) else {}
    message = next((content[key] for key in _MESSAGES if isinstance(content.get(key), str)), None)
    if message is None:
        return Line(outer_ms, text, None, None, None, host)
    time_ms = next(filter(None, (json_time(content.get(key), clock) for key in _TIMES)), outer_ms)
    facility, name = content.get("fac"), content.get("name")
    if isinstance(facility, str):  # node-rdkafka's objects
        return _of_librdkafka(message, time_ms, facility, name if isinstance(name, str) else None, host)
    kubernetes = content.get("kubernetes")
    pod = kubernetes.get("pod_name") if isinstance(kubernetes, Mapping) else None
    host = pod if isinstance(pod, str) else host
    inner = _inner(message.rstrip("\r\n"), host, clock, depth)
    logger = next((content[key] for key in _LOGGERS if isinstance(content.get(key), str)), None)
    log = content.get("log")
    if logger is None and isinstance(log, Mapping) and isinstance(log.get("logger"), str):
        logger = log["logger"]
    return inner._replace(
        time_ms=with_outer(inner.time_ms, time_ms), logger=inner.logger or logger, host=inner.host or host
    )


def _inner(message: str, host: str | None, clock: Clock, depth: int) -> Line:
    """The message of a JSON object, which may be a whole line of its own."""
    if found := HEAD.match(message):
        return _of_head(message, found.end(), clock.ms(found[1], found[2], found[3]), None, clock)
    if message.startswith(("%", "{")):
        return _wrapped(message, clock, depth)
    return _of_head(message, 0, None, host, clock)


def json_time(value: object, clock: Clock) -> int | None:
    """A time as JSON has it: text, seconds or milliseconds, or log4j's instant."""
    if isinstance(value, Mapping):
        second, nano = value.get("epochSecond"), value.get("nanoOfSecond", 0)
        both = isinstance(second, int) and isinstance(nano, int)
        return second * 1000 + nano // 1_000_000 if both else None
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        if not 0 < value < 1e15:
            return None
        return round(value if value > 1e11 else value * 1000)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) in (13, 16, 19):
        return int(value[:13])  # journald's are microseconds, Loki's nanoseconds
    if isinstance(value, str) and (found := _OUTER.match(f"{value} ")):
        return clock.ms(found[1], found[2], found[3])
    return None


# What a log says about groups: one event for each line that is known, by the same names for every writer.

MEMBER_JOINED, MEMBER_LEFT, MEMBER_FAILED, MEMBER_FENCED = "MemberJoined", "MemberLeft", "MemberFailed", "MemberFenced"
STATIC_REPLACED, STATIC_FENCED, STATIC_UNRELEASED = "StaticReplaced", "StaticFenced", "StaticUnreleased"
STATIC_LEFT_FOR_A_WHILE = "StaticLeftForAWhile"
NOT_REJOINED, SYNC_MISSING = "NotRejoined", "SyncMissing"
GROUP_LOADED, GROUP_UNLOADED = "GroupLoaded", "GroupUnloaded"
EPOCH_BUMPED, TARGET_COMPUTED = "EpochBumped", "TargetComputed"
SUBSCRIPTION_UPDATED, TOPICS_UPDATED = "SubscriptionUpdated", "TopicsUpdated"
CLIENT_JOINING, CLIENT_JOINED, CLIENT_MEMBER_ID = "ClientJoining", "ClientJoined", "ClientMemberId"
CLIENT_SUBSCRIBED, CLIENT_EPOCH, CLIENT_CONFIG = "ClientSubscribed", "ClientEpoch", "ClientConfig"
CLIENT_LEAVING, CLIENT_CLOSING = "ClientLeaving", "ClientClosing"
POLL_EXPIRED, REJOIN_REQUESTED = "PollExpired", "RejoinRequested"
HEARTBEAT_FAILED, HEARTBEAT_EXPIRED, HEARTBEAT_REBALANCING = (
    "HeartbeatFailed",
    "HeartbeatExpired",
    "HeartbeatRebalancing",
)
JOIN_FAILED, SYNC_FAILED, CLIENT_FENCED, CLIENT_ALIVE = "JoinFailed", "SyncFailed", "ClientFenced", "ClientAlive"
COORDINATOR_LOST, COORDINATOR_FOUND, DISCONNECTED = "CoordinatorLost", "CoordinatorFound", "Disconnected"
CLIENT_UNSUBSCRIBING = "ClientUnsubscribing"
CLIENT_REVOKED, CLIENT_LOST = "ClientRevoked", "ClientLost"

EVENTS: Mapping[str, str] = MappingProxyType(
    {
        PREPARING: "a rebalance of a classic group begins; the reason is the coordinator's, since 2.1",
        COMPLETING: "all have joined a classic group; its leader is to assign",
        STABLE: "the leader's assignment is there: the rebalance is over",
        EMPTY: "the last member of a classic group has gone",
        MEMBER_JOINED: "a member was added to a group",
        MEMBER_LEFT: "a member said that it leaves, or an admin said so for it",
        MEMBER_FAILED: "a member was not heard of for its session timeout",
        MEMBER_FENCED: "a member was removed from a group of KIP-848, the reason beside it",
        "MemberIdRequired": "a member is to join again with the id that it was given (KIP-394)",
        "PendingLeft": "a member left before it had joined with its id",
        "PendingExpired": "a member did not come back with the id that it was given",
        STATIC_REPLACED: "a static member came back, and took the place of its old member id",
        "StaticWithoutRebalance": "a static member came back, and nothing else has changed",
        STATIC_FENCED: "another member has the group.instance.id of the one that asks",
        STATIC_UNRELEASED: "a member of KIP-848 wants a group.instance.id that is in use",
        STATIC_LEFT_FOR_A_WHILE: "a static member of KIP-848 left, and keeps its place for the session timeout",
        NOT_REJOINED: "members were removed because they did not join again in time",
        SYNC_MISSING: "members were removed because they did not fetch their assignment in time",
        "NobodyRejoined": "no member joined again in time; the join phase goes on",
        GROUP_LOADED: "a broker has become the group's coordinator, and has read it from the offsets topic",
        GROUP_UNLOADED: "a broker is no longer the group's coordinator",
        "GroupDead": "the group is gone",
        "GroupConverted": "the group changed its protocol, classic or KIP-848",
        "CoordinatorElected": "a broker leads a partition of the offsets topic now",
        "CoordinatorResigned": "a broker leads a partition of the offsets topic no longer",
        "CoordinatorLoaded": "a partition of the offsets topic has been read",
        "CoordinatorUnloaded": "a partition of the offsets topic was given up",
        "StoreFailed": "the group could not be written to the offsets topic",
        EPOCH_BUMPED: "a rebalance of a group of KIP-848 begins",
        TARGET_COMPUTED: "its new assignment is known; each member takes it over by itself",
        SUBSCRIPTION_UPDATED: "a member has changed its subscription",
        TOPICS_UPDATED: "topics or partitions have changed",
        "MemberReconciled": "a member of KIP-848 has taken over a step of its assignment",
        CLIENT_JOINING: "a client sends JoinGroup",
        CLIENT_JOINED: "a client has its generation",
        "ClientSynced": "a client has its assignment",
        CLIENT_MEMBER_ID: "a client has another member id",
        "ClientNewMember": "a client of KIP-848 will join",
        CLIENT_EPOCH: "a client of KIP-848 is at an epoch, in a state",
        CLIENT_SUBSCRIBED: "the topics that a subscription stands for have changed",
        "ClientAssigned": "a client was given partitions",
        CLIENT_REVOKED: "a client gives up partitions",
        CLIENT_LOST: "a client lost its partitions: it is no member any more",
        CLIENT_LEAVING: "a client leaves the group",
        CLIENT_CLOSING: "the application closes its client",
        CLIENT_UNSUBSCRIBING: "a client gives up its subscription",
        CLIENT_FENCED: "a client was removed from the group",
        CLIENT_CONFIG: "the settings of a Java client",
        POLL_EXPIRED: "a client did not call poll() within max.poll.interval.ms",
        "PollReturned": "it calls poll() again",
        REJOIN_REQUESTED: "a client joins again of its own will, the reason beside it",
        "GenerationReset": "a client forgets its generation",
        HEARTBEAT_REBALANCING: "a client hears that the group rebalances",
        HEARTBEAT_FAILED: "a client hears that it is no member, or not of this generation",
        CLIENT_ALIVE: "a client goes on as a member: it sends heartbeats, commits, or assigns",
        HEARTBEAT_EXPIRED: "a client has had no answer for its session timeout",
        JOIN_FAILED: "JoinGroup was refused",
        SYNC_FAILED: "SyncGroup was refused",
        COORDINATOR_FOUND: "a client knows its coordinator",
        COORDINATOR_LOST: "a client has lost its coordinator",
        DISCONNECTED: "a client has had no connection to its coordinator for a while",
    }
)
"""Every kind of event, and what it says."""

BROKER, JAVA, LIBRDKAFKA, PYTHON = "broker", "java", "librdkafka", "python"
GO, JAVASCRIPT, ERLANG, RUBY, ANY_CLIENT = "go", "javascript", "erlang", "ruby", "client"
BEHIND_UNKNOWN = "behind_unknown"  # a field of a new epoch: a line about groups before it was not understood
WRITERS = (BROKER, JAVA, LIBRDKAFKA, PYTHON, GO, JAVASCRIPT, ERLANG, RUBY, ANY_CLIENT)
"""Who writes lines: a broker, the families of clients, and a client of which the line does not say which it is."""


class LogEvent(NamedTuple):
    """What one line says."""

    time_ms: int | None  # since 1970, UTC; None: the line has no date
    kind: str  # a name in `EVENTS`
    writer: str  # one of `WRITERS`
    group: str | None
    member: str | None  # the member id
    generation: int | None  # or the epoch of a group of KIP-848
    reason: str | None
    fields: Mapping[str, object]  # whatever else the line has: client, host, instance, state, count, ...
    source: str  # the file, or what stands for it
    line: int  # from 1
    text: str  # the message, without time and logger

    @property
    def place(self) -> str:
        """Where it stands, as ``server.log:12``."""
        return f"{self.source}:{self.line}"
