"""What can happen to a consumer group: its members send requests, its cluster changes, time passes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.arguments import text, whole_number
from kafkalearn.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True)
class ConsumerGroupHeartbeat:
    """The one request of the protocol: joining, staying, confirming and leaving are all heartbeats.

    A field that has not changed since the last one is left out (None), as real clients do.

    Parameters
    ----------
    member_id : str
        Chosen by the client.
    member_epoch : int
        The last one it was answered; 0 joins, -1 leaves, -2 leaves and keeps the place of a static member.
    topics : tuple of str or None
        Its subscription.
    owned : tuple of TopicPartition or None
        What it owns now, empty when it joins.
    instance_id : str or None
        ``group.instance.id`` of a static member.
    rebalance_timeout_ms : int or None
        How long it may take to give up partitions: ``max.poll.interval.ms`` of the Java client.
    assignor : str or None
        ``group.remote.assignor``: the assignor it asks the broker for, ``"uniform"`` or ``"range"``.
    """

    member_id: str
    member_epoch: int
    topics: tuple[str, ...] | None = None
    owned: tuple[TopicPartition, ...] | None = None
    instance_id: str | None = None
    rebalance_timeout_ms: int | None = None
    assignor: str | None = None


@dataclass(frozen=True, slots=True)
class OffsetCommit:
    """A member commits offsets of these partitions, with the member epoch it knows."""

    member_id: str
    member_epoch: int
    partitions: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class TopicChanged:
    """A topic is created or gets more partitions; or, with None, is deleted."""

    topic: str
    partition_count: int | None

    def __post_init__(self) -> None:
        """Refuse a topic without name or partitions."""
        text("topic", self.topic)
        if self.partition_count is not None:
            whole_number(f"the number of partitions of {self.topic!r}", self.partition_count, at_least=1)


@dataclass(frozen=True, slots=True)
class TimePassed:
    """Time passes; every timer that is due meanwhile fires at its own moment."""

    ms: int

    def __post_init__(self) -> None:
        """Refuse a time that runs backwards."""
        whole_number("ms", self.ms, at_least=0)


ConsumerGroupEvent: TypeAlias = ConsumerGroupHeartbeat | OffsetCommit | TopicChanged | TimePassed


def join(
    member_id: str,
    topics: tuple[str, ...],
    instance_id: str | None = None,
    rebalance_timeout_ms: int = 300_000,
    assignor: str | None = None,
) -> ConsumerGroupHeartbeat:
    """The first heartbeat of a member, with all that has to be in it.

    >>> join("A", ("orders",)).member_epoch
    0
    """
    return ConsumerGroupHeartbeat(member_id, 0, topics, (), instance_id, rebalance_timeout_ms, assignor)


def leave(member_id: str, instance_id: str | None = None, comes_back: bool = False) -> ConsumerGroupHeartbeat:
    """The last heartbeat of a member; a static one that `comes_back` keeps its place for the session timeout.

    >>> leave("A").member_epoch, leave("A", "pod-1", comes_back=True).member_epoch
    (-1, -2)
    """
    return ConsumerGroupHeartbeat(member_id, -2 if comes_back else -1, instance_id=instance_id)
