"""What a cluster with transactions is: its settings, its state, the requests that arrive, and what it answers.

Three sides share the state. The **coordinator** has a `Transaction` for each transactional id and writes each change
to ``__transaction_state``. A **partition** has batches, markers, and for each producer id what it last wrote and where
its open transaction begins. A **group** has offsets that hold, and offsets that wait for the end of a transaction.

Source: `TransactionMetadata`, `ProducerStateEntry` and `OffsetMetadataManager` of Kafka 4.3, read; what a broker of
4.0.2 and 4.3.1 answers, recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeAlias

from kafkalearn.base import facts
from kafkalearn.base.checks import Checked, Count, PartitionCount, one_of
from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.base.events import BrokerRestarted, TimePassed
from kafkalearn.coordinator.rule import offsets_partition
from kafkalearn.releases.lines import DEFAULT_RELEASE, RELEASES, AnswersFor, at_least

EMPTY, ONGOING = "Empty", "Ongoing"
PREPARE_COMMIT, PREPARE_ABORT = "PrepareCommit", "PrepareAbort"
COMPLETE_COMMIT, COMPLETE_ABORT = "CompleteCommit", "CompleteAbort"
PREPARE_EPOCH_FENCE, DEAD = "PrepareEpochFence", "Dead"

STATES = (
    EMPTY,
    ONGOING,
    PREPARE_COMMIT,
    PREPARE_ABORT,
    COMPLETE_COMMIT,
    COMPLETE_ABORT,
    PREPARE_EPOCH_FENCE,
    DEAD,
)
"""The states of a transactional id; `PrepareEpochFence` is only ever the state that it is about to take."""

OFFSETS_PARTITION = "__consumer_offsets-0"
"""The one partition of ``__consumer_offsets`` here: where all groups write their offsets."""

LAST_EPOCH = 32767
"""The largest epoch (`Short.MAX_VALUE`). The coordinator keeps it for fencing; a client gets at most one less."""

TWO_PHASE_TIMEOUT_MS = 2**31 - 1
"""The timeout of an id that takes part in a two-phase commit: by it the coordinator knows one, and never aborts it."""

NO_EPOCH = -1
KEPT_BATCHES = 5
"""How many batches of a producer a partition remembers, to find one that comes twice."""


DEFECTS: Mapping[str, str] = MappingProxyType(
    {
        "KAFKA-19367": "the coordinator's own abort raises the epoch twice, and beyond the last one it fails for ever",
        "KAFKA-19999": "a marker of version 2 that comes a second time is refused, and its id waits for ever",
    }
)
"""Named failures of version 2 that a cluster may be given: read in the changes that repaired them, not recorded. The
first was in 4.0.0 and is repaired in 4.0.1 and 4.1.0; the second came and went between releases on the way to 4.2."""

EARLIER_DEFECTS: Mapping[str, str] = MappingProxyType(
    {"KAFKA-9144": "a producer whose transaction the coordinator aborted is forgotten at once, with all epochs of it"}
)
"""Failures of releases before 4.0, read likewise: a partition of 0.11 to 2.4.0 takes a producer for as old as can be
once it has a marker of it, with a raised epoch, and no batch."""

PRODUCER_CHECK_MS = 600_000
"""How often a partition looks for producers that are to be forgotten (``producer.id.expiration.check.interval.ms``)."""


ANSWERS_FOR = AnswersFor("transactions", "4.0")


@dataclass(frozen=True)
class Settings(Checked):
    """What stays the same in a run. Times are in milliseconds; defaults are Kafka's.

    ``transaction_version`` is the cluster's feature ``transaction.version``: 0 (until 3.9), 1 (flexible records) or 2
    (KIP-890: an epoch for each transaction). ``verification`` is ``transaction.partition.verification.enable``.
    ``defects`` are names in `DEFECTS` or `EARLIER_DEFECTS` of failures that the cluster shall have.
    ``coordinator_partition_count`` are the partitions of ``__transaction_state``, each with its own leader: Kafka's
    default is 50.

    A partition forgets a producer that is silent for ``producer_expiration_ms`` (``producer.id.expiration.ms``) with no
    transaction open; it looks every ``producer_check_interval_ms``.

    ``has_unstable_apis`` is ``unstable.api.versions.enable``: without it no broker up to 4.4 takes InitProducerId 6,
    the request of two-phase commit. ``allows_two_phase_commit`` is ``transaction.two.phase.commit.enable``.

    >>> Settings(transaction_version=3)
    Traceback (most recent call last):
        ...
    kafkalearn.base.errors.KafkaLearnError: transaction.version is 0, 1 or 2, and this is 3
    """

    release: str = DEFAULT_RELEASE
    transaction_version: int = 2
    verification: bool = True
    partitions: tuple[str, ...] = ("t-0", "t-1")
    transaction_max_timeout_ms: int = 900_000
    abort_timed_out_interval_ms: Count = 10_000
    id_expiration_ms: int = 604_800_000
    remove_expired_interval_ms: Count = 3_600_000
    producer_expiration_ms: Count = 86_400_000
    producer_check_interval_ms: Count = PRODUCER_CHECK_MS
    coordinator_epoch: int = 0
    defects: tuple[str, ...] = ()
    coordinator_partition_count: PartitionCount = 1
    has_unstable_apis: bool = False
    allows_two_phase_commit: bool = False

    def __post_init__(self) -> None:
        """Refuse a version or a release that there is none of."""
        super().__post_init__()
        if self.transaction_version not in (0, 1, 2):
            raise KafkaLearnError(f"transaction.version is 0, 1 or 2, and this is {self.transaction_version}")
        ANSWERS_FOR.check(self.release)
        for each in self.defects:
            one_of("defect", each, {**DEFECTS, **EARLIER_DEFECTS})

    def coordinator_partition(self, transactional_id: str) -> int:
        """The partition of ``__transaction_state`` that has an id: the rule of groups and their offsets.

        >>> Settings(coordinator_partition_count=3).coordinator_partition("id-0")
        1
        """
        return offsets_partition(transactional_id, self.coordinator_partition_count)

    @property
    def newest_init_producer_id(self) -> int:
        """The newest version of InitProducerId that a broker takes (4.0.2 to 4.4.0, recorded)."""
        return 6 if self.has_unstable_apis and at_least("4.1", self.release) else 5

    @property
    def loses_markers(self) -> bool:
        """Whether a marker for a partition without a leader is given up, as if there were no such partition.

        KAFKA-20734: recorded on 4.3.1 and 4.4.0; 4.2.1 keeps it until there is a leader.
        """
        return at_least("4.3", self.release)

    @property
    def value_version(self) -> int:
        """The version of a value in ``__transaction_state``: 1 can hold the fields of KIP-890, 0 cannot."""
        return min(self.transaction_version, 1)

    @property
    def is_strict_with_markers(self) -> bool:
        """Whether a marker of version 2 must have a larger epoch than the partition knows (recorded: 4.3.1)."""
        return at_least("4.2", self.release)

    @property
    def fences_a_late_commit(self) -> bool:
        """Whether a commit that meets the coordinator's abort is answered PRODUCER_FENCED (KAFKA-20785, read).

        Kafka 4.4.0 answers INVALID_TXN_STATE (recorded), as all releases before it.
        """
        return "4.5" in RELEASES and at_least("4.5", self.release)

    @property
    def rotates_when_fencing(self) -> bool:
        """Whether the coordinator's abort at the last epoch gives a new producer id (KAFKA-20090; 4.0.2: no; 4.3.1)."""
        return at_least("4.3", self.release)

    @property
    def checks_the_epoch_first(self) -> bool:
        """Whether a partition refuses an old epoch before it asks the coordinator (4.0.2: no; 4.3.1: yes)."""
        return at_least("4.1", self.release)

    @property
    def forgets_the_start(self) -> bool:
        """Whether InitProducerId clears the start time of the transaction before (4.0.2: no; 4.3.1: yes)."""
        return at_least("4.1", self.release)

    @property
    def first_member_epoch(self) -> int:
        """The epoch of the first member of a group of KIP-848 (4.0.2: 1; 4.3.1 and 4.4.0: 2)."""
        return 2 if at_least("4.3", self.release) else 1

    @property
    def offset_value_version(self) -> int:
        """The version of an offset's value: 3, or 4 with a topic id (4.0.2: 3; 4.3.1: 4)."""
        return 4 if at_least("4.2", self.release) else 3


