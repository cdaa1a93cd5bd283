"""The settings of a group of old consumers that commit, and of the stores that they commit to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, NamedTuple, TypeAlias, TypeVar

from kafkalearn.base import facts
from kafkalearn.base.checks import (
    NOT_GIVEN,
    Checked,
    Count,
    FilledIn,
    Index,
    Millis,
    Offset,
    RecordCount,
    Whole,
    check_fields,
    fill_in,
    one_of,
)
from kafkalearn.base.errors import IllegalEvent, KafkaLearnError, listed
from kafkalearn.offsets import replicated
from kafkalearn.offsets.replay import Group
from kafkalearn.offsets.replicated import OF_BROKERS, ReplicatedEffect, ReplicatedStore
from kafkalearn.offsets.store.model import Load, StoreGroup
from kafkalearn.releases import default
from kafkalearn.releases.lines import RELEASES, AnswersFor, ReleaseName, at_least
from kafkalearn.replication.events import ReplicationEvent
from kafkalearn.replication.settings import MOST_REPLICAS
from kafkalearn.zookeeper.fetching.cluster import RESETS
from kafkalearn.zookeeper.fetching.model import LAST_RELEASE, REMOVED

ANSWERS_FOR = AnswersFor("zookeeper.commits", RELEASES[0], LAST_RELEASE, REMOVED)

TIMER, APPLICATION, SHUTDOWN = "the timer", "the application", "the shutdown"
"""Who commits: the timer of auto commit; the application that asks for tries again, or a rebalance; the shutdown."""

MOST_PARTITIONS = 1000  # each is a node of its own, and has a record of its own in every commit


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """What stays the same while consumers of a group come, commit and go.

    Parameters
    ----------
    group, topic : str
        Who reads what.
    partition_count : int
        Partitions of the topic.
    replica_count : int
        Brokers that hold the group's partition of the offsets topic, numbered from 1.
    auto_commit_enable : bool or None
        ``auto.commit.enable``: whether a shutdown commits.
    auto_offset_reset : str or None
        ``auto.offset.reset``: where a consumer begins that finds no offset: ``"smallest"`` or ``"largest"``.
    offsets_commit_max_retries, offsets_channel_backoff_ms : int or None
        ``offsets.commit.max.retries``; and how long a client waits between two tries.
    release : str
        Of the consumers, 0.8.2 to 1.1. What is None above is this release's default.

    Raises
    ------
    KafkaLearnError
        If there is no such consumer.

    Examples
    --------
    Who tries again, and how often, is not what the names in Kafka's code say, and not the same in all releases:

    >>> [Settings(release="0.8.2").tries(each) for each in (TIMER, APPLICATION, SHUTDOWN)]
    [1, 1, 6]
    >>> [Settings(release="1.1").tries(each) for each in (TIMER, APPLICATION, SHUTDOWN)]
    [6, 1, 1]
    """

    group: str = "billing"
    topic: str = "orders"
    partition_count: Annotated[int, Whole(1, MOST_PARTITIONS)] = 1
    replica_count: Annotated[int, Whole(1, MOST_REPLICAS)] = 1
    auto_commit_enable: FilledIn[bool] = NOT_GIVEN
    auto_offset_reset: FilledIn[str] = NOT_GIVEN
    offsets_commit_max_retries: FilledIn[Annotated[int, Whole(0, 1000)]] = NOT_GIVEN
    offsets_channel_backoff_ms: FilledIn[Millis] = NOT_GIVEN
    release: ReleaseName = LAST_RELEASE
    coordinator: replicated.Settings = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Fill in what was not given; refuse releases without such a consumer."""
        check_fields(self)
        ANSWERS_FOR.check(self.release)
        names = ("auto_commit_enable", "auto_offset_reset", "offsets_commit_max_retries", "offsets_channel_backoff_ms")
        fill_in(self, **{name: default(name.replace("_", "."), self.release, side="old-consumer") for name in names})
        one_of("auto_offset_reset", self.auto_offset_reset, RESETS)
        object.__setattr__(self, "coordinator", replicated.Settings(self.replica_count))

    def tries(self, by: str) -> int:
        """How often a commit to the topic is tried: in 0.8.2 at shutdown only, since 0.9 from the timer only.

        References
        ----------
        Apache Kafka 0.8.2.2, 0.9.0.1 and 1.1.1, ``ZookeeperConsumerConnector.commitOffsets(isAutoCommit)``: the timer
        passes false, the others true, and 0.9 turned the condition round.
        """
        is_tried_again = by == TIMER if at_least("0.9.0", self.release) else by == SHUTDOWN
        return 1 + (self.offsets_commit_max_retries if is_tried_again else 0)


