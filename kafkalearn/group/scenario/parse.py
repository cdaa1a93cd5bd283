"""A scenario as a short text: one line a fact, in words that anyone can write in a cell.

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
    at 400 s: orders grows to 8 partitions   and nobody tells the consumers
    at 420 s: topic refunds is created with 4 partitions
    at 440 s: topic refunds is deleted
    at 460 s: c1 subscribes to refunds       subscribe() again
    every 60 s from 30 s to 300 s: c2 pauses for 5 s

Times are numbers with ms, s, min or h.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Unpack

from kafkalearn.arguments import LARGEST_INT
from kafkalearn.errors import KafkaLearnError
from kafkalearn.group.limits import MOST_SCENARIO_EVENTS, MOST_SCENARIO_PARTITIONS
from kafkalearn.group.scenario.consistency import (
    MOST_NAMED,
    Line,
    Wrong,
    members_that_are_wrong,
    topics_that_are_wrong,
)
from kafkalearn.group.scenario.words import (
    NAME,
    NUMBER,
    TIME,
    BadLine,
    decimal,
    events_of,
    milliseconds,
    names,
    split,
    subscription_named,
    times_of,
    whole,
)
from kafkalearn.group.world.events import Header, Scenario, ScenarioEvent
from kafkalearn.group.world.settings import CLIENT_SETTINGS, Settings
from kafkalearn.group.world.subscriptions import Subscription
from kafkalearn.phrases import shown

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
        The text as above; or events of `kafkalearn.group.world`, such as ``Joins(0, "c1")``.
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
    kafkalearn.group.scenario.parse.BadScenario: line 2, 'at 12 s: c1 puases for 50 s': nobody can 'puases'; \
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
        kept.append(raw[place:opened])
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