@dataclass(frozen=True)
class Transaction:
    """What the coordinator knows of one transactional id."""

    id: str
    producer_id: int
    epoch: int = NO_EPOCH
    timeout_ms: int = 60_000
    status: str = EMPTY
    partitions: frozenset[str] = frozenset()
    started_ms: int = -1
    updated_ms: int = 0
    previous_producer_id: int = -1
    next_producer_id: int = -1
    last_epoch: int = NO_EPOCH
    client_version: int = 0
    pending: str = ""
    """The state that it is about to take; as long as there is one, nothing else is begun."""
    is_refused: bool = False
    """Whether a leader refused a marker for good: then nobody sends it again, until the coordinator is loaded anew."""

    @property
    def has_time_out(self) -> bool:
        """Whether its coordinator aborts it after a while; of two-phase commit it does not (read: 4.4.0)."""
        return self.timeout_ms < TWO_PHASE_TIMEOUT_MS

    @property
    def is_exhausted(self) -> bool:
        """Whether its producer id has no further epoch for a client."""
        return self.epoch >= LAST_EPOCH - 1

    @property
    def is_open(self) -> bool:
        """Whether it has begun and its last marker is not written."""
        return self.status in (ONGOING, PREPARE_COMMIT, PREPARE_ABORT)


@dataclass(frozen=True)
class Batch:
    """A batch of a partition: records, or with ``kind`` COMMIT or ABORT a marker."""

    offset: int
    records: tuple[object, ...]
    producer_id: int = -1
    epoch: int = -1
    sequence: int = -1
    is_transactional: bool = False
    kind: str = "data"
    coordinator_epoch: int = -1

    @property
    def last_offset(self) -> int:
        """The offset of its last record; a marker takes one."""
        return self.offset + max(len(self.records), 1) - 1


