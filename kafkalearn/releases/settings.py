"""What a setting is, all that the released classes define, how a value is written, and what an upgrade brings besides.

A setting is identified by its name *and its side*, the program that reads it: ``compression.type`` is a setting
of the producer, of the broker and of the topic, with three meanings and two defaults.

All of it is read when first asked: the settings from `settings_by_release.json`, which ``python3 run.py settings``
writes from the released classes; notes and facts from `upgrades.json`, written by hand. What a recorded jar can show of
the facts, the tests check: which Java it needs, which classes and requests are gone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, TypeAlias

from kafkalearn.releases.lines import RELEASES, Release, release_line

# What a setting accepts.


@dataclass(frozen=True, slots=True)
class Limit:
    """What a setting accepts, as its ConfigDef says; further checks of the program are not in it.

    >>> print(Limit(minimum=1), Limit(0, 100), Limit(values=("none", "gzip")), Limit(is_empty_refused=True), sep="; ")
    at least 1; 0 to 100; one of none, gzip; not empty
    """

    minimum: int | float | None = None
    maximum: int | float | None = None
    values: tuple[str, ...] = ()  # of a list setting: what may be in the list; whether case matters is not recorded
    is_empty_refused: bool = False
    form: str = ""  # anything else, in Kafka's own notation

    def __str__(self) -> str:
        """The limit in a few words."""
        return limit_text(self)

    def admits(self, other: Limit | None) -> bool:
        """Whether everything that `other` accepts is accepted here, too; None is no limit.

        >>> Limit(minimum=0).admits(Limit(minimum=1)), Limit(minimum=1).admits(None)
        (True, False)
        """
        if other is None:
            return self == Limit()
        return (
            (self.minimum is None or (other.minimum is not None and other.minimum >= self.minimum))
            and (self.maximum is None or (other.maximum is not None and other.maximum <= self.maximum))
            and (not self.values or (bool(other.values) and set(other.values) <= set(self.values)))
            and (not self.is_empty_refused or other.is_empty_refused)
            and self.form in ("", other.form)
        )


def limit_text(limit: Limit | None, number_text: Callable[[int | float], str] = str) -> str:
    """A limit in a few words, its numbers written by `number_text`.

    >>> limit_text(None)
    'no limit stated'
    """
    if limit is None or limit == Limit():
        return "no limit stated"
    low, high = ("" if bound is None else number_text(bound) for bound in (limit.minimum, limit.maximum))
    parts = [
        f"{low} to {high}" if low and high else f"at least {low}" if low else f"at most {high}" if high else "",
        f"one of {', '.join(limit.values)}" if limit.values else "",
        "not empty" if limit.is_empty_refused else "",
        limit.form,
    ]
    return "; ".join(filter(None, parts))


# What a setting is.

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


# All settings, as recorded.


@cache
def all_settings() -> tuple[Setting, ...]:
    """Every setting that the released classes define, ordered by name and side.

    >>> [len([each for each in all_settings() if each.in_release(line) is not ABSENT]) for line in ("0.8.2", "4.3")]
    [191, 734]
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
    data = resources.files("kafkalearn.releases").joinpath(f"{name}.json")
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
        Note(note["first"], last, note["text"])
        for note in notes
        for last in [note.get("last", RELEASES[-1])]  # without one it holds still
        if side in sides_of(note)
        and (name in note["settings"] or not note["settings"])
        and RELEASES.index(first_line) <= RELEASES.index(last)
    )


def sides_of(row: Mapping[str, object]) -> list[str]:
    """The sides that a row of `upgrades.json` is about: one, or several."""
    side = row["side"]
    return side if isinstance(side, list) else [str(side)]


def _value(recorded: Any) -> Value:
    match recorded:
        case "absent":
            return ABSENT
        case "(required)":
            return REQUIRED
        case list():
            return tuple(recorded)
    return recorded


# Defaults as people read them: 604800000 is a week, 1073741824 a gibibyte, 2147483647 the largest Java int.

