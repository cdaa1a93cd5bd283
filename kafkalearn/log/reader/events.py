"""What may happen to a log and its reader: all that may happen to a log, and a read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.fields import Checked, Count, Millis
from kafkalearn.log.events import LogEvent


@dataclass(frozen=True, slots=True)
class Read(Checked):
    """The reader takes the next records, all there are if no number is given; between two reads it sleeps."""

    record_count: Count | None = None
    now_ms: Millis | None = None


CrossingEvent: TypeAlias = LogEvent | Read