@dataclass(frozen=True)
class Written:
    """A batch that a partition remembers of a producer."""

    first_sequence: int
    last_sequence: int
    offset: int


@dataclass(frozen=True)
class Producer:
    """What a partition knows of one producer id; ``first_offset`` is where its open transaction begins, or -1.

    ``last_ms`` is when it last wrote, or a marker of it came.
    """

    producer_id: int
    epoch: int = NO_EPOCH
    batches: tuple[Written, ...] = ()
    coordinator_epoch: int = -1
    first_offset: int = -1
    last_ms: int = 0

    @property
    def last_sequence(self) -> int:
        """The sequence of the last record of its epoch, or -1."""
        return self.batches[-1].last_sequence if self.batches else -1


@dataclass(frozen=True)
class Verifying:
    """What a partition keeps from the first record that it lets the coordinator verify until one is written."""

    producer_id: int
    lowest_sequence: int
    epoch: int
    bumps_epoch: bool


@dataclass(frozen=True)
class Aborted:
    """An aborted transaction, as ``.txnindex`` has it and a fetch of a read_committed reader gets it."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int


@dataclass(frozen=True)
class Partition:
    """One partition on its leader. The high watermark is its end: replication is another package.

    >>> Partition("t-0").last_stable_offset
    0
    """

    name: str
    batches: tuple[Batch, ...] = ()
    producers: tuple[Producer, ...] = ()
    verifying: tuple[Verifying, ...] = ()
    aborted: tuple[Aborted, ...] = ()

    @property
    def end_offset(self) -> int:
        """The offset of the next record."""
        return self.batches[-1].last_offset + 1 if self.batches else 0

    @property
    def last_stable_offset(self) -> int:
        """Up to where a read_committed reader may read: the first offset of the oldest open transaction, or the end."""
        return min((each.first_offset for each in self.producers if each.first_offset >= 0), default=self.end_offset)

    def producer(self, producer_id: int) -> Producer | None:
        """What is known of a producer id, or None."""
        return next((each for each in self.producers if each.producer_id == producer_id), None)

    def has_open(self, producer_id: int, epoch: int) -> bool:
        """Whether the producer has an open transaction here, of this very epoch."""
        known = self.producer(producer_id)
        return known is not None and known.first_offset >= 0 and known.epoch == epoch


@dataclass(frozen=True)
class Offset:
    """An offset of a group; ``producer_id`` is -1, or the transaction on whose end it waits."""

    partition: str
    offset: int
    log_offset: int
    producer_id: int = -1


@dataclass(frozen=True)
class Group:
    """A group as its coordinator sees it: a member at most, offsets that hold, offsets that wait."""

    name: str
    generation: int = 0
    member: str = ""
    is_consumer: bool = False
    committed: tuple[Offset, ...] = ()
    pending: tuple[Offset, ...] = ()

    def offset(self, partition: str, require_stable: bool = False) -> int | str:
        """What OffsetFetch answers: the offset, -1, or with ``require_stable`` that one is waiting."""
        if require_stable and any(each.partition == partition for each in self.pending):
            return "UNSTABLE_OFFSET_COMMIT"
        return next((each.offset for each in self.committed if each.partition == partition), -1)


class Answer(facts.Effect):
    """What a request was answered; fields that its answer has not stay as they are here."""

    error: str = "NONE"
    producer_id: int = -1
    epoch: int = -1
    offset: int = -1
    message: str = ""
    partitions: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Row:
    """A value of ``__transaction_state``: the transaction as it was written; a tombstone has ``transaction`` None."""

    id: str
    transaction: Transaction | None


@dataclass(frozen=True)
class Cluster:
    """The state: who is in which transaction, what stands in which log, and what time it is."""

    transactions: tuple[Transaction, ...] = ()
    partitions: tuple[Partition, ...] = ()
    groups: tuple[Group, ...] = ()
    rows: tuple[Row, ...] = ()
    next_producer_id: int = 0
    coordinator_epochs: tuple[int, ...] = (0,)
    """For each partition of ``__transaction_state`` the epoch of its leader; it stands in every marker."""
    away: frozenset[str] = frozenset()
    """The partitions whose leader does not answer: their markers wait."""
    leaderless: frozenset[str] = frozenset()
    """Those of them of which the controller knows it: no other replica is there to lead."""
    uncoordinated: tuple[tuple[int, str], ...] = ()
    """The partitions of ``__transaction_state`` that nobody answers for now, each with the error: see
    `CoordinatorCrashed` and `CoordinatorElected`."""
    now_ms: int = 0
    effects: tuple[Answer, ...] = field(default=(), compare=False)

    def transaction(self, transactional_id: str | None) -> Transaction | None:
        """What the coordinator knows of an id, or None."""
        return next((each for each in self.transactions if each.id == transactional_id), None)

    def refusal(self, settings: Settings, transactional_id: str) -> str:
        """What every request for an id is answered that is empty, or whose partition has no coordinator; else NONE."""
        if not transactional_id:
            return "INVALID_REQUEST"
        if not self.uncoordinated:
            return "NONE"
        return dict(self.uncoordinated).get(settings.coordinator_partition(transactional_id), "NONE")

    def partition(self, name: str) -> Partition | None:
        """A partition by its name, or None."""
        return next((each for each in self.partitions if each.name == name), None)

    def group(self, name: str) -> Group | None:
        """A group by its name, or None."""
        return next((each for each in self.groups if each.name == name), None)

    def with_transaction(self, changed: Transaction) -> Cluster:
        """The cluster with this of a transactional id."""
        others = tuple(each for each in self.transactions if each.id != changed.id)
        return replace(self, transactions=tuple(sorted((*others, changed), key=lambda each: each.id)))

    def with_partition(self, changed: Partition) -> Cluster:
        """The cluster with this partition in the place of the one of its name."""
        return replace(
            self, partitions=tuple(changed if each.name == changed.name else each for each in self.partitions)
        )

    def with_group(self, changed: Group) -> Cluster:
        """The cluster with this of a group."""
        others = tuple(each for each in self.groups if each.name != changed.name)
        return replace(self, groups=tuple(sorted((*others, changed), key=lambda each: each.name)))


def start(settings: Settings) -> Cluster:
    """The cluster before the first request: partitions without records, no id, no group."""
    names = (*settings.partitions, OFFSETS_PARTITION)
    epochs = (settings.coordinator_epoch,) * settings.coordinator_partition_count
    return Cluster(partitions=tuple(Partition(name) for name in names), coordinator_epochs=epochs)


class InitProducerId(facts.Event):
    """A producer begins: it gets a producer id and an epoch, and whoever had the id before is fenced.

    From version 6 on, of KIP-939: ``enables_two_phase_commit`` is ``enable2Pc``, ``keeps_prepared`` is
    ``keepPreparedTxn``.
    """

    id: str | None
    version: int = 5
    timeout_ms: int = 60_000
    producer_id: int = -1
    epoch: int = -1
    enables_two_phase_commit: bool = False
    keeps_prepared: bool = False


class AddPartitionsToTxn(facts.Event, says="{id} adds {partitions:commas} to its transaction"):
    """Partitions join the transaction; up to version 3 from a client, from 4 on from a broker."""

    id: str
    producer_id: int
    epoch: int
    partitions: tuple[str, ...]
    version: int = 3
    verify_only: bool = False


class AddOffsetsToTxn(facts.Event, says="{id} adds the offsets of {group} to its transaction"):
    """The offsets partition of a group joins the transaction."""

    id: str
    producer_id: int
    epoch: int
    group: str
    version: int = 3


class Produce(facts.Event):
    """A batch for one partition; from version 12 on it adds its partition to the transaction itself."""

    id: str | None
    partition: str
    producer_id: int = -1
    epoch: int = -1
    sequence: int = -1
    records: tuple[object, ...] = ("record",)
    is_transactional: bool = True
    version: int = 12

    def __post_init__(self) -> None:
        """Refuse a batch without records: no producer sends one."""
        super().__post_init__()
        if not self.records:
            raise IllegalEvent("a batch has at least one record, and this one has none")


class TxnOffsetCommit(facts.Event):
    """Offsets of a group that shall hold once the transaction is committed; version 5 adds the partition itself."""

    id: str
    producer_id: int
    epoch: int
    group: str
    offsets: tuple[tuple[str, int], ...]
    version: int = 5
    generation: int = -1
    member: str = ""


class OffsetCommit(facts.Event):
    """Offsets of a group without a transaction."""

    group: str
    offsets: tuple[tuple[str, int], ...]
    generation: int = -1
    member: str = ""
    version: int = 8


class EndTxn(facts.Event):
    """The producer ends its transaction; from version 5 on the answer has the next epoch."""

    id: str
    producer_id: int
    epoch: int
    commit: bool = True
    version: int = 5


class MarkerArrived(facts.Event):
    """The coordinator's marker of an ending transaction reaches the leader of one of its partitions."""

    id: str
    partition: str


