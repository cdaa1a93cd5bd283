"""What the tools that record releases share: how recordings differ, how they are written, how lines are ordered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """A line for each entry that is new, gone or another.

    >>> differences({"a": 1, "b": 2}, {"b": 3, "c": 4})
    ['b: 2 -> 3', 'c: new', 'a: gone']
    """
    lines = [
        f"{name}: {json.dumps(old[name])} -> {json.dumps(entry)}" if name in old else f"{name}: new"
        for name, entry in new.items()
        if name not in old or old[name] != entry
    ]
    return lines + [f"{name}: gone" for name in old if name not in new]


def text_of(recorded: Mapping[str, Any], *parts: str) -> str:
    """A recording as JSON, with a line for each entry of some of its parts, which come last; they are dicts or lists.

    >>> print(text_of({"about": "hashes", "answers": {"a": 1, "b": [2, 3]}}, "answers"), end="")
    {
     "about": "hashes",
     "answers": {
      "a": 1,
      "b": [2, 3]
     }
    }
    >>> json.loads(text_of({"about": "cases", "cases": [{"a": 1}], "others": []}, "cases", "others"))
    {'about': 'cases', 'cases': [{'a': 1}], 'others': []}
    """
    rest = json.dumps({name: part for name, part in recorded.items() if name not in parts}, indent=1)
    return (
        f"{rest[:-2]},\n" + ",\n".join(f" {json.dumps(name)}: {_entries(recorded[name])}" for name in parts) + "\n}\n"
    )


def _entries(part: Mapping[str, Any] | list[Any]) -> str:
    begin, end = "{}" if isinstance(part, Mapping) else "[]"
    if isinstance(part, Mapping):
        lines = [f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in part.items()]
    else:
        lines = [f"  {json.dumps(entry)}" for entry in part]
    return "\n".join([begin, ",\n".join(lines), f" {end}"])


def numbers_of(line: str) -> list[int]:
    """What release lines are ordered by, known ones and new ones.

    >>> sorted(["4.10", "4.9"], key=numbers_of)
    ['4.9', '4.10']
    """
    return [int(number) for number in line.split(".")]
