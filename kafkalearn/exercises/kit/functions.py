"""Answers that are a function the student wrote: they are judged by running them beside the right one."""

from __future__ import annotations

import dis
import inspect
import linecache
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FrameType

from kafkalearn.exercises.kit.compare import compare, is_blank, kind_of, plain, shown
from kafkalearn.exercises.kit.result import ERROR, NOT_ATTEMPTED, RIGHT, WRONG, Result
from kafkalearn.phrases import capitalised

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
        if is_blank(answer) or is_stub(answer):
            return Result(NOT_ATTEMPTED)
        if refused := self._why_not_callable(answer):
            return Result(ERROR, (refused,))
        outcomes = self._outcomes(answer)
        failed = [index for index, outcome in enumerate(outcomes) if not self._is_right(index, outcome)]
        if not failed:
            return Result(RIGHT)
        smallest = outcomes[failed[0]]
        if isinstance(smallest.error, NotImplementedError):
            return Result(NOT_ATTEMPTED)
        if smallest.error is not None:
            return Result(ERROR, (self._explain_error(failed[0], smallest.error, answer),))
        sentence = self._explain_difference(failed, smallest.value)
        if self.unrepaired is not None and self.matches(answer, self.unrepaired):
            return Result(NOT_ATTEMPTED, ("It still does what the faulty code does.", sentence))
        return Result(WRONG, (sentence,))

    def matches(self, answer: object, wrong: Callable[..., object]) -> bool:
        """Whether the answer does in every case what the function `wrong` does."""
        pairs = zip(self._outcomes(answer), self._outcomes(wrong), strict=True)
        return all(_are_alike(given, listed) for given, listed in pairs)

    def _outcomes(self, function: Callable[..., object]) -> list[Outcome]:
        return [_call(function, arguments) for arguments in self.cases]

    def _is_right(self, index: int, outcome: Outcome) -> bool:
        if outcome.error is not None:
            return False
        return compare(outcome.value, self.rule(*self.cases[index])).outcome == RIGHT

    def _why_not_callable(self, answer: object) -> str:
        if not callable(answer):
            return (
                f"{capitalised(shown(answer))} is {kind_of(answer)}, and a function is asked for: "
                "give the function itself, without calling it."
            )
        try:
            inspect.signature(answer).bind(*self.cases[0])
        except TypeError as error:
            return f"The function must take ({', '.join(self.parameters)}): {error}."
        except ValueError:  # some built-in functions do not show their parameters
            return ""
        return ""

    def _case(self, index: int) -> str:
        named = zip(self.parameters, self.cases[index], strict=True)
        return ", ".join(f"{name}={shown(value)}" for name, value in named)

    def _explain_difference(self, failed: list[int], value: object) -> str:
        expected = self.rule(*self.cases[failed[0]])
        forgotten = " (is a `return` missing?)" if value is None else ""
        return (
            f"It fails {len(failed)} of {len(self.cases)} cases. The smallest: for {self._case(failed[0])} "
            f"it gives {shown(value)}{forgotten}, and Kafka gives {shown(expected)}."
        )

    def _explain_error(self, index: int, error: Exception, function: Callable[..., object]) -> str:
        return f"For {self._case(index)} it ends with {type(error).__name__}: {error}{_where(error, function)}."


def is_stub(function: object) -> bool:
    """True for a function whose body is only a docstring, ``...`` or ``pass``.

    >>> def untouched(key):
    ...     '''The partition.'''
    ...     ...
    >>> is_stub(untouched), is_stub(lambda key: 0)
    (True, False)
    """
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        return False
    instructions = list(dis.get_instructions(code))
    names = {each.opname for each in instructions}
    constants = [each.argval for each in instructions if each.opname in ("LOAD_CONST", "RETURN_CONST")]
    return names <= _STUB_INSTRUCTIONS and all(value is None or value is ... for value in constants)


def _call(function: Callable[..., object], arguments: tuple[object, ...]) -> Outcome:
    try:
        return Outcome(value=function(*arguments))
    except Exception as error:  # whatever a student's function raises is the thing to explain
        return Outcome(error=error)


def _are_alike(given: Outcome, listed: Outcome) -> bool:
    if given.error is not None or listed.error is not None:
        return type(given.error) is type(listed.error)
    return plain(given.value) == plain(listed.value)


def _where(error: Exception, function: Callable[..., object]) -> str:
    """Line and text of the student's own code where it happened; empty when there is none to show."""
    home = getattr(function, "__module__", None)
    frames: list[tuple[FrameType, int]] = []
    traceback = error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_globals.get("__name__") == home:
            frames.append((traceback.tb_frame, traceback.tb_lineno))
        traceback = traceback.tb_next
    if not frames:
        return ""
    frame, line_number = frames[-1]
    code = frame.f_code
    text = linecache.getline(code.co_filename, line_number, frame.f_globals).strip()
    return f", in line {line_number - code.co_firstlineno + 1} of {code.co_name}" + (f": `{text}`" if text else "")
