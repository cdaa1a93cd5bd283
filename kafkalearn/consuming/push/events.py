"""What happens at the same time to the log and to the queues."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.fields import Checked, Count, Offset


@dataclass(frozen=True, slots=True)
class Produce(Checked):
    """A record is written: once to the log, and once to the queue of each consumer."""


@dataclass(frozen=True, slots=True)
class Process(Checked):
    """A consumer processes up to `most` records: it polls and commits; or it acknowledges what was pushed to it."""

    consumer: str
    most: Count = 1


@dataclass(frozen=True, slots=True)
class Rewind(Checked):
    """A consumer asks for records once more, from an offset on (``KafkaConsumer.seek``)."""

    consumer: str
    offset: Offset = 0


Event: TypeAlias = Produce | Process | Rewind
