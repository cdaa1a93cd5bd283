"""A simulator as the contract sees it: where its parts are, and runs that it can be tried with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

FILE_OF = {
    "Settings": "settings",
    "start": "state",
    "step": "simulator",
    "simulate": "simulator",
    "INVARIANTS": "promises",
    "PROMISES": "promises",
    "check": "promises",
    "broken": "promises",
}


@dataclass(frozen=True)
class Run:
    """Settings, and events that all make sense one after the other."""

    settings: object
    events: Sequence[object]


@dataclass(frozen=True)
class Simulator:
    """Where a simulator is, and runs of it.

    `home` is its package, whose files have the names of the contract, or the one module that holds all of it.
    `senseless` are events of its own that make no sense at the start. `effects_in` are further modules whose effects
    it may tell, as that of a simulator inside it.
    """

    home: str
    runs: Sequence[Run]
    senseless: Sequence[object] = ()
    effects_in: Sequence[str] = ()

    @property
    def is_one_file(self) -> bool:
        """Whether one module holds all of it."""
        return find_spec(self.home).submodule_search_locations is None

    def module(self, file: str) -> object:
        """The module for one kind of part."""
        return import_module(self.home if self.is_one_file else f"{self.home}.{file}")

    def part(self, name: str) -> object:
        """A part by its name in the contract: ``part("step")``."""
        return getattr(self.module(FILE_OF[name]), name)
