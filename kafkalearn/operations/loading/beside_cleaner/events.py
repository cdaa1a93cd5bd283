"""What happens to the log, and to a load of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import Checked, Count, Index, check_fields
from kafkalearn.log.events import Clean, Roll
from kafkalearn.phrases import shown


@dataclass(frozen=True, slots=True)
class Written(Checked):
    """The coordinator writes what a member owns from now on."""

    member: str
    epoch: Count
    partitions: tuple[Index, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a partition that is named twice."""
        check_fields(self)
        if len(set(self.partitions)) < len(self.partitions):
            raise KafkaLearnError(f"partitions must be different numbers, got {shown(self.partitions)}")


@dataclass(frozen=True, slots=True)
class LoadBegun(Checked):
    """A broker becomes coordinator and begins to read, from the start of the log."""


@dataclass(frozen=True, slots=True)
class LoadRead(Checked):
    """The next read of the load: so many records, of what is in the log now."""

    record_count: Count = 1


Event: TypeAlias = Written | LoadBegun | LoadRead | Roll | Clean
