"""A message found wherever it stands in a line, whatever tool has put what around it.

`kafkalearn.oncall.logs.lines` takes a line apart from its front, as Kafka's own layouts want it, and is quick. A line
in which nothing is found so is gone through here: a JSON object is looked for, whole or cut; then a context that
clients and brokers write (``[Consumer clientId=``, ``[GroupCoordinator``, ``[thrd:``); then the first words of every
known message, at the beginning of any word. What stands before is asked for a time, what stands behind is cut off.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice, pairwise
from typing import Any, NamedTuple

from kafkalearn.oncall.logs.lines import LIBRDKAFKA, LONGEST_CONTEXT, MONTHS, PYTHON, Clock, Line, json_time, with_outer
from kafkalearn.oncall.logs.patterns import Pattern, patterns

# Times, in the forms that loggers, collectors and consoles write.

_CLOCK = r"(\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?"
_ZONE = r"(?: ?(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)(?![\w:]))?"
_MONTH = f"({'|'.join(MONTHS)})"
_TIME_FORMS = tuple(
    (re.compile(form), order)
    for form, order in (
        (rf"(?<!\d)(\d{{4}})[-/.](\d\d)[-/.](\d\d)[T _]{_CLOCK}{_ZONE}", "ymd"),
        (rf"(?<!\d)(\d\d)/(\d\d)/(\d\d) {_CLOCK}{_ZONE}", "short"),  # Spark's
        (rf"(?<!\d)(\d\d)[/.](\d\d)[/.](\d{{4}}),? {_CLOCK}{_ZONE}", "mdy"),
        (rf"(?<!\d)(\d{{1,2}})[ /-]{_MONTH}[ /-](\d{{4}})[ :]{_CLOCK}{_ZONE}", "dby"),
        (rf"(?<!\d)(\d{{4}})[ -]{_MONTH}[ -](\d{{1,2}}) {_CLOCK}{_ZONE}", "ybd"),
        (rf"{_MONTH}[a-z]* +(\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})[, @]*{_CLOCK}{_ZONE}", "bdy"),
    )
)
_TWELVE = re.compile(rf"{_MONTH} (\d{{1,2}}), (\d{{4}}),? (\d{{1,2}}):(\d\d):(\d\d) ([AP]M)")
_EPOCH = re.compile(r"(?<![\w.-])(1[0-9]{9})(?:\.(\d{3,9})|(\d{3}))(?![\d-])")


class _Stamp(NamedTuple):
    at: int
    time_ms: int
    has_zone: bool


def _stamps(text: str, clock: Clock) -> list[_Stamp]:
    """All times in a text, in their order."""
    found: list[_Stamp] = []
    for form, order in _TIME_FORMS:
        for match in form.finditer(text):
            one, two, three, hour, minute, second, fraction, zone = match.groups()
            date = _date(order, one, two, three)
            time_ms = date and clock.ms(f"{date}T{hour}:{minute}:{second}", fraction, zone)
            if time_ms:
                found.append(_Stamp(match.start(), time_ms, zone is not None))
    for match in _TWELVE.finditer(text):
        month, day, year, hour, minute, second, half = match.groups()
        whole = int(hour) % 12 + (12 if half == "PM" else 0)
        time_ms = clock.ms(f"{year}-{MONTHS[month]:02}-{int(day):02}T{whole:02}:{minute}:{second}", None, None)
        if time_ms:
            found.append(_Stamp(match.start(), time_ms, False))
    if not found:
        for match in _EPOCH.finditer(text):
            second_ms = int(match[1]) * 1000
            found.append(_Stamp(match.start(), second_ms + int((match[2] or match[3])[:3]), True))
    found.sort()
    return found


def _date(order: str, one: str, two: str, three: str) -> str | None:
    if order == "ymd":
        return f"{one}-{two}-{three}"
    if order == "short":
        return f"20{one}-{two}-{three}"
    if order == "mdy":  # the month first, as in the United States, unless it can be none
        month, day = (one, two) if int(one) <= 12 else (two, one)
        return f"{three}-{month}-{day}"
    year, month, day = {"dby": (three, two, one), "ybd": (one, two, three), "bdy": (three, one, two)}[order]
    return f"{year}-{MONTHS[month]:02}-{int(day):02}"


def _time_of(stamps: list[_Stamp], outer_ms: int | None, behind: list[_Stamp]) -> int | None:
    """The writer's time, the last before its message; its zone by a collector's, if one stands before it."""
    if not stamps:
        return outer_ms if outer_ms is not None else (behind[0].time_ms if behind else None)
    own, first = stamps[-1], stamps[0]
    if own.has_zone:
        return own.time_ms
    outer = first.time_ms if first.has_zone else outer_ms
    return with_outer(own.time_ms, outer)


# JSON: a whole object in the line, or what was cut off one.

_MESSAGES = (
    *("message", "msg", "log", "textPayload", "MESSAGE", "event", "body", "_raw", "line", "LogEntry", "LogMessage"),
    *("Log", "Message", "@message", "text", "content", "short_message", "full_message", "fields.message"),
)
_TIMES = (
    *("@timestamp", "timestamp", "time", "ts", "timeMillis", "instant", "datetime", "date", "TimeGenerated", "t"),
    *("eventTime", "@t", "Timestamp", "__REALTIME_TIMESTAMP", "_SOURCE_REALTIME_TIMESTAMP", "_time", "asctime"),
)
_CUT_MESSAGE = re.compile(rf'"(?:{"|".join(map(re.escape, _MESSAGES))})"\s*:\s*"((?:[^"\\]|\\.)*)("?)')
_CUT_TIME = re.compile(r'"(?:@timestamp|timestamp|time|ts|datetime)"\s*:\s*"([^"]+)"')
DEEPEST = 6  # objects in objects that are gone through
MOST_OBJECTS = 200  # of them in one line


def _objects(content: object) -> Iterator[Mapping[str, Any]]:
    """An object and those in it, as many as are gone through."""
    return islice(_each_object(content, 0), MOST_OBJECTS)


def _each_object(content: object, depth: int) -> Iterator[Mapping[str, Any]]:
    if depth > DEEPEST:
        return
    if isinstance(content, Mapping):
        yield content
        for value in content.values():
            yield from _each_object(value, depth + 1)
    elif isinstance(content, list):
        for value in content[:100]:
            yield from _each_object(value, depth + 1)


def _json_in(text: str) -> tuple[int, object, int] | None:
    """The first JSON object in a line: where it begins, the object, where it ends."""
    at = text.find("{")
    while 0 <= at < len(text):
        if text[at + 1 : at + 3].lstrip()[:1] == '"':
            try:
                content, end = json.JSONDecoder().raw_decode(text, at)
            except (ValueError, RecursionError):
                return None
            return at, content, end
        at = text.find("{", at + 1)
    return None


# A line -> the pattern that fits somewhere in it.

_CONTEXT = re.compile(r"\[(?:Consumer|Worker|Share ?Consumer|Streams?) (?=instanceId=|clientId=)")
_CONTEXT_END = re.compile(r"\] ?(?=[\w(\[])")
_BROKER = re.compile(r"\[(?:GroupCoordinator|GroupMetadataManager|GroupCoordinatorService)\b[^\]]{0,200}\]:? ")
_ERLANG = re.compile(
    r"(?:Group member \(|group coordinator \(groupId=)(?>([^()]*?),(?:coor|memberId)=)(?>[^()]*?generation=)(\d++)"
    r"(?:,pid=[^()]*+)?\):\s*+"
)
_THREAD = re.compile(r"\[thrd:[^\]]{0,300}\]:? ?")
_HANDLE = re.compile(r"(?<![\w.-])[\w.-]++#(?:consumer|producer)-\d+")
_FACILITY = re.compile(r"(?:^|[|=\s\"'%:(])([A-Z][A-Z_]{3,19})(?=[|,\s\[:])")
_SARAMA = re.compile(r"consumergroup/(?!session/)(?P<group>.{1,249}?): ")
_PODS = re.compile(r"\[?pod/([^\]/]{1,253})/")
_COMPOSE = re.compile(r"([\w.-]{1,253})[ \t]*\| ")
_GROUP_PAIR = re.compile(
    r"(?:groupId|group_id|groupID|group\.id|GroupID|consumerGroup|consumer[_ -]group|[Gg]roup)\"?(?:\s*[=:]\s*| )"
    r"[\"'`<]{0,2}([\w.\-/@]{2,249}+)(?!::)"
)
_NO_NAMES = frozenset(
    {"is", "has", "was", "the", "rebalance", "coordinator", "protocol", "instance", "for", "due", "by", "with", "in"}
    | {"generation", "member", "members", "metadata", "and", "to", "id", "session", "at", "leader", "failed", "error"}
    | {"authorization", "request", "management", "membership", "status", "not", "name", "of", "joined", "because"}
    | {"rebalanced", "rebalancing", "rebalances", "joining", "joins", "join", "leaving", "left", "leaves", "leave"}
    | {"assignment", "offset", "offsets", "commit", "heartbeat", "heartbeats", "subscription", "epoch", "state", "type"}
    | {
        "size",
        "empty",
        "dead",
        "stable",
        "loading",
        "loaded",
        "lost",
        "changed",
        "change",
        "ready",
        "started",
        "stopped",
    }
    | {"are", "was", "will", "can", "cannot", "could", "did", "does", "may", "must", "should", "have", "had", "been"}
    | {"but", "or", "if", "when", "which", "that", "this", "these", "from", "into", "on", "as", "an", "after", "before"}
    | {"its", "it", "now", "then", "again", "already", "still", "no", "any", "all", "new", "old", "consumer", "client"}
    | {"group"}
)
_PAIR = re.compile(r"(?<!\w)([A-Za-z_][\w.]{0,40})\"?[=:] ?(\"(?:[^\"\\]|\\.)*\"|<?[^\s,;\"}]+)")
_BEHIND = "\"',}]" + "".join(filter(str.isspace, map(chr, range(0x3001))))
"""What may stand behind the last quotation mark or brace."""

_CLASSES = (
    re.compile(r" \([\w$.]{3,200}(?::\d+)?\)(?: \[[^\]]{0,200}\])*(?: - .*)?$"),
    re.compile(r" \([\w$]+(?:\.[\w$]+)+(?::\d+)?\)\s*(?:\t.*)?$"),
)


def cleaned(message: str) -> str:
    """A message without what stands behind it: the class, the thread, what a console or a quotation adds.

    >>> cleaned("Group g with generation 2 is now empty (kafka.coordinator.X) [executor-Heartbeat]")
    'Group g with generation 2 is now empty'
    """
    for _ in range(3):
        before = message
        if (bare := message.rstrip()).endswith(("│", "|")):
            message = bare[:-1].rstrip()
        if message.endswith(('"', "}")):
            message = message.rstrip(_BEHIND)
        for written in _CLASSES:
            message = written.sub("", message)
        if message == before:
            break
    return message.rstrip()


class Found(NamedTuple):
    """A message in a line, and the pattern that it has."""

    line: Line
    pattern: Pattern
    fields: dict[str, object]


@cache
def _anchors() -> tuple[re.Pattern[str], Mapping[str, tuple[Pattern, ...]]]:
    """The first words of all messages as one expression, and the patterns that begin with each."""
    by_first: dict[str, list[Pattern]] = {}
    for pattern in patterns():
        first = pattern.template.first
        if len(first) >= SHORTEST_ANCHOR and not pattern.needs:
            by_first.setdefault(first, []).append(pattern)
    longest_first = sorted(by_first, key=len, reverse=True)
    # A look-ahead, so that a longer beginning does not hide a shorter one.
    expression = "|".join(map(re.escape, longest_first))
    return re.compile(rf"(?<![\w])(?=({expression}))"), {
        first: tuple(sorted(found, key=lambda each: -each.template.fixed_length)) for first, found in by_first.items()
    }


SHORTEST_ANCHOR = 7
MOST_ANCHORS = 40  # beginnings of messages that are tried in one line


@cache
def _phrases() -> tuple[re.Pattern[str], Mapping[str, tuple[Pattern, ...]]]:
    """Messages that only count beside pairs, such as ``joined`` with a group, as one expression."""
    by_text: dict[str, list[Pattern]] = {}
    for pattern in patterns():
        if pattern.needs:
            by_text.setdefault(pattern.template.text, []).append(pattern)
    expression = "|".join(map(re.escape, sorted(by_text, key=len, reverse=True)))
    return re.compile(rf"(?:^|[\"\t\]= ])({expression})(?=$|[\"\t;,]| \w+[=:]| \{{| +\w+=)"), {
        name: tuple(found) for name, found in by_text.items()
    }


def find(text: str, clock: Clock) -> Found | None:
    """The message of a line that has a known form, wherever it stands; None: there is none.

    Examples
    --------
    >>> from datetime import UTC
    >>> found = find("2026-11-22 15:46:13,448 INFO [sink|task-0] [Worker clientId=w1, groupId=connect] "
    ...              "(Re-)joining group (a.b.WorkerCoordinator:611) [task-0]", Clock(UTC))
    >>> found.line.client, found.line.group, found.pattern.event, found.line.time_ms
    ('w1', 'connect', 'ClientJoining', 1795362373448)
    """
    return _find(text, clock, 0, None, {})


def _find(text: str, clock: Clock, depth: int, outer_ms: int | None, pairs: Mapping[str, object]) -> Found | None:
    if "\x1b" in text:
        text = re.sub(r"\x1b\[[0-9;]{0,20}m", "", text)
    if depth < DEEPEST:
        if "{" in text and (inside := _json_in(text)) is not None:
            at, content, _ = inside
            found = _in_object(content, clock, depth, _of_prefix(text[:at], clock, outer_ms))
            if found is not None:
                return found
            phrase = _phrase(text, clock, outer_ms, _flat(content))
            if phrase is not None:
                return phrase
        if match := _CUT_MESSAGE.search(text):
            own = _CUT_TIME.search(text)
            time_ms = json_time(own[1], clock) if own else None
            before_ms = _of_prefix(text[: match.start()], clock, outer_ms)
            more = {each[1]: each[2].strip('"') for each in _PAIR.finditer(text[match.end() :])}
            found = _find(_unescaped(match[1]), clock, depth + 1, time_ms or before_ms, more)
            if found is not None:
                return found
    if '\\"' in text:
        text = _unescaped(text)
    elif text.count('""') > 1:  # as CSV has a quotation mark
        text = text.replace('""', '"')
    return _plain(text, clock, outer_ms, pairs)


def _of_prefix(text: str, clock: Clock, outer_ms: int | None) -> int | None:
    stamps = _stamps(text, clock) if text else []
    return _time_of(stamps, outer_ms, [])


def _unescaped(text: str) -> str:
    return text.replace('\\"', '"').replace("\\n", " ").replace("\\t", "\t").replace("\\\\", "\\")


def _flat(content: object) -> dict[str, object]:
    """The pairs of an object and of those in it; the outermost count."""
    found: dict[str, object] = {}
    for each in _objects(content):
        for name, value in each.items():
            if isinstance(value, str | int) and not isinstance(value, bool):
                found.setdefault(name, value)
    return found


def _in_object(content: object, clock: Clock, depth: int, outer_ms: int | None) -> Found | None:
    pairs = _flat(content)
    times = (json_time(each[name], clock) for each in _objects(content) for name in _TIMES if name in each)
    time_ms = next(filter(None, times), outer_ms)
    for each in _objects(content):
        for name in _MESSAGES:
            message = each.get(name)
            if isinstance(message, str) and len(message) > 3:
                found = _find(message, clock, depth + 1, time_ms, pairs)
                if found is not None:
                    return found
    return None


def _plain(text: str, clock: Clock, outer_ms: int | None, pairs: Mapping[str, object]) -> Found | None:
    """The message in text that is not JSON."""
    host = _host(text)
    best: tuple[int, int, Pattern, dict[str, object], str | None, str | None, str | None] | None = None
    for at, message, client, group, logger, is_librdkafka in _beginnings(text):
        for pattern, fields, shift in _matches(message, logger, is_librdkafka, text):
            weight = pattern.template.fixed_length
            if best is None or weight > best[0]:
                best = (weight, at + shift, pattern, fields, client, group, logger)
        if best is not None:
            break
    if best is None:
        return _phrase(text, clock, outer_ms, {**_pairs_of(text), **pairs})
    _, at, pattern, fields, client, group, logger = best
    stamps = _stamps(text, clock)
    before, behind = [each for each in stamps if each.at < at], [each for each in stamps if each.at >= at]
    line = Line(_time_of(before, outer_ms, behind), cleaned(text[at:]), logger, client, group, host)
    if client is None and "group" not in fields and group is None:
        line = _with_pairs(line, {**_pairs_of(text[at:]), **pairs})
    return Found(line, pattern, fields)


class _Context(NamedTuple):
    """What a Java client writes in front of a message: where it ends, and whom it names."""

    end: int
    client: str
    group: str | None


def _context(text: str) -> _Context | None:
    """The first of them, as ``[Consumer instanceId=i1, clientId=c1, groupId=billing]``.

    Each is looked for as far as the next one begins, so that a line is gone through once.
    """
    begins = [match.end() for match in _CONTEXT.finditer(text)]
    for at, following in pairwise([*begins, len(text)]):
        until = min(following, at + LONGEST_CONTEXT)
        client_at = at if text.startswith("clientId=", at) else text.find(", clientId=", at, until) + 2
        found = _CONTEXT_END.search(text, client_at, until + 1) if client_at > 1 else None
        if found is not None:
            group_at = text.find(", groupId=", client_at, found.start())
            client = text[client_at + 9 : found.start() if group_at < 0 else group_at]
            return _Context(found.end(), client, None if group_at < 0 else text[group_at + 10 : found.start()])
    return None


def _beginnings(text: str) -> Iterator[tuple[int, str, str | None, str | None, str | None, bool]]:
    """Where a message may begin, the surest place first: behind a context, else at any word."""
    if context := _context(text):
        yield context.end, text[context.end :], context.client, context.group, None, False
    if match := _BROKER.search(text):
        yield match.end(), text[match.end() :], None, None, None, False
    if match := _THREAD.search(text):
        facility, handle = _FACILITY.search(text[: match.start()]), _HANDLE.search(text[: match.start()])
        named = facility[1] if facility else None
        yield match.end(), text[match.end() :], handle[0] if handle else None, None, named, True
    if match := _ERLANG.search(text):
        yield match.end(), text[match.end() :], None, match[1], None, False
    handle = _HANDLE.search(text)
    yield 0, text, handle[0] if handle else None, None, None, False


def _matches(
    message: str, logger: str | None, is_librdkafka: bool, text: str
) -> Iterator[tuple[Pattern, dict[str, object], int]]:
    """The patterns that a message has, with how far behind its beginning each begins."""
    if is_librdkafka:
        raw, clean = message.rstrip(), cleaned(message)
        for pattern in patterns():
            if pattern.writer == LIBRDKAFKA:
                fields = _fields(pattern, raw, clean)
                if fields is not None:
                    yield pattern, fields, 0
        return
    expression, by_first = _anchors()
    prefers_python = "kafka.c" in text and "org.apache" not in text and "kafka.coordinator.group" not in text
    for match in islice(expression.finditer(message), MOST_ANCHORS):
        at = match.start()
        raw, clean = message[at:].rstrip(), cleaned(message[at:])
        # the look-ahead names the longest beginning alone; shorter ones begin at the same place
        for first, known in by_first.items():
            if not message.startswith(first, at):
                continue
            chosen = sorted(known, key=lambda each: (each.writer == PYTHON) != prefers_python)
            for pattern in chosen:
                fields = _fields(pattern, raw, clean)
                if fields is not None:
                    yield pattern, fields, at


def _fields(pattern: Pattern, raw: str, clean: str) -> dict[str, object] | None:
    """The fields of a message, which may go on behind the form, or be cut off in its last field."""
    template = pattern.template
    if not template.text.endswith("}") and (fields := template.match(raw)) is not None:
        return fields
    text = clean if template.text.endswith(".") or not clean.endswith(".") else clean[:-1]
    fields = template.match(text)
    return template.match_front(clean) if fields is None else fields


# Structured logs: a short message, and pairs beside it.

_GROUP_NAMES = ("group", "groupId", "group_id", "groupID", "group.id", "consumerGroup", "consumer_group", "GroupID")
_MEMBER_NAMES = ("memberId", "member_id", "memberID", "member")
_GENERATION_NAMES = ("generation", "generationId", "generation_id", "epoch")
_REASON_NAMES = ("err", "error", "reason", "why", "cause")
_CLIENT_NAMES = ("clientId", "client_id", "clientID", "client.id")


def _pairs_of(text: str) -> dict[str, object]:
    """``group=billing err="..."``, ``group: billing, err: ...`` and the like."""
    found: dict[str, object] = {}
    _, semicolon, rest = text.partition("; ")
    if semicolon and ": " in rest:
        for each in re.split(r", (?=\w+: )", rest):
            name, colon, value = each.partition(": ")
            if colon and name.isidentifier():
                found[name] = value
    for match in _PAIR.finditer(text):
        found.setdefault(match[1], match[2].strip('"').strip("<>"))
    return found


def _first(pairs: Mapping[str, object], names: tuple[str, ...]) -> str | None:
    return next((str(pairs[name]) for name in names if pairs.get(name) not in (None, "")), None)


def _group_in(pairs: Mapping[str, object]) -> str | None:
    """The group that pairs name: no word of a sentence, as behind "access group:", and no class of Ruby's."""
    named = (_first(pairs, (name,)) for name in _GROUP_NAMES)
    return next((each for each in named if each and each.lower() not in _NO_NAMES and "::" not in each), None)


