"""The words of a scenario: times, names, verbs, and what each line of something that happens means."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from difflib import get_close_matches

from kafkalearn.group.limits import (
    LONGEST_SCENARIO_MS,
    MOST_CONSUMERS,
    MOST_SCENARIO_EVENTS,
    MOST_SCENARIO_PARTITIONS,
)
from kafkalearn.group.world.events import (
    Crashes,
    CrashesAndReturns,
    Created,
    Deleted,
    Disconnected,
    Grows,
    Joins,
    Leaves,
    Pauses,
    Processing,
    Restarts,
    ScenarioEvent,
    Subscribes,
)
from kafkalearn.group.world.subscriptions import Subscription
from kafkalearn.phrases import shown

DIGITS = "0123456789"
UNITS_MS = {"ms": 1, "s": 1000, "min": 60_000, "h": 3_600_000}
NAME = r"[A-Za-z_][\w.-]*"
TIME = r"([0-9]+(?:\.[0-9]+)?) ?([A-Za-z]+)"
NUMBER = r"([0-9]+(?:\.[0-9]+)?)"
LONGEST_NUMBER = 15  # digits
LONGEST_NAME = 100  # characters


class BadLine(Exception):  # noqa: N818  (it never leaves this package)
    """The reason why one line cannot be read."""


VERBS: dict[str, tuple[str, Callable[..., ScenarioEvent]]] = {
    "joins": (r"", Joins),
    "leaves": (r"", Leaves),
    "crashes": (r"", Crashes),
    "crashes and returns": (rf"after {TIME}", CrashesAndReturns),
    "restarts": (rf"after {TIME}", Restarts),
    "pauses": (rf"for {TIME}", Pauses),
    "works": (rf"(?:for )?{TIME}(?: on one poll)?", Processing),
    "is cut off": (rf"for {TIME}", Disconnected),
    "grows": (r"to ([0-9]+) partitions?", Grows),
    "is created": (r"with ([0-9]+) partitions?", Created),
    "is deleted": (r"", Deleted),
    "subscribes": (r"to (.+)", Subscribes),
}
"""What can happen, and what must follow the verb."""

OTHER_FORMS = {
    **{"join": "joins", "starts": "joins", "start": "joins"},
    **{"leave": "leaves", "closes": "leaves", "close": "leaves", "stops": "leaves", "stop": "leaves"},
    **{"crash": "crashes", "dies": "crashes", "die": "crashes", "crash and return": "crashes and returns"},
    **{"restart": "restarts", "pause": "pauses", "work": "works", "are cut off": "is cut off", "grow": "grows"},
    **{"subscribe": "subscribes"},
}
EXAMPLES = {
    "joins": "c1, c2 join",
    "leaves": "c1 leaves",
    "crashes": "c1 crashes",
    "crashes and returns": "c1 crashes and returns after 10 s",
    "restarts": "c1 restarts after 10 s",
    "pauses": "c1 pauses for 50 s",
    "works": "c1 works 400 s on one poll",
    "is cut off": "c1 is cut off for 20 s",
    "grows": "orders grows to 8 partitions",
    "is created": "topic refunds is created with 4 partitions",
    "is deleted": "topic refunds is deleted",
    "subscribes": "c1 subscribes to orders, refunds (or: to the pattern orders.*)",
}


def times_of(line: str) -> tuple[Sequence[int], str]:
    """The times of a line, and the rest of it: what happens then."""
    head, colon, what = line.partition(":")
    if not colon or not what.strip():
        raise BadLine(f"a colon and what happens are missing; as in: {head.strip()[:40]}: c1 pauses for 50 s")
    if found := re.fullmatch(rf"at {TIME}", head.strip(), re.I):
        return [milliseconds(found[1], found[2])], what.strip()
    if found := re.fullmatch(rf"every {TIME} from {TIME} to {TIME}", head.strip(), re.I):
        every, first, last = (milliseconds(found[at], found[at + 1]) for at in (1, 3, 5))
        if every < 1 or last < first:
            raise BadLine("the distance must be above 0, and the end not before the start")
        times = range(first, last + 1, every)
        if len(times) > MOST_SCENARIO_EVENTS:
            raise BadLine(f"that is {len(times):,} times; a scenario has at most {MOST_SCENARIO_EVENTS:,} events")
        return times, what.strip()
    raise BadLine(
        f"cannot read the time {shown(head.strip())}; as in: at 12 s: ... or every 60 s from 30 s to 300 s: ..."
    )


def events_of(what: str, times: Sequence[int]) -> Iterator[ScenarioEvent]:
    """The events of a line, one for each time and each name."""
    subject, verb, rest = split(what)
    pattern, kind = VERBS[verb]
    found = re.fullmatch(pattern, rest, re.I)
    if found is None:
        raise BadLine(f"after {verb!r} came {shown(rest or 'nothing')}; as in: {EXAMPLES[verb]}")
    if kind in (Grows, Created, Deleted):
        topic = topic_named(subject)
        counts = [whole(each, MOST_SCENARIO_PARTITIONS) for each in found.groups()]
        return (kind(at_ms, topic, *counts) for at_ms in times)
    if kind is Subscribes:
        subscription = subscription_named(found[1])
        return (Subscribes(at_ms, name, subscription) for at_ms in times for name in names(subject))
    more = (milliseconds(found[1], found[2]),) if found.groups() else ()
    who = names(subject)
    if len(who) * len(times) > MOST_SCENARIO_EVENTS:
        raise BadLine(f"that is {len(who) * len(times):,} events; a scenario has at most {MOST_SCENARIO_EVENTS:,}")
    return (kind(at_ms, name, *more) for at_ms in times for name in who)


def split(what: str) -> tuple[str, str, str]:
    """Who, does what, and the rest of it."""
    forms = sorted([*VERBS, *OTHER_FORMS], key=len, reverse=True)
    for form in forms:
        found = re.fullmatch(rf"(.+?) {form}(?: (.*))?", what.rstrip("."), re.I)
        if found:
            return found[1], OTHER_FORMS.get(form, form), found[2] or ""
    words = [word for word in what.split() if re.fullmatch(r"[a-z]+", word) and word not in ("and", "to", "for", "on")]
    for word in words or what.split()[-1:]:
        near = get_close_matches(word, forms, 1, 0.6)
        if near:
            verb = OTHER_FORMS.get(near[0], near[0])
            raise BadLine(f"nobody can {shown(word)}; did you mean {near[0]!r}? As in: {EXAMPLES[verb]}")
    raise BadLine(f"nothing that can happen; there is: {'; '.join(EXAMPLES.values())}")


def topic_named(subject: str) -> str:
    """``topic refunds``, or only its name."""
    return re.sub(r"^topic ", "", subject, flags=re.I)


def subscription_named(words: str) -> Subscription:
    """``orders, refunds`` or ``the pattern orders.*``."""
    if found := re.fullmatch(r"(?:the )?pattern (\S+)", words, re.I):
        return Subscription(pattern=found[1])
    topics = re.split(r", *and | and |, *", words)
    for topic in topics:
        if not re.fullmatch(NAME, topic):
            raise BadLine(
                f"{shown(topic)} is no name of a topic; as in: c1 subscribes to orders, refunds; or: to the pattern "
                "orders.*"
            )
    return Subscription(tuple(topics))


def names(subject: str) -> list[str]:
    """``c1, c2 and c3`` or ``c1 to c5`` as names."""
    first, is_row, last = subject.partition(" to ")
    if is_row and (row := _row(first, last)) is not None:
        return row
    found_names = re.split(r", *and | and |, *", subject)
    for name in found_names:
        if len(name) > LONGEST_NAME or not re.fullmatch(NAME, name):
            raise BadLine(
                f"{shown(name)} is no name of a member; names are one word of at most {LONGEST_NAME} characters, "
                "with commas between: c1, c2 and c3"
            )
    if len(set(found_names)) < len(found_names):
        raise BadLine(f"{shown(subject)} names one member twice")
    return found_names


def _row(first: str, last: str) -> list[str] | None:
    """``c1`` to ``c5``: the names of a row; None: these are no such names."""
    stems = [each.rstrip(DIGITS) for each in (first, last)]
    if not re.fullmatch(NAME, first) or not re.fullmatch(NAME, last) or first == stems[0]:
        return None
    if stems[0] != stems[1] or last == stems[1]:
        raise _no_row(first, last)
    low, high = (whole(each[len(stem) :], 10**LONGEST_NUMBER) for each, stem in zip((first, last), stems, strict=True))
    if high < low:
        raise _no_row(first, last)
    if len(last) > LONGEST_NAME:
        return None
    if high - low >= MOST_CONSUMERS:
        raise BadLine(f"'{first} to {last}' are {high - low + 1:,} members; a scenario has at most {MOST_CONSUMERS:,}")
    return [f"{stems[0]}{place}" for place in range(low, high + 1)]


def _no_row(first: str, last: str) -> BadLine:
    return BadLine(f"{shown(f'{first} to {last}')} is no row of names; as in: c1 to c5")


def whole(digits: str, most: int) -> int:
    """A whole number, of a size that makes sense."""
    if len(digits) > LONGEST_NUMBER or int(digits) > most:
        raise BadLine(f"the number is too large, {most:,} at most: {shown(digits)}")
    return int(digits)


def decimal(written: str) -> Decimal:
    """A number with a point or without, of a size that makes sense."""
    if len(written) > 2 * LONGEST_NUMBER:
        raise BadLine(f"the number is too long, {2 * LONGEST_NUMBER} digits at most: {shown(written)}")
    return Decimal(written)


def milliseconds(amount: str, unit: str) -> int:
    """A time in whole ms."""
    if unit not in UNITS_MS:
        raise BadLine(f"unknown unit {shown(unit)}; times have one of: {', '.join(UNITS_MS)}")
    ms = decimal(amount) * UNITS_MS[unit]
    if ms != int(ms):
        raise BadLine(f"{amount} {unit} is no whole number of ms")
    if ms > LONGEST_SCENARIO_MS:
        raise BadLine(f"{amount} {unit} is too long, {LONGEST_SCENARIO_MS // UNITS_MS['h']} h at most")
    return int(ms)
