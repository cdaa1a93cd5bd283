"""What a moment of a rebalance led to: who came and went, who stops and who starts reading what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True)
class MemberLeft:
    """A member is gone."""

    member_id: str


@dataclass(frozen=True, slots=True)
class MemberJoined:
    """A member is new; it has nothing yet."""

    member_id: str


@dataclass(frozen=True, slots=True)
class SubscriptionChanged:
    """A member subscribes to other topics than before."""

    member_id: str


@dataclass(frozen=True, slots=True)
class StoppedReading:
    """A member no longer reads these partitions: it gave them up, or has left."""

    member_id: str
    partitions: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class StartedReading:
    """A member reads these partitions from now on."""

    member_id: str
    partitions: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class AssignedAnew:
    """An eager group has a new assignment, after everybody had given everything up."""


@dataclass(frozen=True, slots=True)
class RoundEnded:
    """A cooperative group has carried out one of its rounds; if somebody had to stop reading something, one follows."""

    number: int  # from 1


Effect: TypeAlias = (
    MemberLeft | MemberJoined | SubscriptionChanged | StoppedReading | StartedReading | AssignedAnew | RoundEnded
)
