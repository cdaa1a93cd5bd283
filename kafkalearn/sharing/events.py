"""What may happen in a cluster with share groups, and what it leads to: requests by Kafka's names, and answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from kafkalearn.base import events, facts
from kafkalearn.base.checks import Checked, Count, Index, Millis, Offset, RecordCount, Whole, one_of
from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.base.events import TimePassed
from kafkalearn.coordinator.share_model import Snapshot, Tombstone, Update

GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)
"""What an acknowledgement can say of a record."""

BATCH_OPTIMIZED, RECORD_LIMIT = "batch_optimized", "record_limit"
MODES = (BATCH_OPTIMIZED, RECORD_LIMIT)
"""How many records a fetch may acquire: about as many as asked for, in whole batches; or not one more (KIP-1206)."""

Range: TypeAlias = tuple[int, int, int]
"""The first and the last offset of a range, and how often its records have been delivered."""

Configs: TypeAlias = tuple[tuple[str, str], ...]


def named_pairs(name: str, value: object) -> tuple[tuple[str, object], ...]:
    """A mapping, or pairs, as sorted pairs: so that settings can be hashed."""
    pairs = value.items() if isinstance(value, Mapping) else value
    try:
        return tuple(sorted((str(key), inner) for key, inner in pairs))  # type: ignore[union-attr]
    except (TypeError, ValueError):
        raise KafkaLearnError(f"{name} must be a dict, or pairs of a name and a value, got {shown(value)}") from None


def configs_of(name: str, value: object) -> Configs:
    """Settings as sorted pairs of texts, from a mapping or from pairs."""
    try:
        return tuple((key, str(inner)) for key, inner in named_pairs(name, value))
    except ValueError as error:
        if isinstance(error, KafkaLearnError):
            raise
        raise KafkaLearnError(f"{name} must have values that can be written out, got {shown(value)}") from None


Given = Annotated[Configs, configs_of]

MOST_PARTITIONS = 1000
"""Of a topic: each has a state of its own in memory and at the share coordinator."""

PartitionCount: TypeAlias = Annotated[int, Whole(1, MOST_PARTITIONS)]


# Events.


@dataclass(frozen=True)
class Acknowledgement(Checked):
    """What a member says of a range of records: one type for all, or one for each offset."""

    partition: str
    first: int
    last: int
    types: tuple[int, ...] = (ACCEPT,)


class Produce(facts.Event):
    """A batch is appended; with `transaction`, as part of the open transaction of that id.

    Its values are ``r1.0``, ``r1.1``, ... where 1 counts the batches of the run, filled up to `value_bytes`.
    """

    partition: str
    record_count: RecordCount = 1
    value_bytes: Index = 0
    keys: tuple[str, ...] = ()
    transaction: str = ""
    age_ms: Millis = 0

    def __post_init__(self) -> None:
        """Refuse keys that are not one for each record."""
        super().__post_init__()
        if self.keys and len(self.keys) != self.record_count:
            raise KafkaLearnError(f"keys must be one for each of {self.record_count} records, got {len(self.keys)}")


class EndTxn(facts.Event):
    """A transaction ends: a marker is written to each partition that it has records in."""

    transaction: str
    commit: bool = True


class DeleteRecords(facts.Event, says="the records of {partition} below {before} are deleted"):
    """The log of a partition begins later: at `before`, the end at most."""

    partition: str
    before: Offset


class RecordsCompacted(facts.Event, says="compaction takes {offsets:commas} out of {partition}"):
    """Compaction takes records out of a log; a batch of which none is left goes."""

    partition: str
    offsets: tuple[Offset, ...]


class CreateTopic(facts.Event):
    """A topic is created."""

    topic: str
    partition_count: PartitionCount = 1
    configs: Given = ()


class CreatePartitions(facts.Event):
    """A topic has more partitions from now on."""

    topic: str
    partition_count: PartitionCount


class DeleteTopic(facts.Event):
    """A topic goes, with all that is known of it."""

    topic: str


class ShareGroupHeartbeat(facts.Event):
    """A member says that it lives; epoch 0 joins, -1 leaves."""

    group: str
    member: str
    epoch: int
    topics: tuple[str, ...] | None = None
    rack: str | None = None


class ShareFetch(facts.Event):
    """A member asks a leader for records; epoch 0 opens a session, -1 ends it.

    The acknowledgements come first. An answer with nothing in it waits until `max_wait_ms` have passed.
    """

    group: str | None
    member: str
    epoch: int
    partitions: tuple[str, ...] = ()
    acknowledgements: tuple[Acknowledgement, ...] = ()
    forgotten: tuple[str, ...] = ()
    max_records: int = 500
    batch_size: int = 500
    mode: str = BATCH_OPTIMIZED
    max_wait_ms: Millis = 500
    min_bytes: int = 1
    max_bytes: int = 52_428_800
    is_renew: bool = False
    connection: str = ""
    broker: Count = 1
    version: int = 2

    def __post_init__(self) -> None:
        """Refuse a mode that there is none of."""
        super().__post_init__()
        one_of("mode", self.mode, MODES)
        _check_version(self.version)


class ShareAcknowledge(facts.Event):
    """A member says what became of records; epoch -1 ends its session after that."""

    group: str | None
    member: str
    epoch: int
    acknowledgements: tuple[Acknowledgement, ...] = ()
    partitions: tuple[str, ...] = ()
    is_renew: bool = False
    connection: str = ""
    broker: Count = 1
    version: int = 2

    def __post_init__(self) -> None:
        """Refuse a version that there is none of."""
        super().__post_init__()
        _check_version(self.version)


def _check_version(version: int) -> None:
    if version not in (1, 2):
        raise KafkaLearnError(f"version must be 1 or 2, the versions since 4.2, got {shown(version)}")


class ConnectionClosed(facts.Event, says="the connection {connection} is closed"):
    """A client closes a connection to a broker."""

    connection: str
    broker: Count = 1


class BrokerRestarted(events.BrokerRestarted):
    """A broker stops while clients are connected, and comes back: what was not written is forgotten."""

    broker: Count = 1


class LeaderMoved(facts.Event, says="broker {broker} leads {partition} from now on"):
    """Another broker leads a partition from now on."""

    partition: str
    broker: Count


class AlterGroupConfigs(facts.Event):
    """Settings of a group are set."""

    group: str
    configs: Given


class AlterTopicConfigs(facts.Event):
    """Settings of a topic are set."""

    topic: str
    configs: Given


class AlterShareGroupOffsets(facts.Event):
    """Somebody sets where a group begins."""

    group: str
    offsets: tuple[tuple[str, int], ...]


class DeleteShareGroupOffsets(facts.Event):
    """Somebody lets a group forget topics."""

    group: str
    topics: tuple[str, ...]


class DescribeShareGroupOffsets(facts.Event):
    """Somebody asks for start offsets and lag; `partitions` None: of all."""

    group: str
    partitions: tuple[str, ...] | None = None
    version: int = 1


class DeleteGroup(facts.Event):
    """Somebody deletes a group."""

    group: str


class OtherGroupMade(facts.Event):
    """The id becomes that of a group of another kind: "consumer" or "classic"."""

    group: str
    kind: str


class InitializeShareGroupState(facts.Event):
    """The group coordinator asks the share coordinator to begin a share-partition."""

    group: str
    partition: str
    state_epoch: int
    start_offset: int = -1


class ReadShareGroupState(facts.Event):
    """A leader asks the share coordinator for what it has."""

    group: str
    partition: str
    leader_epoch: int


class WriteShareGroupState(facts.Event):
    """A leader writes what has become of records; batches are (first, last, id of the state, delivery count)."""

    group: str
    partition: str
    state_epoch: int
    leader_epoch: int
    start_offset: int
    delivery_complete_count: int = -1
    batches: tuple[tuple[int, int, int, int], ...] = ()


class DeleteShareGroupState(facts.Event):
    """The group coordinator lets the share coordinator forget a share-partition."""

    group: str
    partition: str


class ReadShareGroupStateSummary(facts.Event):
    """The group coordinator asks where a share-partition begins and how much is done."""

    group: str
    partition: str


Event: TypeAlias = (
    Produce | EndTxn | DeleteRecords | RecordsCompacted | CreateTopic | CreatePartitions | DeleteTopic
    | ShareGroupHeartbeat | ShareFetch | ShareAcknowledge | ConnectionClosed | TimePassed | BrokerRestarted
    | LeaderMoved | AlterGroupConfigs | AlterTopicConfigs | AlterShareGroupOffsets | DeleteShareGroupOffsets
    | DescribeShareGroupOffsets | DeleteGroup | OtherGroupMade | InitializeShareGroupState | ReadShareGroupState
    | WriteShareGroupState | DeleteShareGroupState | ReadShareGroupStateSummary
)  # fmt: skip


# Effects.


@dataclass(frozen=True)
class FetchedPartition:
    """What an answer to ShareFetch says of one partition; `records` None: the field is not set."""

    partition: str
    acquired: tuple[Range, ...] = ()
    records: tuple[tuple[int, int, int, str], ...] | None = ()
    error: str = "NONE"
    message: str = ""
    acknowledge_error: str = "NONE"
    acknowledge_message: str = ""
    leader: tuple[int, int] | None = None


class FetchAnswer(facts.Effect):
    """The answer to a ShareFetch; `has_waited`: it took the whole ``max_wait_ms``."""

    group: str | None
    member: str
    error: str = "NONE"
    message: str = ""
    lock_ms: int | None = None
    partitions: tuple[FetchedPartition, ...] = ()
    has_waited: bool = False
    connection: str = ""

    def partition(self, name: str) -> FetchedPartition | None:
        """What it says of a partition, or None."""
        return next((each for each in self.partitions if each.partition == name), None)


@dataclass(frozen=True)
class AcknowledgedPartition:
    """What became of the acknowledgements for one partition."""

    partition: str
    error: str = "NONE"
    message: str = ""
    leader: tuple[int, int] | None = None


class AcknowledgeAnswer(facts.Effect):
    """The answer to a ShareAcknowledge."""

    group: str | None
    member: str
    error: str = "NONE"
    message: str = ""
    lock_ms: int | None = None
    partitions: tuple[AcknowledgedPartition, ...] = ()


class HeartbeatAnswer(facts.Effect):
    """The answer to a heartbeat; `assignment` None: as before."""

    error: str = "NONE"
    message: str = ""
    epoch: int = 0
    interval_ms: int = 0
    assignment: tuple[str, ...] | None = None


class Answer(facts.Effect):
    """The answer to another request: an error, and for some what was found or done, by name."""

    error: str = "NONE"
    message: str = ""
    results: tuple[tuple[str, object], ...] = ()


class LockRanOut(facts.Effect):
    """A lock has run out: nobody holds these records any more."""

    group: str
    partition: str
    first: int
    last: int
    member: str


class StateWritten(facts.Effect):
    """A record of ``__share_group_state``."""

    group: str
    partition: str
    record: Snapshot | Update | Tombstone


class GroupWritten(facts.Effect):
    """A record of ``__consumer_offsets`` by its name; `value` None: a tombstone."""

    group: str
    record: str
    member: str = ""
    value: tuple[tuple[str, object], ...] | None = None
