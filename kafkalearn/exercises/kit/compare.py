"""Comparing what a student gives with what is right, in whatever reasonable form it comes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Set
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias, TypeGuard

from kafkalearn.exercises.kit.forms import as_members, as_number, as_yes_or_no, only_one, plain_name
from kafkalearn.exercises.kit.given.function import GivenFunction
from kafkalearn.exercises.kit.given.intake import LabelledValues, Strange, taken
from kafkalearn.exercises.kit.result import ERROR, NOT_ATTEMPTED, RIGHT, WRONG
from kafkalearn.exercises.kit.sentences import Sentence, joined, ours, say
from kafkalearn.exercises.kit.shown import kind_of

Number: TypeAlias = int | float | Fraction


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one value, or one part of an answer, was judged; `reason` explains an error or a near miss."""

    outcome: str
    reason: Sentence | None = None


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


def compare(answer: object, expected: object, within: float = 0.0) -> Verdict:
    """Whether `answer` is `expected`, which is a number, a text, bytes, True, False or a set.

    Parameters
    ----------
    answer : object
        Whatever the student gave. A number may be text, True may be "yes", a name may have other capitals, dots and
        underscores, a set may be a list or a text of its members, one value may be a list of one.
    expected : object
        What is right; its type says what is allowed.
    within : float
        How far off a number may be, in its own unit.

    Returns
    -------
    Verdict
        Right, wrong, not attempted, or an error with its reason: which form is wanted.

    Examples
    --------
    >>> compare(12.0, 12).outcome, compare("12", 12).outcome, compare(13, 12).outcome
    ('right', 'right', 'wrong')
    >>> compare("twelve", 12).reason.plain
    "'twelve' is text, and a whole number is wanted"
    """
    answer = taken(answer)
    if is_blank(answer):
        return Verdict(NOT_ATTEMPTED)
    if isinstance(expected, Set):
        return _compare_sets(answer, expected)
    one = only_one(answer)
    if isinstance(expected, bool):
        one = as_yes_or_no(one)
    elif _is_number(expected):
        return _compare_numbers(as_number(one), expected, within)
    if type(one) is not type(expected):
        return Verdict(ERROR, mismatch(answer, expected))
    return Verdict(RIGHT if plain_name(one) == plain_name(expected) else WRONG)


def is_same(value: object, expected: object) -> bool:
    """Whether a function gave what is right: no other forms here but a list for a tuple or a set, and 12.0 for 12.

    >>> is_same([3, 1], (3, 1)), is_same("3", 3), is_same([2, 1], {1, 2})
    (True, False, True)
    """
    if _is_number(expected):
        return _is_number(value) and value == expected
    if isinstance(expected, list | tuple):
        return isinstance(value, list | tuple) and len(value) == len(expected) and all(map(is_same, value, expected))
    if isinstance(expected, Set):
        return (
            value == expected if isinstance(value, Set) else isinstance(value, list | tuple) and _is_of(value, expected)
        )
    if isinstance(expected, Mapping):
        return (
            isinstance(value, Mapping)
            and value.keys() == expected.keys()
            and all(is_same(value[name], part) for name, part in expected.items())
        )
    return type(value) is type(expected) and value == expected


def _is_of(members: list | tuple, expected: Set) -> bool:
    return len(members) == len(expected) and all(each in members for each in expected)


def _compare_numbers(answer: object, expected: Number, within: float) -> Verdict:
    if not _is_number(answer):
        return Verdict(ERROR, mismatch(answer, expected))
    if isinstance(answer, float) and math.isnan(answer):
        reason = "it is NaN, not a number: some step before had nothing to count or to divide by"
        return Verdict(ERROR, ours(reason))
    if isinstance(expected, int) or answer in (math.inf, -math.inf):
        return Verdict(RIGHT if answer == expected else WRONG)
    return Verdict(RIGHT if abs(Fraction(answer) - Fraction(expected)) <= within else WRONG)


def _compare_sets(answer: object, expected: Set) -> Verdict:
    members = as_members(answer, expected)
    if not isinstance(members, list):
        return Verdict(ERROR, mismatch(answer, expected))
    if strange := [each for each in members if isinstance(each, list | tuple | dict | Set | Strange | GivenFunction)]:
        return Verdict(ERROR, joined([say("{} is in it, and", strange[0]), ours(f"{_wanted(expected)} is wanted")]))
    given = {plain_name(each) for each in _as_numbers(members, expected)}
    wanted = {plain_name(each) for each in expected}
    surplus, missing = len(given - wanted), len(wanted - given)
    if not surplus and not missing:
        return Verdict(RIGHT)
    return Verdict(WRONG, ours(_how_near(len(given), surplus, missing)))


def _as_numbers(members: list, expected: Set) -> list:
    return [as_number(each) for each in members] if all(map(_is_number, expected)) else members


def _how_near(given: int, surplus: int, missing: int) -> str:
    """How many of those given are right, and how many are missing.

    >>> _how_near(2, 0, 1), _how_near(3, 1, 0), _how_near(0, 0, 2)
    ('both are right; one is missing', '2 of the 3 are right, one does not belong; none is missing', '2 are missing')
    """
    gap = "none is missing" if not missing else "one is missing" if missing == 1 else f"{missing} are missing"
    if not given:
        return gap
    right = given - surplus
    if not surplus:
        return f"{'it is' if given == 1 else 'both are' if given == 2 else f'all {given} are'} right; {gap}"
    belongs = "one does not belong" if surplus == 1 else f"{surplus} do not belong"
    if not right:
        return f"{'it does not belong' if given == 1 else f'none of the {given} belongs'}; {gap}"
    return f"{right} of the {given} {'is' if right == 1 else 'are'} right, {belongs}; {gap}"


def _is_number(value: object) -> TypeGuard[Number]:
    return isinstance(value, int | float | Fraction) and not isinstance(value, bool)


def mismatch(answer: object, example: object) -> Sentence:
    """Why an answer is not of the kind of `example`, and what to do where that is known.

    >>> mismatch([1, 2], 12).plain
    '[1, 2] is a list, and a whole number is wanted'
    """
    answer = taken(answer)
    advice = _advice(answer)
    came = say(f"{{}} is {kind_of(answer)}, and", answer)
    return joined([came, ours(f"{_wanted(example)} is wanted{advice and ': '}{advice}")])


def _wanted(example: object) -> str:
    if isinstance(example, bool):
        return "yes or no (True or False)"
    if isinstance(example, Set):
        return (
            'a set such as `{"a", "b"}`' if any(isinstance(each, str) for each in example) else "a set such as `{1, 2}`"
        )
    return "text in quotes" if isinstance(example, str) else kind_of(example)


def _advice(answer: object) -> str:
    kind = kind_of(answer)
    if kind == "a DataFrame":
        return "take the value out of it, for example with `.count()` or `.collect()`"
    if kind in ("a generator", "a map", "a filter", "a zip"):
        return "give `list(...)` of it"
    if kind == "a function":
        return "call it and give what it returns"
    return "take the value out of it, for example with `[0]`" if isinstance(answer, LabelledValues) else ""
