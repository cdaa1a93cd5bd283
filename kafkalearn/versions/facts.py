"""What an upgrade changes beyond settings: facts by release line, each with its source (`upgrades.json`, by hand).

What a recorded jar can show of them, the tests check: which Java it needs, which classes and requests are gone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

from kafkalearn.versions.releases import RELEASES
from kafkalearn.versions.settings import recorded, sides_of

TOUCHED: MappingProxyType[str, tuple[str, ...]] = MappingProxyType(
    {
        "cluster": ("broker",),
        "broker": ("broker",),
        "topic": ("topic",),
        "client": ("consumer", "producer", "admin"),
        "consumer": ("consumer",),
        "producer": ("producer",),
        "admin": ("admin",),
        "tools": (),
    }
)
"""Whom a fact can be about, and whose settings are meant by it."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that is not so any more from a release line on."""

    since: str
    kind: str  # required, gone, refused, behaves or deprecated: see `kafkalearn.versions.upgrade.KINDS`
    who: str  # a name in TOUCHED
    what: str
    text: str  # one sentence
    source: str
    old: str = ""  # of a requirement: what was enough before
    new: str = ""
    until: str = ""  # of a deprecation: the line in which it is carried out


@cache
def all_facts() -> tuple[Fact, ...]:
    """Every recorded fact, oldest first.

    >>> [fact.text for fact in all_facts() if fact.what == "ZooKeeper"]
    ['clusters run with KRaft only; migrate one with ZooKeeper on a release up to 3.9 first']
    """
    names = Fact.__slots__
    rows: Any = recorded("upgrades")["facts"]
    return tuple(Fact(**{name: row[name] for name in names if name in row}) for row in rows)


def facts_between(old: str, new: str) -> tuple[Fact, ...]:
    """What an upgrade from one release line to another meets.

    Of several facts about the same thing the last one counts. A deprecation that is carried out on the way is left
    out: then the thing is gone.
    """
    first, last = RELEASES.index(old), RELEASES.index(new)
    met: dict[tuple[str, str, str], Fact] = {}
    for fact in all_facts():
        if first < RELEASES.index(fact.since) <= last and not (fact.until and RELEASES.index(fact.until) <= last):
            before = met.pop((fact.kind, fact.who, fact.what), fact)
            met[fact.kind, fact.who, fact.what] = _carried_on(fact, before)
    return tuple(met.values())


def _carried_on(fact: Fact, before: Fact) -> Fact:
    """The fact, counted from where an earlier one on the same thing began."""
    return Fact(
        fact.since, fact.kind, fact.who, fact.what, fact.text, fact.source, before.old or fact.old, fact.new, fact.until
    )


@cache
def replacements() -> MappingProxyType[tuple[str, str], tuple[tuple[str, ...], str]]:
    """(name, side) of a setting that is gone -> what to set instead, and the source.

    >>> replacements()["delegation.token.master.key", "broker"]
    (('delegation.token.secret.key',), 'upgrade notes of 4.0')
    """
    rows: Any = recorded("upgrades")["renamed"]
    return MappingProxyType(
        {
            (name, side): (tuple(row["new"]), row["source"])
            for row in rows
            for side in sides_of(row)
            for name in row["old"]
        }
    )
