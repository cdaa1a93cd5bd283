"""What can happen to a consumer group: its members send requests, its cluster changes, time passes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from kafkalearn.arguments import LARGEST_INT, iterable, sequence, text, whole_number
from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import Checked, Count, Whole, check_fields
from kafkalearn.group.consumer.topics import topic_name
from kafkalearn.group.limits import MOST_PARTITIONS, Duration, Timeout
from kafkalearn.phrases import shown
from kafkalearn.topic_partition import TopicPartition

Epoch: TypeAlias = Annotated[int, Whole(-LARGEST_INT, LARGEST_INT)]

OLDEST_COMMIT, NEWEST_COMMIT = 2, 10  # versions of OffsetCommit that brokers of 4.x answer


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
    topics : sequence of str, or None
        Its subscription; a name that is given twice counts once.
    owned : sequence of TopicPartition, or None
        What it owns now, empty when it joins. Of a topic that was created again, ``orders@1`` is the one before; see
        `kafkalearn.group.consumer.topics`.
    instance_id : str or None
        ``group.instance.id`` of a static member.
    rebalance_timeout_ms : int or None
        How long it may take to give up partitions: ``max.poll.interval.ms`` of the Java client.
    assignor : str or None
        ``group.remote.assignor``: the assignor it asks the broker for, ``"uniform"`` or ``"range"``.

    Raises
    ------
    KafkaLearnError
        If a field cannot hold what it is given. What a coordinator would refuse is no such case: it is an answer.
    """

    member_id: str
    member_epoch: Epoch
    topics: tuple[str, ...] | None = None
    owned: tuple[TopicPartition, ...] | None = None
    instance_id: str | None = None
    rebalance_timeout_ms: Timeout | None = None
    assignor: str | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be sent."""
        if self.owned is not None:
            object.__setattr__(self, "owned", _partitions("owned", self.owned))
        if self.topics is not None:
            names = [text("topic", each) for each in sequence("topics", self.topics, of="names of topics")]
            object.__setattr__(self, "topics", tuple(dict.fromkeys(names)))
        check_fields(self)


@dataclass(frozen=True, slots=True)
class OffsetCommit:
    """A member commits offsets of these partitions, with the member epoch it knows; or a client without a group, -1.

    `version` is that of the request: from 9 on clients know the errors of this protocol, and 10 (since 4.2) names
    topics by their ids.
    """

    member_id: str
    member_epoch: Epoch
    partitions: tuple[TopicPartition, ...]
    version: Annotated[int, Whole(OLDEST_COMMIT, NEWEST_COMMIT)] = 9

    def __post_init__(self) -> None:
        """Refuse what cannot be sent."""
        object.__setattr__(self, "partitions", _partitions("partitions", self.partitions))
        check_fields(self)


@dataclass(frozen=True, slots=True)
class OffsetFetch(Checked):
    """A member asks for the committed offsets, with the member epoch it knows; a tool has neither: None and -1."""

    member_id: str | None = None
    member_epoch: Epoch = -1


@dataclass(frozen=True, slots=True)
class TopicChanged:
    """A topic is created or gets more partitions; or, with None, is deleted.

    A topic that is created after one of its name was deleted is another one. Where the settings give the topics' ids,
    it needs an id of its own.
    """

    topic: str
    partition_count: Count | None
    topic_id: str | None = None

    def __post_init__(self) -> None:
        """Refuse a topic without name or partitions."""
        topic_name(self.topic)
        if self.partition_count is not None:
            what = f"the number of partitions of {self.topic!r}"
            whole_number(what, self.partition_count, at_least=1, at_most=MOST_PARTITIONS)
        check_fields(self)


@dataclass(frozen=True, slots=True)
class TimePassed(Checked):
    """Time passes; every timer that is due meanwhile fires at its own moment."""

    ms: Duration


@dataclass(frozen=True, slots=True)
class GroupDeleted:
    """An administrator deletes the group; one that has members is not deleted."""


@dataclass(frozen=True, slots=True)
class OffsetsExpired:
    """The coordinator's periodic clean-up finds that all offsets are older than ``offsets.retention.minutes``.

    Those of topics that a member subscribes to stay; a group that has neither an offset nor a member is gone.
    """


@dataclass(frozen=True, slots=True)
class PartitionMoved:
    """Another broker leads the group's partition of ``__consumer_offsets`` now, and has read it.

    All that is written there goes on. Timers are not: each begins anew with the new coordinator.
    """


ConsumerGroupEvent: TypeAlias = (
    ConsumerGroupHeartbeat | OffsetCommit | OffsetFetch | TopicChanged | TimePassed
    | GroupDeleted | OffsetsExpired | PartitionMoved
)  # fmt: skip


def join(
    member_id: str,
    topics: Sequence[str],
    instance_id: str | None = None,
    rebalance_timeout_ms: int = 300_000,
    assignor: str | None = None,
) -> ConsumerGroupHeartbeat:
    """The first heartbeat of a member, with all that has to be in it.

    >>> join("A", ["orders"]).member_epoch
    0
    >>> join("A", "orders")
    Traceback (most recent call last):
    ...
    kafkalearn.errors.KafkaLearnError: topics must be a list or tuple of names of topics, got str 'orders'
    """
    names = sequence("topics", topics, of="names of topics")
    return ConsumerGroupHeartbeat(member_id, 0, names, (), instance_id, rebalance_timeout_ms, assignor)


def leave(member_id: str, instance_id: str | None = None, comes_back: bool = False) -> ConsumerGroupHeartbeat:
    """The last heartbeat of a member; a static one that `comes_back` keeps its place for the session timeout.

    >>> leave("A").member_epoch, leave("A", "pod-1", comes_back=True).member_epoch
    (-1, -2)
    """
    return ConsumerGroupHeartbeat(member_id, -2 if comes_back else -1, instance_id=instance_id)


def _partitions(name: str, given: Iterable[tuple[str, int]]) -> tuple[TopicPartition, ...]:
    """Partitions, also from plain pairs; one that is named twice counts once."""
    partitions: list[TopicPartition] = []
    for each in iterable(name, given, of="pairs of topic and partition"):
        if not isinstance(each, (tuple, list)) or len(each) != 2:
            raise KafkaLearnError(f"{name} must hold pairs of topic and partition, got {shown(each)}")
        number = whole_number(f"the partition of {shown(each[0])}", each[1], at_least=0, at_most=LARGEST_INT)
        partitions.append(TopicPartition(text("topic", each[0]), number))
    return tuple(dict.fromkeys(partitions))