class WriteTxnMarkers(facts.Event, says="somebody writes a marker for producer {producer_id} into {partitions:commas}"):
    """Markers from somebody who is not the coordinator: ``kafka-transactions.sh abort``, or an old coordinator."""

    producer_id: int
    epoch: int
    commit: bool
    partitions: tuple[str, ...]
    coordinator_epoch: int = 0
    version: int = 1
    transaction_version: int = 0


class Join(facts.Event, says="{member} joins {group}"):
    """One consumer joins a group and is given all: the group is Stable, with a generation more.

    ``is_consumer``: it speaks the protocol of KIP-848, and the generation is its member epoch.
    """

    group: str
    member: str
    is_consumer: bool = False


class LeaderWentAway(facts.Event):
    """The leader of these partitions stops answering; markers for them wait.

    ``is_known``: the controller has noticed, and there is no other replica. Then the partition has no leader.
    """

    partitions: tuple[str, ...]
    is_known: bool = False


class LeaderCameBack(facts.Event, says="the leader of {partitions:commas} answers again"):
    """The leader of these partitions answers again."""

    partitions: tuple[str, ...]


class CoordinatorCrashed(facts.Event, says="the coordinator is gone, and no other is there yet"):
    """The broker that leads a partition of ``__transaction_state`` is gone, and no other has been elected.

    All others answer NOT_COORDINATOR for its ids. ``partition`` None: for all of them.
    """

    partition: int | None = None


