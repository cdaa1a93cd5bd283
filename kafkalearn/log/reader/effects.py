"""What an event led to: the reader got records; else the effects are those of the log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.log.effects import LogEffect
from kafkalearn.log.state import Record


@dataclass(frozen=True, slots=True)
class RecordsRead:
    """The reader got these records; none if there is nothing new."""

    records: tuple[Record, ...]


CrossingEffect: TypeAlias = LogEffect | RecordsRead
