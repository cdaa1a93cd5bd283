"""A simulator as the contract sees it: where it is, and runs that it can be tried with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

PARTS = ("Settings", "start", "step", "simulate", "INVARIANTS", "PROMISES", "check", "broken")
"""What each has by these names."""


@dataclass(frozen=True)
class Run:
    """Settings, and events that all make sense one after the other."""

    settings: object
    events: Sequence[object]


@dataclass(frozen=True)
class Simulator:
    """Where a simulator is, and runs of it.

    `home` is its module, or its package: this, or its module `simulator`, has the names of the contract. `senseless`
    are events of its own that make no sense at the start. `effects_in` are further modules whose effects it may tell,
    as that of a simulator inside it.
    """

    home: str
    runs: Sequence[Run]
    senseless: Sequence[object] = ()
    effects_in: Sequence[str] = ()

    def part(self, name: str) -> object:
        """A part by its name in the contract: ``part("step")``."""
        public = import_module(self.home)
        return getattr(public if hasattr(public, name) else import_module(f"{self.home}.simulator"), name)
