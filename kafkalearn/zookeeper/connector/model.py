"""The parts of a group of old consumers: its settings by Kafka's names, events, effects, and its state."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, NamedTuple, TypeAlias

from kafkalearn.base import facts
from kafkalearn.base.checks import LARGEST_INT, Checked, Count, Index, Millis, PartitionCount, Whole, check_fields
from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.base.events import BrokerStarted, BrokerStopped, TimePassed
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.releases.lines import RELEASES, AnswersFor
from kafkalearn.zookeeper.subscriptions import Filtered, Streams, Subscription
from kafkalearn.zookeeper.tree import SessionExpired, Tree
from kafkalearn.zookeeper.tree import Settings as TreeSettings
from kafkalearn.zookeeper.tree import start as start_tree

STRATEGIES = ("range", "roundrobin")
OFFSET_RESETS = ("smallest", "largest")
LAST_RELEASE = "1.1"
ANSWERS_FOR = AnswersFor("zookeeper.connector", RELEASES[0], LAST_RELEASE, "2.0 removed the old consumer")


class InvalidConfig(KafkaLearnError):  # noqa: N818  (a setting that is invalid, not an error of ours)
    """A setting with which no old consumer starts: ``kafka.common.InvalidConfigException`` with these words."""


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """The settings of a group of old consumers; all of them run with the same.

    Parameters
    ----------
    group : str
        ``group.id``.
    partition_assignment_strategy : str
        ``"range"`` or ``"roundrobin"``.
    rebalance_max_retries : int
        How often a rebalance is tried in all, in spite of its name.
    rebalance_backoff_ms : int
        The pause after each try that failed, the last one too; by default ``zookeeper.sync.time.ms``.
    auto_commit_enable : bool
        Whether offsets are committed before partitions are given up, at the end, and every ``auto.commit.interval.ms``
        (`CommitOffsets` stands for that).
    auto_offset_reset : str
        Where a partition without a committed offset is read from: ``"smallest"`` or ``"largest"``.
    consumer_timeout_ms : int
        How long a stream waits for a record before it throws; -1: for ever.
    exclude_internal_topics : bool
        Whether filters pass over ``__consumer_offsets``.
    zookeeper_session_timeout_ms : int
        What each consumer asks ZooKeeper for.
    release : str
        Of the consumers, at most 1.1. It matters for the round robin.
    zookeeper : kafkalearn.zookeeper.tree.Settings
        Of the ZooKeeper.

    Raises
    ------
    InvalidConfig
        If Kafka refuses a setting.
    KafkaLearnError
        If a field cannot be what it is said to be.

    Examples
    --------
    >>> Settings(partition_assignment_strategy="sticky")
    Traceback (most recent call last):
    ...
    kafkalearn.zookeeper.connector.model.InvalidConfig: Wrong value sticky of partition.assignment.strategy in \
