"""What happens to a purgatory: operations come, facts change, keys are checked, time passes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.fields import Checked, Millis
from kafkalearn.purgatory.operations.conditions import Facts
from kafkalearn.purgatory.operations.kinds import Operation


@dataclass(frozen=True, slots=True)
class TryCompleteElseWatch(Checked):
    """A request comes: done at once if its condition holds, else listed under its keys and added to the timer.

    `changed_meanwhile` are facts that change while it is being listed: the gap that the second test closes.
    """

    operation: Operation
    changed_meanwhile: Facts = ()


@dataclass(frozen=True, slots=True)
class FactChanged(Checked):
    """A fact changes, and nobody looks yet: ``FactChanged("HW orders-0", 8)``."""

    name: str
    value: int


@dataclass(frozen=True, slots=True)
class CheckAndComplete(Checked):
    """The operations that watch a key are tested again."""

    key: str


@dataclass(frozen=True, slots=True)
class ForceComplete(Checked):
    """An operation is completed whatever its condition says, as a heartbeat completed the one before up to 3.9."""

    name: str


@dataclass(frozen=True, slots=True)
class TimePassed(Checked):
    """The clock moves on, and the reaper empties the buckets that are due."""

    ms: Millis


PurgatoryEvent: TypeAlias = TryCompleteElseWatch | FactChanged | CheckAndComplete | ForceComplete | TimePassed
