"""Build your own coordinator: stages, each some requests and what a real Kafka answered to them.

In a notebook::

    from kafkalearn.exercises import build

    build.question(1)             # what is asked in stage 1
    build.check(MyCoordinator)    # goes through the stages; says at which request it answers otherwise than Kafka
    build.hint(1), build.score()  # one more hint each time; how far one is

The class has a method for each kind of request, `kafkalearn.exercises.build.playing` says how it is called. The same
stages ask a server in any language: ``kafkalearn build --stage 1 localhost:9092``. How far one is is kept and handed in
like the exercises of the chapters; ``docs/build.md`` has all stages for a course.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NoReturn

from kafkalearn.base.errors import KafkaLearnError, counted
from kafkalearn.exercises.build.comparing import LACKS, MOST_LINES, RAISED, Comparison, Difference, told
from kafkalearn.exercises.build.playing import Broker, Came, Step, names_in_python, played
from kafkalearn.exercises.kit.compare import is_blank
from kafkalearn.exercises.kit.exercise import Chapter, Exercise
from kafkalearn.exercises.kit.functions import how_it_ends
from kafkalearn.exercises.kit.given import GivenFunction, Raised, Spent, taken
from kafkalearn.exercises.kit.result import (
    ERROR,
    NOT_ATTEMPTED,
    RIGHT,
    WRONG,
    Note,
    Result,
    Said,
    Sentence,
    as_words,
    kind_of,
    say,
)

__all__ = ["all_exercises", "check", "hint", "question", "score", "solution", "stages"]


@dataclass(frozen=True, slots=True, repr=False)
class Stage:
    """One stage: what is to be done, and what a real Kafka answered."""

    number: int  # from 1
    name: str  # as in a file of progress
    title: str
    chapter: str  # that explains it: "05"
    task: str  # Markdown
    hints: tuple[str, ...]
    rule: str  # Markdown
    release: str  # of the Kafka that was asked
    steps: tuple[Step, ...]  # each with the "answers" that came after it

    def __repr__(self) -> str:
        """Its number and title."""
        return f"Stage {self.number}: {self.title}"

    def script(self) -> list[Step]:
        """The requests alone."""
        return [{name: each for name, each in step.items() if name != "answers"} for step in self.steps]

    def difference(self, comparison: Comparison, difference: Difference, helps: str = "") -> list[Said]:
        """What is said of the first difference: which request it is, what led to it, where to read.

        Parameters
        ----------
        comparison : Comparison
            As far as it came.
        difference : Difference
            The one that it ended with.
        helps : str
            What a reader calls for help where the stage's number stands above already; empty: in a notebook.
        """
        step = difference.step
        what = f"`{step['request']}` of {step['client']}" if "request" in step else "while time passes"
        begin = "" if helps else f"stage {self.number}, *{self.title}*, "
        where = f"{begin}request {difference.number + 1}, {what}: {{}}"
        first = max(0, len(comparison.history) - MOST_LINES)
        return [
            say(where[:1].upper() + where[1:], difference.sentence),
            told(comparison.history[first:], first),
            say(
                "Asked was Kafka {}. Chapter {} explains the rule; {} helps.",
                as_words(self.release),
                as_words(self.chapter),
                as_words(helps or f"build.{'question' if difference.kind == LACKS else 'hint'}({self.number})"),
            ),
        ]


@cache
def stages() -> tuple[Stage, ...]:
    """All stages, in order.

    >>> stages()[0], len(stages()) > 20
    (Stage 1: FindCoordinator: which of three brokers?, True)
    """
    here = files(__name__)
    said = tomllib.loads((here / "stages.toml").read_text(encoding="utf-8"))
    recorded = json.loads((here / "recorded.json").read_text(encoding="utf-8"))
    return tuple(
        Stage(
            number,
            name,
            words["title"],
            words["chapter"],
            words["task"].strip(),
            tuple(words["hints"]),
            words["rule"].strip(),
            recorded["release"],
            tuple(recorded["stages"][name]),
        )
        for number, (name, words) in enumerate(said.items(), 1)
    )


def stage_of(number: int) -> Stage:
    """The stage of a number.

    Raises
    ------
    KafkaLearnError
        If there is none.
    """
    if type(number) is not int or not 1 <= number <= len(stages()):
        raise KafkaLearnError(f"there is no stage {number!r}; there are 1 to {len(stages())}")
    return stages()[number - 1]


@dataclass(frozen=True, slots=True)
class Answers:
    """Judges a function from a script to what came, as `as_function` makes it, by one stage."""

    stage: Stage

    def judge(self, answer: object) -> Result:
        """The result, with the first request that is answered otherwise."""
        answer = taken(answer)
        if is_blank(answer):
            return Result(NOT_ATTEMPTED)
        if not isinstance(answer, GivenFunction):
            return Result(ERROR, (say("{} is {}; give your class itself: {}.", answer, kind_of(answer), _CALL),))
        try:
            came = answer(self.stage.script())
        except (Raised, Spent) as ended:
            return Result(ERROR, (say("Stage {}: it {}.", self.stage.number, how_it_ends(ended)),))
        return self.compared(came)

    def compared(self, came: Any) -> Result:
        """The result of a run, as far as it went; what a process said may be anything."""
        comparison = Comparison(self.stage.steps, names_in_python())
        try:
            found = _first(comparison, came)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError):
            return Result(ERROR, (f"Stage {self.stage.number}: what came is no run of its requests.",))
        if found is None:
            return Result(RIGHT, (f"Stage {self.stage.number}, *{self.stage.title}*: as Kafka answered.",))
        outcome = {LACKS: NOT_ATTEMPTED, RAISED: ERROR}.get(found.kind, WRONG)
        return Result(outcome, tuple(self.stage.difference(comparison, found)))

    def matches(self, answer: object, wrong: object) -> bool:
        """No mistake is known by an answer of its own."""
        return False


_CALL: Sentence = as_words("build.check(MyCoordinator)")


def _first(comparison: Comparison, came: list[list[Came]]) -> Difference | None:
    """The first difference of a run, or None; a run that ends early lacks an answer."""
    for number in range(len(comparison.recorded)):
        found = comparison.take(number, came[number] if number < len(came) else [])
        if found is not None:
            return found
    return None


def as_function(kind: Callable[[Broker], Any]) -> Callable[[list[Step]], list[list[Came]]]:
    """The form in which a class is kept and handed in: a function from a script to what came."""

    def coordinator(script: list[Step]) -> list[list[Came]]:
        return played(kind, script)

    return coordinator


def _not_kept() -> NoReturn:
    raise KafkaLearnError("there is no solution here: the coordinator is yours to write")


def _exercise(stage: Stage) -> Exercise:
    return Exercise(
        name=stage.name,
        asks=f"**Stage {stage.number}: {stage.title}** (chapter {stage.chapter})\n\n{stage.task}",
        start=f"build.check(..., stage={stage.number})",
        judge=Answers(stage),
        hints=stage.hints,
        reasoning=stage.rule,
        solve=_not_kept,
    )


@cache
def _chapter() -> Chapter:
    return Chapter("build Build your own coordinator", tuple(map(_exercise, stages())))


def all_exercises() -> tuple[Exercise, ...]:
    """The stages as exercises, by which progress is kept and handed in."""
    return _chapter().all_exercises()


def check(kind: object = ..., stage: int | None = None) -> Result:
    """Whether a class answers as Kafka did; else the first request that it answers otherwise.

    Parameters
    ----------
    kind : class
        ``kind(broker)`` is a coordinator; see `kafkalearn.exercises.build.playing`.
    stage : int or None
        This stage alone; None: all in order, up to the first that is not right.

    Returns
    -------
    Result
        True in ``if`` and ``assert`` if all that was asked for is right.

    Examples
    --------
    >>> class MyCoordinator:
    ...     def __init__(self, broker):
    ...         self.broker = broker
    ...     def find_coordinator(self, request, reply):
    ...         reply({"errorCode": "NONE", "nodeId": 1})
    >>> print(str(check(MyCoordinator)).splitlines()[0][:84])
    Not right yet. Stage 1, *FindCoordinator: which of three brokers?*, request 2, `Find
    """
    answer = as_function(kind) if callable(kind) else kind
    if stage is not None:
        return _exercise_of(stage).check(answer)
    for number, each in enumerate(all_exercises()):
        result = each.check(answer)
        if not result:
            return result.adding(f"Right so far: {counted(number, 'stage')} of {len(stages())}.") if number else result
    return Result(RIGHT, (f"All {len(stages())} stages are answered as Kafka answered them.",))


def _exercise_of(stage: int) -> Exercise:
    return all_exercises()[stage_of(stage).number - 1]


def question(stage: int) -> Note:
    """What a stage asks."""
    return _exercise_of(stage).question()


def hint(stage: int) -> Note:
    """The next hint of a stage; the last one repeats."""
    return _exercise_of(stage).hint()


def solution(stage: int) -> Note:
    """The rule of a stage, in words."""
    return _exercise_of(stage).solution()


def score() -> Note:
    """How far one is with each stage."""
    return _chapter().score()
