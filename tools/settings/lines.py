"""Values by release line, as they are recorded: only where they change."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from kafkalearn.releases.lines import RELEASES


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
