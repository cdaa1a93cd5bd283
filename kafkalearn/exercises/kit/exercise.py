"""What every exercise can do: ask, check, hint, solve.

An exercise is a question with a way to judge an answer (`compare.Value`, `functions.Function`, `functions.Having`,
`functions.Open`, `game.Game`), hints, the reasoning, and the wrong answers that are to be expected, each with the
sentence that corrects it. The only thing it remembers is how far the student is.

Texts stand beside their judge, and not in a data file as the questions of `kafkalearn.predictions` do: about a hundred
are computed from the values that are judged, and a cure is read with the wrong answer that it is for.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from kafkalearn.exercises.kit.compare import Value
from kafkalearn.exercises.kit.functions import Function
from kafkalearn.exercises.kit.game import Game
from kafkalearn.exercises.kit.given import taken
from kafkalearn.exercises.kit.result import ERROR, NOT_ATTEMPTED, RIGHT, WRONG, Note, Result, as_words
from kafkalearn.exercises.progress.record import Entry, encoded, keep, kept


class Judge(Protocol):
    """A way to judge answers."""

    def judge(self, answer: object) -> Result:
        """The result of `answer`, without the sentence for a misconception."""

    def matches(self, answer: object, wrong: Any) -> bool:
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
    recognises: Callable[[Any], bool] | None = None


@dataclass(slots=True)
class Progress:
    """How far the student is with one exercise; kept in a file where there is one for it."""

    exercise: str = ""  # "01.same_partition", once it belongs to a chapter
    _entry: Entry | None = None  # None: not asked for yet
    _answers: set[str] = field(default_factory=set)  # those that were tried in this kernel

    @property
    def entry(self) -> Entry:
        """What is known of it."""
        if self._entry is None:
            self._entry = kept(self.exercise) if self.exercise else Entry()
        return self._entry

    def checked(self, answer: object, result: Result, mistakes: tuple[int, ...] = ()) -> str:
        """Count an answer and the misconceptions in it; empty text, or a sentence why it could not be kept."""
        if result.outcome == NOT_ATTEMPTED:
            return ""
        words, tried = encoded(answer), self.entry
        name = json.dumps(words)
        is_new = result.outcome != ERROR and name not in self._answers
        self._answers.add(name)
        entry = replace(tried, try_count=tried.try_count + is_new)
        return self._keep(entry | replace(entry, outcome=result.outcome, answer=words, mistakes=mistakes))

    def hint_taken(self, most: int) -> int:
        """Count a hint; which one it is, the last again when there are no more."""
        entry = replace(self.entry, hint_count=min(self.entry.hint_count + 1, most))
        self._keep(entry)
        return entry.hint_count

    def solution_seen(self) -> None:
        """Note that the solution was looked at, if there is no right answer yet."""
        if not self.entry.is_done:
            self._keep(replace(self.entry, has_seen_solution=True))

    def forget(self) -> None:
        """Reset in this kernel; a file keeps what it has."""
        self._entry, self._answers = Entry(), set()

    def _keep(self, entry: Entry) -> str:
        self._entry = entry
        return keep(self.exercise, entry) if self.exercise else ""


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
    hints : tuple of str
        From a nudge to nearly the answer.
    reasoning : str
        The solution, worked out, in Markdown.
    misconceptions : tuple of Misconception
        Wrong answers that are to be expected.
    moral : str
        What a right answer teaches; said with "Right."
    solve : callable
        Gives an answer that is right, by the rules of the library; left out where the judge has one (a value, the
        rule beside which a function runs, the best line of a game).
    progress : Progress
        Filled in as the student goes.
    """

    name: str
    asks: str
    start: str
    judge: Judge
    hints: tuple[str, ...]
    reasoning: str
    misconceptions: tuple[Misconception, ...] = ()
    moral: str = ""
    solve: Callable[[], object] | None = None
    progress: Progress = field(default_factory=Progress)

    def __post_init__(self) -> None:
        """What the judge knows to be right is the answer that `solve` gives, if none is said."""
        if self.solve is None:
            object.__setattr__(self, "solve", _known_by(self.judge))

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
        answer = taken(answer)
        result = self.judge.judge(answer)
        made = {
            number: each.cure
            for number, each in enumerate(self.misconceptions, 1)
            if result.outcome == WRONG and self._makes(answer, each)
        }
        trouble = self.progress.checked(answer, result, tuple(made))
        if result and self.moral:
            result = result.adding(self.moral)
        result = result.adding(*made.values()) if made else result
        return result.adding(as_words(trouble)) if trouble else result

    def hint(self) -> Note:
        """The next hint; the last one repeats."""
        number = self.progress.hint_taken(len(self.hints))
        return Note(f"Hint {number} of {len(self.hints)}: {self.hints[number - 1]}")

    def solution(self) -> Note:
        """The reasoning, worked out; where an edition for students has none, a sentence that says so."""
        if not self.reasoning:
            return Note("This edition has no solutions: ask your instructor, who has them.")
        self.progress.solution_seen()
        return Note(self.reasoning)

    def _makes(self, answer: object, misconception: Misconception) -> bool:
        if misconception.recognises is None:
            return self.judge.matches(answer, misconception.wrong)
        try:
            return misconception.recognises(answer)
        except Exception:  # an answer of another kind than the mistake is made with
            return False

    def __repr__(self) -> str:
        """What can be done with it."""
        return f"Exercise {self.name}: .question(), .check(answer), .hint(), .solution()"


def _known_by(judge: Judge) -> Callable[[], object]:
    match judge:
        case Value():
            return judge.expected
        case Function():
            return lambda: judge.rule
        case Game():
            return lambda: judge.best
    raise TypeError(f"{type(judge).__name__} knows no right answer: say one, as `solve`")


@dataclass(frozen=True, slots=True)
class Chapter:
    """The exercises of a chapter, in the order they should be done.

    Parameters
    ----------
    title : str
        Its number and its name: ``"01 coordinator"``.
    exercises : tuple of Exercise
        From easy to open.
    """

    title: str
    exercises: tuple[Exercise, ...]

    def __post_init__(self) -> None:
        """Each exercise gets the name under which its progress is kept."""
        for each in self.exercises:
            each.progress.exercise = f"{self.number}.{each.name}"

    @property
    def number(self) -> str:
        """The chapter's number, as text."""
        return self.title.split()[0]

    def all_exercises(self) -> tuple[Exercise, ...]:
        """Every exercise of the chapter, from easy to open."""
        return self.exercises

    def public_names(self) -> list[str]:
        """What a reader uses of the chapter's module, for its `__all__`."""
        return sorted(["all_exercises", "score", *(each.name for each in self.exercises)])

    def score(self) -> Note:
        """How far the student is with each exercise."""
        right = sum(each.progress.entry.outcome == RIGHT for each in self.exercises)
        rows = [_row(each) for each in self.exercises]
        head = ["| exercise | best answer | tries | hints taken | solution seen first |", "|" + " --- |" * 5]
        return Note("\n".join((f"{self.title}: {right} of {len(rows)} right\n", *head, *rows)))


def _row(exercise: Exercise) -> str:
    entry = exercise.progress.entry
    hints = f"{entry.hint_count} of {len(exercise.hints)}"
    seen = "yes" if entry.has_seen_solution else "no"
    return f"| {exercise.name} | {entry.outcome} | {entry.try_count} | {hints} | {seen} |"
