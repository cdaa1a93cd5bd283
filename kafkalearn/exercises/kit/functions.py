"""Ways to judge an answer that is more than a value.

`Function` runs a function that the student wrote beside the right one; `Having` judges questions with many right
answers, by what a right one must hold; `Open` is for what no program judges. `FaultyCode` makes find-the-bug exercises
from one source: code with known faults, and each fault's repair as a change of text.
"""

from __future__ import annotations

import dis
import inspect
import linecache
import math
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any, Generic, TypeVar

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.exercises.kit.compare import is_blank, is_same, mismatch
from kafkalearn.exercises.kit.given import GivenFunction, Raised, Spent, taken
from kafkalearn.exercises.kit.result import (
    ERROR,
    NOT_ATTEMPTED,
    OPEN,
    RIGHT,
    WRONG,
    Result,
    Said,
    Sentence,
    as_words,
    finished,
    kind_of,
    names,
    ours,
    say,
    shown,
)

_STUB_INSTRUCTIONS = {"RESUME", "NOP", "LOAD_CONST", "RETURN_CONST", "RETURN_VALUE", "POP_TOP", "CACHE"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one call gave: a value, or the exception that it raised."""

    value: object = None
    error: Exception | None = None


@dataclass(frozen=True, slots=True)
class Function:
    """Judges a function by its answers to the cases.

    Parameters
    ----------
    rule : callable
        Takes the same arguments and answers as Kafka does.
    parameters : tuple of str
        Their names, as the messages show them.
    cases : tuple of tuple
        Arguments to call both with, the smallest first: the first that fails is shown.
    unrepaired : callable or None
        The faulty function that the student is to fix; an answer that does the same is not an attempt.

    Examples
    --------
    >>> double = Function(lambda n: 2 * n, ("n",), ((0,), (1,), (2,)))
    >>> double.judge(lambda n: n * n)
    Not right yet. It fails 1 of 3 cases. The smallest: for n=1 it gives 1, and Kafka gives 2.
    """

    rule: Callable[..., object]
    parameters: tuple[str, ...]
    cases: tuple[tuple[object, ...], ...]
    unrepaired: Callable[..., object] | None = None

    def judge(self, answer: object) -> Result:
        """The result of a function, explained by the smallest case that fails."""
        answer = taken(answer)
        if is_blank(answer) or is_stub(answer):
            return Result(NOT_ATTEMPTED)
        if not isinstance(answer, GivenFunction):
            return Result(ERROR, (_no_function(answer),))
        if refused := answer.refuses(self.cases[0]):
            wanted = as_words(", ".join(self.parameters))
            return Result(ERROR, (say("The function must take ({}): {}.", wanted, as_words(refused)),))
        outcomes = self._outcomes(answer)
        failed = [index for index, outcome in enumerate(outcomes) if not self._is_right(index, outcome)]
        if not failed:
            return Result(RIGHT)
        smallest = outcomes[failed[0]]
        if _name_of(smallest.error) == "NotImplementedError":
            return Result(NOT_ATTEMPTED)
        if smallest.error is not None:
            return Result(ERROR, (say("For {} {}.", self._case(failed[0]), how_it_ends(smallest.error)),))
        sentence = self._explain_difference(failed, smallest.value)
        if self.unrepaired is not None and self.matches(answer, self.unrepaired):
            return Result(NOT_ATTEMPTED, ("It still does what the faulty code does.", sentence))
        return Result(WRONG, (sentence,))

    def matches(self, answer: object, wrong: Callable[..., object]) -> bool:
        """Whether the answer does in every case what the function `wrong` does."""
        answer = taken(answer)
        if not isinstance(answer, GivenFunction) or answer.spent:
            return False
        pairs = zip(self._outcomes(answer), self._outcomes(wrong), strict=True)
        return all(_are_alike(given, listed) for given, listed in pairs)

    def _outcomes(self, function: Callable[..., object]) -> list[Outcome]:
        return [_call(function, arguments) for arguments in self.cases]

    def _expected(self, index: int) -> object:
        return self.rule(*deepcopy(self.cases[index]))

    def _is_right(self, index: int, outcome: Outcome) -> bool:
        return outcome.error is None and is_same(outcome.value, self._expected(index))

    def _case(self, index: int) -> Sentence:
        named = zip(self.parameters, self.cases[index], strict=True)
        return as_words(", ".join(f"{name}={shown(value)}" for name, value in named))

    def _explain_difference(self, failed: list[int], value: object) -> Sentence:
        forgotten = " (is a `return` missing?)" if value is None else ""
        return say(
            f"It fails {len(failed)} of {len(self.cases)} cases. The smallest: for {{}} it gives {{}}{forgotten}, "
            "and Kafka gives {}.",
            self._case(failed[0]),
            value,
            self._expected(failed[0]),
        )


def _no_function(answer: object) -> Sentence:
    advice = "give the function itself, without calling it"
    return say(f"{{}} is {kind_of(answer)}, and a function is wanted: {advice}.", answer)


def how_it_ends(error: Exception) -> Sentence:
    """What a student's function raised, and where; or which bound it reached.

    >>> how_it_ends(ZeroDivisionError("division by zero")).plain
    'it ends with ZeroDivisionError: division by zero'
    """
    if isinstance(error, Spent):
        return ours(f"it {error}")
    place = error.place if isinstance(error, Raised) else None
    ended = say("it ends with {}: {}", as_words(_name_of(error)), as_words(str(error)))
    if place is None:
        return ended
    at = say("{}, in line {} of {}", ended, place.line, as_words(place.function))
    return say("{}: {}", at, as_words(place.text)) if place.text else at


def _name_of(error: Exception | None) -> str:
    return type(error).__name__


def is_stub(function: object) -> bool:
    """True for a function whose body is only a docstring, ``...`` or ``pass``.

    >>> def untouched(key):
    ...     '''The partition.'''
    ...     ...
    >>> is_stub(untouched), is_stub(lambda key: 0)
    (True, False)
    """
    function = function.function if isinstance(function, GivenFunction) else function
    code = function.__code__ if type(function) is FunctionType else None
    if not isinstance(code, CodeType):
        return False
    instructions = list(dis.get_instructions(code))
    names = {each.opname for each in instructions}
    constants = [each.argval for each in instructions if each.opname in ("LOAD_CONST", "RETURN_CONST")]
    return names <= _STUB_INSTRUCTIONS and all(value is None or value is ... for value in constants)


def _call(function: Callable[..., object], arguments: tuple[object, ...]) -> Outcome:
    try:
        return Outcome(value=function(*deepcopy(arguments)))
    except Exception as error:  # whatever a student's function raises is the thing to explain
        return Outcome(error=error)


def _are_alike(given: Outcome, listed: Outcome) -> bool:
    if given.error is not None or listed.error is not None:
        return _name_of(given.error) == _name_of(listed.error)
    return is_same(given.value, listed.value)


Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Property(Generic[Answer]):
    """One property of a right answer, and the sentence for an answer without it."""

    holds: Callable[[Answer], bool]
    complaint: Callable[[Answer], Said | str]  # from the answer: what it is or has instead; values only by `say`


def _as_it_is(answer: object) -> object:
    return answer


@dataclass(frozen=True, slots=True)
class Having(Generic[Answer]):
    """Judges an answer by properties, in order; the first that does not hold is named.

    Parameters
    ----------
    example : object
        Any value of the kind that is wanted; another kind is an error.
    properties : tuple of Property
        What must hold. What the library refuses (a KafkaLearnError) is an error with its message.
    form : callable
        Brings an answer into the form that the properties look at, wherever it is only written differently.

    Examples
    --------
    >>> even = Having(2, (Property(lambda n: n % 2 == 0, lambda n: say("{} is odd.", n)),))
    >>> even.judge(7)
    Not right yet. 7 is odd.
    >>> even.judge("seven")
    This cannot be checked. 'seven' is text, and a whole number is wanted.
    """

    example: Answer
    properties: tuple[Property[Answer], ...]
    form: Callable[[object], object] = _as_it_is

    def judge(self, answer: object) -> Result:
        """The result of `answer`: right when every property holds."""
        answer = taken(answer)
        if is_blank(answer):
            return Result(NOT_ATTEMPTED)
        if isinstance(answer, Mapping) and (blank := [name for name, part in answer.items() if is_blank(part)]):
            return Result(NOT_ATTEMPTED, (say("Still open: {}.", names(blank)),))
        formed = self.form(answer)
        if not isinstance(formed, type(self.example)) or isinstance(formed, bool):
            return Result(ERROR, (finished(mismatch(answer, self.example)),))
        try:
            broken = next((each for each in self.properties if not each.holds(formed)), None)
            return Result(RIGHT) if broken is None else Result(WRONG, (broken.complaint(formed),))
        except KafkaLearnError as error:
            return Result(ERROR, (finished(as_words(str(error))),))
        except Exception as error:  # what is inside the answer is of a kind that nobody thought of
            return Result(ERROR, (say("{} cannot be tried: {}.", answer, as_words(_words(error))),))

    def matches(self, answer: object, wrong: object) -> bool:
        """Whether the answer is the listed wrong one; wider mistakes need a predicate of their own."""
        return self.form(taken(answer)) == wrong


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


@dataclass(frozen=True, slots=True)
class Open:
    """Takes a text and judges nothing: the answer is to be compared with the solution, or discussed.

    >>> Open().judge("It depends on what is already running.")
    Noted. No program can judge this one: compare your answer with .solution().
    """

    def judge(self, answer: object) -> Result:
        """The result of `answer`: open, if it is a text with something in it."""
        answer = taken(answer)
        if is_blank(answer) or (isinstance(answer, str) and not answer.strip()):
            return Result(NOT_ATTEMPTED)
        if not isinstance(answer, str):
            return Result(ERROR, (finished(mismatch(answer, "")),))
        return Result(OPEN, ("No program can judge this one: compare your answer with .solution().",))

    def matches(self, answer: object, wrong: object) -> bool:
        """False: an open question knows no wrong answer."""
        return False


@dataclass(frozen=True, slots=True)
class FaultyCode:
    """A function that is wrong in ways that are known.

    Parameters
    ----------
    function : callable
        Its source must run on its own, with `math` alone imported.
    repairs : tuple of (str, str)
        For each fault the text with it and the text without it.

    Examples
    --------
    >>> def half(n):
    ...     return n / 2
    >>> code = FaultyCode(half, (("n / 2", "n // 2"),))
    >>> code.function(5), code.repaired()(5)
    (2.5, 2)
    """

    function: Callable[..., object]
    repairs: tuple[tuple[str, str], ...]

    @property
    def source(self) -> str:
        """The faulty function as text, for the student to copy."""
        return inspect.getsource(self.function)

    def repaired(self, *numbers: int) -> Callable[..., object]:
        """The function with the repairs of these numbers (from 0) made, or with all of them."""
        source = self.source
        for number in numbers or range(len(self.repairs)):
            source = source.replace(*self.repairs[number])
        name = f"<{self.function.__name__} with repairs {numbers or 'all'}>"
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)  # so that it can be shown
        namespace: dict[str, Any] = {"math": math, "__name__": __name__}
        exec(compile(source, name, "exec"), namespace)  # our own text, a few lines changed
        return namespace[self.function.__name__]

    def diff(self) -> str:
        """All repairs in Markdown, as lines taken out and put in."""
        lines = (f"- {faulty.strip()}\n+ {fixed.strip()}" for faulty, fixed in self.repairs)
        return "```diff\n" + "\n\n".join(lines) + "\n```"
