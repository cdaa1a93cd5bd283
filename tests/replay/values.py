"""Values of a recording as ours, and ours in the shape that the recording has."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from functools import cache
from importlib import import_module
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from kafkalearn.base.topic_partition import TopicPartition

OP = "op"  # under which the name of a class stands beside its fields


def named(name: str) -> Any:
    """What a full name stands for, ``"kafkalearn.base.hashing.murmur2"``."""
    module, _, inside = name.rpartition(".")
    return getattr(import_module(module), inside)


def is_record(kind: Any) -> bool:
    """Whether a class has named fields: a dataclass or a NamedTuple."""
    return dataclasses.is_dataclass(kind) or hasattr(kind, "_fields")


def given_fields(kind: Any) -> list[str]:
    """The fields that a record is made from."""
    if dataclasses.is_dataclass(kind):
        return [each.name for each in dataclasses.fields(kind) if each.init]
    return list(kind._fields)


@cache
def hints_of(made: Any) -> dict[str, Any]:
    """The annotations of a class's fields or of a function's parameters."""
    return get_type_hints(made, include_extras=True)


def decoded(value: Any, hint: Any = object) -> Any:
    """A value of JSON as an annotation has it: bytes from hex, a record from its fields by name or in order.

    >>> decoded(["a-1", ["b", 2]], tuple[TopicPartition, ...])
    (TopicPartition(topic='a', partition=1), TopicPartition(topic='b', partition=2))
    >>> decoded({"0": "00ff"}, dict[int, bytes | None])
    {0: b'\\x00\\xff'}
    """
    if get_origin(hint) is Annotated:
        return decoded(value, get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        return _of_a_union(value, get_args(hint))
    inside, kind = get_args(hint), get_origin(hint) or hint
    if kind in (bytes, int) and isinstance(value, str):
        return bytes.fromhex(value) if kind is bytes else int(value)
    if kind is TopicPartition and isinstance(value, str):
        topic, _, partition = value.rpartition("-")
        return TopicPartition(topic, int(partition))
    if is_record(kind) and isinstance(value, dict | list):
        named = value if isinstance(value, dict) else dict(zip(given_fields(kind), value, strict=False))
        hints = hints_of(kind)
        return kind(**{name: decoded(each, hints[name]) for name, each in named.items() if name != OP})
    if kind is Hashable and isinstance(value, list):
        return tuple(decoded(each, Hashable) for each in value)
    if not inside or not isinstance(value, dict | list):
        return value
    if isinstance(value, dict):
        return {decoded(name, inside[0]): decoded(each, inside[-1]) for name, each in value.items()}
    if kind is tuple and inside[-1] is not Ellipsis:
        return tuple(decoded(each, one) for each, one in zip(value, inside, strict=True))
    return tuple(decoded(each, inside[0]) for each in value)


def _of_a_union(value: Any, kinds: Sequence[Any]) -> Any:
    """As the first of the kinds that it can be; of those that it names, if it does."""
    if value is None or (isinstance(value, str) and str in kinds):
        return value
    name, failed = value.get(OP) if isinstance(value, dict) else None, None
    for kind in [kind for kind in kinds if name in (None, getattr(kind, "__name__", ""))]:
        if kind is NoneType or (isinstance(kind, type) and is_record(kind) and not isinstance(value, dict | list)):
            continue
        try:
            return decoded(value, kind)
        except (TypeError, KeyError) as error:
            failed = error
    if name is not None:
        raise LookupError(f"no class {name} with these fields: {value}") from failed
    return value


def look(value: Any, path: str) -> Any:
    """What stands at a path: names of fields, keys and places with dots between; nothing is found in None.

    ``*`` is each of several, ``length`` how many they are, and a class's name the last of them that is of this class.

    >>> look({"a": [{"b": 1}, {"b": 2}]}, "a.*.b"), look([5, 6], "length"), look((2.5, 3), "int"), look((), "int.real")
    ([1, 2], 2, 3, None)
    """
    for place, name in enumerate(names := path.split(".")):
        if value is None:
            return None
        if name == "*":
            rest = ".".join(names[place + 1 :])
            return [look(each, rest) if rest else each for each in value]
        value = _inside(value, name)
    return value


def _inside(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        return value[name] if name in value else value[int(name)]
    if not is_record(type(value)) and isinstance(value, Sequence):
        if name == "length":
            return len(value)
        if name.lstrip("-").isdigit():
            return value[int(name)]
        return next((each for each in reversed(value) if type(each).__name__ == name), None)
    return getattr(value, name)


def shown(value: Any, form: Any = None) -> Any:
    """A value of ours as JSON, in the shape of what is expected: of a record the fields that it names.

    >>> shown({3: (TopicPartition("a", 1), b"x")}, {"3": ["a-0", ""]})
    {'3': ['a-1', '78']}
    >>> shown(TopicPartition("a", 1), {"partition": 0}), shown(TopicPartition("a", 1), ["b", 0])
    ({'partition': 1}, ['a', 1])
    """
    if isinstance(value, Mapping):
        forms = form if isinstance(form, dict) else {}
        return {str(name): shown(each, forms.get(str(name))) for name, each in value.items()}
    if isinstance(form, dict) and value is not None:
        kind = {OP: type(value).__name__} if OP in form else {}
        return kind | {name: shown(look(value, name), each) for name, each in form.items() if name != OP}
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, TopicPartition) and not isinstance(form, list):
        return str(value)
    if dataclasses.is_dataclass(value):
        value = [getattr(value, each.name) for each in dataclasses.fields(value)]
    if isinstance(value, str) or not isinstance(value, Iterable):
        return value
    forms = form if isinstance(form, list) else []
    each_form = [*forms, *[forms[-1] if forms else None] * len(value)]
    found = [shown(each, one) for each, one in zip(value, each_form, strict=False)]
    return in_order(found) if isinstance(value, Set) else found


def in_order(value: Any) -> Any:
    """The same with every list in it sorted, for what has no order."""
    if isinstance(value, dict):
        return {name: in_order(each) for name, each in value.items()}
    return sorted(map(in_order, value), key=json.dumps) if isinstance(value, list) else value


def changed(value: Any) -> Any:
    """Something else of the same shape, with one leaf that is another."""
    if isinstance(value, dict) and value:
        last = [*value][-1]
        return {**value, last: changed(value[last])}
    if isinstance(value, list) and value:
        return [*value[:-1], changed(value[-1])]
    return "something else"
