"""Answers that are a value, or a few named or numbered parts of which each is a value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kafkalearn.exercises.kit.compare import Verdict, compare, is_blank, kind_of, plain, shown
from kafkalearn.exercises.kit.result import ERROR, NOT_ATTEMPTED, RIGHT, WRONG, Result
from kafkalearn.phrases import capitalised

_ONE = ""  # the name of the only part of an answer that has no parts


@dataclass(frozen=True, slots=True)
class Value:
    """Judges a value by the one that the library computes.

    Parameters
    ----------
    expected : callable
        Computes what is right, when it is asked for: a number, a text, bytes, a set; or a dict or a tuple of such
        parts.
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
        expected = self.expected()
        if is_blank(answer):
            return Result(NOT_ATTEMPTED)
        wanted = _parts(expected)
        given = {_ONE: answer} if _ONE in wanted else _given_parts(answer, expected)
        if isinstance(given, str):
            return Result(ERROR, (given,))
        verdicts = {name: compare(given.get(name), part, self.within) for name, part in wanted.items()}
        return _result(verdicts)

    def matches(self, answer: object, wrong: object) -> bool:
        """Whether the answer makes the mistake `wrong`; of a dict with parts only the parts it names count."""
        wanted = _parts(wrong)
        given = {_ONE: answer} if _ONE in wanted else _given_parts(answer, self.expected())
        if isinstance(given, str):
            return False
        return all(compare(given.get(name), part, self.within).outcome == RIGHT for name, part in wanted.items())


def _parts(value: object) -> dict[object, object]:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple):
        return dict(enumerate(value, start=1))
    return {_ONE: value}


def _given_parts(answer: object, expected: Mapping | tuple) -> dict[object, object] | str:
    """The parts of the answer by name; or, where it has other parts than asked for, a sentence that says so."""
    if isinstance(expected, tuple):
        answer = plain(answer)
        if isinstance(answer, list | tuple) and len(answer) == len(expected):
            return dict(enumerate(answer, start=1))
        came = f"{len(answer)} parts" if isinstance(answer, list | tuple) else kind_of(answer)
        return f"{capitalised(shown(answer))} is {came}, and a tuple of {len(expected)} parts is asked for."
    if hasattr(answer, "to_dict") and hasattr(answer, "dtype"):
        answer = answer.to_dict()  # a pandas Series
    if not isinstance(answer, Mapping):
        came = f"{capitalised(shown(answer))} is {kind_of(answer)}"
        return f"{came}, and a dict with the parts {_names(expected)} is asked for."
    if unknown := [name for name in answer if name not in expected]:
        return f"The answer has no part {_names(unknown)}; its parts are {_names(expected)}."
    return dict(answer)


def _result(verdicts: dict[object, Verdict]) -> Result:
    by_outcome = {
        outcome: [name for name, verdict in verdicts.items() if verdict.outcome == outcome]
        for outcome in (RIGHT, WRONG, NOT_ATTEMPTED, ERROR)
    }
    reasons = tuple(_reason(name, verdict) for name, verdict in verdicts.items() if verdict.reason)
    if _ONE in verdicts:
        return Result(verdicts[_ONE].outcome, reasons)
    said = (
        (RIGHT, "Right: {}."),
        (WRONG, "Not right: {}."),
        (NOT_ATTEMPTED, "Not attempted yet: {}."),
        (ERROR, "Cannot be checked: {}."),
    )
    summary = " ".join(text.format(_names(by_outcome[outcome])) for outcome, text in said if by_outcome[outcome])
    worst = next(outcome for outcome in (ERROR, WRONG, NOT_ATTEMPTED, RIGHT) if by_outcome[outcome])
    return Result(worst) if worst == RIGHT else Result(worst, (summary, *reasons))


def _reason(name: object, verdict: Verdict) -> str:
    return f"{capitalised(verdict.reason)}." if name == _ONE else f"{name!r}: {verdict.reason}."


def _names(names: object) -> str:
    return ", ".join(repr(name) for name in names)
