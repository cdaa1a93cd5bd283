"""The nouns of the ledger: a rule, and a check that it has passed."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

LEDGER = files("kafkalearn.fidelity") / "ledger.toml"
"""The file that holds the rules; a rule that is added to kafkalearn is added there."""

WAYS: MappingProxyType[str, str] = MappingProxyType(
    {
        "recording": "what real clusters or clients did, recorded",
        "vectors": "what the real classes answered when run by themselves, recorded",
        "published": "values that the rule's authors publish",
        "equality": "another implementation of the same rule, on the same data",
        "law": "what must hold for every input, tried on generated ones",
        "examples": "cases worked out by hand from the source",
    }
)
"""How a rule can be checked; the first three compare it with something that is not ours."""


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


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule, in the order of the course."""
    rules = tomllib.loads(LEDGER.read_text(encoding="utf-8"))["rule"]
    return tuple(Rule(checks=tuple(Check(**check) for check in each.pop("checks")), **each) for each in rules)
