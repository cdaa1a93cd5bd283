"""The ledger: for each rule, which Kafka it speaks for, what it was checked against, and what it leaves out.

A simulator that is wrong teaches what is wrong. So each rule says here which class or KIP it follows, which releases
it speaks for, and what it was checked against: recordings of real clusters, answers of the real classes, what Kafka's
own unit tests expect, or only laws and examples of our own. The entries are data, in ``ledger.toml``; a test compares
each with the files it names. The column `checked_live` has the real brokers that were asked, with the day; the runs
that ask them write it, in ``checked_live.json``.

>>> print(ledger("coordinator")[0].checks[0])
recording: 300 of data/coordinator.json
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from kafkalearn.base.errors import shown, unknown_name
from kafkalearn.base.tables import text_table

__all__ = [
    "ledger",
    "rows",
    "table",
]


# A rule, and the checks that it has passed.

LEDGER = files("kafkalearn.releases") / "ledger.toml"
"""The file that holds the rules; a rule that is added to kafkalearn is added there."""

WAYS: MappingProxyType[str, str] = MappingProxyType(
    {
        "recording": "what real clusters or clients did, recorded",
        "vectors": "what the real classes answered when run by themselves, recorded",
        "own tests": "what Kafka's own unit tests expect, put down as data",
        "published": "values that the rule's authors publish",
        "equality": "another implementation of the same rule, on the same data",
        "law": "what must hold for every input, tried on generated ones",
        "examples": "cases worked out by hand from the source",
    }
)
"""How a rule can be checked; the first four compare it with something that is not ours."""

ASKED = ("recording", "vectors", "own tests", "published")
"""The ways that compare a rule with something that is not ours; runs with a real broker do so, too."""

WORDS: MappingProxyType[str, str] = MappingProxyType(
    {
        "asked": "real Kafka, its classes or the rule's authors were asked, or another engine that the rule is of",
        "ours": "Kafka has no answer to it: a view, a measure, a search or a program of the course",
        "withdrawn": "Kafka has an answer, and nobody has asked for it: the rule is read, and speaks for no release",
    }
)
"""What stands behind a rule, in a word."""


@dataclass(frozen=True, slots=True)
class Check:
    """One way in which a rule was checked, and the test that does it each time."""

    way: str  # a name in WAYS
    test: str  # file::function, from the root of the repository
    vectors: str = ""  # the recorded file, if there is one
    part: str = ""  # the list in that file that the test goes through
    case_count: int = 0  # how many it holds

    def __str__(self) -> str:
        """The check in a few words: the way, and what the rule was compared with."""
        return f"{self.way}: {self.case_count} of {self.vectors}" if self.vectors else self.way


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that Kafka does, and that kafkalearn claims to do in the same way."""

    name: str
    function: str  # where it is, as one would import it
    versions: str  # the Kafka releases it speaks for
    source: str  # the class, KIP or document that says so
    checks: tuple[Check, ...]
    left_out: str  # what the real thing does and this does not; empty: nothing known
    word: str = ""  # "ours" or "withdrawn", a name in WORDS; empty: it is asked, as the checks show
    because: str = ""  # why it is not asked


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule, in the order of the course."""
    rules = tomllib.loads(LEDGER.read_text(encoding="utf-8"))["rule"]
    return tuple(Rule(checks=tuple(Check(**check) for check in each.pop("checks")), **each) for each in rules)


# The real brokers that the rules were held to.

CHECKED_LIVE = files("kafkalearn.releases") / "checked_live.json"
"""The file that ``python3 run.py live check`` writes, which runs the live tests against a release and notes, for each
rule that they hold, that they have passed, and ``python3 run.py conform``, which asks random questions for minutes. No
line of it is written by hand."""


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

    >>> {"4.3.1", "4.4.0"} <= {check.release for check in live_checks("group id to offsets partition")}
    True
    >>> live_checks("timing wheels")
    ()
    """
    return _live_checks().get(rule, ())


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
    return json.loads(CHECKED_LIVE.read_text(encoding="utf-8"))


@cache
def _live_checks() -> dict[str, tuple[LiveCheck, ...]]:
    return {
        rule: tuple(
            LiveCheck(release, each["date"], tuple(each["tests"]), each.get("seed")) for release, each in checks.items()
        )
        for rule, checks in _file()["rules"].items()
    }


def is_asked(rule: Rule) -> bool:
    """Whether something that is not ours stands behind a rule: a check, a live test or random questions.

    >>> [is_asked(rule) for rule in ledger("assignors.fewest_moves") + ledger("coordinator.look_up")]
    [False, True]
    """
    is_compared = any(check.way in ASKED for check in rule.checks)
    return is_compared or bool(live_checks(rule.name) or conform_checks(rule.name))


def word_of(rule: Rule) -> str:
    """What stands behind a rule: a name in `WORDS`; empty if nothing does and nobody says why.

    >>> [word_of(rule) for rule in ledger("assignors.fewest_moves") + ledger("coordinator.look_up")]
    ['ours', 'asked']
    """
    return rule.word or ("asked" if is_asked(rule) else "")


def ledger(module: str | None = None) -> tuple[Rule, ...]:
    """The rules of a module, or all of them.

    Parameters
    ----------
    module : str or None
        A package or a module by its own name or its whole one, such as ``"coordinator"``, ``"keyless"`` or
        ``"kafkalearn.partitioning.keyless"``; a function's full name is good too.

    Returns
    -------
    tuple of Rule
        In the order of the ledger; `table` makes a text of it, ``pandas.DataFrame(rows(...))`` shows it in a notebook.

    Raises
    ------
    KafkaLearnError
        If no rule is in a module of that name; the nearest names are given.

    Examples
    --------
    >>> [rule.name for rule in ledger("coordinator")][:3]
    ['group id to offsets partition', 'the formulas people write', 'FindCoordinator']
    >>> ledger("kafkalearn.partitioning.keyless.queue_weights")[0].left_out
    'when the sending thread looks, and which broker counts as stalled, are inputs'
    """
    rules = all_rules()
    if module is None:
        return rules
    inner = (module if isinstance(module, str) else shown(module)).removeprefix("kafkalearn.")
    found = tuple(rule for rule in rules if f"{rule.function}.".startswith(f"kafkalearn.{inner}."))
    found = found or tuple(rule for rule in rules if inner in _modules_of(rule))
    if not found:
        raise unknown_name("module", module, dict.fromkeys(part for rule in rules for part in _modules_of(rule)))
    return found


def _modules_of(rule: Rule) -> list[str]:
    """Where a rule is: its package and the modules within, each by its own name."""
    return rule.function.split(".")[1:-1]


def rows(rules: Iterable[Rule]) -> list[dict[str, str]]:
    """The rules as plain rows of text: a key for each field of `Rule`, and the real brokers that it was held to.

    >>> rows(ledger("coordinator.look_up"))[0]["checks"]
    'recording: 300 of data/coordinator.json; law'
    """
    return [
        {
            "name": rule.name,
            "function": rule.function,
            "versions": rule.versions,
            "source": rule.source,
            "checks": "; ".join(map(str, rule.checks)),
            "checked_live": live_text(rule.name),
            "left_out": rule.left_out,
        }
        for rule in rules
    ]


def table(rules: Iterable[Rule]) -> str:
    """The rules as a text table without their sources, which `rows` has.

    >>> print(table(ledger("assignors.fewest_moves")).splitlines()[0].split())
    ['name', 'versions', 'checks', 'checked_live', 'left_out']
    """
    shown = ("name", "versions", "checks", "checked_live", "left_out")
    return text_table({column: row[column] for column in shown} for row in rows(rules))
