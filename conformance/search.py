"""Cases drawn by Hypothesis and asked of both; a difference is cut down to the shortest case that still shows it."""

from __future__ import annotations

import atexit
import json
import subprocess
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from hypothesis import HealthCheck, Phase, Verbosity, given
from hypothesis import seed as with_seed
from hypothesis import settings as hypothesis_settings
from hypothesis.errors import Unsatisfiable

from conformance.mechanism import Answer, Case, Mechanism
from kafkalearn.live.errors import NoAnswer
from kafkalearn.live.jars import Release, fetch, start_source
from kafkalearn.live.processes import OPTIONS, class_jars

SHRINK_S = 120.0


class Difference(NamedTuple):
    """A case to which a broker and the simulator give two answers."""

    case: Case
    broker: Answer
    simulator: Answer


class _Found(Exception):  # noqa: N818  (what Hypothesis takes as a case that fails)
    def __init__(self, difference: Difference) -> None:
        super().__init__(difference)
        self.difference = difference


def find_difference(
    mechanism: Mechanism,
    release: str,
    ask: Callable[[Case], Difference | None],
    seed: int,
    case_count: int,
    shrink_s: float = SHRINK_S,
) -> Difference | None:
    """The shortest difference that cases of one seed have shown; None: there was none.

    Parameters
    ----------
    mechanism : Mechanism
        What is asked.
    release : str
        A release line, such as ``"4.3"``.
    ask : callable
        What to do with a case. No case is asked twice. What it raises that is no `Exception` ends the search.
    seed : int
        The same seed draws the same cases.
    case_count : int
        How many are drawn at most.
    shrink_s : float
        How long a difference is cut down; then the shortest until then counts.
    """
    asked: dict[str, Difference | None] = {}
    found_at: list[float] = []

    @with_seed(seed)
    @hypothesis_settings(
        max_examples=case_count,
        database=None,
        deadline=None,
        derandomize=False,
        report_multiple_bugs=False,
        verbosity=Verbosity.quiet,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(mechanism.cases(release))
    def play(drawn: Case) -> None:
        text = text_of(drawn)
        if text not in asked:
            if found_at and time.monotonic() - found_at[0] > shrink_s:
                return
            asked[text] = ask(json.loads(text))
        if asked[text] is not None:
            found_at.append(time.monotonic())
            raise _Found(asked[text])

    try:
        play()
    except _Found as found:
        return found.difference
    except Unsatisfiable:  # every case was passed over
        return None
    return None


def compare(mechanism: Mechanism, release: str, case: Case, broker: Answer) -> Difference | None:
    """The difference between a broker's answer to a case and what the simulator says; None: there is none.

    A simulator that fails has given another answer, too.

    >>> from hypothesis import strategies
    >>> twice = Mechanism("twice", (), lambda _: strategies.integers(), None, lambda release, case, seen: 2 * case)
    >>> compare(twice, "4.3", 3, broker=6), compare(twice, "4.3", 3, broker=7)
    (None, Difference(case=3, broker=7, simulator=6))
    """
    seen = plain(broker)
    try:
        said = plain(mechanism.say(release, case, seen))
    except Exception as error:
        said = {"raised": f"{type(error).__name__}: {error}"}
    return None if said == seen else Difference(case, seen, said)


def plain(value: Any) -> Any:
    """A value as it is when it was written to a file and read again: tuples are lists.

    >>> plain({"offsets": (1, 2)})
    {'offsets': [1, 2]}
    """
    return json.loads(text_of(value))


def text_of(value: Any) -> str:
    """A value as one line of JSON, the same for equal values."""
    return json.dumps(value, sort_keys=True, ensure_ascii=True)


JAVA = Path(__file__).resolve().parent / "java"


class Answering:
    """A Java program NAME.java of this package, running with the jars of a release until this Python ends."""

    def __init__(self, release: Release, name: str) -> None:
        """Start it; its class is compiled as it starts, in about a second."""
        fetch(release)
        program, jars, none = JAVA / f"{name}.java", class_jars(release), subprocess.DEVNULL
        self._process = start_source(program, jars, options=OPTIONS, errors=none, has_own_session=True)
        self._one_at_a_time = Lock()
        atexit.register(self.close)

    def answer(self, line: str) -> str:
        """The answer to a line.

        Raises
        ------
        NoAnswer
            If the program has ended.
        """
        with self._one_at_a_time:
            try:
                self._process.stdin.write(line + "\n")
                self._process.stdin.flush()
            except OSError:
                pass  # it has ended, as the missing answer says
            answer = self._process.stdout.readline()
        if not answer:
            raise NoAnswer(f"the Java program has ended with code {self._process.wait()}; it was asked: {line[:200]}")
        return answer.rstrip("\n")

    def close(self) -> None:
        """End it; its input has ended, and it follows."""
        self._process.stdin.close()
        self._process.kill()
        self._process.wait()


@cache
def answering(line: str, release: Release, name: str) -> Answering:
    """The program for a release line, started at its first use."""
    return Answering(release, name)
