"""What a setting is, and the recorded defaults of all of them: `settings_by_release.json`, read when first asked.

A setting is told apart by its name *and its side*, the program that reads it: ``compression.type`` is a setting
of the producer, of the broker and of the topic, with three meanings and two defaults.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, TypeAlias

from kafkalearn.versions.releases import RELEASES, Release, release_line

SIDES: MappingProxyType[str, str] = MappingProxyType(
    {
        "consumer": "the Java consumer",
        "producer": "the Java producer",
        "broker": "the broker; from 2.0 to 3.9 the class that also runs with ZooKeeper",
        "topic": "one topic; without a value of its own, a topic takes the broker's setting of the same meaning",
        "old-consumer": "the ZooKeeper consumer, up to 1.1",
        "group": "one group, since 4.0 (kafka-configs --entity-type groups)",
    }
)
"""Who reads a setting, in the order in which sides are listed everywhere."""


class Special(Enum):
    """What stands in place of a default where there is none; None is something else: known, and unset."""

    ABSENT = "absent"
    REQUIRED = "required"

    def __repr__(self) -> str:
        """The name under which it can be imported."""
        return self.name


ABSENT = Special.ABSENT
"""The release does not know the setting."""

REQUIRED = Special.REQUIRED
"""The setting has no default: it must be given."""

Value: TypeAlias = str | int | float | bool | tuple[str, ...] | Special | None

_SPECIAL_TEXTS = {"absent": ABSENT, "(required)": REQUIRED}


@dataclass(frozen=True, slots=True)
class Note:
    """What the bare default does not tell, and the release lines it is about."""

    first: str
    last: str
    text: str


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of one side, with every default it has had."""

    name: str
    side: str  # a name in SIDES
    type: str  # Kafka's word: INT, LONG, STRING, LIST, ...
    history: tuple[tuple[str, Value], ...]  # (release line, default from that line on), oldest first
    notes: tuple[Note, ...] = ()

    def in_release(self, release: str | Release) -> Value:
        """The default in a release; `ABSENT` where the release does not know the setting."""
        index = RELEASES.index(release_line(release))
        values = [value for line, value in self.history if RELEASES.index(line) <= index]
        return values[-1] if values else ABSENT

    @property
    def lifetime(self) -> str:
        """The release lines that know it, in words."""
        first, (dropped_in, last_value) = self.history[0][0], self.history[-1]
        if last_value is not ABSENT:
            return f"since {first}"
        last = RELEASES[RELEASES.index(dropped_in) - 1]
        return f"only in {first}" if first == last else f"from {first} to {last}"


@cache
def all_settings() -> tuple[Setting, ...]:
    """Every recorded setting, ordered by name and side.

    >>> len(all_settings())
    371
    """
    recorded = _recorded()
    settings = [_setting(row, recorded["notes"]) for row in recorded["settings"]]
    order = list(SIDES)
    return tuple(sorted(settings, key=lambda setting: (setting.name, order.index(setting.side))))


def provenance() -> tuple[str, MappingProxyType[str, str]]:
    """How the defaults were obtained, and which release of each line was asked.

    >>> provenance()[1]["0.8.2"], provenance()[1]["4.3"]
    ('0.8.2.2', '4.3.1')
    """
    recorded = _recorded()
    return f"{recorded['about']} {recorded['obtained']}", MappingProxyType(recorded["asked"])


@cache
def _recorded() -> dict[str, Any]:
    data = resources.files(__package__).joinpath("settings_by_release.json")
    return json.loads(data.read_text(encoding="utf-8"))


def _setting(row: list[Any], notes: list[dict[str, Any]]) -> Setting:
    name, side, kafka_type, defaults = row
    history = tuple((line, _value(default)) for line, default in defaults.items())
    return Setting(name, side, kafka_type, history, _notes_on(name, side, history[0][0], notes))


def _notes_on(name: str, side: str, first_line: str, notes: list[dict[str, Any]]) -> tuple[Note, ...]:
    """The notes on one setting; one that names no settings is on those that its side had at the time."""
    return tuple(
        Note(note["first"], note["last"], note["text"])
        for note in notes
        if note["side"] == side
        and (name in note["settings"] or not note["settings"])
        and RELEASES.index(first_line) <= RELEASES.index(note["last"])
    )


def _value(recorded: Any) -> Value:
    if isinstance(recorded, list):
        return tuple(recorded)
    return _SPECIAL_TEXTS.get(recorded, recorded) if isinstance(recorded, str) else recorded
