"""What an event led to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True)
class Appended:
    """A partition's log has new records."""

    topic_partition: TopicPartition
    offsets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MetadataFailed:
    """The leader finder reached no broker, or a broker failed it; the partitions stay without a leader."""

    topic_partitions: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class FetcherStarted:
    """A new fetcher thread for a broker."""

    broker_id: int
    fetcher_id: int


@dataclass(frozen=True, slots=True)
class FetcherStopped:
    """A fetcher thread without partitions is stopped."""

    broker_id: int
    fetcher_id: int


@dataclass(frozen=True, slots=True)
class PartitionAdded:
    """A fetcher has one partition more, which it fetches from this offset on."""

    topic_partition: TopicPartition
    broker_id: int
    fetcher_id: int
    offset: int


@dataclass(frozen=True, slots=True)
class OffsetReset:
    """A partition had no offset, or one that is out of range; now both its offsets are this."""

    topic_partition: TopicPartition
    fetch_offset: int  # what was asked for
    offset: int  # where it goes on


@dataclass(frozen=True, slots=True)
class PartitionFailed:
    """A fetcher met an error and gave a partition back: it has no leader until the leader finder has one."""

    topic_partition: TopicPartition
    error: str


@dataclass(frozen=True, slots=True)
class NothingFetched:
    """A fetcher's request brought no records; or it has no partitions to ask for."""

    broker_id: int
    fetcher_id: int


@dataclass(frozen=True, slots=True)
class Enqueued:
    """A chunk is in the queue of a stream."""

    topic_partition: TopicPartition
    stream: int
    fetch_offset: int
    offsets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FetcherBlocked:
    """A fetcher waits until there is room in the queue of a stream, and all its partitions wait with it."""

    broker_id: int
    fetcher_id: int
    stream: int


@dataclass(frozen=True, slots=True)
class FinderBlocked:
    """The leader finder waits for the lock of a fetcher that is blocked."""

    broker_id: int
    fetcher_id: int


@dataclass(frozen=True, slots=True)
class FetcherDied:
    """A fetcher found another offset than it had asked for, and its thread ended; nothing starts it again."""

    broker_id: int
    fetcher_id: int
    topic_partition: TopicPartition
    fetched_offset: int
    fetch_offset: int


@dataclass(frozen=True, slots=True)
class Read:
    """The application got a record."""

    stream: int
    topic_partition: TopicPartition
    offset: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """Records of a chunk were passed over: they are below the consumed offset."""

    topic_partition: TopicPartition
    offsets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OffsetsApart:
    """A chunk begins beyond the consumed offset: Kafka logs "Consumer may lose data" and goes on from the chunk."""

    topic_partition: TopicPartition
    consumed_offset: int
    fetch_offset: int


@dataclass(frozen=True, slots=True)
class Waited:
    """A stream has nothing, and its thread waits for a chunk."""

    stream: int


@dataclass(frozen=True, slots=True)
class Raised:
    """The application got an exception from a stream."""

    stream: int
    exception: str


@dataclass(frozen=True, slots=True)
class Ended:
    """A stream has come to the shutdown message: it has no next record."""

    stream: int


@dataclass(frozen=True, slots=True)
class Committed:
    """These consumed offsets went to the store."""

    offsets: tuple[tuple[TopicPartition, int], ...]


@dataclass(frozen=True, slots=True)
class QueuesCleared:
    """So many chunks were thrown away, with those that were being read; they are fetched again."""

    chunk_count: int


Effect: TypeAlias = (
    Appended
    | MetadataFailed
    | FetcherStarted
    | FetcherStopped
    | PartitionAdded
    | OffsetReset
    | PartitionFailed
    | NothingFetched
    | Enqueued
    | FetcherBlocked
    | FinderBlocked
    | FetcherDied
    | Read
    | Skipped
    | OffsetsApart
    | Waited
    | Raised
    | Ended
    | Committed
    | QueuesCleared
)
