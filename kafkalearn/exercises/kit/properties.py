"""Questions with many right answers, judged by what a right one must hold; and open ones, which no program judges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kafkalearn.errors import KafkaLearnError
from kafkalearn.exercises.kit.compare import is_blank, mismatch, plain
from kafkalearn.exercises.kit.result import ERROR, NOT_ATTEMPTED, OPEN, RIGHT, WRONG, Result
from kafkalearn.phrases import capitalised


@dataclass(frozen=True, slots=True)
class Property:
    """One property of a right answer, and the sentence for an answer without it."""

    holds: Callable[[object], bool]
    complaint: Callable[[object], str]  # from the answer: what it is or has instead


@dataclass(frozen=True, slots=True)
class Having:
    """Judges an answer by properties, in order; the first that does not hold is named.

    Parameters
    ----------
    example : object
        Any value of the kind that is asked for; another kind is an error.
    properties : tuple of Property
        What must hold. What the library refuses (a KafkaLearnError) is an error with its message.

    Examples
    --------
    >>> even = Having(2, (Property(lambda n: n % 2 == 0, lambda n: f"{n} is odd."),))
    >>> even.judge(7)
    Not right yet. 7 is odd.
    >>> even.judge("7")
    This cannot be checked. '7' is text, and a whole number is asked for: leave the quotes away.
    """

    example: object
    properties: tuple[Property, ...]

    def judge(self, answer: object) -> Result:
        """The result of `answer`: right when every property holds."""
        if is_blank(answer):
            return Result(NOT_ATTEMPTED)
        if isinstance(answer, Mapping) and (blank := [name for name, part in answer.items() if is_blank(part)]):
            return Result(NOT_ATTEMPTED, (f"Not attempted yet: {', '.join(map(repr, blank))}.",))
        answer = plain(answer)
        if not isinstance(answer, type(self.example)) or isinstance(answer, bool):
            return Result(ERROR, (f"{capitalised(mismatch(answer, self.example))}.",))
        try:
            broken = next((each for each in self.properties if not each.holds(answer)), None)
        except KafkaLearnError as error:
            return Result(ERROR, (f"{error}.",))
        return Result(RIGHT) if broken is None else Result(WRONG, (broken.complaint(answer),))

    def matches(self, answer: object, wrong: object) -> bool:
        """Whether the answer is exactly the listed wrong one; wider mistakes need a predicate of their own."""
        return plain(answer) == wrong


@dataclass(frozen=True, slots=True)
class Open:
    """Takes a text and judges nothing: the answer is to be compared with the solution, or discussed.

    >>> Open().judge("It depends on what is already running.")
    Noted. No program can judge this one: compare your answer with .solution().
    """

    def judge(self, answer: object) -> Result:
        """The result of `answer`: open, if it is a text with something in it."""
        if is_blank(answer) or (isinstance(answer, str) and not answer.strip()):
            return Result(NOT_ATTEMPTED)
        if not isinstance(answer, str):
            return Result(ERROR, (f"{capitalised(mismatch(answer, ''))}.",))
        return Result(OPEN, ("No program can judge this one: compare your answer with .solution().",))

    def matches(self, answer: object, wrong: object) -> bool:
        """False: an open question knows no wrong answer."""
        return False
