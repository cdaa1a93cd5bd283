"""Events drawn at random: of the classes that a simulator's runs have, one field or more as its annotation allows it.

A value is one that the runs have under that name or anywhere, one near it, or the least and the largest that the
annotation allows. What an event refuses when it is made is drawn again. The same seed draws the same events.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from random import Random
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from kafkalearn.base.checks import MOST_RECORDS, Whole
from kafkalearn.base.errors import KafkaLearnError
from tests.contract.simulator import Simulator

NUMBERS = (0, 1, -1, 2, 3, 10**6, 2**31 - 1, 2**63 - 1)
MANY = 1000  # of what is made one by one, as records and partitions are
WORDS = ("", "x", "orders", "c1", "c2")


class Drawing:
    """Draws events of one simulator, and the settings of its runs."""

    def __init__(self, simulator: Simulator, seed: object) -> None:
        """Look at all of its runs; nothing is drawn yet."""
        self.random = Random(f"{simulator.home}/{seed}")
        self.runs = simulator.runs
        self.pool = [*(event for one in simulator.runs for event in one.events), *simulator.senseless]
        self.known: dict[object, list[object]] = defaultdict(list)  # by the name of a field, and by type
        for event in self.pool:
            self._note(event, "")

    def _note(self, value: object, name: str) -> None:
        for key in (name, type(value)):
            if value not in self.known[key]:
                self.known[key].append(value)
        for inner_name, inner in _parts(value, name):
            self._note(inner, inner_name)

    def settings(self) -> object:
        """The settings of one of the runs."""
        return self.random.choice(self.runs).settings

    def events(self, count: int) -> Iterator[object]:
        """So many events: in the order of a run where chance has it so, as that alone leads far; else any."""
        order = iter(self.random.choice(self.runs).events)
        for _ in range(count):
            event = next(order, None) if self.random.random() < 0.4 else None
            event = self.random.choice(self.pool) if event is None else event
            yield self.varied(event) if self.random.random() < 0.4 else event

    def varied(self, event: Any) -> Any:
        """The same event with one field drawn, or two; itself where no field could be."""
        names = [each.name for each in fields(event) if each.init]
        for name in self.random.sample(names, min(len(names), self.random.choice((1, 1, 2)))):
            drawn = self.value(_hints(type(event))[name], getattr(event, name), name)
            try:
                event = replace(event, **{name: drawn})
            except KafkaLearnError:
                continue
        return event

    def value(self, hint: Any, value: Any, name: str, depth: int = 3) -> Any:
        """A value that the annotation allows, or one that is near: it is refused when the event is made."""
        random, origin, inside = self.random, get_origin(hint), get_args(hint)
        if origin is Annotated:
            bounds = next((each for each in inside[1:] if isinstance(each, Whole)), None)
            if bounds is not None and random.random() < 0.5:
                most = bounds.at_most if bounds.at_most > MOST_RECORDS else min(bounds.at_most, MANY)
                return random.choice((bounds.at_least, bounds.at_least + 1, most))
            return self.value(inside[0], value, name, depth)
        if origin is Literal:
            return random.choice(inside)
        if origin in (Union, UnionType):
            return self.value(random.choice(inside), value, name, depth)
        if hint in (None, NoneType):
            return None
        if hint is bool:
            return random.random() < 0.5
        if hint is int:
            near = (value + random.choice((1, -1)), value * 2) if type(value) is int else ()
            return random.choice((*near, random.choice(NUMBERS), self.one_known(name, int, 1)))
        if hint is str:
            return random.choice((random.choice(WORDS), *[self.one_known(name, str, "")] * 3))
        if isinstance(value, tuple) and depth:
            return self._tuple(value, inside, name, depth - 1)
        if is_dataclass(value) and not isinstance(value, type):
            return self.varied(value)
        return self.one_known(name, type(value), value)

    def one_known(self, name: str, kind: type, default: object) -> object:
        """A value of this type that a run has, under this name if there is one."""
        named = [each for each in self.known[name] if type(each) is kind]
        return self.random.choice(named or self.known[kind] or [default])

    def _tuple(self, value: tuple, inside: tuple, name: str, depth: int) -> tuple:
        if hasattr(value, "_fields"):
            field = self.random.choice(value._fields)
            hint = _hints(type(value)).get(field, type(getattr(value, field)))
            return value._replace(**{field: self.value(hint, getattr(value, field), field, depth)})
        at = self.random.randrange(len(value)) if value else 0
        hint = inside[0] if len(inside) == 2 and inside[1] is Ellipsis else inside[at] if at < len(inside) else object
        one = [self.value(hint, value[at], name, depth)] if value else []
        return self.random.choice(
            ((), value[1:], value[::-1], value + value, (*value[:at], *one, *value[at + 1 :]), (*value, *one))
        )


def _parts(value: Any, name: str) -> Iterator[tuple[str, object]]:
    """What a value is made of, each with the name that it stands under."""
    if is_dataclass(value) and not isinstance(value, type):
        yield from ((each.name, getattr(value, each.name)) for each in fields(value))
    elif hasattr(value, "_fields"):
        yield from zip(value._fields, value, strict=True)
    elif isinstance(value, tuple):
        yield from ((name, each) for each in value)


_HINTS: dict[type, dict[str, Any]] = {}


def _hints(kind: type) -> dict[str, Any]:
    if kind not in _HINTS:
        _HINTS[kind] = get_type_hints(kind, include_extras=True)
    return _HINTS[kind]


class TooMuchWork(BaseException):
    """A step called more functions than it may."""


def calls_of(function: Any, at_most: int) -> int:
    """How many functions a call of this one calls in turn, of Python and of C: the same on every machine.

    Raises
    ------
    TooMuchWork
        At the first one above `at_most`: a loop that never ends calls something in each round.
    """
    count = 0

    def note(frame: object, event: str, _: object) -> None:
        nonlocal count
        if event in ("call", "c_call"):
            count += 1
            if count > at_most:
                raise TooMuchWork

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count