class CoordinatorElected(facts.Event, says="another broker is to coordinate, and begins to load"):
    """Another replica leads the partition, and begins to read it: until `CoordinatorLoaded` it knows no id.

    It answers COORDINATOR_LOAD_IN_PROGRESS. The one before may be dead, or has resigned at this moment.
    """

    partition: int | None = None


class CoordinatorLoaded(facts.Event):
    """The coordinator was elected anew and has read its log: what was only in its memory is gone.

    ``partition``: of ``__transaction_state``; another replica leads it now, and ids of other partitions notice nothing.
    None: one broker leads them all, and has come back. Without a `CoordinatorElected` before it is both at once.
    """

    partition: int | None = None


class AskedElsewhere(facts.Event):
    """A request for the coordinator of an id reaches a broker that is not, or no longer, its coordinator."""

    request: InitProducerId | AddPartitionsToTxn | AddOffsetsToTxn | EndTxn


Event: TypeAlias = (
    InitProducerId
    | AddPartitionsToTxn
    | AddOffsetsToTxn
    | Produce
    | TxnOffsetCommit
    | OffsetCommit
    | EndTxn
    | MarkerArrived
    | WriteTxnMarkers
    | Join
    | TimePassed
    | LeaderWentAway
    | LeaderCameBack
    | CoordinatorCrashed
    | CoordinatorElected
    | CoordinatorLoaded
    | AskedElsewhere
    | BrokerRestarted
)
