"""What an event led to in a group of old consumers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True)
class Asked:
    """How many requests a consumer sent to ZooKeeper."""

    consumer: str
    read_count: int
    write_count: int  # refused ones too


@dataclass(frozen=True, slots=True)
class Notified:
    """A watch of a consumer fired."""

    consumer: str
    path: str
    what: str  # as in `kafkalearn.zookeeper.tree.effects`


@dataclass(frozen=True, slots=True)
class Registered:
    """A consumer's node is in ZooKeeper."""

    consumer: str
    consumer_id: str


@dataclass(frozen=True, slots=True)
class RebalanceBegan:
    """A thread of a consumer got the lock and begins to rebalance."""

    consumer: str
    thread: str


@dataclass(frozen=True, slots=True)
class Released:
    """A consumer deleted the nodes of its partitions."""

    consumer: str
    partitions: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class Owned:
    """A consumer created the nodes of its partitions."""

    consumer: str
    partitions: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class OwnedByAnother:
    """A consumer found a node in its way: its owner has not released the partition yet."""

    consumer: str
    partition: TopicPartition
    thread: str | None  # of the owner


@dataclass(frozen=True, slots=True)
class AttemptFailed:
    """A try failed; the next one comes after the pause."""

    consumer: str
    number: int
    why: str


@dataclass(frozen=True, slots=True)
class GaveUp:
    """All tries failed: the consumer lives on and reads nothing until something calls it again."""

    consumer: str
    thread: str


@dataclass(frozen=True, slots=True)
class Rebalanced:
    """A rebalance is over: the fetchers fetch these partitions."""

    consumer: str
    partitions: tuple[TopicPartition, ...]
    attempt_count: int


@dataclass(frozen=True, slots=True)
class RecordsRead:
    """The application got records, from an offset to the one before another."""

    consumer: str
    topic: str
    partition: int
    from_offset: int
    to_offset: int


@dataclass(frozen=True, slots=True)
class Committed:
    """An offset was written into ZooKeeper."""

    consumer: str
    topic: str
    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class Threw:
    """The application got an exception, with Kafka's words."""

    consumer: str
    error: str


@dataclass(frozen=True, slots=True)
class SessionGone:
    """A session was closed or has expired, and these nodes with it."""

    session: str
    removed: tuple[str, ...]
    has_expired: bool


ConnectorEffect: TypeAlias = (
    Asked
    | Notified
    | Registered
    | RebalanceBegan
    | Released
    | Owned
    | OwnedByAnother
    | AttemptFailed
    | GaveUp
    | Rebalanced
    | RecordsRead
    | Committed
    | Threw
    | SessionGone
)
