"""The rows of settings_by_release.json, and what is kept of the jars beside the settings: Java, classes, requests.

Values by release line are recorded only where they change.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from kafkalearn.releases.lines import RELEASES
from kafkalearn.releases.settings import SIDES
from tools.settings.files import UPGRADES
from tools.settings.released import NotRun, Reading, Released


def compressed(by_line: Mapping[str, Any], first: Any = "absent") -> dict[str, Any]:
    """Only the lines whose value differs from that of the line before; `first` is what the oldest is compared with.

    >>> compressed({"4.3": 2, "4.1": 1, "4.2": 1})
    {'4.1': 1, '4.3': 2}
    """
    ordered = [(None, first), *((line, by_line[line]) for line in RELEASES if line in by_line)]
    return {line: value for (_, before), (line, value) in pairwise(ordered) if repr(value) != repr(before)}


def expanded(by_line: Mapping[str, Any]) -> dict[str, Any]:
    """The value of each line from the first that is named on."""
    values: dict[str, Any] = {}
    for line in RELEASES:
        if line in by_line or values:
            values[line] = by_line.get(line, list(values.values())[-1] if values else None)
    return values


def lines_between(first: str | None, last: str | None) -> tuple[str, ...]:
    """The release lines from one to another, both included; none where there is nothing recorded."""
    return RELEASES[RELEASES.index(first) : RELEASES.index(last) + 1] if first and last else ()


# Defaults and limits as JSON, from the texts that the classes print.

FORM = re.compile(r"\[-?\d+,\.\.\.,-?\d+\]( or -?\d+)?")
"""A validator's own text that is kept as it is; others that begin as a list are one, or are left out."""

LONGEST_LIST = 12
"""More values than this are releases, which every release adds to; they are left out."""

WHOLE = {"SHORT": 15, "INT": 31, "LONG": 63}
"""The types whose values are whole numbers, and their bits."""


def value_of(default: Any, type_name: str) -> Any:
    """A default as JSON, read as the type that the setting has today, if it can be.

    >>> value_of("delete", "LIST"), value_of("5", "LONG"), value_of("none", "INT"), value_of(5, "LONG")
    (['delete'], 5, 'none', 5)
    """
    if not isinstance(default, str) or default == "(required)":
        return default
    if type_name == "LIST":
        return default.split(",") if default else []
    if type_name == "BOOLEAN" and default in ("true", "false"):
        return default == "true"
    return number_of(default) if type_name in {*WHOLE, "DOUBLE"} else default


def number_of(text: str) -> Any:
    """A number from its text; what is none stays text.

    >>> number_of("14"), number_of("0.5"), number_of("none")
    (14, 0.5, 'none')
    """
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def limit_of(reading: Reading) -> dict[str, Any] | None:
    """The limit as JSON; what every value of the type obeys is none.

    >>> limit_of(Reading("broker", "port", "INT", "value", "9092", "range 0 2147483647", "", ""))
    {'min': 0}
    """
    limit: dict[str, Any] = {}
    how, _, rest = reading.limit.partition(" ")
    if how == "range":
        low, high = map(number_of, rest.split(" "))
        bits = WHOLE.get(reading.type, 0)
        limit |= {"min": low} if low not in ("null", -(2**bits)) else {}
        limit |= {"max": high} if high not in ("null", 2**bits - 1) else {}
    elif how in ("in", "text") and not FORM.fullmatch(rest):
        values = re.split(r",\s*", rest.removeprefix("any case ").strip("[]"))
        if len(values) <= LONGEST_LIST and not any("..." in value or "[" in value for value in values):
            limit["in"] = sorted(values) if rest.startswith("any case ") else values
    elif how == "text":
        limit["text"] = rest
    if reading.not_empty:
        limit["not empty"] = True
    return limit or None


def same_limit(one: dict[str, Any] | None, other: dict[str, Any] | None) -> bool:
    """Whether two limits admit the same; the order of values does not matter."""
    if not one or not other:
        return one == other
    return {**one, "in": sorted(one.get("in", []))} == {**other, "in": sorted(other.get("in", []))}


# A setting with its defaults and limits by release line.


class State(NamedTuple):
    """A setting in one release line, as it is recorded."""

    type: str
    default: Any
    limit: dict[str, Any] | None
    is_internal: bool


