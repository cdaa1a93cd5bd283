"""Odd values: of the wrong type, far too large, empty, or written to do harm. The same seed draws the same ones."""

from __future__ import annotations

import collections.abc
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from decimal import Decimal
from fractions import Fraction
from random import Random
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Literal, Union, get_args, get_origin, get_type_hints

INTS = (0, 1, -1, 2, 3, 127, 32_768, 10**6, 10**9, -(10**9), 2**31 - 1, 2**31, -(2**31), 2**32, 2**63 - 1, 2**63)
HUGE = (10**5000, -(10**5000), 2**100_000)
NUMBERS = (0.0, -0.0, 0.5, -1.5, 1e308, 5e-324, float("nan"), float("inf"), float("-inf"), 3 + 4j)
OTHER_NUMBERS = (Decimal("NaN"), Decimal("1E+999999"), Fraction(1, 3))
TEXTS = (
    "",
    " ",
    "0",
    "-1",
    "1e9",
    "none",
    "all",
    "NONE",
    "a\x00b",
    "\ud800",
    "x\udfff",
    "\u202egnp.exe",
    "e\u0301",
    "😀",
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    '"><svg onload=alert(1)>',
    "a|b`c*d_e$f$g",
    "{0.__class__} %s %n",
    "line\nbreak\r\n\ttab",
    "../../etc/passwd",
    "9" * 5000,
    "x" * 100_000,
    "[" * 100_000,
    "a, " * 30_000,
)
BYTES = (b"", b"\x00", b"\xff" * 64, b"\x7f\xff\xff\xff" * 8, bytes(100_000), bytearray(b"key"), memoryview(b"key"))
COLLECTIONS = ([], (), {}, set(), frozenset({1}), [None], ["a", 1], [[]], {"a": None}, {1: 2}, [0] * 10_000)
OBJECTS = (None, None, True, False, object(), object, len, Ellipsis, NotImplemented, range(3))
KINDS = (INTS, INTS, HUGE, NUMBERS, OTHER_NUMBERS, TEXTS, TEXTS, BYTES, COLLECTIONS, OBJECTS)


def odd(random: Random) -> object:
    """Any odd value."""
    if random.random() < 0.01:
        circle: list = []
        circle.append(circle)
        return circle
    return random.choice(random.choice(KINDS))


PLAIN = (bool, int, float, complex, str, bytes, bytearray, list, tuple, dict, set, frozenset, NoneType)
COLLECTED = (list, tuple, dict, set, frozenset, MappingProxyType, Union, UnionType, Literal)


def is_plain(hint: object) -> bool:
    """Whether an annotation speaks of Python's own values alone: there, anything may come.

    An object of the library in its place is another matter: who gives a text for settings is told so by Python.
    """
    if hint in PLAIN or hint is Ellipsis:
        return True
    origin, inside = get_origin(hint), get_args(hint)
    if origin in (Annotated, Literal):
        return origin is Literal or is_plain(inside[0])
    is_collection = origin in COLLECTED or getattr(origin, "__module__", "") == "collections.abc"
    return is_collection and origin is not collections.abc.Callable and all(map(is_plain, inside))


def hints_of(kind: type) -> dict[str, object]:
    """The annotations of a dataclass by field."""
    return get_type_hints(kind, include_extras=True)


def spoilt(random: Random, value: object, hint: object, depth: int = 3) -> object:
    """An odd value in place of `value`, if the annotation speaks of plain ones; else one near it, or `value`.

    Raises
    ------
    KafkaLearnError
        Where an object of the library refuses the odd field that it was to get.
    """
    if is_plain(hint) and (depth == 0 or random.random() < 0.5):
        return odd(random)
    if is_dataclass(value) and not isinstance(value, type):
        return with_odd_field(random, value, depth) if judges_itself(type(value)) else value
    near = _NEAR.get(type(value))
    if near is not None and depth > 0:
        return near(random, value, hint, depth - 1)
    return odd(random) if is_plain(hint) else value


def judges_itself(kind: type) -> bool:
    """Whether a dataclass looks at its fields when one is made; a state or an effect does not."""
    return hasattr(kind, "__post_init__")


def with_odd_field(random: Random, value: object, depth: int = 3) -> object:
    """The same object of the library, but one field of it odd."""
    names = [field.name for field in fields(value) if field.init]
    if not names:
        return value
    name = random.choice(names)
    hint = hints_of(type(value)).get(name)
    return replace(value, **{name: spoilt(random, getattr(value, name), hint, depth - 1)})


def _near_int(random: Random, value: int, *_: object) -> int:
    return random.choice((value + 1, value - 1, -value, value * 1000, value + 2**31))


def _near_text(random: Random, value: str, *_: object) -> str:
    place = random.randint(0, len(value))
    piece = random.choice(("\ud800", "\x00", "<b>", "|", "`", "\n", "", value))
    return random.choice((value[:place] + piece + value[place:], value[:place], value * 100))


def _near_bytes(random: Random, value: bytes, *_: object) -> bytes:
    place = random.randint(0, len(value))
    return random.choice((value[:place], value[:place] + b"\xff" + value[place + 1 :], value * 3, value + b"\x00"))


def _near_sequence(random: Random, value: list | tuple, hint: object, depth: int) -> list | tuple:
    if not value or random.random() < 0.2:
        return type(value)()
    place = random.randrange(len(value))
    inside = next((each for each in get_args(hint) if each is not Ellipsis), None)
    put = random.choice(((), (value[place],) * 2, (spoilt(random, value[place], inside, depth),)))
    return type(value)([*value[:place], *put, *value[place + 1 :]])


def _near_mapping(random: Random, value: Mapping, hint: object, depth: int) -> dict:
    if not value:
        return {}
    key = random.choice([*value])
    kept = {each: value[each] for each in value if each != key}
    of_key, of_value = (*get_args(hint), None, None)[:2]
    if random.random() < 0.3:
        return kept
    new_key = spoilt(random, key, of_key, depth) if random.random() < 0.3 else key
    is_key = isinstance(new_key, str | int | float | bytes | NoneType)
    return {**kept, new_key if is_key else key: spoilt(random, value[key], of_value, depth)}


_NEAR: dict[type, Callable] = {
    int: _near_int,
    str: _near_text,
    bytes: _near_bytes,
    list: _near_sequence,
    tuple: _near_sequence,
    dict: _near_mapping,
    MappingProxyType: _near_mapping,
}