consumer config; Valid values are 'range' and 'roundrobin'

    References
    ----------
    Apache Kafka 1.1.1, ``kafka.consumer.ConsumerConfig``, ``kafka.utils.ZKConfig``.
    """

    group: str = "billing"
    partition_assignment_strategy: str = "range"
    rebalance_max_retries: Count = 4
    rebalance_backoff_ms: Millis = 2000
    auto_commit_enable: bool = True
    auto_offset_reset: str = "largest"
    consumer_timeout_ms: Annotated[int, Whole(-1, LARGEST_INT)] = -1
    exclude_internal_topics: bool = True
    zookeeper_session_timeout_ms: Millis = 6000
    release: str = LAST_RELEASE
    zookeeper: TreeSettings = field(default_factory=TreeSettings)

    def __post_init__(self) -> None:
        """Refuse what Kafka refuses, in its words."""
        check_fields(self)
        if self.partition_assignment_strategy not in STRATEGIES:
            raise InvalidConfig(
                f"Wrong value {self.partition_assignment_strategy} of partition.assignment.strategy in consumer "
                "config; Valid values are 'range' and 'roundrobin'"
            )
        if self.auto_offset_reset not in OFFSET_RESETS:
            raise InvalidConfig(
                f"Wrong value {self.auto_offset_reset} of auto.offset.reset in ConsumerConfig; Valid values are "
                "smallest and largest"
            )
        if not self.group or "/" in self.group:
            raise KafkaLearnError(f"group must be a name without '/', got {shown(self.group)}")
        ANSWERS_FOR.check(self.release)


# What happens to applications, threads and sessions, to brokers and topics. A consumer does by itself what its threads
# do. Each turn of a thread is an event, so that a schedule says who is quicker: `HandleEvent`, `WakeWatcher` and
# `RebalanceStep`.


class CreateMessageStreams(facts.Event, says="{consumer:cut 24} asks for streams, and registers"):
    """An application asks for its streams, and its process starts with that; a running one asks once more.

    `consumer_id` is the id it gives itself; None: group and name, as with the setting ``consumer.id``.
    """

    consumer: str
    subscription: Streams | Filtered
    consumer_id: str | None = None
    timestamp_ms: Millis = 0


class Shutdown(facts.Event, says="{consumer:cut 24} is shut down"):
    """The application calls ``shutdown``: its session is closed, as soon as no rebalance is going on."""

    consumer: str


class Crash(facts.Event, says="the process of {consumer:cut 24} dies; ZooKeeper does not know it yet"):
    """The process dies; ZooKeeper learns of it when the session expires."""

    consumer: str


class Reconnect(facts.Event, says="{consumer:cut 24} learns that its session has expired, and gets another"):
    consumer: str


class HandleEvent(
    facts.Event, says="the event thread of {consumer:cut 24} asks again, with a watch, and calls the listener"
):
    consumer: str


class WakeWatcher(facts.Event, says="the watcher thread of {consumer:cut 24} wakes"):
    consumer: str


class RebalanceStep(facts.Event):
    """The thread that rebalances does the next of its eight steps, or goes on after the pause."""

    consumer: str


class Read(facts.Event, says="{consumer:cut 24} reads"):
    """The application reads what there is of its partitions; of each at most so many records."""

    consumer: str
    at_most: Count | None = None


class WaitForRecord(facts.Event, says="{consumer:cut 24} waits for a record, and none comes"):
    consumer: str


class CommitOffsets(facts.Event, says="{consumer:cut 24} commits"):
    consumer: str


class Ping(facts.Event, says="{consumer:cut 24} tells ZooKeeper that it lives"):
    consumer: str


class TopicCreated(facts.Event, says="topic {topic:cut 24} is created with {partition_count:of partition}"):
    """An administrator creates a topic, all its partitions on one broker."""

    topic: str
    partition_count: PartitionCount


class TopicGrown(facts.Event, says="topic {topic:cut 24} grows to {partition_count:of partition}"):
    topic: str
    partition_count: PartitionCount


class TopicDeleted(facts.Event, says="topic {topic:cut 24} is deleted"):
    """A topic is gone, and its records."""

    topic: str


class Produce(facts.Event, says="{record_count:of record} {record_count:come} to {topic:cut 24}-{partition}"):
    """Records are added to a partition."""

    topic: str
    partition: Index
    record_count: Count = 1


Turn: TypeAlias = Reconnect | HandleEvent | WakeWatcher | RebalanceStep  # that a thread takes by itself
ConsumerEvent: TypeAlias = Shutdown | Crash | Turn | Read | WaitForRecord | CommitOffsets | Ping
ClusterEvent: TypeAlias = BrokerStarted | BrokerStopped | TopicCreated | TopicGrown | TopicDeleted | Produce
# A session is named by its consumer: ``"c1"``; that of the second process of c1, ``"c1/2"``.
ConnectorEvent: TypeAlias = CreateMessageStreams | ConsumerEvent | SessionExpired | TimePassed | ClusterEvent


# What an event led to.


class RequestsSent(facts.Effect):
    """How many requests a consumer sent to ZooKeeper."""

    consumer: str
    read_count: int
    write_count: int  # refused ones too


class Notified(facts.Effect):
    """A watch of a consumer fired."""

    consumer: str
    path: str
    what: str  # as in `kafkalearn.zookeeper.tree`


class Registered(facts.Effect):
    """A consumer's node is in ZooKeeper."""

    consumer: str
    consumer_id: str


class RebalanceBegan(facts.Effect, says="{consumer:cut 24} rebalances on its {thread} thread"):
    """A thread of a consumer got the lock and begins to rebalance."""

    consumer: str
    thread: str


class Released(facts.Effect):
    """A consumer deleted the nodes of its partitions."""

    consumer: str
    partitions: tuple[TopicPartition, ...]


class Owned(facts.Effect):
    """A consumer created the nodes of its partitions."""

    consumer: str
    partitions: tuple[TopicPartition, ...]


class OwnedByAnother(facts.Effect):
    """A consumer found a node in its way: its owner has not released the partition yet."""

    consumer: str
    partition: TopicPartition
    thread: str | None  # of the owner


class AttemptFailed(facts.Effect):
    """A try failed; the next one comes after the pause."""

    consumer: str
    number: int
    why: str


class GaveUp(facts.Effect, says="{consumer:cut 24} gives up, and reads nothing"):
    """All tries failed: the consumer lives on and reads nothing until something calls it again."""

    consumer: str
    thread: str


class Rebalanced(facts.Effect, says="{consumer:cut 24} fetches {partitions:of partition}"):
    """A rebalance is over: the fetchers fetch these partitions."""

    consumer: str
    partitions: tuple[TopicPartition, ...]
    attempt_count: int


class RecordsRead(facts.Effect):
    """The application got records, from an offset to the one before another."""

    consumer: str
    topic: str
    partition: int
    from_offset: int
    to_offset: int


class Committed(facts.Effect, says="{topic:cut 24}-{partition} is committed at {offset:,}"):
    """An offset was written into ZooKeeper."""

    consumer: str
    topic: str
    partition: int
    offset: int


class Threw(facts.Effect, says="the application of {consumer:cut 24} is thrown {error:cut 70}"):
    """The application got an exception, with Kafka's words."""

    consumer: str
    error: str


class SessionGone(facts.Effect, says="session {session:cut 24} has ended, with {removed:of node}"):
    """A session was closed or has expired, and these nodes with it."""

    session: str
    removed: tuple[str, ...]
    has_expired: bool


ConnectorEffect: TypeAlias = (
    RequestsSent
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


# A group of old consumers at one moment: its ZooKeeper, and each consumer with its threads.

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
