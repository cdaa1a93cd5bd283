"""What the application does, one request at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.arguments import one_of
from kafkalearn.fields import BrokerId, Checked, Offset, check_fields
from kafkalearn.zookeeper.fetching.cluster import (
    RESETS,
)
from kafkalearn.zookeeper.fetching.events import BrokerEvent


@dataclass(frozen=True, slots=True)
class FindLeader(Checked):
    """The application asks a broker for the partition's leader, and connects to it."""

    broker_id: BrokerId


@dataclass(frozen=True, slots=True)
class FindOffset(Checked):
    """The application asks the leader for the ``"smallest"`` or the ``"largest"`` offset, and begins there."""

    reset: str

    def __post_init__(self) -> None:
        """Refuse any other time."""
        check_fields(self)
        one_of("reset", self.reset, RESETS)


@dataclass(frozen=True, slots=True)
class Seek(Checked):
    """The application goes on from an offset of its own choice."""

    offset: Offset


@dataclass(frozen=True, slots=True)
class Fetch(Checked):
    """The application sends a fetch request, and handles each record that comes."""


@dataclass(frozen=True, slots=True)
class Save(Checked):
    """The application stores its offset, wherever it likes; no broker hears of it."""


@dataclass(frozen=True, slots=True)
class Restart(Checked):
    """The application dies and starts again: it knows no leader, and its offset is the one that it saved last."""


SimpleConsumerEvent: TypeAlias = FindLeader | FindOffset | Seek | Fetch | Save | Restart | BrokerEvent
