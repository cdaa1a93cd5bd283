"""Judging a record again from its answers: nothing that the file says of itself is believed.

`outcome_of` is the judge, in any process and without Jupyter. `judge_apart` lets a process of its own do it for a whole
record, with limits of time and memory; functions run in yet another one, a `sandbox`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from kafkalearn import exercises
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.exercises.kit.exercise import Exercise
from kafkalearn.exercises.kit.result import ERROR, NOT_ATTEMPTED
from kafkalearn.exercises.progress.processes import Process, received, say
from kafkalearn.exercises.progress.record import FunctionSource, Record, decoded
from kafkalearn.exercises.progress.sandbox import SandboxedFunction, limit, refuse_the_network

SECONDS_FOR_ONE, SECONDS_IN_ALL, MEMORY_BYTES = 60, 600, 4 << 30
UNKNOWN = "no exercise of this course"
TOO_LONG = "took too long, or too much memory"
"""Outcomes beside those of a check: of an exercise that is not here, and of one whose judging did not come to an "
"end."""


@cache
def all_exercises() -> Mapping[str, Exercise]:
    """Every exercise of every chapter, by the name in a record: ``"01.same_partition"``.

    >>> all_exercises()["01.same_partition"].name
    'same_partition'
    """
    found = [name for _, name, _ in iter_modules(exercises.__path__) if name.startswith("chapter")]
    chapters = [import_module(f"{exercises.__name__}.{name}") for name in sorted(found)]
    return {each.progress.exercise: each for chapter in chapters for each in chapter.all_exercises()}


def outcome_of(exercise: str, answer: object, as_function: Callable[[FunctionSource], object]) -> str:
    """The outcome of an answer as a record keeps it.

    Parameters
    ----------
    exercise : str
        Its name in a record.
    answer : object
        As `answers.encoded` wrote it.
    as_function : callable
        Makes a function of its source, wherever it is to run.

    Examples
    --------
    >>> outcome_of("00.predict_coordinator", "1", as_function=None)
    'right'
    """
    known = all_exercises().get(exercise)
    if known is None:
        return UNKNOWN
    if answer is None:
        return NOT_ATTEMPTED
    try:
        given = decoded(answer)
    except (KafkaLearnError, RecursionError):
        return ERROR
    return known.judge.judge(as_function(given) if isinstance(given, FunctionSource) else given).outcome


def judge_apart(record: Record) -> dict[str, str]:
    """The outcome of each exercise of a record, found in a process of its own.

    One that takes too long, or too much memory, is `TOO_LONG`, and the others are judged all the same.
    """
    outcomes: dict[str, str] = {}
    names = [name for name, entry in record.entries.items() if entry.answer is not None]
    while len(outcomes) < len(names):
        left = [name for name in names if name not in outcomes]
        outcomes |= _judged_until_it_ends({name: record.entries[name].answer for name in left})
    return outcomes | {name: NOT_ATTEMPTED for name in record.entries if name not in outcomes}


def _judged_until_it_ends(answers: Mapping[str, object]) -> dict[str, str]:
    """The outcomes up to the first one that does not come, which is `TOO_LONG`."""
    outcomes: dict[str, str] = {}
    with Process(__name__) as process:
        for name, answer in answers.items():
            process.send([name, answer])
            said = process.receive(SECONDS_FOR_ONE)
            outcomes[name] = said if isinstance(said, str) else TOO_LONG
            if not isinstance(said, str):
                break
    return outcomes


def main() -> None:
    """In the process: the outcome of each exercise and answer that it is sent."""
    all_exercises()
    limit(SECONDS_IN_ALL, MEMORY_BYTES)
    refuse_the_network()
    for exercise, answer in received():
        started: list[SandboxedFunction] = []
        say(_outcome(exercise, answer, started))
        for each in started:
            each.close()


def _outcome(exercise: str, answer: object, started: list[SandboxedFunction]) -> str:
    def start(source: FunctionSource) -> SandboxedFunction:
        started.append(SandboxedFunction(source))
        return started[-1]

    try:
        return outcome_of(exercise, answer, start)
    except MemoryError:
        return TOO_LONG


if __name__ == "__main__":
    main()
