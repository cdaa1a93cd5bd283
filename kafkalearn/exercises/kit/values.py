"""Answers that are a value, or a few named or numbered parts of which each is a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from kafkalearn.exercises.kit.compare import Verdict, compare, is_blank
from kafkalearn.exercises.kit.forms import named
from kafkalearn.exercises.kit.given.intake import LabelledValues, taken
from kafkalearn.exercises.kit.result import ERROR, NOT_ATTEMPTED, RIGHT, WRONG, Result
from kafkalearn.exercises.kit.sentences import Sentence, finished, joined, names, say
from kafkalearn.exercises.kit.shown import kind_of

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
