"""A group of old consumers at one moment: its ZooKeeper, and each consumer with its threads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from kafkalearn.topic_partition import TopicPartition
from kafkalearn.zookeeper.connector.effects import ConnectorEffect
from kafkalearn.zookeeper.connector.settings import Settings
from kafkalearn.zookeeper.subscriptions import Subscription
from kafkalearn.zookeeper.tree.state import Tree
from kafkalearn.zookeeper.tree.state import start as start_tree

NO_OFFSET = -1

MAIN, WATCHER, EVENT = "main", "watcher", "event"
"""The threads that rebalance: the one that asked for streams, the one that listeners wake, ZooKeeper's client's own."""

READ, STOP, RELEASE, ASSIGN, OFFSETS, BUILD, OWN, START = STAGES = (
    "read own topics and brokers",
    "stop the fetchers",
    "release the partitions",
    "compute the assignment",
    "read the committed offsets",
    "build the registry",
    "own the partitions",
    "start the fetchers",
)
"""The eight steps of a try, in their order."""
BACKOFF = "wait before the next try"

SESSION, TOPIC_SESSION, CHILDREN, TOPICS, DATA = "session", "topic session", "children", "topics", "data"
"""What the event thread has to handle: a new session (two listeners), changed children, topics, changed data."""


class PartitionInfo(NamedTuple):
    """A partition that a consumer reads, as in Kafka's ``PartitionTopicInfo``."""

    topic: str
    partition: int
    thread: str
    consumed: int = NO_OFFSET  # the next offset that the application gets
    committed: int = NO_OFFSET  # as far as this consumer knows

    @property
    def topic_partition(self) -> TopicPartition:
        """Which one it is."""
        return TopicPartition(self.topic, self.partition)


class Notice(NamedTuple):
    """Something that the event thread of ZooKeeper's client has to handle."""

    kind: str
    path: str = ""


class Attempt(NamedTuple):
    """A try to rebalance that is going on: the thread that makes it holds the lock."""

    thread: str
    number: int = 0
    stage: str = READ  # that comes next
    topics: tuple[str, ...] = ()  # its own, as read in this try
    members: tuple[str, ...] = ()  # the group, as read in this try
    infos: tuple[PartitionInfo, ...] = ()  # what is to be its own
    conflict: TopicPartition | None = None  # found with another owner, in the try that has just failed


@dataclass(frozen=True, slots=True)
class Connector:
    """One consumer, in its present process."""

    name: str
    consumer_id: str
    session_count: int = 1  # over all its processes
    is_running: bool = True
    is_closing: bool = False
    session: str = field(kw_only=True)  # that it has, or believes to have
    subscription: Subscription = field(kw_only=True)
    is_registered: bool = False  # its listeners are there
    has_streams: bool = False  # the application got what it asked for
    filtered: tuple[str, ...] = ()  # the topics that its filter let through when it looked last
    topics: tuple[str, ...] = ()  # whose nodes it listens to
    watches_topics: bool = False  # it listens to the list of all topics
    watches_brokers: bool = False  # it once found no broker
    registry: tuple[PartitionInfo, ...] = ()
    is_fetching: bool = False
    is_triggered: bool = False  # the watcher thread is to rebalance, once, however often it was notified
    notices: tuple[Notice, ...] = ()
    attempt: Attempt | None = None
    waiting: tuple[str, ...] = ()  # threads that wait for the lock
    has_given_up: bool = False  # the last rebalance failed in all its tries

    @property
    def owned(self) -> tuple[TopicPartition, ...]:
        """What it believes to own."""
        return tuple(info.topic_partition for info in self.registry)

    @property
    def reads(self) -> tuple[TopicPartition, ...]:
        """What its fetchers fetch now."""
        return self.owned if self.is_running and self.is_fetching else ()

    @property
    def is_event_thread_free(self) -> bool:
        """Whether the event thread of ZooKeeper's client can handle something."""
        return EVENT not in self.waiting and (self.attempt is None or self.attempt.thread != EVENT)

    @property
    def is_quiet(self) -> bool:
        """Whether nothing is left to do for any of its threads."""
        return not self.is_running or not (self.notices or self.is_triggered or self.attempt or self.waiting)


@dataclass(frozen=True, slots=True)
class Group:
    """A group of old consumers; `effects` are what the last event led to."""

    tree: Tree
    connectors: tuple[Connector, ...] = ()  # sorted by name; those that ended stay
    log_ends: tuple[tuple[TopicPartition, int], ...] = ()  # sorted
    effects: tuple[ConnectorEffect, ...] = field(default=(), compare=False)

    def connector(self, name: str) -> Connector | None:
        """The consumer of a name; None: there was none yet."""
        return next((each for each in self.connectors if each.name == name), None)

    @property
    def is_quiet(self) -> bool:
        """Whether nothing will happen by itself."""
        return all(each.is_quiet for each in self.connectors)


def start(settings: Settings) -> Group:
    """No broker, no topic and no consumer.

    >>> start(Settings()).is_quiet
    True
    """
    return Group(start_tree(settings.zookeeper))