States = dict[tuple[str, str], dict[str, State]]
"""(name, side) -> line -> state."""


def settings_of(recorded: dict[str, Any], read: Mapping[str, Released]) -> dict[str, Any]:
    """The recorded settings, with the lines that were read now in the place of what was known of them."""
    states = states_of(recorded["settings"])
    for by_line in states.values():
        for line in read:
            by_line.pop(line, None)
    for line, released in read.items():
        for reading in released.readings:
            states.setdefault((reading.name, reading.side), {}).setdefault(line, state_of(reading))
    return {"settings": [row_of(key, states[key]) for key in sorted(states, key=place) if states[key]]}


def place(key: tuple[str, str]) -> tuple[str, int]:
    """What settings are sorted by: name, then side as everywhere."""
    name, side = key
    return name, list(SIDES).index(side)


def state_of(reading: Reading) -> State:
    """What a reading says, its default still in the words of the class."""
    default = {"required": "(required)", "unset": None}.get(reading.kind, reading.default)
    return State(reading.type, default, limit_of(reading), bool(reading.internal))


def row_of(key: tuple[str, str], by_line: Mapping[str, State]) -> list[Any]:
    """A setting as it stands in the file.

    >>> row_of(("x", "topic"), {"3.8": State("INT", 1, {"min": 0}, False), "3.9": State("INT", 2, {"min": 0}, False)})
    ['x', 'topic', 'INT', {'3.8': 1, '3.9': 2, '4.0': 'absent'}, {'3.8': {'min': 0}}]
    """
    known = [line for line in RELEASES if line in by_line]
    newest_type = [by_line[line].type for line in known if by_line[line].type][-1]
    defaults = dict.fromkeys(RELEASES, "absent")
    limits: dict[str, Any] = {}
    for line in known:
        state, limit_before = by_line[line], ([None, *limits.values()])[-1]
        defaults[line] = value_of(state.default, newest_type)
        limits[line] = limit_before if same_limit(state.limit, limit_before) else state.limit
    row = [*key, newest_type, compressed(defaults)]
    is_internal = by_line[known[-1]].is_internal
    if compressed(limits, first=None) or is_internal:
        row.append(compressed(limits, first=None))
    return [*row, "internal"] if is_internal else row


def states_of(rows: Iterable[list[Any]]) -> States:
    """What the file says of every setting in every line that knows it."""
    states: States = {}
    for name, side, type_name, defaults, *rest in rows:
        limits = expanded({RELEASES[0]: None} | (rest[0] if rest else {}))
        states[name, side] = {
            line: State(type_name, default, limits[line], len(rest) > 1)
            for line, default in expanded(defaults).items()
            if default != "absent"
        }
    return states


# Beside the settings.


def evidence_of(recorded: dict[str, Any], read: Mapping[str, Released]) -> dict[str, Any]:
    """The same for what is kept of the jars beside the settings."""
    java = {
        who: compressed(expanded(recorded["java"].get(who, {})) | {line: each.java[who] for line, each in read.items()})
        for who in ("client", "broker")
    }
    classes = {}
    for name in classes_looked_for():
        before = lines_between(*recorded["classes"].get(name, (None, None)))
        having = [line for line in RELEASES if (name in read[line].classes if line in read else line in before)]
        if not having:
            raise NotRun(f"{UPGRADES.name} names the class {name}, which none of the releases has")
        classes[name] = [having[0], having[-1]]
    names = {number: name for name, number, _ in recorded["apis"]}
    oldest = {number: expanded(by_line) for _, number, by_line in recorded["apis"]}
    for line in (line for line in RELEASES if line in read):
        later = RELEASES[RELEASES.index(line) + 1 :]
        for number, (name, version) in read[line].apis.items():
            known = oldest.setdefault(number, {})
            known[line] = version
            if all(known.get(each) is None for each in later):  # the newest name is its name
                names[number] = name
        for number in oldest.keys() - read[line].apis.keys():
            oldest[number][line] = None
    apis = [[names[number], number, compressed(oldest[number], first=None)] for number in sorted(oldest)]
    return {"java": java, "classes": classes, "apis": apis}


def classes_looked_for() -> list[str]:
    """The classes whose end a hand-written fact speaks of."""
    facts = json.loads(UPGRADES.read_text(encoding="utf-8"))["facts"]
    return sorted({fact["class"] for fact in facts if "class" in fact})
