"""A purgatory at one moment: what waits, who is listed under which key, and the timer."""

from __future__ import annotations

from dataclasses import dataclass, field

from kafkalearn.purgatory.operations.conditions import Facts
from kafkalearn.purgatory.operations.effects import PurgatoryEffect
from kafkalearn.purgatory.operations.kinds import Operation
from kafkalearn.purgatory.operations.settings import Settings
from kafkalearn.purgatory.wheel.state import Wheels
from kafkalearn.purgatory.wheel.state import start as start_wheels


@dataclass(frozen=True, slots=True)
class Purgatory:
    """All that waits, at one moment; `effects` are what the last event led to."""

    wheels: Wheels  # the timer
    facts: Facts = ()
    waiting: tuple[Operation, ...] = ()  # not completed, in the order they came
    lists: tuple[tuple[str, tuple[str, ...]], ...] = ()  # key -> names, completed ones too
    estimated_count: int = 0  # what a purge compares with the timer: grows by each listed one, set by a purge
    effects: tuple[PurgatoryEffect, ...] = field(default=(), compare=False)

    @property
    def watched_count(self) -> int:
        """Entries on all lists; an operation on three lists counts three times."""
        return sum(len(names) for _, names in self.lists)

    @property
    def delayed_count(self) -> int:
        """Operations in the timer."""
        return len(self.wheels.timers)

    def is_waiting(self, name: str) -> bool:
        """Whether an operation still waits."""
        return any(operation.name == name for operation in self.waiting)


def start(settings: Settings) -> Purgatory:
    """An empty purgatory.

    >>> start(Settings()).watched_count
    0
    """
    return Purgatory(start_wheels(settings.timer))
