"""The state of a look-up: how far it has come."""

from __future__ import annotations

from dataclasses import dataclass, field

from kafkalearn.coordinator.effects import Effect
from kafkalearn.coordinator.settings import Settings


@dataclass(frozen=True, slots=True)
class Lookup:
    """How far the look-up has come; what is not known yet is None."""

    settings: Settings  # kept here too, so that a frame alone can be drawn
    read_count: int = 0  # units taken into the hash so far
    group_hash: int = 0  # signed; final once all units are read
    absolute: int | None = None
    partition: int | None = None
    is_answered: bool = False
    broker_id: int | None = None  # None after the answer: COORDINATOR_NOT_AVAILABLE
    effects: tuple[Effect, ...] = field(default=(), compare=False)


def start(settings: Settings) -> Lookup:
    """The look-up before its first step: nothing is read yet."""
    return Lookup(settings)
