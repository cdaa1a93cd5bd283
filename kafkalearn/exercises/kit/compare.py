"""Compare an answer that is a value with the right one, in whatever reasonable form it comes.

First the reasonable ways to write one answer, then comparing one, then `Value`, which judges a whole answer by parts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import MISSING, dataclass, fields, is_dataclass
from fractions import Fraction
from functools import cache
from typing import Any, TypeAlias, TypeGuard

from kafkalearn.exercises.kit.given import GivenFunction, LabelledValues, Strange, taken
from kafkalearn.exercises.kit.result import (
    ERROR,
    NOT_ATTEMPTED,
    RIGHT,
    WRONG,
    Result,
    Sentence,
    finished,
    joined,
    kind_of,
    names,
    ours,
    say,
)

_YES_OR_NO = {"yes": True, "y": True, "true": True, "no": False, "n": False, "false": False}
_NUMBER = re.compile(r"[-+]?(\d+|\d{1,3}(?:[ ,_]\d{3})+)(\.\d+)?(e[-+]?\d{1,3})?( ?%)?", re.IGNORECASE)
_LONGEST_NUMBER = 400  # characters; Python itself reads no more than 4,300 digits
_LONGEST_LIST = 10_000  # characters of a text that lists the members of a set


def only_one(value: object) -> object:
    """The one value in a list, tuple or set of one; anything else as it is.

    >>> only_one({"a"}), only_one(["a", "b"])
    ('a', ['a', 'b'])
    """
    if isinstance(value, list | tuple | set | frozenset) and len(value) == 1:
        return next(iter(value))
    return value


def as_number(value: object) -> object:
    """Parse a number from text; anything else is returned unchanged.

    >>> [as_number(text) for text in ("12", "1,200", "2_500", "0.25", "25 %", "twelve")]
    [12, 1200, 2500, 0.25, 0.25, 'twelve']
    """
    text = value.strip() if isinstance(value, str) and len(value) <= _LONGEST_NUMBER else ""
    if not _NUMBER.fullmatch(text):
        return value
    digits = re.sub("[ ,_%]", "", text)
    if text.endswith("%"):
        return float(Fraction(digits) / 100)
    return int(digits) if re.fullmatch(r"[-+]?\d+", digits) else float(digits)


def as_yes_or_no(value: object) -> object:
    """Parse True or False from text; anything else is returned unchanged.

    >>> as_yes_or_no("Yes"), as_yes_or_no("false"), as_yes_or_no("perhaps")
    (True, False, 'perhaps')
    """
    return _YES_OR_NO.get(value.strip().rstrip(".").lower(), value) if isinstance(value, str) else value


def plain_name(value: object) -> object:
    """Normalise a name: upper case, dots, underscores, hyphens, commas, blanks.

    >>> plain_name("max.poll.records") == plain_name("MAX_POLL_RECORDS")
    True
    """
    return re.sub(r"[\s._,'\"`-]", "", value).casefold() if isinstance(value, str) else value


def as_members(value: object, expected: Iterable[object]) -> object:
    """A list of what should be a set: of a text what it lists, of one value that value; a dict as it is.

    So is a text of more characters than any set here needs.

    >>> as_members("a, c and d", {"a", "b"}), as_members("acd", {"a", "b"}), as_members("7 8", {7})
    (['a', 'c', 'd'], ['a', 'c', 'd'], ['7', '8'])
    """
    if isinstance(value, list | tuple | set | frozenset):
        return list(value)
    if isinstance(value, str) and len(value) <= _LONGEST_LIST:
        words = [word for word in re.split(r"[\s,;{}\[\]()'\"]+|\band\b", value) if word]
        are_letters = all(isinstance(each, str) and len(each) == 1 for each in expected)
        return [letter for word in words for letter in word] if are_letters else words
    return [value] if isinstance(value, int | float) and not isinstance(value, bool) else value


def named(given: Mapping[object, object], known: Iterable[object]) -> dict[object, object]:
    """A dict whose names are those that are known, wherever they are only written differently.

    >>> named({"Empty_Key": 1, "20": 2, "other": 3}, ["empty key", 20])
    {'empty key': 1, 20: 2, 'other': 3}
    """
    by_plain_name = {_as_text(name): name for name in known}
    return {
        name if name in by_plain_name.values() else by_plain_name.get(_as_text(name), name): part
        for name, part in given.items()
    }


def as_events(answer: object) -> object:
    """A list of events, whether it came as a tuple, or with a class where the event is without arguments.

    >>> from kafkalearn.delivery import RequestArrived, Send
    >>> as_events((Send, RequestArrived()))
    [Send(record_count=1, values=()), RequestArrived()]
    """
    if not isinstance(answer, list | tuple):
        return answer
    return [_made(each) for each in answer]


def _made(event: object) -> object:
    if not (isinstance(event, type) and is_dataclass(event)):
        return event
    has_all = all(each.default is not MISSING or each.default_factory is not MISSING for each in fields(event))
    return event() if has_all else event


def as_settings(answer: object) -> Any:
    """Settings with Kafka's own names and values, written as in Python or as in a properties file.

    >>> as_settings({"Enable_Idempotence": "true", "min.insync.replicas": "2", "acks": "ALL"})
    {'enable.idempotence': True, 'min.insync.replicas': 2, 'acks': 'all'}
    """
    if not isinstance(answer, dict):
        return answer
    return {_setting_name(name): _setting_value(value) for name, value in answer.items()}


def _setting_name(name: object) -> object:
    return re.sub(r"[\s_-]+", ".", name.strip().lower()) if isinstance(name, str) else name


def _setting_value(value: object) -> object:
    formed = as_yes_or_no(as_number(value))
    return formed.strip().lower() if isinstance(formed, str) else formed


def _as_text(name: object) -> object:
    return plain_name(str(name) if type(name) is int and abs(name) < 10**18 else name)


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
    if isinstance(value, list | tuple | set | frozenset):
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


_ONE = ""  # the name of the only part of an answer that has no parts


@dataclass(frozen=True, slots=True)
class Value:
    """Judges a value by the one that the library computes.

    Parameters
    ----------
    expected : callable
        Computes what is right, when it is asked for: a number, a text, bytes, True or False, a set; or a dict or a
        tuple of such parts. Its type says which forms of an answer are taken, see `compare`.
    within : float
        How far off a number that is not whole may be.

    Examples
    --------
    >>> partition_and_broker = Value(lambda: {"partition": 9, "broker": 1})
    >>> partition_and_broker.judge({"partition": 9, "broker": 0})
    Not right yet. Right: 'partition'. Not right: 'broker'.
    """

    expected: Callable[[], object]
    within: float = 0.0

    def judge(self, answer: object) -> Result:
        """The result of `answer`, part by part."""
        answer, expected = taken(answer), _computed(self.expected)
        if is_blank(answer):
            return Result(NOT_ATTEMPTED)
        wanted, given = _parts(expected), _given_parts(answer, expected)
        if isinstance(given, Sentence):
            return Result(ERROR, (finished(given),))
        return _result({name: compare(given.get(name), part, self.within) for name, part in wanted.items()})

    def matches(self, answer: object, wrong: object) -> bool:
        """Whether the answer makes the mistake `wrong`; of a dict with parts only the parts it names count."""
        wanted, given = _parts(wrong), _given_parts(taken(answer), _computed(self.expected))
        if isinstance(given, Sentence):
            return False
        return all(compare(given.get(name), part, self.within).outcome == RIGHT for name, part in wanted.items())


@cache
def _computed(expected: Callable[[], object]) -> object:
    return expected()


def _parts(value: object) -> dict[object, object]:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple):
        return dict(enumerate(value, start=1))
    return {_ONE: value}


def _given_parts(answer: object, expected: object) -> dict[object, object] | Sentence:
    """The parts of the answer by name; or, where it has other parts than asked for, a sentence that says so."""
    if isinstance(expected, tuple):
        if isinstance(answer, list | tuple) and len(answer) == len(expected):
            return dict(enumerate(answer, start=1))
        came = f"has {len(answer)} of them" if isinstance(answer, list | tuple) else f"is {kind_of(answer)}"
        return say(f"{len(expected)} parts are wanted, as a tuple or a list, and {{}} {came}", answer)
    if not isinstance(expected, Mapping):
        return {_ONE: answer}
    if isinstance(answer, LabelledValues):
        answer = answer.by_label
    if not isinstance(answer, Mapping):
        return say(f"{{}} is {kind_of(answer)}, and a dict with the parts {{}} is wanted", answer, names(expected))
    given = named(answer, expected)
    if unknown := [name for name in given if name not in expected]:
        return say("the answer has no part {}; its parts are {}", names(unknown), names(expected))
    return given


def _result(verdicts: dict[object, Verdict]) -> Result:
    by_outcome = {
        outcome: [name for name, verdict in verdicts.items() if verdict.outcome == outcome]
        for outcome in (RIGHT, WRONG, NOT_ATTEMPTED, ERROR)
    }
    reasons = tuple(_reason(name, verdict.reason) for name, verdict in verdicts.items() if verdict.reason)
    if _ONE in verdicts:
        return Result(verdicts[_ONE].outcome, reasons)
    said = (
        (RIGHT, "Right: {}."),
        (WRONG, "Not right: {}."),
        (NOT_ATTEMPTED, "Still open: {}."),
        (ERROR, "Cannot be checked: {}."),
    )
    summary = joined(say(text, names(by_outcome[outcome])) for outcome, text in said if by_outcome[outcome])
    worst = next(outcome for outcome in (ERROR, WRONG, NOT_ATTEMPTED, RIGHT) if by_outcome[outcome])
    return Result(worst) if worst == RIGHT else Result(worst, (summary, *reasons))


def _reason(name: object, reason: Sentence) -> Sentence:
    return finished(reason) if name == _ONE else say("{}: {}.", name, reason)