# What may happen: what consumers of the group do, and what happens to the brokers of the offsets topic.

ZOOKEEPER, KAFKA = "zookeeper", "kafka"
STORAGES = (ZOOKEEPER, KAFKA)


class Produce(facts.Event, says="{count:of record} {count:come} to partition {partition}"):
    """Somebody produces records."""

    partition: Index = 0
    count: RecordCount = 1


class Start(facts.Event):
    """A consumer of the group has been given partitions, and reads where the group is.

    `offsets_storage` and `dual_commit_enabled` are its settings ``offsets.storage`` and ``dual.commit.enabled``; the
    second is on by default where the first is kafka.
    """

    consumer: str
    offsets_storage: str = ZOOKEEPER
    dual_commit_enabled: FilledIn[bool] = NOT_GIVEN
    partitions: tuple[Index, ...] | None = None  # None: all

    def __post_init__(self) -> None:
        """Refuse a store that does not exist."""
        check_fields(self)
        one_of("offsets_storage", self.offsets_storage, STORAGES)
        fill_in(self, dual_commit_enabled=self.offsets_storage == KAFKA)
        if self.partitions is not None and (not self.partitions or len(set(self.partitions)) < len(self.partitions)):
            raise KafkaLearnError(f"partitions must be different numbers, at least one; got {self.partitions!r}")


class Read(facts.Event, says="{consumer:cut 20} reads"):
    consumer: str
    partition: Index = 0
    count: Count = 1


class Rewind(facts.Event, says="an operator writes into ZooKeeper by hand"):
    """An operator writes an offset into its node in ZooKeeper by hand, as one did before there were tools for it."""

    partition: Index
    offset: Offset


class CommitOffsets(facts.Event, says="{consumer:cut 20} commits"):
    """The application commits, or a rebalance does it for it.

    `retry_on_failure` is what the application passes to ``commitOffsets``; since 0.9 it means the opposite of its name.
    """

    consumer: str
    retry_on_failure: bool = True


class AutoCommit(facts.Event, says="the timer of {consumer:cut 20} commits"):
    consumer: str


class BackoffPassed(facts.Event, says="{consumer:cut 20} has waited, and tries again"):
    """A thread that has waited for ``offsets.channel.backoff.ms`` tries again."""

    consumer: str


class Shutdown(facts.Event, says="{consumer:cut 20} is shut down"):
    """A consumer is shut down; with auto commit on it commits once more."""

    consumer: str


class Crash(facts.Event, says="{consumer:cut 20} crashes"):
    """A consumer is gone, and whatever it had in hand."""

    consumer: str


OF_COORDINATORS = (Load, StoreGroup, *OF_BROKERS)
"""What may happen to the coordinator and its brokers; `StoreGroup`: members of the new kind join the group."""

CommittingEvent: TypeAlias = (
    Produce
    | Start
    | Read
    | Rewind
    | CommitOffsets
    | AutoCommit
    | BackoffPassed
    | Shutdown
    | Crash
    | Load
    | StoreGroup
    | ReplicationEvent
)


# What an event led to, beside the effects of the offsets topic and its brokers.


class Began(facts.Effect):
    """A consumer begins to read a partition; `in_zookeeper` and `in_topic` are what it found, where it looked."""

    consumer: str
    partition: int
    offset: int
    in_zookeeper: int | None = None
    in_topic: int | None = None
    is_reset: bool = False  # it found nothing, and auto.offset.reset said where to begin


class RecordsRead(facts.Effect):
    """The application got these records."""

    consumer: str
    partition: int
    offsets: tuple[int, ...]


class ZnodeWritten(facts.Effect):
    """An offset was written to its node in ZooKeeper."""

    path: str
    offset: int


class ZnodeUnchanged(facts.Effect):
    """The consumer believes that the node has this offset already, and did not write."""

    path: str
    offset: int


class Connected(facts.Effect):
    """A consumer has a channel to the group's coordinator."""

    consumer: str
    broker_id: int


class Disconnected(facts.Effect, says="{consumer:cut 20} gives up its channel to broker {broker_id}"):
    """A consumer gave up its channel; it asks for the coordinator before it tries again."""

    consumer: str
    broker_id: int


class BackingOff(facts.Effect, says="{consumer:cut 20} waits {backoff_ms} ms: {why}"):
    """A thread waits before it tries again; why is an error, or what could not be reached."""

    consumer: str
    why: str
    backoff_ms: int


