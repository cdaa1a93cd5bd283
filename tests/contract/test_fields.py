"""What a field may hold is said in its annotation: all else is refused, by the field's name and with what came.

Of every class of events and settings that a run of this folder has. The golden file has the bounds of each, so that
none changes unseen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import pytest

from kafkalearn.base import facts
from kafkalearn.base.checks import LARGEST_LONG, Checked, Whole
from kafkalearn.base.errors import KafkaLearnError, shown
from tests.contract.test_contract import SIMULATORS
from tests.every import every_case
from tests.recorded import expected


def within(value: Any) -> Iterator[Any]:
    """A value, and all that it is made of."""
    yield value
    parts = (getattr(value, each.name) for each in fields(value)) if is_dataclass(value) else value
    for each in parts if is_dataclass(value) or isinstance(value, tuple) else ():
        yield from within(each)


RUNS = [(simulator, one) for simulator in SIMULATORS.values() for one in simulator.runs]
GIVEN = [given for simulator, one in RUNS for given in (one.settings, *one.events, *simulator.senseless)]
EXAMPLES = {type(made): made for given in reversed(GIVEN) for made in within(given) if isinstance(made, Checked)}
"""By class one that a run has."""
OF_ITS_OWN = {
    *(("Cancel", "plan"), ("Execute", "plan"), ("Verify", "plan"), ("Settings", "topics"), ("Settings", "pods")),
    *(("ConsumerGroupHeartbeat", "topics"), ("ConsumerGroupHeartbeat", "owned"), ("OffsetCommit", "partitions")),
    *(("GroupChanged", "members"), ("TopicChanged", "partition_count")),
}
"""Fields about which the class has a sentence of its own; its test has it."""


def hints_of(kind: type) -> dict[str, Any]:
    """The annotations of the fields that are given when one is made."""
    hints = get_type_hints(kind, include_extras=True)
    return {each.name: hints[each.name] for each in fields(kind) if each.init}


def members_of(hint: Any) -> tuple[Any, ...]:
    """The kinds of a union without None; any other hint stands for itself."""
    inside = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    return tuple(each for each in inside if each is not NoneType)


def name_of(check: Any) -> str:
    """The name of a function that validates a field, with the arguments that it is bound to."""
    bound = ", ".join(f"{name}={value}" for name, value in getattr(check, "keywords", {}).items())
    return f"{getattr(check, 'func', check).__name__}({bound})"


def allowed(hint: Any) -> str:
    """What an annotation allows, in words."""
    kinds = members_of(hint)
    if kinds != (hint,):
        return " or ".join([*map(allowed, kinds), *(["None"] if NoneType in get_args(hint) else [])])
    (kind,) = kinds
    inside = get_args(kind)
    if get_origin(kind) is Annotated:
        check = inside[1]
        return f"{check.at_least:,} to {check.at_most:,}" if isinstance(check, Whole) else name_of(check)
    if get_origin(kind) is tuple:
        return f"({', '.join('...' if each is Ellipsis else allowed(each) for each in inside)})"
    return getattr(kind, "__name__", str(kind))


def refused(hint: Any, name: str) -> Iterator[tuple[object, str]]:
    """Values that an annotation does not allow, each with what is said of it."""
    kinds = members_of(hint)
    kind, inside = kinds[0], get_args(kinds[0])
    if len(kinds) > 1 or kind is object or (get_origin(kind) is Annotated and not isinstance(inside[1], Whole)):
        return
    if kind is int or get_origin(kind) is Annotated:
        bounds = Whole(-LARGEST_LONG - 1) if kind is int else inside[1]
        least, most = bounds.at_least - 1, bounds.at_most + 1
        yield least, f"{name} must be at least {bounds.at_least}, got {shown(least)}"
        yield most, f"{name} must be at most {bounds.at_most:,}, got {shown(most)}"
        for other in (True, 2.0, "2", [2], float("nan")):
            yield other, f"{name} must be a whole number of at least {bounds.at_least}, got {type(other).__name__} "
    elif kind is bool:
        yield from ((other, f"{name} must be True or False, got {shown(other)}") for other in (0, "false", [True]))
    elif kind is str:
        yield from ((other, f"{name} must be a str, got {type(other).__name__} {shown(other)}") for other in (7, b"a"))
        yield "a\ud800", f"{name} 'a\\ud800' has a lone surrogate at index 1"
    elif kind is bytes:
        yield "a", f"{name} must be bytes, got str 'a'; encode it first"
    elif kind is float:
        yield float("nan"), f"{name} must be a number"
    elif get_origin(kind) is tuple:
        yield "12", f"{name} must be a list or tuple of values, got str '12'"
        yield {1}, f"{name} must be a list or tuple of values, got set {{1}}"
        if inside[1:] == (Ellipsis,):
            yield from (((wrong,), said) for wrong, said in refused(inside[0], f"{name}[0]"))
        else:
            yield (None,) * (len(inside) + 1), f"{name} must have {len(inside)} members, got {len(inside) + 1}"
    elif isinstance(kind, type):
        yield 7, f"{name} must be {kind.__name__}, got int 7"


@every_case("kind", EXAMPLES, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_what_an_annotation_does_not_allow_is_refused(kind):
    for name, hint in hints_of(kind).items():
        for wrong, said in refused(hint, name):
            words = None if (kind.__name__, name) in OF_ITS_OWN else f"^{re.escape(said)}"
            with pytest.raises(KafkaLearnError, match=words):
                replace(EXAMPLES[kind], **{name: wrong})


def test_the_bounds_of_all_fields_are_those_that_they_were():
    lines = [
        f"{kind.__module__}.{kind.__name__}: {', '.join(f'{name} {allowed(hint)}' for name, hint in hints.items())}"
        for kind in EXAMPLES
        for hints in [hints_of(kind)]
        if hints
    ]
    bounds = "\n".join(sorted(lines))
    assert bounds == expected("fields.txt", bounds)


@every_case("kind", EXAMPLES, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_an_event_takes_lists_and_can_be_compared_and_hashed(kind):
    if issubclass(kind, facts.Event):
        given = {name: getattr(EXAMPLES[kind], name) for name in hints_of(kind)}
        made = kind(**{name: list(value) if type(value) is tuple else value for name, value in given.items()})
        assert made == EXAMPLES[kind]
        assert hash(made) == hash(EXAMPLES[kind])
