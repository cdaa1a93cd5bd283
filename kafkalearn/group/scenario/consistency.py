"""Whether the lines of a scenario fit together: who is named joins, nobody joins twice, topics only grow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import TypeAlias

from kafkalearn.group.world.events import (
    Crashes,
    CrashesAndReturns,
    Grows,
    Joins,
    Leaves,
    Restarts,
    ScenarioEvent,
)

MOST_NAMED = 20  # lines that are wrong: a reader corrects these first

Line: TypeAlias = tuple[int, str, ScenarioEvent]
"""The number of a line, its text, and an event that it stands for."""

Wrong: TypeAlias = tuple[int, str, str]
"""The number of a line, its text, and what is wrong with it."""


def members_that_are_wrong(events: Sequence[Line], named: Iterable[tuple[int, str, str]]) -> list[Wrong]:
    """The lines with a member that never joins, or joins while it is running.

    `named` are further lines with the member that each of them names.
    """
    joined = dict.fromkeys(event.member for _, _, event in events if isinstance(event, Joins))
    of_events = [(number, line, event.member) for number, line, event in events if not isinstance(event, Grows)]
    strangers = _strangers([*of_events, *named], joined)
    return [*islice(strangers, MOST_NAMED), *islice(_joins_while_running(events), MOST_NAMED)]


def _strangers(named: Iterable[tuple[int, str, str]], joined: Mapping[str, None]) -> Iterator[Wrong]:
    for number, line, name in named:
        if name not in joined:
            near = get_close_matches(name, joined, 1, 0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"write: at 0 s: {name} joins"
            yield number, line, f"{name!r} never joins; {hint}"


def _joins_while_running(events: Sequence[Line]) -> Iterator[Wrong]:
    running: dict[str, int] = {}  # since when
    for number, line, event in _in_time(events):
        if isinstance(event, Joins):
            if running.get(event.member, event.at_ms + 1) <= event.at_ms:
                yield number, line, f"{event.member!r} is running already; let it leave or crash before"
            running[event.member] = event.at_ms
        elif isinstance(event, Leaves | Crashes):
            running.pop(event.member, None)
        elif isinstance(event, Restarts | CrashesAndReturns):
            running[event.member] = event.at_ms + event.after_ms


def topics_that_are_wrong(events: Sequence[Line], topics: Mapping[str, int]) -> list[Wrong]:
    """The lines in which a topic grows that is not there, or that has as many partitions already."""
    return list(islice(_wrong_growth(events, dict(topics) or {"orders": 6}), MOST_NAMED))


def _wrong_growth(events: Sequence[Line], counts: dict[str, int]) -> Iterator[Wrong]:
    for number, line, event in _in_time(events):
        if not isinstance(event, Grows):
            continue
        if event.topic not in counts:
            yield number, line, f"there is no topic {event.topic!r}; there are: {', '.join(counts)}"
        elif event.partition_count <= counts[event.topic]:
            yield number, line, f"{event.topic} has {counts[event.topic]} partitions then, and topics can only grow"
        else:
            counts[event.topic] = event.partition_count


def _in_time(events: Sequence[Line]) -> list[Line]:
    return sorted(events, key=lambda each: each[2].at_ms)