_MILLISECONDS = {"ms": 1, "seconds": 1_000, "minutes": 60_000, "hours": 3_600_000}
_TIMES = (("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000))
_SIZES = (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10))
_LARGEST = {2**31 - 1: "Int.MAX", 2**63 - 1: "Long.MAX", 1.7976931348623157e308: "Double.MAX"}
_SIZE_ENDINGS = (".bytes", ".buffer.size", "batch.size", "buffer.memory", "max.request.size")


def value_text(setting: str, value: Value) -> str:
    """A default as a properties file has it, then the number in a larger unit; classes without their package.

    >>> value_text("session.timeout.ms", 45000), value_text("enable.auto.commit", True)
    ('45000 (45 s)', 'true')
    >>> value_text("cleanup.policy", ("compact", "delete")), value_text("broker.rack", None)
    ('compact,delete', 'unset')
    >>> value_text("group.consumer.assignors", ("org.apache.kafka.coordinator.group.assignor.RangeAssignor",))
    'RangeAssignor'
    """
    match value:
        case None:
            return "unset"
        case Special():
            return value.value
        case bool():
            return str(value).lower()
        case int() | float():
            return number_text(setting, value)
        case tuple():
            return ",".join(map(_without_package, value)) or "empty"
        case str():
            return _without_package(value) or "empty"


def number_text(setting: str, number: int | float) -> str:
    """A setting's number, and the same in a larger unit.

    >>> number_text("segment.bytes", 1048576), number_text("segment.bytes", 14)
    ('1048576 (1 MiB)', '14')
    """
    words = in_words(setting, number)
    return f"{number} ({words})" if words else str(number)


def in_words(setting: str, number: int | float) -> str:
    """A setting's number in a larger unit, if it is a whole number of that; else the empty text.

    Parameters
    ----------
    setting : str
        The setting's name: its last word is the unit of the number.
    number : int or float
        Its value; 0 and negative numbers have meanings of their own and stay as they are.

    Examples
    --------
    >>> in_words("session.timeout.ms", 45000), in_words("offsets.retention.minutes", 10080)
    ('45 s', '7 d')
    >>> in_words("log.segment.bytes", 1073741824), in_words("retries", 2147483647)
    ('1 GiB', 'Int.MAX')
    >>> in_words("message.max.bytes", 1048588), in_words("linger.ms", 5), in_words("retention.bytes", -1)
    ('', '', '')
    """
    if number in _LARGEST:
        return _LARGEST[number]
    milliseconds = _MILLISECONDS.get(setting.rpartition(".")[2])
    if milliseconds:
        return _in_largest(_TIMES, number * milliseconds, given_unit=milliseconds)
    return _in_largest(_SIZES, number, given_unit=1) if setting.endswith(_SIZE_ENDINGS) else ""


def _in_largest(units: tuple[tuple[str, int], ...], amount: float, given_unit: int) -> str:
    for unit, factor in units:
        if amount > 0 and amount % factor == 0 and factor > given_unit:
            return f"{int(amount // factor)} {unit}"
    return ""


def _without_package(text: str) -> str:
    return text.rpartition(".")[2] if text.startswith("org.apache.kafka.") else text


# What an upgrade changes beyond settings: facts by release line, each with its source.

TOUCHED: MappingProxyType[str, tuple[str, ...]] = MappingProxyType(
    {
        "cluster": ("broker",),
        "broker": ("broker",),
        "topic": ("topic",),
        "client": ("consumer", "producer", "admin"),
        "consumer": ("consumer",),
        "producer": ("producer",),
        "admin": ("admin",),
        "tools": (),
    }
)
"""Whom a fact can be about, and whose settings are meant by it."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that is not so any more from a release line on."""

    since: str
    kind: str  # required, gone, refused, behaves or deprecated: see `kafkalearn.releases.upgrade.KINDS`
    who: str  # a name in TOUCHED
    what: str
    text: str  # one sentence
    source: str
    old: str = ""  # of a requirement: what was enough before
    new: str = ""
    until: str = ""  # of a deprecation: the line in which it is carried out; it may not be released yet


@cache
def all_facts() -> tuple[Fact, ...]:
    """Every recorded fact, oldest first.

    >>> [fact.text for fact in all_facts() if fact.what == "ZooKeeper"]
    ['clusters run with KRaft only; migrate one with ZooKeeper on a release up to 3.9 first']
    """
    rows: Any = recorded("upgrades")["facts"]
    return tuple(Fact(**{name: row[name] for name in Fact.__slots__ if name in row}) for row in rows)


def facts_between(old: str, new: str) -> tuple[Fact, ...]:
    """What an upgrade from one release line to another meets.

    Of several facts about the same thing the last one counts, with what was before the first. A deprecation that is
    carried out on the way is left out: then the thing is gone.
    """
    first, last = RELEASES.index(old), RELEASES.index(new)
    met: dict[tuple[str, str, str], Fact] = {}
    for fact in all_facts():
        if first < RELEASES.index(fact.since) <= last and not is_reached(fact.until, new):
            before = met.pop((fact.kind, fact.who, fact.what), fact)
            met[fact.kind, fact.who, fact.what] = replace(fact, old=before.old or fact.old)
    return tuple(met.values())


def standing_deprecations(release: str) -> tuple[Fact, ...]:
    """The deprecations of a release that are not carried out in it, oldest first: what a later one is to take.

    >>> [fact.what for fact in standing_deprecations("4.4") if fact.who == "tools"]
    ['names of options', 'kafka-broker-api-versions']
    """
    known = [fact for fact in all_facts() if fact.kind == "deprecated" and is_reached(fact.since, release)]
    gone = {(fact.who, fact.what) for fact in all_facts() if fact.kind == "gone" and is_reached(fact.since, release)}
    return tuple(f for f in known if not is_reached(f.until, release) and (f.who, f.what) not in gone)


def is_reached(line: str, release: str) -> bool:
    """Whether a release is of a line or a later one; the line may be announced only. No line is never reached.

    >>> is_reached("5.0", "4.4"), is_reached("4.0", "4.0"), is_reached("", "4.4")
    (False, True, False)
    """
    return bool(line) and _numbers(line) <= _numbers(release)


def _numbers(line: str) -> tuple[int, ...]:
    return tuple(map(int, line.split(".")))


@dataclass(frozen=True, slots=True)
class Deprecation:
    """A setting that is to go."""

    name: str
    side: str
    since: str
    until: str  # the line without it; empty: nobody has said which
    text: str  # what to do
    source: str


@cache
def deprecations() -> tuple[Deprecation, ...]:
    """Every setting that Kafka has deprecated, oldest first, as far as it was asked: from 3.0 on.

    >>> [(each.name, each.since, each.until) for each in deprecations() if each.since in ("4.2", "4.4")]
    [('remote.log.manager.thread.pool.size', '4.2', ''), ('broker.id', '4.4', '5.0')]
    """
    rows: Any = recorded("upgrades")["deprecated"]
    found = [
        Deprecation(name, side, row["since"], row.get("until", ""), row["text"], row["source"])
        for row in rows
        for side in sides_of(row)
        for name in row["settings"]
    ]
    return tuple(sorted(found, key=lambda each: _numbers(each.since)))


def deprecation_of(name: str, side: str, release: str) -> Deprecation | None:
    """The deprecation of a setting in a release; None: it has none, or is gone."""
    for each in deprecations():
        is_on = is_reached(each.since, release) and not is_reached(each.until, release)
        if (each.name, each.side) == (name, side) and is_on:
            return each
    return None


def announced_lines() -> tuple[str, ...]:
    """The lines that are not released and of which Kafka has said what they take.

    >>> announced_lines()
    ('5.0',)
    """
    until = {each.until for each in (*deprecations(), *all_facts()) if each.until}
    return tuple(sorted((each for each in until if not is_reached(each, RELEASES[-1])), key=_numbers))


@cache
def replacements() -> MappingProxyType[tuple[str, str], tuple[tuple[str, ...], str]]:
    """(name, side) of a setting that is gone -> what to set instead, and the source.

    >>> replacements()["delegation.token.master.key", "broker"]
    (('delegation.token.secret.key',), 'upgrade notes of 4.0')
    """
    rows: Any = recorded("upgrades")["renamed"]
    return MappingProxyType(
        {
            (name, side): (tuple(row["new"]), row["source"])
            for row in rows
            for side in sides_of(row)
            for name in row["old"]
        }
    )
