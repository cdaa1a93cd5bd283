"""What happens to the log, and to a load of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.fields import Checked, Count, Index
from kafkalearn.log.events import Clean, Roll


@dataclass(frozen=True, slots=True)
class Written(Checked):
    """The coordinator writes what a member owns from now on."""

    member: str
    epoch: Count
    partitions: tuple[Index, ...] = ()


@dataclass(frozen=True, slots=True)
class LoadBegun(Checked):
    """A broker becomes coordinator and begins to read, from the start of the log."""


@dataclass(frozen=True, slots=True)
class LoadRead(Checked):
    """The next read of the load: so many records, of what is in the log now."""

    record_count: Count = 1


Event: TypeAlias = Written | LoadBegun | LoadRead | Roll | Clean
