"""What an event led to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True)
class Started:
    """Partitions that move now, or that were given another order of their replicas at once."""

    partitions: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """The tool did not begin the plan; `message` is what it prints."""

    message: str


@dataclass(frozen=True, slots=True)
class Completed:
    """A partition has its new replicas, and no others."""

    partition: TopicPartition


@dataclass(frozen=True, slots=True)
class Cancelled:
    """Partitions that have gone back to the replicas they had."""

    partitions: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class ThrottlesSet:
    """A rate on brokers, and lists of replicas on topics; each list takes the place of the one before."""

    broker_ids: tuple[int, ...]
    topics: tuple[str, ...]
    bytes_per_s: int


@dataclass(frozen=True, slots=True)
class ThrottlesCleared:
    """No rate on these brokers any more, and no list on these topics."""

    broker_ids: tuple[int, ...]
    topics: tuple[str, ...]


Effect: TypeAlias = Started | Refused | Completed | Cancelled | ThrottlesSet | ThrottlesCleared
