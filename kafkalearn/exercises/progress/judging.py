"""Judge a record again from its answers; what the file claims is not trusted.

`outcome_of` is the judge, in any process and without Jupyter. `judge_apart` lets a process of its own do it for a whole
record, with limits of time and memory; functions run in yet another one, a `sandbox`, if it can be confined.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from kafkalearn import exercises
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.exercises.kit.exercise import Exercise
from kafkalearn.exercises.kit.result import ERROR, NOT_ATTEMPTED
from kafkalearn.exercises.progress.confinement import end_with_parent, limit
from kafkalearn.exercises.progress.processes import Process, received, say
from kafkalearn.exercises.progress.record import FunctionSource, Record, decoded
from kafkalearn.exercises.progress.sandbox import SandboxedFunction, why_none_runs

SECONDS_FOR_ONE, SECONDS_IN_ALL, MEMORY_BYTES = 60, 300, 1 << 30
"""Limits of judging: by the clock for one exercise and for a file, and of a judge's memory."""
UNKNOWN = "no exercise of this course"
TOO_LONG = "took too long, or too much memory"
NOT_RUN = "not run"
"""Outcomes beside those of a check: of an exercise that is not here, of one whose judging did not come to an end, and
of a function that no process could be confined for."""


@cache
def all_exercises() -> Mapping[str, Exercise]:
    """Every exercise of every chapter and every stage of `build`, by the name in a record: ``"01.same_partition"``.

    >>> all_exercises()["01.same_partition"].name
    'same_partition'
    """
    found = [name for _, name, _ in iter_modules(exercises.__path__) if name.startswith("chapter")]
    chapters = [import_module(f"{exercises.__name__}.{name}") for name in (*sorted(found), "build")]
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


def judge_apart(record: Record, *, is_free: bool = False) -> dict[str, str]:
    """The outcome of each exercise of a record, found in a process of its own.

    One that takes too long, or too much memory, is `TOO_LONG`, and the others are judged all the same, until the time
    for a whole file is over.

    Parameters
    ----------
    record : Record
        What was handed in.
    is_free : bool
        Whether functions run also where nothing confines them. Otherwise they are `NOT_RUN` there.
    """
    names = [name for name, entry in record.entries.items() if entry.answer is not None]
    functions = [] if is_free else [name for name in names if has_function(record.entries[name].answer)]
    outcomes = dict.fromkeys(functions if functions and why_none_runs() else [], NOT_RUN)
    ends = time.monotonic() + SECONDS_IN_ALL
    while len(outcomes) < len(names):
        left = {name: record.entries[name].answer for name in names if name not in outcomes}
        outcomes |= _judged_until_it_ends(left, ends, is_free)
    return outcomes | {name: NOT_ATTEMPTED for name in record.entries if name not in outcomes}


def has_function(answer: object) -> bool:
    """Whether there is code in an answer as a record keeps it.

    >>> has_function({"tuple": [1, {"function": "f", "source": "f = len"}]}), has_function("function")
    (True, False)
    """
    waiting = [answer]
    while waiting:
        match waiting.pop():
            case list() as parts:
                waiting += parts
            case dict() as parts:
                if "function" in parts:
                    return True
                waiting += parts.values()
    return False


def _judged_until_it_ends(answers: Mapping[str, object], ends: float, is_free: bool) -> dict[str, str]:
    """The outcomes up to the first one that does not come, which is `TOO_LONG`."""
    outcomes: dict[str, str] = {}
    with Process(__name__, [FREE] if is_free else [], is_leader=True) as process:
        for name, answer in answers.items():
            process.send([name, answer])
            said = process.receive(min(SECONDS_FOR_ONE, max(0.0, ends - time.monotonic())))
            outcomes[name] = said if isinstance(said, str) else TOO_LONG
            if not isinstance(said, str):
                break
    return outcomes


FREE = "free"


def main() -> None:
    """In the process: the outcome of each exercise and answer that it is sent."""
    end_with_parent()
    is_free = FREE in sys.argv
    all_exercises()
    limit(MEMORY_BYTES, SECONDS_IN_ALL)
    for exercise, answer in received():
        say(_outcome(exercise, answer, is_free))


def _outcome(exercise: str, answer: object, is_free: bool) -> str:
    started: list[SandboxedFunction] = []

    def start(source: FunctionSource) -> SandboxedFunction:
        started.append(SandboxedFunction(source, is_free=is_free))
        return started[-1]

    try:
        return outcome_of(exercise, answer, start)
    except MemoryError:
        return TOO_LONG
    finally:
        for each in started:
            each.close()


if __name__ == "__main__":
    main()
