"""Parse a scenario from a short text: one fact a line, in words that anyone can write in a cell.

Lines in any order; empty lines, ``# comments`` and (remarks in brackets) are passed over::

    topic orders has 6 partitions            without one: orders with 6
    records arrive at 1000 a second          over all partitions; without: 1000
    each member reads 2500 a second          at most; without: it catches up at once
    c1, c2 are static                        they have a group.instance.id
    c3 has max.poll.interval.ms 60 s         a setting of its own
    c1 to c3 subscribe to orders, refunds    without: to all topics that there are at the start
    c4 subscribes to the pattern orders.*    compared with the topics that it knows
    the end is at 10 min                     without: two minutes after the last thing that happens

    at 0 s: c1, c2 and c3 join               also: c1 to c5 join; start
    at 12 s: c2 pauses for 50 s              a GC: both threads stand still
    at 80 s: c3 works 400 s on one poll      the poll thread only
    at 90 s: c1 is cut off for 20 s          from the coordinator
    at 200 s: c1 leaves                      close()
    at 210 s: c2 crashes                     it sends nothing
    at 220 s: c2 crashes and returns after 10 s
    at 300 s: c3 restarts after 10 s         close(), and a new process 10 s later
    at 300 s: c3 restarts after 10 s as consumer     and the new process speaks this protocol; or: as classic
    at 0 s: c1 (classic) and c2 (consumer) join      who speaks which
    at 400 s: orders grows to 8 partitions   and nobody tells the consumers
    at 420 s: topic refunds is created with 4 partitions
    at 440 s: topic refunds is deleted
    at 460 s: c1 subscribes to refunds       subscribe() again
    every 60 s from 30 s to 300 s: c2 pauses for 5 s

Times are numbers with ms, s, min or h.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from itertools import islice
from typing import TypeAlias, Unpack

from kafkalearn.base.checks import LARGEST_INT
from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.groups.defaults import (
    LONGEST_SCENARIO_MS,
    MOST_CONSUMERS,
    MOST_SCENARIO_EVENTS,
    MOST_SCENARIO_PARTITIONS,
)
from kafkalearn.scenarios.consumers import most_calls
from kafkalearn.scenarios.events import (
    CLIENT_SETTINGS,
    SPOKEN,
    Crashes,
    CrashesAndReturns,
    Created,
    Deleted,
    Disconnected,
    Grows,
    Header,
    Joins,
    Leaves,
    Pauses,
    Processing,
    Restarts,
    Scenario,
    ScenarioEvent,
    Settings,
    Speaks,
    Subscribes,
    Subscription,
    TopicEvent,
)

# The words: times, names, verbs, and what each line of something that happens means.

DIGITS = "0123456789"
UNITS_MS = {"ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000}
NAME = r"[A-Za-z_][\w.-]*"
TIME = r"([0-9]+(?:\.[0-9]+)?) ?([A-Za-z]+)"
SPEECH = rf"({'|'.join(SPOKEN)})"
BETWEEN = r", *and | and |, *"  # names
NUMBER = r"([0-9]+(?:\.[0-9]+)?)"
LONGEST_NUMBER = 15  # digits
LONGEST_NAME = 100  # characters


class BadLine(Exception):  # noqa: N818  (it never leaves this package)
    """The reason why one line cannot be read."""


VERBS: dict[str, tuple[str, Callable[..., ScenarioEvent]]] = {
    "joins": (r"", Joins),
    "leaves": (r"", Leaves),
    "crashes": (r"", Crashes),
    "crashes and returns": (rf"after {TIME}(?: as {SPEECH})?", CrashesAndReturns),
    "restarts": (rf"after {TIME}(?: as {SPEECH})?", Restarts),
    "pauses": (rf"for {TIME}", Pauses),
    "works": (rf"(?:for )?{TIME}(?: on one poll)?", Processing),
    "is cut off": (rf"for {TIME}", Disconnected),
    "grows": (r"to ([0-9]+) partitions?", Grows),
    "is created": (r"with ([0-9]+) partitions?", Created),
    "is deleted": (r"", Deleted),
    "subscribes": (r"to (.+)", Subscribes),
}
"""What can happen, and what must follow the verb."""

OTHER_FORMS = {
    **{"join": "joins", "starts": "joins", "start": "joins"},
    **{"leave": "leaves", "closes": "leaves", "close": "leaves", "stops": "leaves", "stop": "leaves"},
    **{"crash": "crashes", "dies": "crashes", "die": "crashes", "crash and return": "crashes and returns"},
    **{"restart": "restarts", "pause": "pauses", "work": "works", "are cut off": "is cut off", "grow": "grows"},
    **{"subscribe": "subscribes"},
}
EXAMPLES = {
    "joins": "c1, c2 join",
    "leaves": "c1 leaves",
    "crashes": "c1 crashes",
    "crashes and returns": "c1 crashes and returns after 10 s",
    "restarts": "c1 restarts after 10 s as consumer",
    "pauses": "c1 pauses for 50 s",
    "works": "c1 works 400 s on one poll",
    "is cut off": "c1 is cut off for 20 s",
    "grows": "orders grows to 8 partitions",
    "is created": "topic refunds is created with 4 partitions",
    "is deleted": "topic refunds is deleted",
    "subscribes": "c1 subscribes to orders, refunds (or: to the pattern orders.*)",
}


def times_of(line: str) -> tuple[Sequence[int], str]:
    """The times of a line, and the rest of it: what happens then."""
    head, colon, what = line.partition(":")
    if not colon or not what.strip():
        raise BadLine(f"a colon and what happens are missing; as in: {head.strip()[:40]}: c1 pauses for 50 s")
    if found := re.fullmatch(rf"at {TIME}", head.strip(), re.I):
        return [milliseconds(found[1], found[2])], what.strip()
    if found := re.fullmatch(rf"every {TIME} from {TIME} to {TIME}", head.strip(), re.I):
        every, first, last = (milliseconds(found[at], found[at + 1]) for at in (1, 3, 5))
        if every < 1 or last < first:
            raise BadLine("the distance must be above 0, and the end not before the start")
        times = range(first, last + 1, every)
        if len(times) > MOST_SCENARIO_EVENTS:
            raise BadLine(f"that is {len(times):,} times; a scenario has at most {MOST_SCENARIO_EVENTS:,} events")
        return times, what.strip()
    raise BadLine(
        f"cannot read the time {shown(head.strip())}; as in: at 12 s: ... or every 60 s from 30 s to 300 s: ..."
    )


def events_of(what: str, times: Sequence[int]) -> Iterator[ScenarioEvent]:
    """The events of a line, one for each time and each name; before each, what its next process speaks."""
    spoken = dict(re.findall(rf"({NAME}) \({SPEECH}\)", what))
    subject, verb, rest = split(re.sub(rf" \({SPEECH}\)", "", what))
    pattern, kind = VERBS[verb]
    found = re.fullmatch(pattern, rest, re.I)
    if found is None:
        raise BadLine(f"after {verb!r} came {shown(rest or 'nothing')}; as in: {EXAMPLES[verb]}")
    if kind in (Grows, Created, Deleted):
        topic = re.sub(r"^topic ", "", subject, flags=re.I)
        counts = [whole(each, MOST_SCENARIO_PARTITIONS) for each in found.groups()]
        return (kind(at_ms, topic, *counts) for at_ms in times)
    if kind is Subscribes:
        subscription = subscription_named(found[1])
        return (Subscribes(at_ms, name, subscription) for at_ms in times for name in names(subject))
    more = (milliseconds(found[1], found[2]),) if found.groups() else ()
    who = names(subject)
    if len(found.groups()) > 2 and found[3]:
        spoken = dict.fromkeys(who, found[3].lower())
    if spoken and verb not in ("joins", "restarts", "crashes and returns"):
        raise BadLine(
            f"a protocol is said of a process that starts; as in: c1 (consumer) joins, or: {EXAMPLES['restarts']}"
        )
    if len(who) * len(times) > MOST_SCENARIO_EVENTS:
        raise BadLine(f"that is {len(who) * len(times):,} events; a scenario has at most {MOST_SCENARIO_EVENTS:,}")
    starts = (kind(at_ms, name, *more) for at_ms in times for name in who)
    return starts if not spoken else _with_protocols(starts, spoken)


def _with_protocols(starts: Iterator[ScenarioEvent], spoken: Mapping[str, str]) -> Iterator[ScenarioEvent]:
    for start in starts:
        member = getattr(start, "member", "")
        if member in spoken:
            yield Speaks(start.at_ms, member, spoken[member])
        yield start


def split(what: str) -> tuple[str, str, str]:
    """Who, does what, and the rest of it."""
    forms = sorted([*VERBS, *OTHER_FORMS], key=len, reverse=True)
    for form in forms:
        found = re.fullmatch(rf"(.+?) {form}(?: (.*))?", what.rstrip("."), re.I)
        if found:
            return found[1], OTHER_FORMS.get(form, form), found[2] or ""
    words = [word for word in what.split() if re.fullmatch(r"[a-z]+", word) and word not in ("and", "to", "for", "on")]
    for word in words or what.split()[-1:]:
        near = get_close_matches(word, forms, 1, 0.6)
        if near:
            verb = OTHER_FORMS.get(near[0], near[0])
            raise BadLine(f"unknown action {shown(word)}; did you mean {near[0]!r}? As in: {EXAMPLES[verb]}")
    raise BadLine(f"nothing that can happen; there is: {'; '.join(EXAMPLES.values())}")


def subscription_named(words: str) -> Subscription:
    """``orders, refunds`` or ``the pattern orders.*``."""
    if found := re.fullmatch(r"(?:the )?pattern (\S+)", words, re.I):
        return Subscription(pattern=found[1])
    topics = re.split(BETWEEN, words)
    for topic in topics:
        if not re.fullmatch(NAME, topic):
            raise BadLine(
                f"{shown(topic)} is not a name of a topic; as in: c1 subscribes to orders, refunds; or: to the pattern "
                "orders.*"
            )
    return Subscription(tuple(topics))


def names(subject: str) -> list[str]:
    """``c1, c2 and c3`` or ``c1 to c5`` as names."""
    first, is_row, last = subject.partition(" to ")
    if is_row and (row := _row(first, last)) is not None:
        return row
    found_names = re.split(BETWEEN, subject)
    for name in found_names:
        if len(name) > LONGEST_NAME or not re.fullmatch(NAME, name):
            raise BadLine(
                f"{shown(name)} is not a name of a member; names are one word of at most {LONGEST_NAME} characters, "
                "with commas between: c1, c2 and c3"
            )
    if len(set(found_names)) < len(found_names):
        raise BadLine(f"{shown(subject)} names one member twice")
    return found_names


def _row(first: str, last: str) -> list[str] | None:
    """``c1`` to ``c5``: the names of a row; None: these are no such names."""
    stems = [each.rstrip(DIGITS) for each in (first, last)]
    if not re.fullmatch(NAME, first) or not re.fullmatch(NAME, last) or first == stems[0]:
        return None
    if stems[0] != stems[1] or last == stems[1]:
        raise _no_row(first, last)
    low, high = (whole(each[len(stem) :], 10**LONGEST_NUMBER) for each, stem in zip((first, last), stems, strict=True))
    if high < low:
        raise _no_row(first, last)
    if len(last) > LONGEST_NAME:
        return None
    if high - low >= MOST_CONSUMERS:
        raise BadLine(f"'{first} to {last}' are {high - low + 1:,} members; a scenario has at most {MOST_CONSUMERS:,}")
    return [f"{stems[0]}{place}" for place in range(low, high + 1)]


def _no_row(first: str, last: str) -> BadLine:
    return BadLine(f"{shown(f'{first} to {last}')} is no row of names; as in: c1 to c5")


def whole(digits: str, most: int) -> int:
    """A whole number, of a size that makes sense."""
    if len(digits) > LONGEST_NUMBER or int(digits) > most:
        raise BadLine(f"the number is too large, {most:,} at most: {shown(digits)}")
    return int(digits)


def decimal(written: str) -> Decimal:
    """A number with a point or without, of a size that makes sense."""
    if len(written) > 2 * LONGEST_NUMBER:
        raise BadLine(f"the number is too long, {2 * LONGEST_NUMBER} digits at most: {shown(written)}")
    return Decimal(written)


def milliseconds(amount: str, unit: str) -> int:
    """A time in whole ms."""
    if unit not in UNITS_MS:
        raise BadLine(f"unknown unit {shown(unit)}; times have one of: {', '.join(UNITS_MS)}")
    ms = decimal(amount) * UNITS_MS[unit]
    if ms != int(ms):
        raise BadLine(f"{amount} {unit} is not a whole number of ms")
    if ms > LONGEST_SCENARIO_MS:
        raise BadLine(f"{amount} {unit} is too long, {LONGEST_SCENARIO_MS // UNITS_MS['h']} h at most")
    return int(ms)


# Whether the lines fit together: who is named joins, nobody joins twice, topics are there and grow.

MOST_NAMED = 20  # lines that are wrong: a reader corrects these first

Line: TypeAlias = tuple[int, str, ScenarioEvent]
"""The number of a line, its text, and an event that it stands for."""

Wrong: TypeAlias = tuple[int, str, str]
"""The number of a line, its text, and what is wrong with it."""


def members_that_are_wrong(events: Sequence[Line], named: Iterable[tuple[int, str, str]]) -> list[Wrong]:
    """The lines with a member that never joins, or joins while it is running.

    `named` are further lines with the member that each of them names.
    """
    joined = dict.fromkeys(event.member for _, _, event in events if isinstance(event, Joins))
    of_events = [(number, line, event.member) for number, line, event in events if not isinstance(event, TopicEvent)]
    strangers = _strangers([*of_events, *named], joined)
    return [*islice(strangers, MOST_NAMED), *islice(_joins_while_running(events), MOST_NAMED)]


def _strangers(named: Iterable[tuple[int, str, str]], joined: Mapping[str, None]) -> Iterator[Wrong]:
    for number, line, name in named:
        if name not in joined:
            near = get_close_matches(name, joined, 1, 0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"write: at 0 s: {name} joins"
            yield number, line, f"{name!r} never joins; {hint}"


def _joins_while_running(events: Sequence[Line]) -> Iterator[Wrong]:
    running: dict[str, int] = {}  # since when
    for number, line, event in _in_time(events):
        if isinstance(event, Joins):
            if running.get(event.member, event.at_ms + 1) <= event.at_ms:
                yield number, line, f"{event.member!r} is running already; let it leave or crash before"
            running[event.member] = event.at_ms
        elif isinstance(event, Leaves | Crashes):
            running.pop(event.member, None)
        elif isinstance(event, Restarts | CrashesAndReturns):
            running[event.member] = event.at_ms + event.after_ms


def topics_that_are_wrong(
    events: Sequence[Line], topics: Mapping[str, int], subscribed: Iterable[tuple[int, str, Subscription]] = ()
) -> list[Wrong]:
    """The lines in which a topic changes that is not there, is created twice or does not grow, or has no such name.

    `subscribed` are further lines with what somebody subscribes to in each of them.
    """
    counts = dict(topics) or {"orders": 6}
    wanted = [*subscribed, *((number, line, each.to) for number, line, each in events if isinstance(each, Subscribes))]
    unknown = _unknown_topics(wanted, [*counts, *(each.topic for _, _, each in events if isinstance(each, Created))])
    return [*islice(_wrong_changes(events, counts), MOST_NAMED), *islice(unknown, MOST_NAMED)]


def _wrong_changes(events: Sequence[Line], counts: dict[str, int]) -> Iterator[Wrong]:
    so_far = set(counts)
    for number, line, event in _in_time(events):
        match event:
            case Created(topic=topic, partition_count=count):
                if topic in so_far:
                    yield number, line, f"there is or was a topic {topic!r}; give the new one a name of its own"
                so_far.add(topic)
                counts[topic] = count
            case Grows(topic=topic) | Deleted(topic=topic) if topic not in counts:
                yield number, line, f"there is no topic {topic!r}; there are: {', '.join(counts)}"
            case Grows(topic=topic, partition_count=count):
                if count <= counts[topic]:
                    yield number, line, f"{topic} has {counts[topic]} partitions then, and topics can only grow"
                counts[topic] = max(count, counts[topic])
            case Deleted(topic=topic):
                del counts[topic]


def _unknown_topics(wanted: Iterable[tuple[int, str, Subscription]], known: Sequence[str]) -> Iterator[Wrong]:
    for number, line, subscription in wanted:
        for topic in subscription.topics:
            if topic not in known:
                near = get_close_matches(topic, known, 1, 0.5)
                hint = f"did you mean {near[0]!r}?" if near else f"write: topic {topic} has 6 partitions"
                yield number, line, f"there is never a topic {topic!r}; {hint}"


def _in_time(events: Sequence[Line]) -> list[Line]:
    return sorted(events, key=lambda each: each[2].at_ms)


# The text as a whole.

LONGEST_TEXT, LONGEST_LINE = 200_000, 1000  # characters
MOST_LINES = 2000
GIVEN_BEFORE = "this line was given before"


class BadScenario(KafkaLearnError):  # noqa: N818  (a scenario that is bad, not an error of ours)
    """A scenario with lines that cannot be read; the message has each of them, with its number and the reason."""


def scenario(text: str | Sequence[ScenarioEvent], **header: Unpack[Header]) -> Scenario:
    """A scenario from its text, or from a list of event objects.

    Parameters
    ----------
    text : str or sequence of events
        The text as this module says; or events of `kafkalearn.scenarios`, such as ``Joins(0, "c1")``.
    **header
        With events: what `Scenario` takes besides, such as ``topics=[("orders", 6)]``.

    Raises
    ------
    BadScenario
        If lines cannot be read: the message has every one of them with its number, what came and what is allowed.

    Examples
    --------
    >>> story = scenario('''
    ... topic orders has 4 partitions
    ... at 0 s: c1 and c2 join
    ... at 1 min: c2 pauses for 12.5 s   (a long GC)
    ... ''')
    >>> story.topics, story.events[-1]
    ((('orders', 4),), Pauses(at_ms=60000, member='c2', for_ms=12500))
    >>> scenario('''at 0 s: c1 joins
    ... at 12 s: c1 puases for 50 s''')
    Traceback (most recent call last):
    ...
    kafkalearn.scenarios.text.BadScenario: line 2, 'at 12 s: c1 puases for 50 s': unknown action 'puases'; \
