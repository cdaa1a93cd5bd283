"""The rows of settings_by_release.json: a setting with its defaults and limits by release line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from kafkalearn.releases.lines import RELEASES
from kafkalearn.releases.settings import SIDES
from tools.settings.lines import compressed, expanded
from tools.settings.released import Reading, Released
from tools.settings.values import limit_of, same_limit, value_of


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