def _with_pairs(line: Line, pairs: Mapping[str, object]) -> Line:
    return line._replace(group=_group_in(pairs), client=line.client or _first(pairs, _CLIENT_NAMES))


def _phrase(text: str, clock: Clock, outer_ms: int | None, pairs: Mapping[str, object]) -> Found | None:
    expression, by_text = _phrases()
    for match in expression.finditer(text):
        for pattern in by_text[match[1]]:
            if all(any(name in pairs for name in _NAMES_OF.get(need, (need,))) for need in pattern.needs):
                stamps = _stamps(text[: match.start() + 1], clock)
                time_ms = _time_of(stamps, outer_ms, [])
                line = Line(time_ms, match[1], None, _first(pairs, _CLIENT_NAMES), _group_in(pairs), None)
                return Found(line, pattern, paired_fields(pairs))
    return None


_NAMES_OF: Mapping[str, tuple[str, ...]] = {"group": _GROUP_NAMES, "member": _MEMBER_NAMES}


def paired_fields(pairs: Mapping[str, object]) -> dict[str, object]:
    """What pairs say, by our names."""
    found: dict[str, object] = {}
    member, reason = _first(pairs, _MEMBER_NAMES), _first(pairs, _REASON_NAMES)
    generation = _first(pairs, _GENERATION_NAMES)
    if member:
        found["member"] = member
    if reason and reason != "<nil>":
        found["reason"] = reason
    if generation and generation.isascii() and generation.isdigit() and len(generation) < 10:
        found["generation"] = int(generation)
    return found


