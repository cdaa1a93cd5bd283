"""The state: who leads which partition, which brokers live, and when the controller looks next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from kafkalearn.arguments import iterable, text, whole_number
from kafkalearn.errors import KafkaLearnError
from kafkalearn.operations.leadership.effects import Effect
from kafkalearn.operations.leadership.settings import Settings
from kafkalearn.phrases import listed, shown


class Led(NamedTuple):
    """One partition: its replicas, the preferred leader first, and who leads it."""

    topic: str
    partition: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int | None  # None: nobody can
    leader_epoch: int = 0
    size_bytes: int = 0

    @property
    def preferred(self) -> int:
        """The replica that is to lead."""
        return self.replicas[0]


@dataclass(frozen=True, slots=True)
class Cluster:
    """Leaders and brokers at one moment."""

    partitions: tuple[Led, ...]
    fenced: tuple[int, ...] = ()  # brokers that do not count as alive
    now_ms: int = 0
    effects: tuple[Effect, ...] = field(default=(), compare=False)  # of the last event


def partition_of(
    topic: str, partition: int, replicas: Iterable[int], leader: int | None = None, size_bytes: int = 0
) -> Led:
    """A partition with all replicas in sync, led by the first of them if no other is named.

    Raises
    ------
    KafkaLearnError
        If topic or partition can be none, a broker is named twice, or the leader is none of them.

    Examples
    --------
    >>> partition_of("orders", 0, [2, 3])
    Led(topic='orders', partition=0, replicas=(2, 3), isr=(2, 3), leader=2, leader_epoch=0, size_bytes=0)
    """
    text("topic", topic)
    whole_number("partition", partition, at_least=0)
    named = tuple(
        whole_number("replicas", each, at_least=0) for each in iterable("replicas", replicas, of="broker ids")
    )
    if not named or len({*named}) < len(named):
        raise KafkaLearnError(
            f"replicas of {topic}-{partition} must name at least one broker, each once, got {shown(named)}"
        )
    if leader is not None and leader not in named:
        raise KafkaLearnError(
            f"the leader of {topic}-{partition} must be one of its replicas {named}, got {shown(leader)}"
        )
    return Led(
        topic,
        partition,
        named,
        tuple(sorted(named)),
        named[0] if leader is None else leader,
        size_bytes=whole_number("size_bytes", size_bytes, at_least=0),
    )


def start(settings: Settings) -> Cluster:
    """A cluster whose brokers all live, with a partition for each that is to lead it; `cluster_of` takes your own.

    >>> [each.leader for each in start(Settings((1, 2, 3))).partitions]
    [1, 2, 3]
    """
    ids = settings.broker_ids
    turned = ((*ids[place:], *ids[:place]) for place in range(len(ids)))
    return cluster_of(settings, (partition_of("orders", place, each[:3]) for place, each in enumerate(turned)))


def cluster_of(settings: Settings, partitions: Iterable[Led]) -> Cluster:
    """A cluster of these partitions, whose brokers all live.

    Raises
    ------
    KafkaLearnError
        If a partition has a replica on a broker that is not there.

    Examples
    --------
    >>> cluster_of(Settings((1, 2)), [partition_of("orders", 0, [2, 1])]).partitions[0].leader
    2
    """
    kept = tuple(iterable("partitions", partitions, of="partition_of(...)"))
    for each in kept:
        unknown = {*each.replicas} - {*settings.broker_ids}
        if unknown:
            raise KafkaLearnError(
                f"{each.topic}-{each.partition} has replicas on {sorted(unknown)}; the brokers are "
                f"{listed(settings.broker_ids)}"
            )
    return Cluster(kept)
