"""What happens to a group of old consumers: their applications, their threads, their sessions; brokers and topics.

A consumer does by itself what its threads do. Each turn of a thread is an event, so that a schedule says who is
quicker: `HandleEvent`, `WakeWatcher` and `RebalanceStep`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from kafkalearn.arguments import LARGEST_INT
from kafkalearn.fields import Checked, Count, Index, Millis, PartitionCount, Whole
from kafkalearn.zookeeper.subscriptions import Filtered, Streams

ZooKeeperBroker: TypeAlias = Annotated[int, Whole(0, LARGEST_INT)]


@dataclass(frozen=True, slots=True)
class CreateMessageStreams(Checked):
    """An application asks for its streams, and its process starts with that; a running one asks once more.

    `consumer_id` is the id it gives itself; None: group and name, as with the setting ``consumer.id``.
    """

    consumer: str
    subscription: Streams | Filtered
    consumer_id: str | None = None
    timestamp_ms: Millis = 0


@dataclass(frozen=True, slots=True)
class Shutdown(Checked):
    """The application calls ``shutdown``: its session is closed, as soon as no rebalance is going on."""

    consumer: str


@dataclass(frozen=True, slots=True)
class Crash(Checked):
    """The process dies; ZooKeeper learns of it when the session expires."""

    consumer: str


@dataclass(frozen=True, slots=True)
class SessionExpired(Checked):
    """ZooKeeper ends a session that it has not heard of: ``"c1"``; of the second process of c1, ``"c1/2"``."""

    session: str


@dataclass(frozen=True, slots=True)
class Reconnect(Checked):
    """A client whose session has expired learns it, and gets another."""

    consumer: str


@dataclass(frozen=True, slots=True)
class HandleEvent(Checked):
    """The event thread of ZooKeeper's client handles what came first: it asks again, with a watch, and calls."""

    consumer: str


@dataclass(frozen=True, slots=True)
class WakeWatcher(Checked):
    """The watcher thread wakes, sees that it is to rebalance, and begins."""

    consumer: str


@dataclass(frozen=True, slots=True)
class RebalanceStep(Checked):
    """The thread that rebalances does the next of its eight steps, or goes on after the pause."""

    consumer: str


@dataclass(frozen=True, slots=True)
class Read(Checked):
    """The application reads what there is of its partitions; of each at most so many records."""

    consumer: str
    at_most: Count | None = None


@dataclass(frozen=True, slots=True)
class WaitForRecord(Checked):
    """The application asks a stream for a record, and none comes for ``consumer.timeout.ms``."""

    consumer: str


@dataclass(frozen=True, slots=True)
class CommitOffsets(Checked):
    """The application, or the thread that commits by itself, commits the offsets of all partitions."""

    consumer: str


@dataclass(frozen=True, slots=True)
class Ping(Checked):
    """ZooKeeper hears of a consumer that had nothing to ask."""

    consumer: str


@dataclass(frozen=True, slots=True)
class TimePassed(Checked):
    """ZooKeeper's clock moves on, and sessions that are due expire."""

    ms: Millis


@dataclass(frozen=True, slots=True)
class BrokerStarted(Checked):
    """A broker registers."""

    broker_id: ZooKeeperBroker = 0


@dataclass(frozen=True, slots=True)
class BrokerStopped(Checked):
    """A broker closes its session."""

    broker_id: ZooKeeperBroker = 0


@dataclass(frozen=True, slots=True)
class TopicCreated(Checked):
    """An administrator creates a topic, all its partitions on one broker."""

    topic: str
    partition_count: PartitionCount


@dataclass(frozen=True, slots=True)
class TopicGrown(Checked):
    """A topic is given more partitions."""

    topic: str
    partition_count: PartitionCount


@dataclass(frozen=True, slots=True)
class TopicDeleted(Checked):
    """A topic is gone, and its records."""

    topic: str


@dataclass(frozen=True, slots=True)
class Produce(Checked):
    """Records are added to a partition."""

    topic: str
    partition: Index
    record_count: Count = 1


Turn: TypeAlias = Reconnect | HandleEvent | WakeWatcher | RebalanceStep  # that a thread takes by itself
ConsumerEvent: TypeAlias = Shutdown | Crash | Turn | Read | WaitForRecord | CommitOffsets | Ping
ClusterEvent: TypeAlias = BrokerStarted | BrokerStopped | TopicCreated | TopicGrown | TopicDeleted | Produce
ConnectorEvent: TypeAlias = CreateMessageStreams | ConsumerEvent | SessionExpired | TimePassed | ClusterEvent
