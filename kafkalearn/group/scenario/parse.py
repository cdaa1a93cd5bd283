"""A scenario as a short text: one line a fact, in words that anyone can write in a cell.

Lines in any order; empty lines, ``# comments`` and (remarks in brackets) are passed over::

    topic orders has 6 partitions            without one: orders with 6
    records arrive at 1000 a second          over all partitions; without: 1000
    each member reads 2500 a second          at most; without: it catches up at once
    c1, c2 are static                        they have a group.instance.id
    c3 has max.poll.interval.ms 60 s         a setting of its own
    the end is at 10 min                     without: two minutes after the last thing that happens

    at 0 s: c1, c2 and c3 join               also: c1 to c5 join; start
    at 12 s: c2 pauses for 50 s              a GC: both threads stand still
    at 80 s: c3 works 400 s on one poll      the poll thread only
    at 90 s: c1 is cut off for 20 s          from the coordinator
    at 200 s: c1 leaves                      close()
    at 210 s: c2 crashes                     it sends nothing
    at 220 s: c2 crashes and returns after 10 s
    at 300 s: c3 restarts after 10 s         close(), and a new process 10 s later
    at 400 s: orders grows to 8 partitions
    every 60 s from 30 s to 300 s: c2 pauses for 5 s

Times are numbers with ms, s, min or h.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

from kafkalearn.errors import KafkaLearnError
from kafkalearn.group.scenario.words import NAME, NUMBER, TIME, BadLine, events_of, milliseconds, names, split, times_of
from kafkalearn.group.world.events import (
    Crashes,
    CrashesAndReturns,
    Grows,
    Joins,
    Leaves,
    Restarts,
    Scenario,
    ScenarioEvent,
)
from kafkalearn.group.world.settings import CLIENT_SETTINGS, Settings


class BadScenario(KafkaLearnError):  # noqa: N818  (a scenario that is bad, not an error of ours)
    """A scenario with lines that cannot be read; the message has each of them, with its number and the reason."""


def scenario(text: str | Sequence[ScenarioEvent], **header: object) -> Scenario:
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
        self.events: list[tuple[int, str, ScenarioEvent]] = []
        self.topics: dict[str, int] = {}
        self.facts: dict[str, object] = {}
        self.static: dict[str, tuple[int, str]] = {}
        self.member_settings: list[tuple[str, str, object]] = []
        self.setting_lines: list[tuple[int, str, str]] = []
        self.wrong: list[tuple[int, str, str]] = []

    def read(self, text: str) -> Scenario:
        for number, raw in enumerate(text.splitlines(), start=1):
            line = " ".join(re.sub(r"\([^)]*\)", " ", raw.partition("#")[0]).split())
            if line:
                try:
                    self._line(number, line)
                except (BadLine, KafkaLearnError) as reason:
                    self.wrong.append((number, line, str(reason)))
        self._check_members()
        self._check_topics()
        if self.wrong:
            raise BadScenario("\n".join(f"line {number}, {line!r}: {why}" for number, line, why in sorted(self.wrong)))
        return Scenario(
            tuple(event for _, _, event in self.events),
            tuple(self.topics.items()) or (("orders", 6),),
            static=tuple(self.static),
            member_settings=tuple(self.member_settings),
            **self.facts,
        )

    def _line(self, number: int, line: str) -> None:
        if re.match(r"(at|every)\b", line, re.I):
            times, what = times_of(line)
            for event in events_of(what, times):
                self.events.append((number, line, event))
        else:
            self._header(number, line)

    def _header(self, number: int, line: str) -> None:
        lower = line.rstrip(".")
        if found := re.fullmatch(rf"topic ({NAME}) has (\d+) partitions?", lower, re.I):
            if int(found[2]) < 1:
                raise BadLine("a topic has at least 1 partition")
            if found[1] in self.topics:
                raise BadLine(f"{found[1]} has been given {self.topics[found[1]]} partitions already")
            self.topics[found[1]] = int(found[2])
        elif found := re.fullmatch(rf"records arrive at {NUMBER} (?:a|per) second", lower, re.I):
            self._fact("records_per_second", float(found[1]))
        elif found := re.fullmatch(
            rf"(?:each|every|a) member reads (?:at most )?{NUMBER} (?:a|per) second", lower, re.I
        ):
            self._fact("read_per_second", float(found[1]))
        elif found := re.fullmatch(rf"(?:the end is|it ends|ends|end) at {TIME}", lower, re.I):
            self._fact("end_ms", milliseconds(found[1], found[2]))
        elif found := re.fullmatch(r"(.+) (?:are|is) static", lower, re.I):
            self.static |= dict.fromkeys(names(found[1]), (number, line))
        elif found := re.fullmatch(rf"({NAME}) has ({NAME}) (?:= ?)?(.+)", lower, re.I):
            self._setting(number, line, found[1], found[2], found[3])
        else:
            raise BadLine(_unknown_line(line))

    def _fact(self, name: str, value: object) -> None:
        if name in self.facts:
            raise BadLine("this line was given before")
        self.facts[name] = value

    def _setting(self, number: int, line: str, member: str, setting: str, raw: str) -> None:
        found = re.fullmatch(TIME, raw)
        if found:
            value: object = milliseconds(found[1], found[2])
        elif raw.isdecimal():
            value = int(raw)
        else:
            value = tuple(re.split(r", *", raw)) if setting == "partition.assignment.strategy" else raw
        if setting not in CLIENT_SETTINGS:
            near = get_close_matches(setting, CLIENT_SETTINGS, 1, 0.5)
            hint = f"did you mean {near[0]!r}?" if near else "it has: " + ", ".join(CLIENT_SETTINGS)
            raise BadLine(f"a consumer has no setting {setting!r} here; {hint}")
        Settings(values={setting: value})
        self.member_settings.append((member, setting, value))
        self.setting_lines.append((number, line, member))

    def _check_members(self) -> None:
        """Every member that is named must join at some time; nobody joins twice."""
        joined = dict.fromkeys(event.member for _, _, event in self.events if isinstance(event, Joins))
        named = [(number, line, getattr(event, "member", None)) for number, line, event in self.events]
        named += [(number, line, name) for name, (number, line) in self.static.items()]
        named += self.setting_lines
        for number, line, name in named:
            if name is not None and name not in joined:
                near = get_close_matches(name, joined, 1, 0.5)
                hint = f"did you mean {near[0]!r}?" if near else f"write: at 0 s: {name} joins"
                self.wrong.append((number, line, f"{name!r} never joins; {hint}"))
        self._check_joins()

    def _check_joins(self) -> None:
        running: dict[str, int] = {}  # since when
        for number, line, event in sorted(self.events, key=lambda each: each[2].at_ms):
            name = getattr(event, "member", None)
            if isinstance(event, Joins):
                if running.get(name, event.at_ms + 1) <= event.at_ms:
                    self.wrong.append((number, line, f"{name!r} is running already; let it leave or crash before"))
                running[name] = event.at_ms
            elif isinstance(event, Leaves | Crashes):
                running.pop(name, None)
            elif isinstance(event, Restarts | CrashesAndReturns):
                running[name] = event.at_ms + event.after_ms

    def _check_topics(self) -> None:
        counts = dict(self.topics) or {"orders": 6}
        for number, line, event in sorted(self.events, key=lambda each: each[2].at_ms):
            if isinstance(event, Grows):
                if event.topic not in counts:
                    self.wrong.append(
                        (number, line, f"there is no topic {event.topic!r}; there are: {', '.join(counts)}")
                    )
                elif event.partition_count <= counts[event.topic]:
                    why = f"{event.topic} has {counts[event.topic]} partitions then, and topics can only grow"
                    self.wrong.append((number, line, why))
                else:
                    counts[event.topic] = event.partition_count


HEADERS = (
    "topic orders has 6 partitions",
    "records arrive at 1000 a second",
    "each member reads 2500 a second",
    "c1, c2 are static",
    "c3 has max.poll.interval.ms 60 s",
    "the end is at 10 min",
)


def _unknown_line(line: str) -> str:
    try:
        split(line)
    except BadLine:
        near = get_close_matches(line, HEADERS, 1, 0.5)
        return f"cannot be read; as in: {near[0] if near else '; '.join(HEADERS[:2])}; or: at 12 s: c2 pauses for 50 s"
    return f"when? As in: at 12 s: {line}"
