"""What an event led to, beside the effects of the offsets topic and its brokers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.offsets.replicated.effects import ReplicatedEffect


@dataclass(frozen=True, slots=True)
class Began:
    """A consumer begins to read a partition; `in_zookeeper` and `in_topic` are what it found, where it looked."""

    consumer: str
    partition: int
    offset: int
    in_zookeeper: int | None = None
    in_topic: int | None = None
    is_reset: bool = False  # it found nothing, and auto.offset.reset said where to begin


@dataclass(frozen=True, slots=True)
class RecordsRead:
    """The application got these records."""

    consumer: str
    partition: int
    offsets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ZnodeWritten:
    """An offset was written to its node in ZooKeeper."""

    path: str
    offset: int


@dataclass(frozen=True, slots=True)
class ZnodeUnchanged:
    """The consumer believes that the node has this offset already, and did not write."""

    path: str
    offset: int


@dataclass(frozen=True, slots=True)
class Connected:
    """A consumer has a channel to the group's coordinator."""

    consumer: str
    broker_id: int


@dataclass(frozen=True, slots=True)
class Disconnected:
    """A consumer gave up its channel; it asks for the coordinator before it tries again."""

    consumer: str
    broker_id: int


@dataclass(frozen=True, slots=True)
class BackingOff:
    """A thread waits before it tries again; why is an error, or what could not be reached."""

    consumer: str
    why: str
    backoff_ms: int


@dataclass(frozen=True, slots=True)
class CommitDone:
    """A commit has ended without an error."""

    consumer: str


@dataclass(frozen=True, slots=True)
class CommitDropped:
    """A commit has failed as often as it is tried. Nobody hears of it: Kafka logs it at level debug."""

    consumer: str
    error: str


@dataclass(frozen=True, slots=True)
class Gone:
    """A consumer has left the group."""

    consumer: str


CommittingEffect: TypeAlias = (
    Began
    | RecordsRead
    | ZnodeWritten
    | ZnodeUnchanged
    | Connected
    | Disconnected
    | BackingOff
    | CommitDone
    | CommitDropped
    | Gone
    | ReplicatedEffect
)
