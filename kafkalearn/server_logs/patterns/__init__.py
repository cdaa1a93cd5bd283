"""The forms of the lines, by who writes them and since which release: a JSON file for each family.

Each pattern has the ``event`` that it stands for, the ``text`` of the message, the ``source`` that writes it (a class
of Kafka, a facility of librdkafka, a logger of Python), the releases ``since`` and ``until``, an ``example``, and in
``recorded`` the version that wrote the example; without one, the form is taken from the source at its tag.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from kafkalearn.server_logs.templates import Template

FAMILIES = ("classic_java", "consumer_protocol", "classic_scala", "java_client", "librdkafka", "python_clients")
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

    >>> {each.writer for each in patterns()} == {"broker", "java", "librdkafka", "python"}
    True
    """
    found: list[Pattern] = []
    for family in FAMILIES:
        content = _content(family)
        found += [
            Pattern(
                each["event"],
                content["writer"],
                family,
                each["source"],
                each["since"],
                each.get("until"),
                Template(each["text"]),
                each["example"],
                each.get("recorded"),
            )
            for each in content["patterns"]
        ]
    return tuple(found)


@cache
def _content(family: str) -> dict[str, Any]:
    return json.loads((files(__name__) / f"{family}.json").read_text(encoding="utf-8"))
