"""Cases of conform, as questions."""

from __future__ import annotations

from typing import Any

from conformance.mechanism import Answer, Case
from conformance.mechanisms import MECHANISMS
from conformance.search import compare


def difference(mechanism: str, release: str, case: Case, seen: Answer) -> list[Any] | None:
    """What the simulator says to a case of conform where it is another thing than a broker of this release answered."""
    found = compare(MECHANISMS[mechanism], ".".join(release.split(".")[:2]), case, seen)
    return None if found is None else [found.broker, found.simulator]
