"""Questions with many right answers, judged by what a right one must hold; and open ones, which no program judges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from kafkalearn.errors import KafkaLearnError
from kafkalearn.exercises.kit.compare import is_blank, mismatch
from kafkalearn.exercises.kit.given.intake import taken
from kafkalearn.exercises.kit.result import ERROR, NOT_ATTEMPTED, OPEN, RIGHT, WRONG, Result
from kafkalearn.exercises.kit.sentences import Said, as_words, finished, names, say

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