did you mean 'pauses'? As in: c1 pauses for 50 s
    """
    if not isinstance(text, str):
        if not isinstance(text, Sequence) or isinstance(text, bytes):
            raise KafkaLearnError(
                f"a scenario is a text or a list of events, got {type(text).__name__}; as in: 'at 0 s: c1, c2 join'"
            )
        return Scenario(tuple(text), **header)
    if header:
        raise KafkaLearnError(f"{', '.join(header)}: with a text, write it into the text")
    return _Reader().read(text)


class _Reader:
    """Goes through the lines and collects their facts and events, and what is wrong with them."""

    def __init__(self) -> None:
        self.events: list[Line] = []
        self.topics: dict[str, int] = {}
        self.rates: dict[str, float] = {}
        self.end_ms: int | None = None
        self.static: dict[str, tuple[int, str]] = {}
        self.member_settings: list[tuple[str, str, object]] = []
        self.setting_lines: list[tuple[int, str, str]] = []
        self.subscriptions: dict[str, Subscription] = {}
        self.subscription_lines: list[tuple[int, str, str, Subscription]] = []
        self.wrong: list[Wrong] = []

    def read(self, text: str) -> Scenario:
        if len(text) > LONGEST_TEXT:
            raise BadScenario(f"the text has {len(text):,} characters; a scenario has at most {LONGEST_TEXT:,}")
        lines = text.splitlines()
        if len(lines) > MOST_LINES:
            raise BadScenario(f"the text has {len(lines):,} lines; a scenario has at most {MOST_LINES:,}")
        for number, raw in enumerate(lines, start=1):
            line = " ".join(_without_remarks(raw.partition("#")[0]).split())
            if line and len(self.wrong) < MOST_NAMED:
                try:
                    self._line(number, line)
                except (BadLine, KafkaLearnError) as reason:
                    self.wrong.append((number, line, str(reason)))
        named = [(number, line, name) for name, (number, line) in self.static.items()] + self.setting_lines
        named += [(number, line, name) for number, line, name, _ in self.subscription_lines]
        wrong = [*self.wrong, *members_that_are_wrong(self.events, named)]
        subscribed = [(number, line, subscription) for number, line, _, subscription in self.subscription_lines]
        wrong += topics_that_are_wrong(self.events, self.topics, subscribed)
        if wrong:
            named = sorted(wrong)[:MOST_NAMED]
            raise BadScenario("\n".join(f"line {number}, {shown(line)}: {why}" for number, line, why in named))
        try:
            return Scenario(
                tuple(event for _, _, event in self.events),
                tuple(self.topics.items()) or (("orders", 6),),
                static=tuple(self.static),
                member_settings=tuple(self.member_settings),
                subscriptions=tuple(self.subscriptions.items()),
                end_ms=self.end_ms,
                **self.rates,
            )
        except KafkaLearnError as reason:  # no single line is wrong, but all of them together
            raise BadScenario(str(reason)) from None

    def _line(self, number: int, line: str) -> None:
        if len(line) > LONGEST_LINE:
            raise BadLine(f"a line has at most {LONGEST_LINE:,} characters, this one has {len(line):,}")
        if re.match(r"(at|every)\b", line, re.I):
            times, what = times_of(line)
            self.events += [(number, line, event) for event in events_of(what, times)]
            if len(self.events) > MOST_SCENARIO_EVENTS:
                raise BadLine(f"with this line there are {len(self.events):,} events, {MOST_SCENARIO_EVENTS:,} at most")
        else:
            self._header(number, line)

    def _header(self, number: int, line: str) -> None:
        lower = line.rstrip(".")
        if found := re.fullmatch(rf"topic ({NAME}) has ([0-9]+) partitions?", lower, re.I):
            count = whole(found[2], MOST_SCENARIO_PARTITIONS)
            if count < 1:
                raise BadLine("a topic has at least 1 partition")
            if found[1] in self.topics:
                raise BadLine(f"{found[1]} has been given {self.topics[found[1]]} partitions already")
            self.topics[found[1]] = count
        elif found := re.fullmatch(rf"records arrive at {NUMBER} (?:a|per) second", lower, re.I):
            self._rate("records_per_second", float(decimal(found[1])))
        elif found := re.fullmatch(
            rf"(?:each|every|a) member reads (?:at most )?{NUMBER} (?:a|per) second", lower, re.I
        ):
            self._rate("read_per_second", float(decimal(found[1])))
        elif found := re.fullmatch(rf"(?:the end is|it ends|ends|end) at {TIME}", lower, re.I):
            if self.end_ms is not None:
                raise BadLine(GIVEN_BEFORE)
            self.end_ms = milliseconds(found[1], found[2])
        elif found := re.fullmatch(r"(.+) (?:are|is) static", lower, re.I):
            self.static |= dict.fromkeys(names(found[1]), (number, line))
        elif found := re.fullmatch(r"(.+?) subscribes? to (.+)", lower, re.I):
            self._subscribe(number, line, names(found[1]), subscription_named(found[2]))
        elif found := re.fullmatch(rf"({NAME}) has ({NAME}) (?:= ?)?(.+)", lower, re.I):
            self._setting(number, line, found[1], found[2], found[3])
        else:
            raise BadLine(_unknown_line(line))

    def _rate(self, name: str, value: float) -> None:
        if name in self.rates:
            raise BadLine(GIVEN_BEFORE)
        self.rates[name] = value

    def _subscribe(self, number: int, line: str, members: Sequence[str], subscription: Subscription) -> None:
        for name in members:
            if name in self.subscriptions:
                raise BadLine(f"{name} subscribes already; what it does later has a time: at 60 s: {name} subscribes")
            self.subscriptions[name] = subscription
            self.subscription_lines.append((number, line, name, subscription))

    def _setting(self, number: int, line: str, member: str, setting: str, raw: str) -> None:
        found = re.fullmatch(TIME, raw)
        if found:
            value: object = milliseconds(found[1], found[2])
        elif raw.isdecimal() and raw.isascii():
            value = whole(raw, LARGEST_INT)
        else:
            value = tuple(re.split(r", *", raw)) if setting == "partition.assignment.strategy" else raw
        if setting not in CLIENT_SETTINGS:
            near = get_close_matches(setting, CLIENT_SETTINGS, 1, 0.5)
            hint = f"did you mean {near[0]!r}?" if near else "it has: " + ", ".join(CLIENT_SETTINGS)
            raise BadLine(f"a consumer has no setting {shown(setting)} here; {hint}")
        Settings(values={setting: value})
        self.member_settings.append((member, setting, value))
        self.setting_lines.append((number, line, member))


def _without_remarks(raw: str) -> str:
    """The line with a blank for each remark in brackets; a bracket that is not closed stays, and one of a pattern."""
    kept: list[str] = []
    place = 0
    if found := re.search(r"\bpattern +\S+", raw, re.I):
        return raw[: found.end()] + _without_remarks(raw[found.end() :])
    while (opened := raw.find("(", place)) >= 0 and (closed := raw.find(")", opened)) >= 0:
        is_meant = raw[opened + 1 : closed].strip() in SPOKEN  # the protocol of who is named before it
        kept.append(raw[place : closed + 1 if is_meant else opened])
        place = closed + 1
    return " ".join([*kept, raw[place:]])


HEADERS = (
    "topic orders has 6 partitions",
    "records arrive at 1000 a second",
    "each member reads 2500 a second",
    "c1, c2 are static",
    "c3 has max.poll.interval.ms 60 s",
    "c1 and c2 subscribe to the pattern orders.*",
    "the end is at 10 min",
)


def _unknown_line(line: str) -> str:
    try:
        split(line)
    except BadLine:
        near = get_close_matches(line, HEADERS, 1, 0.5)
        return f"cannot be read; as in: {near[0] if near else '; '.join(HEADERS[:2])}; or: at 12 s: c2 pauses for 50 s"
    return f"when? As in: at 12 s: {line}"


# How many steps the heartbeats of a scenario take at least.

_SURE = 0.9  # of the heartbeats: timers of a group do not all begin at once


def check_steps(story: Scenario, settings: Settings, protocol: str) -> None:
    """Refuse a scenario whose heartbeats alone take more steps than may be played.

    Each heartbeat is a step when it is due; and one more when the request leaves, when it arrives and when it is
    answered, but no request leaves while the one before is on its way. Who waits in a rebalance sends none: after each
    event as much time is left out as its rebalances can take.

    Raises
    ------
    KafkaLearnError
        With the steps that it would take.

    Examples
    --------
    >>> story = scenario("at 0 s: c1 joins\\nthe end is at 10 h")
    >>> check_steps(story, Settings(values={"heartbeat.interval.ms": 1}), "classic")
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.KafkaLearnError: the heartbeats of this scenario take 51,775,056 steps or more, and \
2,000,000 are played at most: let it end earlier, make heartbeats rarer, or take fewer members
    """
    on_its_way_ms = 2 * settings["latency.ms"] + 1
    steps, waiting_ms = 0.0, rebalancing_ms(story, settings)
    for member in story.members:
        each_ms = _interval_ms(settings, protocol, member)
        steps += (
            _SURE * max(running_ms(story, member) - waiting_ms, 0) * (1 / each_ms + 3 / max(each_ms, on_its_way_ms))
        )
    most = most_calls(len(story.members))
    if steps > most:
        raise KafkaLearnError(
            f"the heartbeats of this scenario take {round(steps):,} steps or more, and {most:,} are played at most: "
            "let it end earlier, make heartbeats rarer, or take fewer members"
        )


def _interval_ms(settings: Settings, protocol: str, member: str) -> int:
    if protocol == "classic":
        return settings.of(member).heartbeat_interval_ms
    interval_ms = settings["group.consumer.heartbeat.interval.ms"]
    return interval_ms if isinstance(interval_ms, int) and interval_ms > 0 else 1000


def rebalancing_ms(story: Scenario, settings: Settings) -> int:
    """How long all events together can keep a group waiting: by work, silence or absence, and until it is noticed.

    >>> rebalancing_ms(scenario("at 0 s: c1 and c2 join\\nat 5 s: c1 pauses for 2 s"), Settings())
    92200
    """
    own = settings.of(None)
    always_ms = settings["processing.ms"] + own.session_timeout_ms
    longest_ms: dict[int, int] = {}  # by the moment: what comes together is waited for together
    for event in story.events:
        for_ms = getattr(event, "for_ms", 0) + getattr(event, "after_ms", 0)
        longest_ms[event.at_ms] = max(longest_ms.get(event.at_ms, 0), for_ms)
    return sum(always_ms + each for each in longest_ms.values())


def running_ms(story: Scenario, member: str) -> int:
    """How long a consumer of a scenario runs, without the times in which it stands still or is cut off.

    >>> running_ms(scenario("at 0 s: c1 joins\\nat 5 s: c1 restarts after 2 s\\nthe end is at 20 s"), "c1")
    18000
    """
    total_ms, since_ms = 0, None
    for event in sorted(story.events, key=lambda each: each.at_ms):
        if getattr(event, "member", None) != member:
            continue
        match event:
            case Joins():
                since_ms = event.at_ms
            case Leaves() | Crashes() if since_ms is not None:
                total_ms, since_ms = total_ms + max(event.at_ms - since_ms, 0), None
            case Restarts(after_ms=after_ms) | CrashesAndReturns(after_ms=after_ms) if since_ms is not None:
                total_ms, since_ms = total_ms + max(event.at_ms - since_ms, 0), event.at_ms + after_ms
            case Pauses(for_ms=for_ms) | Disconnected(for_ms=for_ms) if since_ms is not None:
                total_ms -= for_ms
    if since_ms is not None:
        total_ms += max(story.end_ms - since_ms, 0)
    return max(total_ms, 0)
