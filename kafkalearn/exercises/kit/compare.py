"""Comparing what a student gives with what is right; NumPy and pandas values count as what they hold."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Mapping, Set
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from kafkalearn.exercises.kit.result import ERROR, NOT_ATTEMPTED, RIGHT, WRONG


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one value, or one part of an answer, was judged; `reason` explains an error or a near miss."""

    outcome: str
    reason: str = ""


def is_blank(value: object) -> bool:
    """True for what an untouched cell holds: ``...``, None, or a collection of nothing else.

    >>> is_blank(...), is_blank({"a": ..., "b": None}), is_blank([]), is_blank(0)
    (True, True, False, False)
    """
    if isinstance(value, Mapping):
        value = tuple(value.values())
    if isinstance(value, list | tuple):
        return len(value) > 0 and all(is_blank(each) for each in value)
    return value is ... or value is None


def plain(value: object) -> object:
    """The Python value inside a NumPy scalar or array, a pandas Series or a Decimal; anything else as it is.

    >>> import numpy
    >>> plain(numpy.int64(12)), plain(numpy.array([1, 2]))
    (12, [1, 2])
    """
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        return value.tolist()
    if type(value).__name__ in ("NAType", "NaTType"):  # pandas' own "no value"
        return math.nan
    if isinstance(value, Decimal):  # what Spark gives for a column of decimals
        return int(value) if value == value.to_integral_value() else float(value)
    return value


def compare(answer: object, expected: object, within: float = 0.0) -> Verdict:
    """Whether `answer` is `expected`, which is a number, a text, bytes, True, False or a set.

    Parameters
    ----------
    answer : object
        Whatever the student gave.
    expected : object
        What is right; its type says what is allowed.
    within : float
        How far off a number may be, in its own unit.

    Returns
    -------
    Verdict
        Right, wrong, not attempted, or an error with its reason: wrong type, wrong shape, not a number.

    Examples
    --------
    >>> compare(12.0, 12).outcome, compare(13, 12).outcome
    ('right', 'wrong')
    >>> compare("12", 12)
    Verdict(outcome='error', reason="'12' is text, and a whole number is asked for: leave the quotes away")
    """
    if is_blank(answer):
        return Verdict(NOT_ATTEMPTED)
    answer = plain(answer)
    if isinstance(expected, Set):
        return _compare_sets(answer, expected)
    if _is_number(expected):
        return _compare_numbers(answer, expected, within)
    if type(expected) is not type(answer) and not isinstance(answer, type(expected)):
        return Verdict(ERROR, mismatch(answer, expected))
    return Verdict(RIGHT if answer == expected else WRONG)


def _compare_numbers(answer: object, expected: numbers.Real, within: float) -> Verdict:
    if not _is_number(answer):
        return Verdict(ERROR, mismatch(answer, expected))
    if isinstance(answer, float) and math.isnan(answer):
        return Verdict(ERROR, "it is NaN, not a number: some step before had nothing to count or to divide by")
    if isinstance(expected, int) or answer in (math.inf, -math.inf):
        return Verdict(RIGHT if answer == expected else WRONG)
    return Verdict(RIGHT if abs(Fraction(answer) - Fraction(expected)) <= within else WRONG)


def _compare_sets(answer: object, expected: Set) -> Verdict:
    if not isinstance(answer, Set | list | tuple):
        return Verdict(ERROR, mismatch(answer, expected))
    try:
        given = frozenset(plain(each) for each in answer)
    except TypeError as error:  # lists inside, as of a table's rows
        return Verdict(ERROR, f"{shown(answer)} cannot be a set: {error}")
    surplus, missing = len(given - expected), len(expected - given)
    if not surplus and not missing:
        return Verdict(RIGHT)
    return Verdict(WRONG, f"{surplus} of the {len(given)} given do not belong; {missing} are missing")


def _is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def mismatch(answer: object, example: object) -> str:
    """Why an answer is not of the kind of `example`, and what to do where that is known.

    >>> mismatch("3", 12)
    "'3' is text, and a whole number is asked for: leave the quotes away"
    """
    sentence = f"{shown(answer)} is {kind_of(answer)}, and {kind_of(example)} is asked for"
    advice = _advice(answer, example)
    return f"{sentence}: {advice}" if advice else sentence


def _advice(answer: object, example: object) -> str:
    if _is_data_frame(answer):
        return "take the value out of it, for example with .count() or .collect()"
    if hasattr(answer, "asDict"):
        return "take the value out of it: row[0]"
    if callable(answer):
        return "call it and give what it returns"
    looks_like_number = isinstance(answer, str) and answer.strip().lstrip("-").replace(".", "", 1).isdigit()
    return "leave the quotes away" if looks_like_number and _is_number(example) else ""


def _is_data_frame(value: object) -> bool:
    return type(value).__name__ == "DataFrame"  # of Spark or of pandas, neither of which is imported here


def kind_of(value: object) -> str:
    """The kind of a value in words.

    >>> kind_of(3), kind_of("3"), kind_of(frozenset()), kind_of(print)
    ('a whole number', 'text', 'a set', 'a function')
    """
    kinds = (
        (bool, "True or False"),
        (numbers.Integral, "a whole number"),
        (numbers.Real, "a number"),
        (str, "text"),
        (bytes, "bytes"),
        (Mapping, "a dict"),
        (Set, "a set"),
    )
    known = next((words for kind, words in kinds if isinstance(value, kind)), None)
    if known is not None:
        return known
    name = type(value).__name__
    if callable(value) and not isinstance(value, tuple) and not _is_data_frame(value):  # Spark's Row can be called
        return "a function"
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def shown(value: object, longest: int = 60) -> str:
    """The value as Python writes it, the same in every run, cut where it is long.

    >>> shown("x" * 255)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx... (255 long)"
    """
    if kind_of(value) == "a function" or _is_data_frame(value):
        return "this"
    text = f"{{{', '.join(sorted(map(repr, value)))}}}" if isinstance(value, Set) and value else repr(value)
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", text)  # an address would be another in the next run
    if len(text) <= longest:
        return text
    size = f" ({len(value)} long)" if hasattr(value, "__len__") else ""
    return f"{text[: longest - 20]}...{size}"