class CommitDone(facts.Effect):
    """A commit has ended without an error."""

    consumer: str


class CommitDropped(facts.Effect, says="the commit of {consumer:cut 20} is dropped, at log level debug: {error}"):
    """A commit has failed as often as it is tried. Nobody hears of it: Kafka logs it at level debug."""

    consumer: str
    error: str


class Gone(facts.Effect, says="{consumer:cut 20} has left"):
    consumer: str


CommittingEffect: TypeAlias = (
    Began
    | RecordsRead
    | ZnodeWritten
    | ZnodeUnchanged
    | Connected
    | Disconnected
    | BackingOff
    | CommitDone
    | CommitDropped
    | Gone
    | ReplicatedEffect
)


# A group of old consumers with both stores of offsets: nodes in ZooKeeper, and a partition of the offsets topic.

Value = TypeVar("Value")
Offsets = tuple[tuple[int, int], ...]
"""Pairs of a partition and an offset."""

FETCHING, RUNNING, CLOSING = "fetching offsets", "running", "closing"


class PendingCommit(NamedTuple):
    """A commit to the topic that has not ended."""

    offsets: Offsets
    tries_left: int  # this one included
    errors: tuple[tuple[int, str], ...] = ()  # what was answered so far, by partition
    is_waiting: bool = False  # it failed, and is tried again after the backoff


class Consumer(NamedTuple):
    """A consumer of the group."""

    name: str
    offsets_storage: str
    dual_commit_enabled: bool
    partitions: tuple[int, ...]
    status: str = FETCHING
    consumed: Offsets = ()
    checkpointed: Offsets = ()  # what it believes ZooKeeper has: checkpointedZkOffsets
    channel: int | None = None  # the broker that it takes for the coordinator
    commit: PendingCommit | None = None


@dataclass(frozen=True, slots=True)
class OldGroup:
    """A group, what it reads and what it has committed, at one moment."""

    log_ends: tuple[int, ...]
    zookeeper: tuple[int | None, ...]  # the content of each partition's node; None: there is none
    topic: ReplicatedStore
    consumers: tuple[Consumer, ...] = ()
    first: tuple[int | None, ...] = ()  # where the group began to read each partition
    reads: tuple[tuple[int, ...], ...] = ()  # how often each record of each partition was read
    effects: tuple[CommittingEffect, ...] = field(default=(), compare=False)

    def consumer(self, name: str) -> Consumer:
        """A consumer that is there; IllegalEvent if there is none of that name."""
        found = next((each for each in self.consumers if each.name == name), None)
        if found is None:
            there = listed((each.name for each in self.consumers), nothing="nobody")
            raise IllegalEvent(f"there is no consumer {name}: Start it first; there is {there}")
        return found

    def in_topic(self, settings: Settings) -> tuple[int | None, ...]:
        """What the coordinator would answer for each partition, once a leader has loaded the topic; None: nothing."""
        leader = self.topic.partition.controller.leader
        coordinator = None if leader is None else self.topic.coordinator(leader)
        groups: tuple[Group, ...] = () if coordinator is None else coordinator.confirmed.groups
        known = {
            offset.partition: offset.offset
            for group in groups
            if group.group_id == settings.group
            for offset in group.offsets
            if offset.topic == settings.topic
        }
        return tuple(known.get(partition) for partition in range(settings.partition_count))


def start(settings: Settings) -> OldGroup:
    """Empty partitions, empty stores, nobody in the group.

    >>> start(Settings(partition_count=2)).zookeeper
    (None, None)
    """
    none = (None,) * settings.partition_count
    topic = replicated.start(settings.coordinator)
    return OldGroup((0,) * settings.partition_count, none, topic, (), none, ((),) * settings.partition_count)


def with_effect(state: OldGroup, *effects: CommittingEffect) -> OldGroup:
    """The same state, with effects more."""
    return replace(state, effects=(*state.effects, *effects))


def with_consumer(state: OldGroup, consumer: Consumer) -> OldGroup:
    """The same state with another consumer of that name."""
    others = tuple(consumer if each.name == consumer.name else each for each in state.consumers)
    return replace(state, consumers=others)


def without_consumer(state: OldGroup, name: str) -> OldGroup:
    """The same state without a consumer."""
    return replace(state, consumers=tuple(each for each in state.consumers if each.name != name))


def replaced(values: tuple[Value, ...], place: int, value: Value) -> tuple[Value, ...]:
    """The values with another one in a place."""
    return (*values[:place], value, *values[place + 1 :])
