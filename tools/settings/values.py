"""Defaults and limits as JSON, from the texts that the classes print."""

from __future__ import annotations

import re
from typing import Any

from tools.settings.released import Reading

FORM = re.compile(r"\[-?\d+,\.\.\.,-?\d+\]( or -?\d+)?")
"""A validator's own text that is kept as it is; others that begin as a list are one, or are left out."""

LONGEST_LIST = 12
"""More values than this are releases, which every release adds to; they are left out."""

WHOLE = {"SHORT": 15, "INT": 31, "LONG": 63}
"""The types whose values are whole numbers, and their bits."""


def value_of(default: Any, type_name: str) -> Any:
    """A default as JSON, read as the type that the setting has today, if it can be.

    >>> value_of("delete", "LIST"), value_of("5", "LONG"), value_of("none", "INT"), value_of(5, "LONG")
    (['delete'], 5, 'none', 5)
    """
    if not isinstance(default, str) or default == "(required)":
        return default
    if type_name == "LIST":
        return default.split(",") if default else []
    if type_name == "BOOLEAN" and default in ("true", "false"):
        return default == "true"
    return number_of(default) if type_name in {*WHOLE, "DOUBLE"} else default


def number_of(text: str) -> Any:
    """A number from its text; what is none stays text.

    >>> number_of("14"), number_of("0.5"), number_of("none")
    (14, 0.5, 'none')
    """
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def limit_of(reading: Reading) -> dict[str, Any] | None:
    """The limit as JSON; what every value of the type obeys is none.

    >>> limit_of(Reading("broker", "port", "INT", "value", "9092", "range 0 2147483647", "", ""))
    {'min': 0}
    """
    limit: dict[str, Any] = {}
    how, _, rest = reading.limit.partition(" ")
    if how == "range":
        low, high = map(number_of, rest.split(" "))
        bits = WHOLE.get(reading.type, 0)
        limit |= {"min": low} if low not in ("null", -(2**bits)) else {}
        limit |= {"max": high} if high not in ("null", 2**bits - 1) else {}
    elif how in ("in", "text") and not FORM.fullmatch(rest):
        values = re.split(r",\s*", rest.removeprefix("any case ").strip("[]"))
        if len(values) <= LONGEST_LIST and not any("..." in value or "[" in value for value in values):
            limit["in"] = sorted(values) if rest.startswith("any case ") else values
    elif how == "text":
        limit["text"] = rest
    if reading.not_empty:
        limit["not empty"] = True
    return limit or None


def same_limit(one: dict[str, Any] | None, other: dict[str, Any] | None) -> bool:
    """Whether two limits admit the same; the order of values does not matter."""
    if not one or not other:
        return one == other
    return {**one, "in": sorted(one.get("in", []))} == {**other, "in": sorted(other.get("in", []))}
