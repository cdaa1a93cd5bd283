"""The partition on its brokers, and the application that reads it."""

from __future__ import annotations

from dataclasses import dataclass, field

from kafkalearn.zookeeper.fetching.cluster import (
    Cluster,
    Log,
    new_cluster,
)
from kafkalearn.zookeeper.simple_consumer.effects import Effect
from kafkalearn.zookeeper.simple_consumer.settings import Settings


@dataclass(frozen=True, slots=True)
class Reader:
    """The partition on its brokers and the application that reads it, at one moment."""

    cluster: Cluster
    leader: int | None = None  # whom the application is connected to
    offset: int | None = None  # what it will fetch next
    saved: int | None = None  # what its own store has
    handled: tuple[int, ...] = ()  # offsets of all records that it got, in order
    effects: tuple[Effect, ...] = field(default=(), compare=False)


def start(settings: Settings) -> Reader:
    """An application that knows nothing yet.

    >>> start(Settings()).leader is None
    True
    """
    cluster = new_cluster([settings.topic_partition], settings.broker_ids)
    return Reader(cluster.with_log(Log(settings.topic_partition, settings.broker_ids[0])))
