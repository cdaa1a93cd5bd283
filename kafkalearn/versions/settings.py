"""What a setting is, and all that the released classes define: `settings_by_release.json`, read when first asked.

A setting is identified by its name *and its side*, the program that reads it: ``compression.type`` is a setting
of the producer, of the broker and of the topic, with three meanings and two defaults.

The file is written by ``python3 run.py settings`` from the released classes; notes are in `upgrades.json`, by hand.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, TypeAlias

from kafkalearn.versions.limits import Limit
from kafkalearn.versions.releases import RELEASES, Release, release_line

SIDES: MappingProxyType[str, str] = MappingProxyType(
    {
        "consumer": "the Java consumer",
        "producer": "the Java producer",
        "admin": "the admin client, since 0.11.0",
        "broker": "the broker and the KRaft controller; up to 3.9 the class that also runs with ZooKeeper",
        "topic": "one topic; without a value of its own, a topic takes the broker's setting of the same meaning",
        "old-consumer": "the Scala consumer, which needs ZooKeeper, up to 1.1",
        "old-producer": "the Scala producer, up to 1.1",
        "group": "one group, since 4.0 (kafka-configs --entity-type groups)",
    }
)
"""Who reads a setting, in the order in which sides are listed everywhere."""


class Special(Enum):
    """What is given in place of a default if there is none; None is something else: known, and unset."""

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
    """What the bare default does not say, and the release lines it is about."""

    first: str
    last: str
    text: str


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of one side, with every default and limit it has had."""

    name: str
    side: str  # a name in SIDES
    type: str  # Kafka's word: INT, LONG, STRING, LIST, ... as of the newest line that has it
    history: tuple[tuple[str, Value], ...]  # (release line, default from that line on), oldest first
    notes: tuple[Note, ...] = ()
    limits: tuple[tuple[str, Limit | None], ...] = ()  # (release line, limit from that line on); before, none
    is_internal: bool = False  # Kafka's own classes and tests set it; it may change in any release

    def in_release(self, release: str | Release) -> Value:
        """The default in a release; `ABSENT` where the release does not know the setting."""
        index = RELEASES.index(release_line(release))
        values = [value for line, value in self.history if RELEASES.index(line) <= index]
        return values[-1] if values else ABSENT

    def limit_in(self, release: str | Release) -> Limit | None:
        """What it accepts in a release; None where its class sets no limit, or the release does not know it."""
        if self.in_release(release) is ABSENT:
            return None
        index = RELEASES.index(release_line(release))
        return ([None] + [limit for line, limit in self.limits if RELEASES.index(line) <= index])[-1]

    @property
    def is_gone(self) -> bool:
        """Whether the newest release no longer knows it."""
        return self.history[-1][1] is ABSENT

    @property
    def lifetime(self) -> str:
        """The release lines that know it: "0.8.2 to 3.9", "only 3.7"; with a gap, both spans."""
        starts = [line for line, value in self.history if value is not ABSENT]
        known = [line for line in RELEASES[RELEASES.index(starts[0]) :] if self.in_release(line) is not ABSENT]
        spans: list[list[str]] = []
        for line in known:
            if spans and RELEASES.index(line) == RELEASES.index(spans[-1][-1]) + 1:
                spans[-1].append(line)
            else:
                spans.append([line])
        return " and ".join(span[0] if len(span) == 1 else f"{span[0]} to {span[-1]}" for span in spans)


@cache
def all_settings() -> tuple[Setting, ...]:
    """Every setting that the released classes define, ordered by name and side.

    >>> len(all_settings())
    855
    """
    return tuple(setting for name in names() for setting in settings_named(name))


def names() -> tuple[str, ...]:
    """The names of all settings, in order."""
    return tuple(_rows())


@cache
def settings_named(name: str) -> tuple[Setting, ...]:
    """The settings of that name, one for each side that has it; none if no class has it.

    >>> [setting.side for setting in settings_named("compression.type")]
    ['producer', 'broker', 'topic']
    """
    notes: Any = recorded("upgrades")["notes"]
    return tuple(_setting(row, notes) for row in _rows().get(name, ()))


@cache
def _rows() -> dict[str, list[list[Any]]]:
    """The recorded rows by name; one is made a `Setting` only when it is asked for, as simulators ask for a few."""
    rows: dict[str, list[list[Any]]] = {}
    recorded_rows: Any = recorded("settings_by_release")["settings"]
    for row in recorded_rows:
        rows.setdefault(row[0], []).append(row)
    return rows


def provenance() -> tuple[str, MappingProxyType[str, str]]:
    """How the settings were obtained, and which release of each line was asked.

    >>> provenance()[1]["0.8.2"], provenance()[1]["4.3"]
    ('0.8.2.2', '4.3.1')
    """
    settings: dict[str, Any] = {**recorded("settings_by_release")}
    return f"{settings['about']} {settings['obtained']}", MappingProxyType(settings["asked"])


@cache
def recorded(name: str) -> dict[str, object]:
    """A JSON file of this package."""
    data = resources.files("kafkalearn.versions").joinpath(f"{name}.json")
    return json.loads(data.read_text(encoding="utf-8"))


def _setting(row: list[Any], notes: list[dict[str, Any]]) -> Setting:
    name, side, kafka_type, defaults, *rest = row
    history = tuple((line, _value(default)) for line, default in defaults.items())
    limits = tuple((line, None if limit is None else _limit(limit)) for line, limit in rest[0].items()) if rest else ()
    return Setting(
        name, side, kafka_type, history, _notes_on(name, side, history[0][0], notes), limits, is_internal=len(rest) > 1
    )


def _limit(recorded: dict[str, Any]) -> Limit:
    return Limit(
        recorded.get("min"),
        recorded.get("max"),
        tuple(recorded.get("in", ())),
        recorded.get("not empty", False),
        recorded.get("text", ""),
    )


def _notes_on(name: str, side: str, first_line: str, notes: list[dict[str, Any]]) -> tuple[Note, ...]:
    """The notes on one setting; one that names no settings is on those that its side had at the time."""
    return tuple(
        Note(note["first"], note["last"], note["text"])
        for note in notes
        if side in sides_of(note)
        and (name in note["settings"] or not note["settings"])
        and RELEASES.index(first_line) <= RELEASES.index(note["last"])
    )


def sides_of(row: Mapping[str, object]) -> list[str]:
    """The sides that a row of `upgrades.json` is about: one, or several."""
    side = row["side"]
    return side if isinstance(side, list) else [str(side)]


def _value(recorded: Any) -> Value:
    if isinstance(recorded, list):
        return tuple(recorded)
    return _SPECIAL_TEXTS.get(recorded, recorded) if isinstance(recorded, str) else recorded
