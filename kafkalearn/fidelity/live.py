"""What the rules were last asked of a real broker: releases and dates, written by the runs that asked.

The file beside this module comes from ``python3 run.py live check``, which runs the live tests against a release and
notes, for each rule that they hold, that they have passed, and from ``python3 run.py conform``, which asks random
questions for minutes. No line of it is written by hand.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

FILE = files("kafkalearn.fidelity") / "checked_live.json"


@dataclass(frozen=True, slots=True)
class LiveCheck:
    """One rule, held to a real broker of one release."""

    release: str  # "4.3.1"
    date: str  # "2026-11-22"
    tests: tuple[str, ...]  # file::function, from the root of the repository
    seed: int | None = None  # of requests that were drawn at random; None: none were

    def __str__(self) -> str:
        """Release and date, and the seed if there was one."""
        return f"{self.release} on {self.date}" + ("" if self.seed is None else f", seed {self.seed}")


@dataclass(frozen=True, slots=True)
class ConformCheck:
    """Random questions about a rule, put to a real broker of one release; see docs/conform.md for their differences."""

    release: str  # "4.3.1"
    date: str  # "2026-11-22"
    seed: int
    mechanism: str  # the kind of question
    minutes: float
    cases: int

    def __str__(self) -> str:
        """Release, date and seed, and how many questions there were."""
        return f"{self.release} on {self.date}, seed {self.seed}, {self.cases:,} random cases"


def live_checks(rule: str) -> tuple[LiveCheck, ...]:
    """The real brokers that a rule was held to, by release; none: it was not asked of any.

    >>> [check.release.rpartition(".")[0] for check in live_checks("group id to offsets partition")][-1]
    '4.3'
    >>> live_checks("timing wheels")
    ()
    """
    return _recorded().get(rule, ())


def conform_checks(rule: str) -> tuple[ConformCheck, ...]:
    """The random questions about a rule that real brokers were asked, by mechanism and release; none: it was not asked.

    >>> conform_checks("timing wheels")
    ()
    """
    return tuple(
        ConformCheck(release, each["date"], each["seed"], mechanism, each["minutes"], each["cases"])
        for mechanism, releases in _file().get("conform", {}).items()
        for release, each in releases.items()
        if rule in each["rules"]
    )


def live_text(rule: str) -> str:
    """Both in words, the tests before the random questions, the newest release first; empty if there is none."""
    return "; ".join(map(str, [*reversed(live_checks(rule)), *reversed(conform_checks(rule))]))


@cache
def _file() -> dict[str, Any]:
    return json.loads(FILE.read_text(encoding="utf-8"))


@cache
def _recorded() -> dict[str, tuple[LiveCheck, ...]]:
    recorded = _file()["rules"]
    return {
        rule: tuple(
            LiveCheck(release, each["date"], tuple(each["tests"]), each.get("seed")) for release, each in checks.items()
        )
        for rule, checks in recorded.items()
    }
