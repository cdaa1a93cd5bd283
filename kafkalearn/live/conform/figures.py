"""What conform has done, as a table of the documentation and as an entry of the ledger's file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from kafkalearn.live.conform.progress import Progress
from kafkalearn.live.conform.vectors import NAMED, OPEN, PUT_RIGHT, Vector
from kafkalearn.versions.releases import parse_release

Entries = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""For each mechanism its releases, ``"4.3.1"``, each with date, seed, cases, requests and minutes."""


def entry_of(progress: Progress, rules: Iterable[str], date: str) -> dict[str, Any]:
    """What the ledger's file says of a run."""
    return {
        "date": date,
        "seed": progress.seed,
        "minutes": round(progress.seconds / 60, 1),
        "cases": progress.cases,
        "requests": progress.requests,
        "rules": sorted(rules),
    }


def rows_of(entries: Entries, vectors: Iterable[Vector]) -> list[dict[str, Any]]:
    """A row for each mechanism and release: what was asked, and which differences are put right, named or open."""
    statuses: dict[tuple[str, str], Counter[str]] = {}
    for vector in vectors:
        statuses.setdefault((vector.mechanism, vector.line), Counter())[vector.status] += 1
    rows = []
    for mechanism in sorted(entries):
        for release in sorted(entries[mechanism], key=parse_release, reverse=True):
            entry, found = entries[mechanism][release], statuses.get((mechanism, release.rpartition(".")[0]), Counter())
            facts = {key: entry[key] for key in ("date", "seed", "minutes", "cases", "requests")}
            ends = {"put right": found[PUT_RIGHT], "named": found[NAMED], "open": found[OPEN]}
            rows.append({"mechanism": mechanism, "release": release, **facts, "found": found.total(), **ends})
    return rows
