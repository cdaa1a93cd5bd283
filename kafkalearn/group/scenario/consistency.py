"""Whether the lines of a scenario fit together: who is named joins, nobody joins twice, topics are there and grow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import TypeAlias

from kafkalearn.group.world.events import (
    Crashes,
    CrashesAndReturns,
    Created,
    Deleted,
    Grows,
    Joins,
    Leaves,
    Restarts,
    ScenarioEvent,
    Subscribes,
    TopicEvent,
)
from kafkalearn.group.world.subscriptions import Subscription

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
    of_events = [(number, line, event.member) for number, line, event in events if not isinstance(event, TopicEvent)]
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


def topics_that_are_wrong(
    events: Sequence[Line], topics: Mapping[str, int], subscribed: Iterable[tuple[int, str, Subscription]] = ()
) -> list[Wrong]:
    """The lines in which a topic changes that is not there, is created twice or does not grow, or has no such name.

    `subscribed` are further lines with what somebody subscribes to in each of them.
    """
    counts = dict(topics) or {"orders": 6}
    wanted = [*subscribed, *((number, line, each.to) for number, line, each in events if isinstance(each, Subscribes))]
    unknown = _unknown_topics(wanted, [*counts, *(each.topic for _, _, each in events if isinstance(each, Created))])
    return [*islice(_wrong_changes(events, counts), MOST_NAMED), *islice(unknown, MOST_NAMED)]


def _wrong_changes(events: Sequence[Line], counts: dict[str, int]) -> Iterator[Wrong]:
    so_far = set(counts)
    for number, line, event in _in_time(events):
        match event:
            case Created(topic=topic, partition_count=count):
                if topic in so_far:
                    yield number, line, f"there is or was a topic {topic!r}; give the new one a name of its own"
                so_far.add(topic)
                counts[topic] = count
            case Grows(topic=topic) | Deleted(topic=topic) if topic not in counts:
                yield number, line, f"there is no topic {topic!r}; there are: {', '.join(counts)}"
            case Grows(topic=topic, partition_count=count):
                if count <= counts[topic]:
                    yield number, line, f"{topic} has {counts[topic]} partitions then, and topics can only grow"
                counts[topic] = max(count, counts[topic])
            case Deleted(topic=topic):
                del counts[topic]


def _unknown_topics(wanted: Iterable[tuple[int, str, Subscription]], known: Sequence[str]) -> Iterator[Wrong]:
    for number, line, subscription in wanted:
        for topic in subscription.topics:
            if topic not in known:
                near = get_close_matches(topic, known, 1, 0.5)
                hint = f"did you mean {near[0]!r}?" if near else f"write: topic {topic} has 6 partitions"
                yield number, line, f"there is never a topic {topic!r}; {hint}"


def _in_time(events: Sequence[Line]) -> list[Line]:
    return sorted(events, key=lambda each: each[2].at_ms)
