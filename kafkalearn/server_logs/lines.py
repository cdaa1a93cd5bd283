"""A line taken apart: its time, who wrote it, and the message; whatever a container, a collector or a shell has added.

What is in front of a message comes off in turns: colours, ``[pod/kafka-0/kafka]``, ``kafka-1  |``, a collector's time,
``stdout F``, ``Nov 22 15:46:13 host kafka[7]:``, a JSON object around it; then the time, the level, the logger.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from kafkalearn.server_logs.timestamps import DATE_TIME, ZONE, Clock, with_outer
from kafkalearn.wire.json_text import read_json

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


def split(text: str, clock: Clock) -> Line:
    """A line in its parts; the message is the whole line if nothing in front of it is known.

    Parameters
    ----------
    text : str
        Without its line end.
    clock : Clock
        For times without a zone.

    Examples
    --------
    >>> from datetime import UTC
    >>> split("[2026-11-22 15:46:13,448] INFO [GroupCoordinator 0]: Startup complete. (kafka.X.Y)", Clock(UTC))[:3]
    (1795362373448, 'Startup complete.', 'kafka.X.Y')
    >>> split("%4|1795362373.448|MAXPOLL|c1#consumer-1| [thrd:main]: Application maximum", Clock(UTC))[:4]
    (1795362373448, 'Application maximum', 'MAXPOLL', 'c1#consumer-1')
    """
    if found := HEAD.match(text):
        return _of_head(text, found.end(), clock.ms(found[1], found[2], found[3]), None, clock)
    return _wrapped(text, clock, 0)


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
        if begin >= at and _JAVA_LOGGER.fullmatch(text, begin + 2, len(text) - 1):
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


def _client_context(text: str, at: int) -> tuple[int, str | None, str | None]:
    """``[Consumer instanceId=i1, clientId=c1, groupId=billing]``: where it ends, the client, the group."""
    client_at = text.find("clientId=", at, at + LONGEST_CONTEXT)
    group_at = text.find(", groupId=", client_at, at + LONGEST_CONTEXT) if client_at > 0 else -1
    end = text.find("] ", max(group_at, client_at, at), at + LONGEST_CONTEXT)
    if client_at < 0 or end < 0:
        return at, None, None
    client = text[client_at + 9 : group_at if group_at > 0 else end]
    return end + 2, client, text[group_at + 10 : end] if group_at > 0 else None


def _of_librdkafka(rest: str, time_ms: int | None, facility: str, name: str, host: str | None) -> Line:
    found = _THREAD.match(rest)
    return Line(time_ms, rest[found.end() :].rstrip() if found else rest, facility, name, None, host)


def _of_json(text: str, clock: Clock, depth: int, outer_ms: int | None, host: str | None) -> Line:
    """A JSON object with a message, which may be a whole line of its own."""
    try:
        content = read_json(text)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, Mapping):
        return Line(outer_ms, text, None, None, None, host)
    message = next((content[key] for key in _MESSAGES if isinstance(content.get(key), str)), None)
    if message is None:
        return Line(outer_ms, text, None, None, None, host)
    time_ms = next(filter(None, (_json_time(content.get(key), clock) for key in _TIMES)), outer_ms)
    kubernetes = content.get("kubernetes")
    pod = kubernetes.get("pod_name") if isinstance(kubernetes, Mapping) else None
    host = pod if isinstance(pod, str) else host
    message = message.rstrip("\r\n")
    inner = _of_head(message, 0, None, host, clock) if not _begins_a_line(message) else _inner(message, clock, depth)
    logger = next((content[key] for key in _LOGGERS if isinstance(content.get(key), str)), None)
    log = content.get("log")
    if logger is None and isinstance(log, Mapping) and isinstance(log.get("logger"), str):
        logger = log["logger"]
    return inner._replace(
        time_ms=with_outer(inner.time_ms, time_ms), logger=inner.logger or logger, host=inner.host or host
    )


def _begins_a_line(message: str) -> bool:
    return bool(HEAD.match(message)) or message.startswith(("%", "{"))


def _inner(message: str, clock: Clock, depth: int) -> Line:
    if found := HEAD.match(message):
        return _of_head(message, found.end(), clock.ms(found[1], found[2], found[3]), None, clock)
    return _wrapped(message, clock, depth)


def _json_time(value: object, clock: Clock) -> int | None:
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
    if isinstance(value, str) and (found := _OUTER.match(f"{value} ")):
        return clock.ms(found[1], found[2], found[3])
    return None
