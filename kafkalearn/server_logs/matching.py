"""Which pattern a message has, and the event that it stands for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from kafkalearn.server_logs.events import BROKER, JAVA, LIBRDKAFKA, PYTHON, LogEvent
from kafkalearn.server_logs.lines import Line
from kafkalearn.server_logs.patterns import Pattern, patterns
from kafkalearn.server_logs.templates import key_of

Known = tuple[tuple[Pattern, bool], ...]


def event_of(line: Line, source: str, number: int) -> LogEvent | None:
    """The event of a line, by the most exact pattern that its message has; None: it has none."""
    message = line.message
    for pattern, ends_with_dot in _candidates(line):
        if not message.startswith(pattern.template.first):
            continue
        text = message if ends_with_dot or not message.endswith(".") else message[:-1]
        fields = pattern.template.match(text)
        if fields is not None:
            return _event(line, pattern, fields, source, number)
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


def _event(line: Line, pattern: Pattern, fields: dict[str, Any], source: str, number: int) -> LogEvent:
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
        writer = JAVA if pattern.writer == BROKER else pattern.writer
        key = pattern.source if writer == LIBRDKAFKA else pattern.template.key
        tables[writer].setdefault(key, []).append((pattern, pattern.template.text.endswith(".")))
    return {writer: {key: tuple(each) for key, each in table.items()} for writer, table in tables.items()}
