"""The forms of the lines, by who writes them and since which release: a JSON file for each family.

Each pattern has the ``event`` that it stands for, the ``text`` of the message, the ``source`` that writes it (a class
of Kafka, a facility of librdkafka, a logger of Python), the releases ``since`` and ``until``, an ``example``, and in
``recorded`` the version that wrote the example; without one, the form is taken from the source at its tag.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, NamedTuple

from kafkalearn.oncall.logs.lines import BROKER, JAVA, LIBRDKAFKA, PYTHON, Line, LogEvent

# The form of a message, ``Group {group} with generation {generation} is now empty``, and how a line is held to it.
#
# A field ends where the words after it stand first, so that a line is gone through once, whatever it says. The same
# form as a regular expression is for engines that take nothing else.

NUMBERS = frozenset(
    {
        *("generation", "epoch", "count", "static_count", "previous_epoch", "duration_ms", "exceeded_ms"),
        *("session_timeout_ms", "rebalance_timeout_ms", "max_poll_interval_ms"),
    }
)
"""The fields that are whole numbers; all others are text."""

CUT = ("reason", "rest")
"""The fields in which a line may be cut off, as at the edge of a screen; of others the words behind count."""
LEAST_KNOWN = 10  # characters of a form that a message must have, where the rest was cut off

_FIELD = re.compile(r"\{(\w+)\}")
MOST_DIGITS = 18
_DIGITS = rf"-?[0-9]{{1,{MOST_DIGITS}}}+"


def key_of(message: str) -> str:
    """The first word of a message, as far as an equals sign: by it a form is looked up.

    >>> key_of("[GroupId=billing] Unloaded"), key_of("Stabilized group")
    ('[GroupId', 'Stabilized')
    """
    end = message.find(" ")
    word = message if end < 0 else message[:end]
    return word.partition("=")[0] if "=" in word else word


class Template:
    """One form of a message.

    Parameters
    ----------
    text : str
        With the names of its fields in braces; two fields never touch.

    Examples
    --------
    >>> form = Template("Group {group} with generation {generation} is now empty")
    >>> form.match("Group billing with generation 7 is now empty")
    {'group': 'billing', 'generation': 7}
    >>> form.match("Group billing with generation x is now empty") is None
    True
    """

    def __init__(self, text: str) -> None:
        """Take the text apart."""
        self.text = text
        pieces = _FIELD.split(text)
        self.first, self.names = pieces[0], tuple(pieces[1::2])
        self._steps = tuple(
            (name, following, name in NUMBERS) for name, following in zip(self.names, pieces[2::2], strict=True)
        )
        self._number_places = tuple(place for place, name in enumerate(self.names) if name in NUMBERS)
        self._last = len(self._steps) - 1
        self.longest = max(pieces[0::2], key=len)  # the words of which most messages have not all

    @property
    def key(self) -> str:
        """What `key_of` gives for every message of this form; empty: it begins with a field."""
        return key_of(self.first)

    @property
    def fixed_length(self) -> int:
        """How many characters are the same in every line: of two forms that fit, the one with more says more."""
        return len(_FIELD.sub("", self.text))

    def match(self, message: str) -> dict[str, object] | None:
        """The fields of a message, or None."""
        if self.longest not in message:
            return None
        found = self._form.match(message)
        if found is None:
            return None
        fields: dict[str, object] = dict(zip(self.names, found.groups(), strict=True))
        for place in self._number_places:
            fields[self.names[place]] = int(found[place + 1])
        return fields

    @cached_property
    def _form(self) -> re.Pattern[str]:
        """What a whole message must match, compiled once it may: of most forms no log has a line."""
        return re.compile(rf"{self.regex[:-1]}\Z", re.DOTALL)  # "$" may have a line end behind it

    def match_front(self, message: str) -> dict[str, object] | None:
        """The fields of a message that goes on behind this form, or that was cut off in its last field; or None.

        >>> form = Template("Group {group} with generation {generation} is now empty")
        >>> form.match_front("Group billing with generation 7 is now empty - app=shop")
        {'group': 'billing', 'generation': 7}
        >>> Template("Left {group} (reason: {reason})").match_front("Left g (reason: the consumer is be")
        {'group': 'g', 'reason': 'the consumer is be'}
        """
        if not message.startswith(self.first):
            return None
        at = len(self.first)
        found: dict[str, object] = {}
        if not self.names:
            return {} if not message[at : at + 1].isalnum() else None
        for place, (name, following, is_number) in enumerate(self._steps):
            is_last = place == self._last
            end = message.find(following, at) if following else len(message)
            if end < 0 and is_last and name in CUT and at < len(message):
                end = len(message) if self.fixed_length - len(following) >= LEAST_KNOWN else end
            if is_number and is_last and not following:
                digits = re.match(r"-?\d{1,18}(?![\w])", message[at:])
                end = at + digits.end() if digits else -1
            if end < at:
                return None
            value = message[at:end]
            if is_number and re.fullmatch(r"-?\d{1,18}", value, re.ASCII) is None:
                return None
            found[name] = int(value) if is_number else value
            at = end + len(following)
        return found

    @cached_property
    def regex(self) -> str:
        """The same as a regular expression of Java and Python, a group for each field, in order.

        A field that has ended is not tried anew (``(?>``): else a line that repeats the words behind one would take
        time by the power of their count.
        """
        parts = [re.escape(self.first)]
        for place, (_, following, is_number) in enumerate(self._steps):
            if place == self._last:
                parts.append(f"({_DIGITS if is_number else '.*'}){re.escape(following)}")
            else:
                parts.append(f"(?>({_DIGITS if is_number else '.*?'}){re.escape(following)})")
        return f"^{''.join(parts)}$"


FAMILIES = (
    *("classic_java", "consumer_protocol", "classic_scala", "java_client", "librdkafka", "python_clients"),
    *("go_clients", "other_clients", "frameworks", "old_clients"),
)
"""The files, the newest brokers first."""


class Pattern(NamedTuple):
    """One form of a line."""

    event: str
    writer: str
    family: str
    source: str
    since: str
    until: str | None  # None: it is still so
    template: Template
    example: str
    recorded: str | None
    needs: tuple[str, ...] = ()  # pairs that must stand beside it: alone its words are too common

    @property
    def releases(self) -> str:
        """As ``0.11 to 2.0`` or ``4.0 on``."""
        return f"{self.since} on" if self.until is None else f"{self.since} to {self.until}"


@cache
def says_nothing() -> frozenset[str]:
    """The facilities of librdkafka whose other lines, debug output, say nothing that `why` could want."""
    return frozenset(_content("librdkafka")["says_nothing"])


@cache
def patterns() -> tuple[Pattern, ...]:
    """All of them.

    >>> sorted({each.writer for each in patterns()})
    ['broker', 'erlang', 'go', 'java', 'javascript', 'librdkafka', 'python', 'ruby']
    """
    found: list[Pattern] = []
    for family in FAMILIES:
        content = _content(family)
        found += [
            Pattern(
                each["event"],
                each.get("writer", content["writer"]),
                family,
                each["source"],
                each["since"],
                each.get("until"),
                Template(each["text"]),
                each["example"],
                each.get("recorded"),
                tuple(each.get("needs", ())),
            )
            for each in content["patterns"]
        ]
    return tuple(found)


@cache
def _content(family: str) -> dict[str, Any]:
    return json.loads((files("kafkalearn.oncall.logs") / f"{family}.json").read_text(encoding="utf-8"))


# Which pattern a message has, and the event that it stands for.

_QUICK = (BROKER, JAVA, LIBRDKAFKA, PYTHON)
Known = tuple[tuple[Pattern, bool], ...]


def event_of(line: Line, source: str, number: int) -> LogEvent | None:
    """The event of a line, by the most exact pattern that its message has; None: it has none."""
    message = line.message
    for pattern, ends_with_dot in _candidates(line):
        if pattern.template.longest not in message:
            continue
        text = message if ends_with_dot or not message.endswith(".") else message[:-1]
        fields = pattern.template.match(text)
        if fields is not None:
            return event_from(line, pattern, fields, source, number)
    return None


def _candidates(line: Line) -> Known:
    """The patterns that begin as a message does, of whoever can have written the line."""
    tables = _tables()
    known = () if line.logger is None else tables[LIBRDKAFKA].get(line.logger, ())
    if known:
        return known
    key = key_of(line.message)
    is_python = line.logger is not None and line.logger.islower()  # a class has a capital letter
    first, second = (PYTHON, JAVA) if is_python else (JAVA, PYTHON)
    return tables[first].get(key) or tables[second].get(key, ())


def event_from(line: Line, pattern: Pattern, fields: dict[str, Any], source: str, number: int) -> LogEvent:
    """The event of a line that has a pattern, with the fields that were found."""
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
        line.message,
    )


@cache
def first_words() -> frozenset[str]:
    """The words that the messages of brokers and of clients in Java or Python begin with, as far as patterns know."""
    return frozenset({*_tables()[JAVA], *_tables()[PYTHON]})


@cache
def _tables() -> Mapping[str, Mapping[str, Known]]:
    """The patterns to be tried, the most exact ones first.

    Those of librdkafka by their facility, those of Python by the first word, and so those of brokers and Java.
    """
    tables: dict[str, dict[str, list[tuple[Pattern, bool]]]] = {JAVA: {}, LIBRDKAFKA: {}, PYTHON: {}}
    for pattern in sorted(patterns(), key=lambda each: -each.template.fixed_length):
        if pattern.needs or pattern.writer not in _QUICK:
            continue  # `kafkalearn.oncall.logs.anywhere` has these
        writer = JAVA if pattern.writer == BROKER else pattern.writer
        key = pattern.source if writer == LIBRDKAFKA else pattern.template.key
        tables[writer].setdefault(key, []).append((pattern, pattern.template.text.endswith(".")))
    return {writer: {key: tuple(each) for key, each in table.items()} for writer, table in tables.items()}
