"""What every exercise can do: ask, check, hint, solve.

An exercise is a question with a way to judge an answer (`values.Value`, `properties.Having`, `properties.Open`,
`functions.Function`), hints, the reasoning, and the wrong answers that are to be expected, each with the sentence
that corrects it. The only thing it remembers, for as long as the kernel lives, is how far the student is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from kafkalearn.exercises.kit.result import NOT_ATTEMPTED, WRONG, Note, Result


class Judge(Protocol):
    """A way to judge answers."""

    def judge(self, answer: object) -> Result:
        """The result of `answer`, without the sentence for a misconception."""

    def matches(self, answer: object, wrong: object) -> bool:
        """Whether the answer makes the mistake that the answer `wrong` makes."""


@dataclass(frozen=True, slots=True)
class Misconception:
    """A wrong answer that shows what was misunderstood.

    Parameters
    ----------
    wrong : object
        The answer that shows it; of a dict, only the parts that show it.
    cure : str
        The sentence that corrects it.
    recognises : callable or None
        ``recognises(answer)``: whether an answer shows it; without this function, whether it does as `wrong` does.
    """

    wrong: object
    cure: str
    recognises: Callable[[object], bool] | None = None


@dataclass(slots=True)
class Progress:
    """How far the student is with one exercise, in this kernel."""

    outcome: str = NOT_ATTEMPTED  # of the last check
    hint_count: int = 0
    has_seen_solution: bool = False


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Exercise:
    """One exercise of a chapter.

    Parameters
    ----------
    name : str
        As the chapter's module names it.
    asks : str
        The question, in Markdown.
    start : str
        The cell the student begins with; run untouched, it says "not attempted".
    judge : Judge
        How an answer is judged.
    solve : callable
        Gives an answer that is right, by the rules of the library.
    hints : tuple of str
        From a nudge to nearly the answer.
    reasoning : str
        The solution, worked out, in Markdown.
    misconceptions : tuple of Misconception
        Wrong answers that are to be expected.
    moral : str
        What a right answer teaches; said with "Right."
    progress : Progress
        Filled in as the student goes.
    """

    name: str
    asks: str
    start: str
    judge: Judge
    solve: Callable[[], object]
    hints: tuple[str, ...]
    reasoning: str
    misconceptions: tuple[Misconception, ...] = ()
    moral: str = ""
    progress: Progress = field(default_factory=Progress)

    def question(self) -> Note:
        """What is asked."""
        return Note(self.asks)

    def check(self, answer: object = ...) -> Result:
        """Right; wrong, and which part; not attempted; or the error explained.

        Parameters
        ----------
        answer : object
            A value, a dict or tuple of parts, or a function, as the question says. NumPy and pandas values are
            welcome. Without one, or with ``...``, nothing is attempted.

        Returns
        -------
        Result
            True in ``if`` and ``assert`` when the answer is right.
        """
        result = self.judge.judge(answer)
        self.progress.outcome = result.outcome
        if result and self.moral:
            return result.adding(self.moral)
        if result.outcome != WRONG:
            return result
        return result.adding(*(each.cure for each in self.misconceptions if self._makes(answer, each)))

    def hint(self) -> Note:
        """The next hint; the last one repeats."""
        total = len(self.hints)
        self.progress.hint_count = min(self.progress.hint_count + 1, total)
        return Note(f"Hint {self.progress.hint_count} of {total}: {self.hints[self.progress.hint_count - 1]}")

    def solution(self) -> Note:
        """The reasoning, worked out."""
        self.progress.has_seen_solution = True
        return Note(self.reasoning)

    def _makes(self, answer: object, misconception: Misconception) -> bool:
        if misconception.recognises is not None:
            return misconception.recognises(answer)
        return self.judge.matches(answer, misconception.wrong)

    def __repr__(self) -> str:
        """What can be done with it."""
        return f"Exercise {self.name}: .question(), .check(answer), .hint(), .solution()"


@dataclass(frozen=True, slots=True)
class Chapter:
    """The exercises of a chapter, in the order they should be done."""

    title: str
    exercises: tuple[Exercise, ...]

    def all_exercises(self) -> tuple[Exercise, ...]:
        """Every exercise of the chapter, from easy to open."""
        return self.exercises

    def score(self) -> Note:
        """How far the student is with each exercise, in this kernel."""
        done = sum(each.progress.outcome == "right" for each in self.exercises)
        rows = [_row(each) for each in self.exercises]
        head = ["| exercise | last check | hints taken | solution seen |", "| --- | --- | --- | --- |"]
        return Note("\n".join((f"{self.title}: {done} of {len(rows)} right\n", *head, *rows)))


def _row(exercise: Exercise) -> str:
    progress = exercise.progress
    hints = f"{progress.hint_count} of {len(exercise.hints)}"
    return f"| {exercise.name} | {progress.outcome} | {hints} | {'yes' if progress.has_seen_solution else 'no'} |"