def around(text: str, clock: Clock) -> Line:
    """A line of which no message is known: its time, and whoever it names."""
    stamps = _stamps(text, clock)
    inside = _json_in(text) if "{" in text else None
    pairs = _flat(inside[1]) if inside else _pairs_of(text)
    context = _context(text)
    thread = _HANDLE.search(text)
    named = _GROUP_PAIR.search(text)
    erlang = _ERLANG.search(text)
    sarama = _SARAMA.search(text)
    group = context.group if context else erlang[1] if erlang else sarama["group"] if sarama else None
    group = group or _group_in(pairs)
    if group is None and named and named[1].lower().rstrip(".") not in _NO_NAMES:
        group = named[1]
    if group is not None and (group.lower() in _NO_NAMES or len(group) > 249):
        group = None
    name = context.client if context else thread[0] if thread else _first(pairs, _CLIENT_NAMES)
    time_ms = _time_of(stamps[:1], None, [])
    if inside and isinstance(inside[1], Mapping):
        times = (json_time(each[key], clock) for each in _objects(inside[1]) for key in _TIMES if key in each)
        time_ms = next(filter(None, times), time_ms)
    return Line(time_ms, text, None, name, group, _host(text))


def _host(text: str) -> str | None:
    match = _PODS.search(text[:400]) or _COMPOSE.match(text)
    return match[1] if match else None
