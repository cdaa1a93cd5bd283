"""What may happen: what consumers of the group do, and what happens to the brokers of the offsets topic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.arguments import fill_in, one_of
from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import NOT_GIVEN, Checked, Count, FilledIn, Index, Offset, RecordCount, check_fields
from kafkalearn.offsets.replicated.events import OF_BROKERS
from kafkalearn.offsets.store.events import Load, StoreGroup
from kafkalearn.replication.events import ReplicationEvent

ZOOKEEPER, KAFKA = "zookeeper", "kafka"
STORAGES = (ZOOKEEPER, KAFKA)


@dataclass(frozen=True, slots=True)
class Produce(Checked):
    """Somebody produces records."""

    partition: Index = 0
    count: RecordCount = 1


@dataclass(frozen=True, slots=True)
class Start(Checked):
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


@dataclass(frozen=True, slots=True)
class Read(Checked):
    """The application takes records out of its stream."""

    consumer: str
    partition: Index = 0
    count: Count = 1


@dataclass(frozen=True, slots=True)
class Rewind(Checked):
    """An operator writes an offset into its node in ZooKeeper by hand, as one did before there were tools for it."""

    partition: Index
    offset: Offset


@dataclass(frozen=True, slots=True)
class CommitOffsets(Checked):
    """The application commits, or a rebalance does it for it.

    `retry_on_failure` is what the application passes to ``commitOffsets``; since 0.9 it means the opposite of its name.
    """

    consumer: str
    retry_on_failure: bool = True


@dataclass(frozen=True, slots=True)
class AutoCommit(Checked):
    """The timer of auto commit is due."""

    consumer: str


@dataclass(frozen=True, slots=True)
class BackoffPassed(Checked):
    """A thread that has waited for ``offsets.channel.backoff.ms`` tries again."""

    consumer: str


@dataclass(frozen=True, slots=True)
class Shutdown(Checked):
    """A consumer is shut down; with auto commit on it commits once more."""

    consumer: str


@dataclass(frozen=True, slots=True)
class Crash(Checked):
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
