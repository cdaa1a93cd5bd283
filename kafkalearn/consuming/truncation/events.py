"""What a consumer does; what happens to the partition stands in `kafkalearn.replication.events`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.fields import BrokerId, Checked
from kafkalearn.replication.events import ReplicationEvent


@dataclass(frozen=True, slots=True)
class Assign(Checked):
    """A rebalance: the partition is this consumer's, which starts from what the group has committed."""

    consumer: str


@dataclass(frozen=True, slots=True)
class Poll(Checked):
    """The owner makes one request, whatever is due: validate its position, look up where to begin, or fetch."""


@dataclass(frozen=True, slots=True)
class Commit(Checked):
    """The owner commits its position; without the epoch as ``commitSync(new OffsetAndMetadata(offset))`` does."""

    has_epoch: bool | None = None  # None: as the settings say


@dataclass(frozen=True, slots=True)
class RefreshMetadata(Checked):
    """A consumer asks a broker who leads: the broker says what it knows, which may be old."""

    consumer: str
    broker_id: BrokerId


ConsumerEvent: TypeAlias = Assign | Poll | Commit | RefreshMetadata
Event: TypeAlias = ConsumerEvent | ReplicationEvent
